"""CI's second look at what failed: it forgives a moment, never a defect, and says what it forgave."""

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[3] / "scripts" / "pytest_once_more.sh"
GOOD = "def test_good(): pass\n"
BAD = "def test_bad(): assert False\n"
UNSTEADY = """
from pathlib import Path
def test_unsteady():
    seen = Path(__file__).with_suffix(".seen")
    assert seen.exists() or seen.touch()
"""


def run(where: Path, *sources: str, workers: int = 0) -> tuple[int, str]:
    for number, source in enumerate(sources):
        (where / f"test_{number}.py").write_text(source)
    venv = Path(sys.executable).parents[1]
    command = ["sh", str(SCRIPT), "-q", "-n", str(workers), "."]
    done = subprocess.run(command, check=False, cwd=where, env={"VENV": str(venv)}, capture_output=True, text=True)
    return done.returncode, done.stdout


def test_all_pass(tmp_path: Path) -> None:
    code, said = run(tmp_path, GOOD, GOOD)
    assert code == 0
    assert "Once more" not in said


def test_one_that_passes_alone_is_named(tmp_path: Path) -> None:
    code, said = run(tmp_path, GOOD, UNSTEADY, workers=2)
    assert code == 0
    assert "1 failed, 1 passed" in said
    assert said.splitlines()[-1] == "UNSTEADY test_1.py::test_unsteady"


def test_one_that_fails_again_is_red(tmp_path: Path) -> None:
    code, said = run(tmp_path, GOOD, UNSTEADY, BAD)
    assert code == 1
    assert "1 failed, 1 passed" in said.splitlines()[-1]
    assert "UNSTEADY" not in said


def test_more_than_three_are_red_at_once(tmp_path: Path) -> None:
    code, said = run(tmp_path, UNSTEADY, UNSTEADY, UNSTEADY, UNSTEADY)
    assert code == 1
    assert "Once more" not in said


@pytest.mark.parametrize(("sources", "code"), [([], 5), (["import no_such_module\n"], 2)])
def test_no_test_and_one_that_cannot_be_read_are_red(tmp_path: Path, sources: list[str], code: int) -> None:
    assert run(tmp_path, *sources)[0] == code
