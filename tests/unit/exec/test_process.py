"""Processes of a task: their end, their orphans, their identity."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from determined.exec.runner import output, process_tree
from determined.exec.runner.log_sink import LogSink
from determined.exec.runner.output import OutputPipes
from determined.exec.runner.process import TaskProcess
from determined.exec.runner.termination import GRACE_SECONDS, Termination
from determined.rundir import process_identity
from determined.rundir.layout import RunDir
from determined.wire.report import ExitCause

HANG_SECONDS = 60.0
STUBBORN = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('up', flush=True); time.sleep(60)"


def start(tmp_path: Path, *argv: str) -> tuple[TaskProcess, LogSink]:
    sink = LogSink(_run_dir(tmp_path), lambda: None)
    return TaskProcess.execute(list(argv), dict(os.environ), tmp_path, OutputPipes(sink)), sink


def _run_dir(tmp_path: Path) -> RunDir:
    made = RunDir(tmp_path / "run")
    made.create()
    return made


def test_process_that_ignores_term_is_killed_at_the_deadline(tmp_path: Path) -> None:
    process, sink = start(tmp_path, sys.executable, "-c", STUBBORN)
    while sink.journal.committed == 0:
        time.sleep(0.01)
    ending = Termination()
    ending.request(ExitCause.KILLED, "told so")
    ending.deadline = time.monotonic() + 0.3
    process.end_when_wanted(ending)
    process.wait()
    assert process.status == 137


def test_a_signal_that_another_thread_was_given_is_heard_while_waiting(tmp_path: Path) -> None:
    """As of a process that is thawed after a pause: the kernel did not find its main thread ready."""
    ending = Termination()
    before = signal.signal(signal.SIGTERM, lambda *_: ending.request(ExitCause.KILLED, "told so"))
    try:
        process, sink = start(tmp_path, "sh", "-c", "echo up; exec sleep 60")
        process.end_when_wanted(ending)

        def tell() -> None:
            while sink.journal.committed == 0:
                time.sleep(0.01)
            time.sleep(0.3)  # the main thread most likely waits; it must hear it in any case
            signal.pthread_kill(threading.get_ident(), signal.SIGTERM)

        threading.Thread(target=tell).start()
        process.wait()
    finally:
        signal.signal(signal.SIGTERM, before)
    assert process.status == 143


def test_what_was_written_is_journaled_to_its_end_however_slowly(tmp_path: Path) -> None:
    sink = LogSink(_run_dir(tmp_path), lambda: time.sleep(0.3))
    pipes = OutputPipes(sink)
    for descriptor in (pipes.stdout, pipes.stderr):
        os.write(descriptor, b"line\n" * 10_000)
    pipes.start()
    pipes.finish(0.0)
    assert sink.journal.committed == 20_000


def test_stray_process_that_writes_for_ever_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(output, "_MOST_SECONDS", float("inf"))
    pipes = OutputPipes(LogSink(_run_dir(tmp_path), lambda: time.sleep(0.02)))  # it never catches up
    with subprocess.Popen(["yes", "y" * 4000], stdout=pipes.stdout) as stray:
        pipes.start()
        waiting = threading.Thread(target=pipes.finish, args=(0.1,))
        waiting.start()
        waiting.join(HANG_SECONDS)
        is_over = not waiting.is_alive()
        stray.kill()
    waiting.join()
    pipes.finish(HANG_SECONDS)
    assert is_over


def test_kill_outranks_preemption_and_shortens_its_grace() -> None:
    ending = Termination()
    ending.request(ExitCause.PREEMPTED, "pause")
    before = ending.deadline
    ending.request(ExitCause.KILLED, "kill")
    assert (ending.cause, ending.message) == (ExitCause.KILLED, "kill")
    assert ending.deadline < before
    ending.request(ExitCause.PREEMPTED, "pause again")
    assert ending.cause is ExitCause.KILLED
    assert GRACE_SECONDS[ExitCause.PREEMPTED] == 15


def test_process_is_told_from_a_later_one_with_its_id() -> None:
    with subprocess.Popen(["sleep", "60"]) as child:
        assert (
            process_identity.start_time(child.pid)
            == process_identity.start_time(child.pid)
            != process_identity.start_time(os.getpid())
        )
        child.kill()
    assert process_identity.start_time(child.pid) is None


def test_processes_are_found_by_what_they_were_started_with(tmp_path: Path) -> None:
    with subprocess.Popen(["sleep", "60"], env={"DET_RUN_DIR": str(tmp_path)}, start_new_session=True) as child:
        while not process_tree.marked("DET_RUN_DIR", str(tmp_path)):
            time.sleep(0.01)
        assert process_tree.marked("DET_RUN_DIR", str(tmp_path)) == {child.pid}
        assert process_tree.marked("DET_RUN_DIR", str(tmp_path)[:-1]) == set()
        assert child.pid in process_tree.descendants(os.getpid())
        process_tree.kill_all({child.pid})
    assert child.returncode == -9
