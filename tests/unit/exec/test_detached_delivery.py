"""Delivery process of detached mode: whose directories it takes over, and whose event files it reads."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from determined.constants import ENV_RUN_DIR
from determined.core.detached import directory
from determined.core.detached.directory import DeliveryProcess
from determined.exec.detached import abandoned
from determined.exec.detached.event_owner import EventOwner, writer_of
from determined.exec.detached.event_watch import EventWatch
from determined.rundir import detached
from determined.rundir.control import Control
from determined.rundir.detached import DetachedFile, RunEnd
from determined.rundir.layout import RunDir
from determined.rundir.lock import hold
from determined.rundir.process_identity import start_time

LATER = 3600.0


def made(path: Path, **fields: Any) -> RunDir:
    run_dir = RunDir(path)
    run_dir.create()
    detached.write(run_dir, DetachedFile(master_url="http://m", token="t", trial_id=1, run_id=1, **fields))
    return run_dir


@pytest.fixture
def other() -> Iterator["subprocess.Popen[bytes]"]:
    """A process that lives until the end of the test."""
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        yield process
        process.kill()


def taken(directory: Path) -> list[str]:
    return [each.path.name for each in abandoned.abandoned(directory, time.time() + LATER)]


def test_a_living_run_is_not_taken_over(tmp_path: Path, other: "subprocess.Popen[bytes]") -> None:
    made(tmp_path / "living", owner=other.pid, owner_started=start_time(other.pid))
    made(tmp_path / "later", owner=other.pid, owner_started="another boot/1")
    made(tmp_path / "unknown")
    ended = made(tmp_path / "ended", owner=other.pid, owner_started=start_time(other.pid))
    detached.write_end(ended, RunEnd(state="ERROR", message=""))
    assert taken(tmp_path) == ["ended", "later", "unknown"]
    other.kill()
    assert os.waitid(os.P_PID, other.pid, os.WEXITED | os.WNOWAIT) is not None
    assert "living" in taken(tmp_path), "a process that has ended is not alive before its parent knows"


def test_a_directory_that_is_removed_meanwhile_does_not_end_the_taking(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[str] = []
    monkeypatch.setattr(subprocess, "call", lambda words, **_: started.append(words[-1]))
    there = made(tmp_path / "there")
    monkeypatch.setattr(abandoned, "abandoned", lambda *_: [RunDir(tmp_path / "gone"), there])
    abandoned.take_over(tmp_path)
    assert started == [str(there.path)]


def test_the_end_of_a_run_whose_directory_is_gone_is_not_delivered(tmp_path: Path) -> None:
    run_dir = made(tmp_path / "run")
    delivery = started_delivery(run_dir)
    run_dir.path.rename(tmp_path / "elsewhere")
    assert not ended(delivery)


def test_a_fault_in_the_last_look_for_event_files_is_no_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run_dir = made(tmp_path / "run")
    file = DetachedFile(master_url="", token="", trial_id=1, run_id=1, event_directories=[str(tmp_path)])
    watch = EventWatch(run_dir, file, Control.open(run_dir.control))

    def fail() -> None:
        raise RuntimeError("on purpose")

    monkeypatch.setattr(watch, "look", fail)
    watch.start()
    watch.finish()


def event_file(directory: Path, pid: int) -> Path:
    return directory / f"events.out.tfevents.1700000000.{os.uname().nodename}.{pid}.0"


def test_event_files_of_another_program_are_left_out(tmp_path: Path, other: "subprocess.Popen[bytes]") -> None:
    path = event_file(tmp_path, other.pid)
    assert EventOwner(RunDir(tmp_path), os.getpid()).is_ours(path), "a child writes it"
    foreign = EventOwner(RunDir(tmp_path), other.pid)
    assert not foreign.is_ours(event_file(tmp_path, os.getpid()))
    assert not EventOwner(RunDir(tmp_path), 2**22 + 1).is_ours(path)
    assert EventOwner(RunDir(tmp_path), 0).is_ours(path), "nothing is known of the owner"


def test_a_judgement_outlives_the_writer(tmp_path: Path, other: "subprocess.Popen[bytes]") -> None:
    judge, path = EventOwner(RunDir(tmp_path), 2**22 + 1), event_file(tmp_path, other.pid)
    assert not judge.is_ours(path)
    other.kill()
    other.wait()
    assert not judge.is_ours(path)
    assert EventOwner(RunDir(tmp_path), 2**22 + 1).is_ours(path), "its writer has ended before the first look"


def test_a_daemon_of_the_program_is_known_by_its_variable(tmp_path: Path) -> None:
    environment = dict(os.environ) | {ENV_RUN_DIR: str(tmp_path)}
    words = [sys.executable, "-c", "print(flush=True); input()"]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment) as daemon:
        assert daemon.stdout is not None and daemon.stdout.readline(), "its variables are in place"
        assert EventOwner(RunDir(tmp_path), 2**22 + 1).is_ours(event_file(tmp_path, daemon.pid))
        daemon.kill()


@pytest.mark.parametrize(
    ("rest", "pid"),
    [
        ("{host}.12.0", 12),
        ("{host}.12.0.v2", 12),
        ("{host}.12.3.suffix", 12),
        ("{host}", None),
        ("elsewhere.12.0", None),
    ],
)
def test_names_of_event_files_may_have_the_id_of_their_writer(rest: str, pid: int | None) -> None:
    name = "events.out.tfevents.1700000000." + rest.format(host=os.uname().nodename)
    assert writer_of(name) == pid


def started_delivery(run_dir: RunDir) -> DeliveryProcess:
    """Return a delivery whose process the test stands for: it delivers while the test holds the lock."""
    delivery = DeliveryProcess(run_dir)
    delivery._is_started = True
    return delivery


def ended(delivery: DeliveryProcess) -> bool:
    return delivery.finish(RunEnd(state="COMPLETED", message=""))


@pytest.fixture
def delivered(tmp_path: Path) -> Iterator[RunDir]:
    """A run directory that somebody delivers."""
    run_dir = made(tmp_path / "run")
    lock = hold(run_dir.lock)
    assert lock is not None
    yield run_dir
    lock.close()


def test_a_delivery_process_that_dies_is_named(tmp_path: Path) -> None:
    run_dir = made(tmp_path / "run")
    run_dir.lock.touch()
    delivery = started_delivery(run_dir)
    assert not ended(delivery)
    assert delivery.problem == "the delivery process has ended before its time; the next run delivers the rest"


def test_a_master_that_is_away_is_named(delivered: RunDir, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(directory, "_AWAY_SECONDS", 0.0)
    delivery = started_delivery(delivered)
    delivery._control.master_away = True
    assert not ended(delivery)
    assert delivery.problem is not None and delivery.problem.startswith("the master does not answer")


def test_a_long_wait_is_announced_and_its_end_is_no_absence(
    delivered: RunDir, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(directory, "_SILENT_SECONDS", 0.0)
    monkeypatch.setattr(directory, "_MOST_SECONDS", 0.2)
    delivery = started_delivery(delivered)
    assert not ended(delivery)
    assert [record.message[:45] for record in caplog.records] == ["waiting until the master has the last reports"]
    assert delivery.problem is not None and "delivery goes on in the background" in delivery.problem


def test_a_young_directory_is_taken_over_once_its_delivery_has_had_the_lock(tmp_path: Path) -> None:
    run_dir = made(tmp_path / "run")
    assert abandoned.abandoned(tmp_path, time.time()) == [], "its delivery process may be about to start"
    run_dir.lock.touch()
    assert abandoned.abandoned(tmp_path, time.time()) == [run_dir]
    lock = hold(run_dir.lock)
    assert lock is not None
    assert abandoned.abandoned(tmp_path, time.time()) == []
    lock.close()


def test_the_owner_is_known_where_there_is_no_proc(tmp_path: Path, other: "subprocess.Popen[bytes]") -> None:
    made(tmp_path / "run", owner=other.pid)
    assert taken(tmp_path) == []
    other.kill()
    other.wait()
    assert taken(tmp_path) == ["run"]


def test_a_delivery_leaves_when_the_master_never_returns(tmp_path: Path) -> None:
    run_dir = RunDir(tmp_path / "run")
    run_dir.create()
    detached.write(run_dir, DetachedFile(master_url="http://127.0.0.1:9", token="t", trial_id=1, run_id=1))
    code = (
        "import sys; from determined.exec.detached import delivery; delivery._PATIENCE_SECONDS = 0.2; "
        f"sys.exit(delivery.main([{str(run_dir.path)!r}]))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, "the next run delivers the rest" in done.stderr) == (1, True), done.stderr
    assert taken(tmp_path) == ["run"]
