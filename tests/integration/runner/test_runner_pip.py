"""`pip install` in a hook: over the task's environment, which it sees and never changes."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from fake_master import FakeMaster, RunnerUnderTest

sys.path.insert(0, str(Path(__file__).parents[2]))

from small_wheel import make_wheel

SHOW = "import sys, importlib; [print(n, importlib.import_module(n).VERSION) for n in sys.argv[1:]]"


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`arrays` in an old and a new version; `frames` needs any, `tensors` the old, `modern` the new."""
    place = tmp_path_factory.mktemp("wheels")
    for version in ("1.26", "2.1"):
        make_wheel(place, "arrays", version)
    make_wheel(place, "frames", "3.0", needs=["arrays>=1.20"])
    make_wheel(place, "modern", "5.0", needs=["arrays>=2"])
    make_wheel(place, "tensors", "2.15", needs=["arrays<2"], code="import arrays; assert arrays.VERSION < '2'\n")
    return place


@pytest.fixture(scope="module", params=["venv", "uv"])
def python(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, wheels: Path) -> Iterator[Path]:
    """An environment that has `tensors` and the old `arrays`; one made as uv does has no pip."""
    place = tmp_path_factory.mktemp(request.param)
    subprocess.run([sys._base_executable, "-m", "venv", str(place)], check=True)
    found = place / "bin" / "python"
    words = ["install", "-q", "--no-index", "--find-links", str(wheels), "tensors"]
    subprocess.run([found, "-m", "pip", *words], check=True)
    if request.param == "uv":
        subprocess.run([found, "-m", "pip", "uninstall", "-q", "-y", "pip", "setuptools"], check=True)
    before = contents(place)
    yield found
    assert contents(place) == before


def contents(place: Path) -> list[str]:
    return sorted(str(path) for path in place.rglob("*") if "__pycache__" not in str(path))


def hooked(master: FakeMaster, python: Path, wheels: Path, *hook: str, shows: str) -> None:
    master.spec.submitter_python = str(python)
    master.spec.environment = ["PIP_NO_INDEX=1", f"PIP_FIND_LINKS={wheels}"]
    master.files = {"startup-hook.sh": "\n".join(hook), "show.py": SHOW}
    master.spec.entrypoint = f"python3 show.py {shows}"


@pytest.mark.parametrize("pip", ["pip", "pip3", "python -m pip"])
def test_installed_dependency_that_satisfies_stays(
    fake_master: FakeMaster, runner: RunnerUnderTest, python: Path, wheels: Path, pip: str
) -> None:
    hooked(fake_master, python, wheels, f"{pip} install -q frames", shows="frames arrays tensors")
    assert runner.start().finish().code == 0, fake_master.texts()
    assert fake_master.texts() == ["frames 3.0", "arrays 1.26", "tensors 2.15"]


def test_dependency_that_does_not_satisfy_comes_in_front_with_a_line(
    fake_master: FakeMaster, runner: RunnerUnderTest, python: Path, wheels: Path
) -> None:
    hooked(fake_master, python, wheels, "pip install -q modern", shows="modern arrays")
    assert runner.start().finish().code == 0, fake_master.texts()
    said = fake_master.texts()
    assert said[-2:] == ["modern 5.0", "arrays 2.1"]
    assert any("arrays 1.26 stays in" in text for text in said)


def test_what_is_installed_already_is_not_installed_again(
    fake_master: FakeMaster, runner: RunnerUnderTest, python: Path, wheels: Path
) -> None:
    hooked(
        fake_master, python, wheels, "pip install tensors", "pip install frames", "pip install frames", shows="frames"
    )
    assert runner.start().finish().code == 0, fake_master.texts()
    assert "Requirement already satisfied: tensors" in " ".join(fake_master.texts())
    assert not list(runner.dir.userbase.rglob("tensors*"))
    assert len([text for text in fake_master.texts() if text.startswith("Successfully installed")]) == 1


def test_upgrades_and_downgrades_within_the_tasks_own_directory(
    fake_master: FakeMaster, runner: RunnerUnderTest, python: Path, wheels: Path
) -> None:
    steps = ["pip install -q --upgrade arrays", "pip install -q arrays==1.26", "pip list --format=freeze | grep arrays"]
    hooked(fake_master, python, wheels, *steps, shows="arrays")
    assert runner.start().finish().code == 0, fake_master.texts()
    assert fake_master.texts()[-2:] == ["arrays==1.26", "arrays 1.26"]
    assert len(list(runner.dir.userbase.rglob("arrays-*.dist-info"))) == 1


