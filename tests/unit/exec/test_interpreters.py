"""Interpreter of a task: broken ones are passed over with one line that says why, and what a task finds on its PATH."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from determined._version import __version__
from determined.environments import interpreter as facts
from determined.environments.interpreter import Interpreter
from determined.exec.runner import interpreter
from determined.rundir.layout import RunDir


@pytest.fixture
def run_dir(tmp_path: Path) -> RunDir:
    made = RunDir(tmp_path / "run")
    made.create()
    return made


def program(path: Path, text: str, mode: int = 0o755) -> str:
    path.write_text(text)
    path.chmod(mode)
    return str(path)


def chosen(*candidates: str | None) -> tuple[Interpreter, list[tuple[str, str]]]:
    said: list[tuple[str, str]] = []
    found = interpreter.choose(((path, "of the test") for path in candidates), lambda *line: said.append(line))
    return found, said


BROKEN = {
    "fails": ("#!/bin/sh\necho 'ImportError: no encodings' >&2\nexit 1\n", "status 1: ImportError: no encodings"),
    "fails silently": ("#!/bin/sh\nexit 3\n", "status 3"),
    "is killed": ("#!/bin/sh\nkill -9 $$\n", "status -9"),
    "says nothing": ("#!/bin/sh\n", "it does not answer as Python does"),
    "says something else": ("#!/bin/sh\necho hello\n", "it does not answer as Python does"),
    "answers no object": ("#!/bin/sh\necho 7\n", "it does not answer as Python does"),
    "answers nothing of it": ("#!/bin/sh\necho '{}'\n", "it does not answer as Python does"),
    "answers null": ("#!/bin/sh\necho null\n", "it does not answer as Python does"),
    "is no program": ("just text", "Exec format error"),
    "has no interpreter": ("#!/no/such/shell\n", "No such file or directory"),
}


@pytest.mark.parametrize(("text", "reason"), BROKEN.values(), ids=BROKEN.keys())
def test_an_interpreter_that_does_not_work_is_passed_over_with_its_reason(
    tmp_path: Path, text: str, reason: str
) -> None:
    path = program(tmp_path / "python3", text)
    found, [(level, line)] = chosen(path)
    assert found.path == sys.executable
    assert level == "WARNING"
    assert line.startswith(f"{path} (of the test) does not work as a Python interpreter ({reason})")
    assert "Using instead: Python 3." in line and line.endswith(interpreter.NODES_OWN)
    assert "import importlib" not in line, "the program that it was given is not for people"


def test_an_interpreter_that_hangs_is_not_waited_for_longer_than_the_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(facts, "_ANSWER_SECONDS", 0.2)
    _, [(_, line)] = chosen(program(tmp_path / "python3", "#!/bin/sh\nexec sleep 600\n"))
    assert "does not work as a Python interpreter (no answer within 0.2 s)" in line


@pytest.mark.parametrize("kind", ["absent", "directory", "not executable", "dangling link"])
def test_a_path_where_no_program_is_is_said_to_be_absent(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "python3"
    if kind == "directory":
        path.mkdir()
    elif kind == "not executable":
        program(path, "#!/bin/sh\n", 0o644)
    elif kind == "dangling link":
        path.symlink_to("nowhere")
    _, [(_, line)] = chosen(str(path))
    assert f"{path} (of the test) is not on this node." in line


def test_all_that_failed_are_named_and_the_first_that_works_is_used(tmp_path: Path) -> None:
    broken = program(tmp_path / "broken", "#!/bin/sh\nexit 1\n")
    working = program(tmp_path / "python3", f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    found, [(level, line), *_] = chosen(None, "", str(tmp_path / "none"), broken, working, sys.executable)
    assert found.path == working
    assert level == "WARNING"
    assert line.index("none (of the test)") < line.index("broken (of the test)") < line.index("Using instead")


def test_one_that_works_is_named_once_with_where_it_comes_from() -> None:
    found, said = chosen(sys.executable)
    assert said == [("INFO", f"Python {found.release}, {sys.executable}: of the test")]


def answered(**changes: object) -> Interpreter:
    return replace(facts.own(), **{"path": "/env/bin/python3", "has_pip": True} | changes)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("made", "level", "words"),
    [
        (answered(missing=("determined",)), "INFO", f"has no determined; using the node's own {__version__} instead"),
        (answered(upstream="0.38.1", missing=("determined",)), "WARNING", "has determined 0.38.1 installed"),
        (
            answered(missing=("yaml", "msgspec"), same_version=False), "WARNING",
            "install them there: /env/bin/python3 -m pip install pyyaml msgspec",
        ),
    ],
    ids=["no determined", "upstream's", "other Python without packages"],
)  # fmt: skip
def test_what_an_interpreter_lacks_is_said_with_what_to_do(made: Interpreter, level: str, words: str) -> None:
    said: list[tuple[str, str]] = []
    interpreter._report_missing_packages(made, lambda *line: said.append(line))
    ((found, line),) = said
    assert found == level and words in line


def test_packages_of_the_same_python_are_lent_without_a_word() -> None:
    said: list[tuple[str, str]] = []
    interpreter._report_missing_packages(answered(missing=("msgspec",)), lambda *line: said.append(line))
    assert said == []


def test_a_virtual_environment_gets_packages_into_the_run_directory_and_replaces_nothing(run_dir: RunDir) -> None:
    made = answered(venv=True, packages=(f"{facts.PREFIX}/lib/python3.11/site-packages",))
    variables = interpreter.install(made, run_dir)
    prefix = run_dir.userbase / "packages"
    assert variables["PIP_PREFIX"] == str(prefix) and variables["PIP_IGNORE_INSTALLED"] == "1"
    assert variables["VIRTUAL_ENV"] == "/env" and "PIP_USER" not in variables
    search = variables["PYTHONPATH"].split(":")
    assert search == [str(run_dir.site), f"{prefix}/lib/python3.11/site-packages"]
    assert variables["PATH"].split(":") == [str(prefix / "bin"), str(run_dir.bin), "/env/bin"]


def test_a_python_with_user_packages_installs_for_the_user_and_sees_those_of_the_home(run_dir: RunDir) -> None:
    variables = interpreter.install(answered(venv=False, user_site="/home/ann/.local/lib"), run_dir)
    assert variables["PIP_USER"] == "1" and "PIP_PREFIX" not in variables and "VIRTUAL_ENV" not in variables
    assert variables["PYTHONPATH"].split(":") == [str(run_dir.site), "/home/ann/.local/lib"]
    assert variables["PYTHONUSERBASE"] == str(run_dir.userbase)


def test_packages_that_are_lent_come_after_the_interpreters_own(run_dir: RunDir) -> None:
    made = answered(venv=False, user_site="/u", missing=("determined", "msgspec"), support="/support")
    search = interpreter.install(made, run_dir)["PYTHONPATH"].split(":")
    assert search[1:] == ["/u", str(run_dir.linked_packages), "/support"]
    assert sorted(path.name for path in run_dir.linked_packages.iterdir()) == ["determined", "msgspec"]


def test_a_python_without_pip_gets_the_newest_that_it_brings_along(run_dir: RunDir, tmp_path: Path) -> None:
    wheels = tmp_path / "_bundled"
    wheels.mkdir()
    for release in ("23.2.1", "24.0"):
        (wheels / f"pip-{release}-py3-none-any.whl").touch()
    variables = interpreter.install(answered(has_pip=False, wheels=str(wheels)), run_dir)
    assert variables["PYTHONPATH"].split(":")[-1] == str(wheels / "pip-24.0-py3-none-any.whl")


def test_names_of_python_and_pip_start_this_interpreter_whatever_is_on_the_path(
    tmp_path: Path, run_dir: RunDir
) -> None:
    home = tmp_path / "a dir"
    home.mkdir()
    path = program(home / "python3.99", '#!/bin/sh\necho "ran $0 with $*"\n')
    interpreter.install(replace(facts.own(), path=path), run_dir)
    for name in ("python", "python3"):
        done = subprocess.run([run_dir.bin / name, "-c", "x y"], capture_output=True, text=True, check=True)
        assert done.stdout == f"ran {path} with -c x y\n"
    assert {entry.name for entry in run_dir.bin.iterdir()} == {"python", "python3", "pip", "pip3", "det"}
    assert all(entry.stat().st_mode & 0o777 == 0o700 for entry in run_dir.bin.iterdir())


def test_a_pip_that_is_nowhere_says_which_python_lacks_it(tmp_path: Path, run_dir: RunDir) -> None:
    path = program(tmp_path / "python3", "#!/bin/sh\nexit 1\n")
    interpreter.install(replace(facts.own(), path=path), run_dir)
    done = subprocess.run([run_dir.bin / "pip", "install", "x"], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith(f"ERROR: the Python of this task, {path}, has no pip")


def test_the_answer_of_a_real_interpreter_is_what_it_says_of_itself() -> None:
    answer = facts.ask(sys.executable)
    mine = facts.own()
    found = Interpreter.answered(sys.executable, json.loads(json.dumps(answer)))
    assert (found.release, found.prefix, found.venv, found.same_version) == (mine.release, mine.prefix, mine.venv, True)
