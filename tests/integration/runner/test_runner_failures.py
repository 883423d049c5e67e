"""Tasks that cannot start or that fail: the exit says why, in words for the user."""

import os
import tarfile
from io import BytesIO
from pathlib import Path

import pytest
from fake_master import FakeMaster, RunnerUnderTest, trial

from determined.wire.report import Exit, ExitCause


def two_of_a_name() -> bytes:
    buffer = BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for name in ("data", "data/train.csv"):
            archive.addfile(tarfile.TarInfo(name), BytesIO())
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda whole: whole[: len(whole) // 2], "the context archive cannot be read"),
        (lambda whole: whole[:12] + bytes(20) + whole[32:], "the context archive cannot be read"),
        (lambda whole: two_of_a_name(), "a file and a directory of one name"),
    ],
    ids=["cut", "overwritten", "contradicts itself"],
)  # fmt: skip
def test_context_that_cannot_be_unpacked_is_a_failure_with_its_reason_and_no_lost_runner(
    fake_master: FakeMaster, runner: RunnerUnderTest, monkeypatch: pytest.MonkeyPatch, damage: object, words: str
) -> None:
    fake_master.files = {"train.py": "print('never runs')\n" * 100}
    whole = fake_master.context()
    monkeypatch.setattr(fake_master, "context", lambda: damage(whole))  # type: ignore[operator]
    fake_master.spec.entrypoint = "python3 train.py"
    told = runner.start().finish()
    assert (told.cause, told.code) == (ExitCause.FAILED, 1)
    assert words in told.message and "submit it again" in told.message
    assert fake_master.texts() == []


def test_python_that_is_broken_is_passed_over_in_one_line_and_the_task_runs(
    fake_master: FakeMaster, runner: RunnerUnderTest, tmp_path: Path
) -> None:
    broken = tmp_path / "python3"
    broken.write_text("#!/bin/sh\necho 'Fatal Python error: init_fs_encoding' >&2\nexit 1\n")
    broken.chmod(0o755)
    fake_master.spec.environment = [f"DET_PYTHON_EXECUTABLE={broken}"]
    fake_master.spec.entrypoint = ["python3", "-c", "print('ran')"]
    assert runner.start().finish().code == 0
    assert fake_master.texts() == ["ran"]
    (line,) = [line for line in fake_master.texts("agent") if "does not work as a Python interpreter" in line]
    assert "(status 1: Fatal Python error: init_fs_encoding). Using instead: Python 3." in line


def test_path_of_the_node_that_is_not_utf_8_reaches_the_task(fake_master: FakeMaster, runner: RunnerUnderTest) -> None:
    odd = b"/home/jos\xe9/bin".decode(errors="surrogateescape")
    fake_master.spec.entrypoint = ["python3", "-c", "import os; print(os.environb[b'PATH'].endswith(b'jos\\xe9/bin'))"]
    told = runner.start(PATH=f"{os.environ['PATH']}:{odd}").finish()
    assert (told.cause, told.code) == (ExitCause.EXITED, 0)
    assert fake_master.texts() == ["True"]


def failed(master: FakeMaster, runner: RunnerUnderTest, source: str) -> Exit:
    master.files = {"train.py": source}
    master.spec.entrypoint = "python3 train.py"
    return runner.start().finish()


def test_exception_of_a_script_is_the_reason_with_the_line_and_what_helps(
    fake_master: FakeMaster, runner: RunnerUnderTest
) -> None:
    told = failed(fake_master, runner, "def load():\n    open('data/train.csv')\n\nload()\n")
    first, what, where, _, fix = told.message.split("\n")
    assert (told.cause, told.code, first) == (ExitCause.EXITED, 1, "the entrypoint exited with status 1")
    assert what == "what: FileNotFoundError: [Errno 2] No such file or directory: 'data/train.csv'"
    assert where == "where: train.py, line 2, in load: open('data/train.csv')"
    assert fix.startswith("fix: put the file into that directory")


def test_exception_of_a_class_within_a_function_is_the_reason_too(
    fake_master: FakeMaster, runner: RunnerUnderTest
) -> None:
    source = "def run():\n    class Diverged(Exception): pass\n    raise Diverged('loss is nan')\nrun()\n"
    told = failed(fake_master, runner, source)
    assert "Diverged: loss is nan\nwhere: train.py, line 3, in run" in told.message


def test_script_that_exits_by_itself_is_explained_by_its_status_and_last_line(
    fake_master: FakeMaster, runner: RunnerUnderTest
) -> None:
    told = failed(fake_master, runner, "import sys; sys.exit('no data today')")
    assert (told.code, told.message) == (
        1,
        "the entrypoint exited with status 1; last line of its stderr: no data today",
    )
    assert fake_master.texts() == ["no data today"]


def test_import_from_an_own_package_is_explained_by_the_own_file(
    fake_master: FakeMaster, runner: RunnerUnderTest
) -> None:
    fake_master.files = {"train.py": "import pkg.gone\n", "pkg/__init__.py": ""}
    fake_master.spec.entrypoint = "python3 train.py"
    told = runner.start().finish()
    assert "\ncause: 'pkg' is your own" in told.message and "has no 'pkg.gone'" in told.message


def test_hostile_last_line_is_harmless_in_the_reason(fake_master: FakeMaster, runner: RunnerUnderTest) -> None:
    source = "import os\nos.write(2, b'\\x1b[31m\\xff\\x00 db://u:pw@h ' + b'A' * 5000)\nos._exit(9)\n"
    told = failed(fake_master, runner, source)
    assert told.message.startswith(
        "the entrypoint exited with status 9; last line of its stderr: \ufffd  db://u:***@h A"
    )
    assert len(told.message) < 1000 and "\x1b" not in told.message


def test_results_left_in_the_working_directory_are_named(
    fake_master: FakeMaster, runner: RunnerUnderTest, tmp_path: Path
) -> None:
    trial(fake_master, tmp_path)
    fake_master.spec.address = "127.0.0.1"
    fake_master.spec.entrypoint = "mkdir out && echo weights > out/model.pt"
    assert runner.start().finish().code == 0
    (line,) = [line for line in fake_master.texts("agent") if "the working directory is deleted now" in line]
    assert "out/model.pt (8 B)" in line and "store_path" in line


def test_bytes_that_are_not_utf_8_and_endless_lines_arrive(fake_master: FakeMaster, runner: RunnerUnderTest) -> None:
    code = "import os; os.write(1, b'caf\\xe9\\n'); os.write(1, b'x' * 20000); os.write(2, b'\\nlast')"
    fake_master.spec.entrypoint = ["python3", "-c", code]
    assert runner.start().finish().code == 0
    texts = fake_master.texts()
    assert "caf\ufffd" in texts and "last" in texts
    long = [text for text in texts if text.startswith("x")]
    assert "".join(long) == "x" * 20000 and len(long) > 1
