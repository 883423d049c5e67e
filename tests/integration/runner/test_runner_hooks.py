"""startup-hook.sh and the cluster's hook: sourced in the shell that becomes the entrypoint."""

import base64
import hashlib
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from fake_master import FakeMaster, RunnerUnderTest, eventually

from determined._version import __version__
from determined.wire.report import ExitCause

HELPER = "VALUE = 'from the installed package'\n"


def make_wheel(directory: Path) -> Path:
    """A tiny package, built by hand: the test machine has no network for build tools."""
    wheel = directory / "tiny_task_dep-1.0-py3-none-any.whl"
    info = "tiny_task_dep-1.0.dist-info"
    files = {
        "tiny_task_dep.py": HELPER,
        f"{info}/METADATA": "Metadata-Version: 2.1\nName: tiny-task-dep\nVersion: 1.0\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/entry_points.txt": "[console_scripts]\ntiny-tool = tiny_task_dep:main\n",
    }
    record = [f"{name},sha256={_hash(text)},{len(text)}" for name, text in files.items()]
    files[f"{info}/RECORD"] = "\n".join([*record, f"{info}/RECORD,,"]) + "\n"
    with zipfile.ZipFile(wheel, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return wheel


def _hash(text: str) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()


def test_exports_directory_and_umask_of_hooks_reach_the_entrypoint(
    fake_master: FakeMaster, runner: RunnerUnderTest
) -> None:
    fake_master.spec.startup_hook = "export CLUSTER=one; umask 027"
    fake_master.files = {"startup-hook.sh": "export OWN=$CLUSTER-two\nmkdir sub\ncd sub\necho hooked\n"}
    fake_master.spec.entrypoint = ["sh", "-c", 'echo "$CLUSTER $OWN $(umask) $(basename $PWD)"']
    assert runner.start().finish().code == 0
    assert fake_master.texts() == ["hooked", "one one-two 0027 sub"]


def test_string_entrypoint_with_quotes_survives_the_hook_script(
    fake_master: FakeMaster, runner: RunnerUnderTest
) -> None:
    fake_master.files = {"startup-hook.sh": "set -- other arguments\n"}
    fake_master.spec.entrypoint = """printf '%s\\n' "it's" '$HOME' && exit 4"""
    assert runner.start().finish().code == 4
    assert fake_master.texts() == ["it's", "$HOME"]


def test_failing_command_in_a_hook_fails_the_task_before_its_entrypoint(
    fake_master: FakeMaster, runner: RunnerUnderTest
) -> None:
    fake_master.files = {"startup-hook.sh": "echo before\nsh -c 'exit 9'\necho after\n"}
    fake_master.spec.entrypoint = "echo entrypoint"
    told = runner.start().finish()
    assert (told.cause, told.code) == (ExitCause.FAILED, 9)
    assert fake_master.texts() == ["before"]
    assert "startup hook failed" in told.message


def test_trial_meets_the_others_after_its_hooks(
    fake_master: FakeMaster, runner: RunnerUnderTest, tmp_path: Path
) -> None:
    fake_master.spec.task_type, fake_master.spec.trial_id, fake_master.spec.experiment_id = "TRIAL", 1, 1
    fake_master.spec.config = {}
    fake_master.files = {"startup-hook.sh": "echo hooked"}
    fake_master.spec.entrypoint = "echo chief $DET_CHIEF_IP"
    fake_master.rendezvous_open.clear()
    runner.start()
    eventually(lambda: fake_master.texts() == ["hooked"])
    assert "RUNNING" not in fake_master.phases()
    fake_master.rendezvous_open.set()
    assert runner.finish().code == 0
    assert fake_master.texts() == ["hooked", "chief 127.0.0.1"]


def test_entrypoint_not_found_after_a_hook_is_status_127(fake_master: FakeMaster, runner: RunnerUnderTest) -> None:
    fake_master.files = {"startup-hook.sh": "true"}
    fake_master.spec.entrypoint = ["no-such-program"]
    told = runner.start().finish()
    assert (told.cause, told.code) == (ExitCause.EXITED, 127)


@pytest.fixture(scope="module")
def venv_python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A virtual environment with pip, as a user has one: it cannot import determined."""
    place = tmp_path_factory.mktemp("user-venv")
    subprocess.run([sys._base_executable, "-m", "venv", str(place)], check=True, stdout=subprocess.DEVNULL)
    return place / "bin" / "python"


def pip_task(master: FakeMaster, python: Path, wheel: Path) -> None:
    master.spec.submitter_python = str(python)
    install = f"pip install --no-index --no-warn-script-location --quiet {wheel}"
    master.files = {
        "startup-hook.sh": install,
        "show.py": "import sys, tiny_task_dep, determined._info\n"
        "print(tiny_task_dep.VALUE)\nprint(tiny_task_dep.__file__)\nprint(sys.prefix)\n",
    }
    master.spec.entrypoint = "python3 show.py && command -v tiny-tool"


def test_pip_in_a_hook_installs_into_the_run_directory_of_a_venv_task(
    fake_master: FakeMaster, runner: RunnerUnderTest, venv_python: Path, tmp_path: Path
) -> None:
    before = sorted(venv_python.parent.parent.rglob("*tiny*"))
    pip_task(fake_master, venv_python, make_wheel(tmp_path))
    told = runner.start().finish()
    assert told.code == 0, fake_master.texts()
    value, place, prefix, tool = fake_master.texts()
    assert value == "from the installed package"
    assert Path(place).is_relative_to(runner.dir.userbase)
    assert Path(tool).is_relative_to(runner.dir.userbase)
    assert prefix == str(venv_python.parent.parent)
    assert sorted(venv_python.parent.parent.rglob("*tiny*")) == before == []


def test_venv_without_determined_uses_the_nodes_own(
    fake_master: FakeMaster, runner: RunnerUnderTest, venv_python: Path
) -> None:
    fake_master.spec.submitter_python = str(venv_python)
    fake_master.spec.entrypoint = ["python3", "-c", "import determined.wire.report as r; print(r.__name__)"]
    told = runner.start().finish()
    assert told.code == 0, fake_master.texts()
    [said] = [text for text in fake_master.texts("agent") if "determined" in text and "Python" not in text]
    assert said == f"{venv_python} has no determined; using the node's own {__version__} instead"


def test_upstreams_determined_in_a_venv_is_told_apart_and_not_used(
    fake_master: FakeMaster, runner: RunnerUnderTest, tmp_path: Path
) -> None:
    place = tmp_path / "venv"
    subprocess.run([sys._base_executable, "-m", "venv", "--without-pip", str(place)], check=True)
    [packages] = place.glob("lib/python*/site-packages")
    (packages / "determined").mkdir()
    (packages / "determined" / "__init__.py").write_text("")
    (packages / "determined-0.38.1.dist-info").mkdir()
    (packages / "determined-0.38.1.dist-info" / "METADATA").write_text("Name: determined\nVersion: 0.38.1\n")
    fake_master.spec.submitter_python = str(place / "bin" / "python")
    fake_master.spec.entrypoint = ["python3", "-c", "import determined.wire.report as r; print(r.__name__)"]
    told = runner.start().finish()
    assert told.code == 0, fake_master.texts()
    [said] = [line for line in fake_master.lines("agent") if "0.38.1" in line.text]
    assert said.level == "WARNING"
    assert "upstream's" in said.text and f"using the node's own determined {__version__} instead" in said.text
    assert "pip install determined" not in " ".join(fake_master.texts("agent"))


def test_pip_in_a_hook_installs_into_the_run_directory_without_a_venv(
    fake_master: FakeMaster, runner: RunnerUnderTest, tmp_path: Path
) -> None:
    python = Path(sys._base_executable)
    pip_task(fake_master, python, make_wheel(tmp_path))
    told = runner.start().finish()
    assert told.code == 0, fake_master.texts()
    value, place, _, tool = fake_master.texts()
    assert value == "from the installed package"
    assert Path(place).is_relative_to(runner.dir.userbase)
    assert Path(tool).is_relative_to(runner.dir.userbase)


BACKEND = """
import base64, hashlib, zipfile
import tiny_task_dep  # from the build's own environment

def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    name, info = "built_here-1.0-py3-none-any.whl", "built_here-1.0.dist-info"
    with zipfile.ZipFile(f"{wheel_directory}/{name}", "w") as wheel:
        wheel.writestr("built_here.py", f"VALUE = 'built with {tiny_task_dep.__name__}'\\n")
        wheel.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\\nName: built-here\\nVersion: 1.0\\n")
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
        wheel.writestr(f"{info}/RECORD", "")
    return name
"""
PROJECT = """
[build-system]
requires = ["tiny-task-dep"]
build-backend = "backend"
backend-path = ["."]
[project]
name = "built-here"
version = "1.0"
"""


def test_source_package_in_a_hook_is_built_by_the_pip_that_pip_starts(
    fake_master: FakeMaster, runner: RunnerUnderTest, venv_python: Path, tmp_path: Path
) -> None:
    wheel = make_wheel(tmp_path)
    fake_master.spec.submitter_python = str(venv_python)
    fake_master.files = {
        "startup-hook.sh": f"pip install --no-index --find-links {wheel.parent} --quiet ./source",
        "source/pyproject.toml": PROJECT,
        "source/backend.py": BACKEND,
        "show.py": "import built_here\nprint(built_here.VALUE)\nprint(built_here.__file__)\n",
    }
    fake_master.spec.entrypoint = "python3 show.py"
    told = runner.start().finish()
    assert told.code == 0, fake_master.texts()
    value, place = fake_master.texts()
    assert value == "built with tiny_task_dep"
    assert Path(place).is_relative_to(runner.dir.userbase)


def test_environment_without_pip_is_given_one(fake_master: FakeMaster, runner: RunnerUnderTest, tmp_path: Path) -> None:
    bare = tmp_path / "bare"
    subprocess.run([sys._base_executable, "-m", "venv", "--without-pip", str(bare)], check=True)
    pip_task(fake_master, bare / "bin" / "python", make_wheel(tmp_path))
    told = runner.start().finish()
    assert told.code == 0, fake_master.texts()
    value, place, prefix, _ = fake_master.texts()
    assert value == "from the installed package"
    assert Path(place).is_relative_to(runner.dir.userbase)
    assert prefix == str(bare)