def test_uninstall_takes_away_what_the_task_installed_and_nothing_else(
    fake_master: FakeMaster, runner: RunnerUnderTest, python: Path, wheels: Path
) -> None:
    steps = ["pip install -q frames", "pip uninstall -q -y frames tensors", "pip list --format=freeze"]
    hooked(fake_master, python, wheels, *steps, shows="tensors")
    assert runner.start().finish().code == 0, fake_master.texts()
    said = fake_master.texts()
    assert any("tensors 2.15 stays in" in text for text in said)
    assert "frames==3.0" not in said and "tensors==2.15" in said


def test_requirements_file_and_editable_package(
    fake_master: FakeMaster, runner: RunnerUnderTest, python: Path, wheels: Path
) -> None:
    hooked(fake_master, python, wheels, "pip install -q -r needs.txt", "pip install -q -e ./mine", shows="frames mine")
    backend = (
        "import zipfile\n"
        "def build_editable(directory, settings=None, metadata=None):\n"
        "    name, info = 'mine-1.0-py3-none-any.whl', 'mine-1.0.dist-info'\n"
        "    with zipfile.ZipFile(f'{directory}/{name}', 'w') as wheel:\n"
        "        import os\n"
        "        wheel.writestr('mine.pth', os.path.join(os.getcwd(), 'src'))\n"
        "        wheel.writestr(f'{info}/METADATA', 'Metadata-Version: 2.1\\nName: mine\\nVersion: 1.0\\n')\n"
        "        wheel.writestr(f'{info}/WHEEL', 'Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n')\n"
        "        wheel.writestr(f'{info}/RECORD', '')\n"
        "    return name\n"
    )
    fake_master.files |= {
        "needs.txt": "frames>=2\n",
        "mine/src/mine.py": "VERSION = 'edited'\n",
        "mine/backend.py": backend,
        "mine/pyproject.toml": "[build-system]\nrequires = []\nbuild-backend = 'backend'\nbackend-path = ['.']\n"
        "[project]\nname = 'mine'\nversion = '1.0'\n",
    }
    assert runner.start().finish().code == 0, fake_master.texts()
    assert fake_master.texts() == ["frames 3.0", "mine edited"]


def test_target_and_an_environment_that_the_hook_makes_are_left_alone(
    fake_master: FakeMaster, runner: RunnerUnderTest, python: Path, wheels: Path
) -> None:
    steps = [
        "pip install -q --no-deps --target ./there frames",
        "python -m venv own" if "venv" in python.parent.parent.name else f"{sys._base_executable} -m venv own",
        "own/bin/pip install -q modern",
    ]
    hooked(fake_master, python, wheels, *steps, shows="tensors")
    fake_master.spec.entrypoint = 'ls there | grep frames.py; own/bin/python -c "import modern; print(modern.__file__)"'
    assert runner.start().finish().code == 0, fake_master.texts()
    listed, place = fake_master.texts()[-2:]
    assert listed == "frames.py"
    assert f"{runner.dir.workdir}/own/" in place


def test_sitecustomize_of_the_environment_still_runs(
    fake_master: FakeMaster, runner: RunnerUnderTest, tmp_path: Path
) -> None:
    subprocess.run([sys._base_executable, "-m", "venv", "--without-pip", str(tmp_path / "e")], check=True)
    [packages] = (tmp_path / "e").glob("lib/python*/site-packages")
    (packages / "sitecustomize.py").write_text("import builtins; builtins.MARK = 'ran'")
    python = str(tmp_path / "e" / "bin" / "python")
    if subprocess.run([python, "-c", "MARK"], capture_output=True, check=False).returncode != 0:
        pytest.skip("this Python brings a sitecustomize of its own, which hides that of environments (Debian's does)")
    fake_master.spec.submitter_python = python
    fake_master.spec.entrypoint = ["python3", "-c", "print(MARK)"]
    assert runner.start().finish().code == 0
    assert fake_master.texts() == ["ran"]
