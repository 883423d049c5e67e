"""What starts the copy of a task's last events, and what it does when that goes wrong."""

import os
import signal
import stat
import subprocess
from pathlib import Path
from typing import Any

import pytest

from determined.exec import event_files
from determined.exec.runner import command, event_file_upload, process_tree
from determined.rundir.event_files import Destination, Ledger, read_ledger
from determined.rundir.layout import RunDir


@pytest.fixture(autouse=True)
def _patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_file_upload, "_COPY_SECONDS", 60.0)


@pytest.fixture
def run_dir(tmp_path: Path) -> RunDir:
    """Of a task that began, with variables of its own."""
    made = RunDir(tmp_path / "run")
    made.create()
    made.model.mkdir(parents=True)
    made.workdir.mkdir()
    variables = {"PATH": "/usr/bin:/bin", "DET_WORKDIR": str(made.workdir), "AWS_ACCESS_KEY_ID": "the task's"}
    command.keep_exported(made, variables)
    return made


def note(run_dir: RunDir, script: str, section: dict[str, str] | None = None) -> Ledger:
    """A file that is not stored, and a Python of the task that is this shell script."""
    python = run_dir.path / "python"
    python.write_text(f"#!/bin/sh\n{script}\n")
    python.chmod(0o700)
    directory = run_dir.event_files(0)
    directory.mkdir(parents=True)
    (directory / "events").write_text("1")
    ledger = Ledger(
        directory, Destination(section or {"type": "directory"}, None, "p", str(python), str(run_dir.workdir))
    )
    ledger.keep()
    return ledger


def copied(run_dir: RunDir) -> list[str]:
    said: list[str] = []
    event_file_upload.copy_last_events(run_dir, said.append)
    return said


def test_the_task_s_own_python_copies_with_the_task_s_variables_where_the_task_ran(run_dir: RunDir) -> None:
    note(run_dir, 'echo "$* $AWS_ACCESS_KEY_ID" > called')
    assert copied(run_dir) == []
    called = (run_dir.workdir / "called").read_text()
    assert called == f"-P -m determined.exec.event_files {run_dir.event_files(0)} the task's\n"


def test_a_storage_that_hangs_is_left_behind(run_dir: RunDir, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[subprocess.Popen[Any]] = []

    class Kept(subprocess.Popen):  # type: ignore[type-arg]
        def __init__(self, *words: Any, **how: Any) -> None:
            super().__init__(*words, **how)
            started.append(self)

    monkeypatch.setattr(subprocess, "Popen", Kept)
    monkeypatch.setattr(event_file_upload, "_COPY_SECONDS", 0.2)
    note(run_dir, "sleep 600 & wait")
    [said] = copied(run_dir)
    assert "has not taken them within 0.2 s" in said
    [left] = started
    assert left.wait(60) == -signal.SIGKILL
    assert left.pid not in process_tree.descendants(os.getpid())


def test_the_last_line_of_what_failed_is_told(run_dir: RunDir) -> None:
    note(run_dir, "echo first; echo the bucket is gone >&2; echo; exit 1")
    [said] = copied(run_dir)
    assert said.endswith("after the end of the task: the bucket is gone")


def test_a_python_that_is_gone_is_told(run_dir: RunDir) -> None:
    note(run_dir, "")
    (run_dir.path / "python").unlink()
    [said] = copied(run_dir)
    assert "No such file" in said


@pytest.mark.parametrize("why", ["all is stored", "nobody has promised it", "the note is spoilt"])
def test_nothing_is_started_when_there_is_nothing_to_copy(run_dir: RunDir, why: str) -> None:
    ledger = note(run_dir, "touch called")
    noted = run_dir.path / "tensorboard" / "0.json"
    if why == "all is stored":
        status = (ledger.directory / "events").stat()
        ledger.sent["events"] = (status.st_size, status.st_mtime_ns)
        ledger.keep()
    elif why == "nobody has promised it":
        noted.unlink()
    else:
        noted.write_text('{"sent": 1}')
    assert copied(run_dir) == []
    assert not (run_dir.workdir / "called").exists()


def test_only_what_has_changed_is_copied_and_the_note_is_for_its_user_alone(run_dir: RunDir, tmp_path: Path) -> None:
    ledger = note(run_dir, "", {"type": "directory", "container_path": str(tmp_path / "store")})
    assert event_files.main([str(ledger.directory)]) == 0
    (tmp_path / "store/p/events").write_text("as it was copied")
    (ledger.directory / "later").write_text("2")
    assert event_files.main([str(ledger.directory)]) == 0
    assert (tmp_path / "store/p/events").read_text() == "as it was copied"
    assert (tmp_path / "store/p/later").read_text() == "2"
    found = read_ledger(ledger.directory)
    assert found is not None
    assert sorted(found.sent) == ["events", "later"]
    assert stat.S_IMODE((run_dir.path / "tensorboard" / "0.json").stat().st_mode) == 0o600


def test_a_storage_without_a_driver_is_told(run_dir: RunDir, capsys: pytest.CaptureFixture[str]) -> None:
    ledger = note(run_dir, "", {"type": "of another time"})
    assert event_files.main([str(ledger.directory)]) == 1
    assert "'of another time' is unknown" in capsys.readouterr().err


def test_a_relative_storage_of_an_earlier_release_is_told(run_dir: RunDir, capsys: pytest.CaptureFixture[str]) -> None:
    ledger = note(run_dir, "", {"type": "directory", "container_path": "store"})
    assert event_files.main([str(ledger.directory)]) == 1
    assert "must be absolute, not `store`" in capsys.readouterr().err


def test_the_variables_of_a_task_are_for_its_user_alone(run_dir: RunDir) -> None:
    exported = run_dir.path / "train" / "exported"
    assert stat.S_IMODE(exported.stat().st_mode) == 0o600
    exported.unlink()
    shell = command.write_script(run_dir, [], ["true"])
    run_dir.hooks_done.write_text("")
    run_dir.hooks_go.write_text("go")
    command.write_rendezvous(run_dir, {})
    subprocess.run(shell, check=True, env={"PATH": "/usr/bin:/bin", "TOKEN": "secret"})
    assert command.exported(run_dir)["TOKEN"] == "secret"
    assert stat.S_IMODE(exported.stat().st_mode) == 0o600
