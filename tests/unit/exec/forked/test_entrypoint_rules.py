"""Which entrypoints a fork can run, and why others cannot."""

from pathlib import Path

import pytest

from determined.exec.runner.command import entrypoint_argv
from determined.exec.runner.forked.entrypoint import NotForkable, Program, check_names, check_variables, program_of
from determined.rundir.layout import RunDir

RUN_DIR = RunDir(Path("/runs/r"))
TASK = {"PYTHONUNBUFFERED": "1", "PYTHONPATH": "/runs/r/site:/x", "PYTHONUSERBASE": "/runs/r/userbase", "LANG": "C"}
SERVER = {"PYTHONUNBUFFERED": "1", "LANG": "C", "HOME": "/root"}


def program(entrypoint: str | list[str], slots: int = 1) -> Program:
    return program_of(entrypoint, entrypoint_argv(entrypoint, slots))


@pytest.mark.parametrize(
    ("entrypoint", "file", "module", "arguments"),
    [
        (["python3", "train.py"], "train.py", None, ()),
        (["python", "-u", "a/b.py", "--lr", "1"], "a/b.py", None, ("--lr", "1")),
        (["/usr/bin/python3", "-m", "pack.train", "x"], None, "pack.train", ("x",)),
        ("python3 train.py --name 'two words' --x=1", "train.py", None, ("--name", "two words", "--x=1")),
        ("  python3 -m pack  ", None, "pack", ()),
        ("model_def:Trial", None, "determined.exec.harness", ("model_def:Trial",)),
    ],
)
def test_python_programs_are_recognised(
    entrypoint: str | list[str], file: str | None, module: str | None, arguments: tuple[str, ...]
) -> None:
    found = program(entrypoint)
    assert (found.file, found.module, found.arguments) == (file, module, arguments)


@pytest.mark.parametrize(
    "entrypoint",
    [
        "python3 train.py | tee log",
        "python3 train.py; echo done",
        "python3 train.py $HOME",
        "python3 train.py *.csv",
        "python3 train.py ~/data",
        "python3 train.py \\\n --x",
        "cd sub && python3 train.py",
        "X=1 python3 train.py",
        "python3 train.py 'unclosed",
    ],
)
def test_text_that_a_shell_would_change_needs_one(entrypoint: str) -> None:
    with pytest.raises(NotForkable, match="needs a shell"):
        program(entrypoint)


@pytest.mark.parametrize(
    "entrypoint",
    [
        ["python3"],
        ["python3", "-c", "pass"],
        ["python3", "-O", "train.py"],
        ["python3", "-m", "not a module"],
        ["python3", "train"],
        ["./run.sh"],
        ["sh", "-c", "python3 train.py"],
        ["bash", "-c", "python3 train.py"],
    ],
)
def test_anything_but_a_file_or_a_module_is_executed(entrypoint: list[str]) -> None:
    with pytest.raises(NotForkable, match="the entrypoint is not"):
        program(entrypoint)


def test_launchers_are_executed() -> None:
    with pytest.raises(NotForkable, match="a launcher"):
        program("model_def:Trial", slots=2)
    with pytest.raises(NotForkable, match="a launcher"):
        program("python3 -m determined.launch.torch_distributed python3 train.py")


def test_variables_of_a_usual_task_are_no_obstacle() -> None:
    check_variables(TASK | {"OMP_NUM_THREADS": "1"}, SERVER, RUN_DIR)


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"PYTHONHASHSEED": "0"}, "PYTHONHASHSEED"),
        ({"LD_PRELOAD": "/x.so"}, "LD_PRELOAD"),
        ({"LC_ALL": "C"}, "LC_ALL"),
        ({"LANG": "de_DE"}, "LANG"),
        ({"MALLOC_ARENA_MAX": "1"}, "MALLOC_ARENA_MAX"),
        ({"PYTHONPATH": "/mine:/runs/r/site:/x"}, "PYTHONPATH"),
        ({"PYTHONUSERBASE": "/mine"}, "PYTHONUSERBASE"),
        ({"PYTHONUNBUFFERED": ""}, "PYTHONUNBUFFERED"),
    ],
)
def test_variable_that_counts_at_the_start_needs_a_new_interpreter(changed: dict[str, str], named: str) -> None:
    with pytest.raises(NotForkable, match=named):
        check_variables(TASK | changed, SERVER, RUN_DIR)


def test_variable_that_the_server_alone_was_started_with_needs_one_too() -> None:
    with pytest.raises(NotForkable, match="LD_LIBRARY_PATH"):
        check_variables(TASK, SERVER | {"LD_LIBRARY_PATH": "/x"}, RUN_DIR)


@pytest.mark.parametrize("name", ["json.py", "json.pyc", "json.cpython-311-x86_64-linux-gnu.so", "json/__init__.py"])
def test_file_with_the_name_of_an_imported_module_needs_a_new_interpreter(tmp_path: Path, name: str) -> None:
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).touch()
    with pytest.raises(NotForkable, match=r"json.* has the name of a module that is imported already"):
        check_names([tmp_path], ["json", "json.decoder"])


def test_other_files_and_plain_directories_hide_nothing(tmp_path: Path) -> None:
    for name in ("train.py", "__main__.py", "decoder.py", "json.yaml"):
        (tmp_path / name).touch()
    (tmp_path / "json").mkdir()
    check_names([tmp_path, tmp_path / "missing"], ["__main__", "json", "json.decoder"])
