"""Runner and master die and come back; reports arrive exactly once."""

import os
import shutil
import signal
from pathlib import Path
from typing import Any

from fake_master import FakeMaster, Refusal, RunnerUnderTest, eventually

from determined.rundir.lock import is_held
from determined.wire.report import ExitCause, LogLine, MetricReport, ReportBatch

REPORTING = """
import os, sys, time
from pathlib import Path
from determined.rundir.journal import JournalWriter
from determined.wire.codec import to_msgpack
from determined.wire.report import MetricReport
run = Path(os.environ["DET_RUN_DIR"])
journal = JournalWriter(run / "journals", f"user-{os.getpid()}-x")
for step in range(1, 501):
    journal.append(to_msgpack(MetricReport("training", step, {"loss": step}, time.time())))
    print("step", step)
    if step == 250:
        print("half", os.getpid(), flush=True)
        while "wait" in sys.argv and not (run / "go").exists():
            time.sleep(0.01)
"""


def reporting(master: FakeMaster, runner: RunnerUnderTest, *, wait: bool) -> None:
    master.files = {"t.py": REPORTING}
    master.spec.entrypoint = "python3 t.py" + (" wait" if wait else "")
    runner.start()


def steps(master: FakeMaster) -> list[Any]:
    [records] = [r for name, r in master.journals.items() if name.startswith("user-")]
    return [record.steps for record in records if isinstance(record, MetricReport)]


def half(master: FakeMaster) -> int:
    """The pid of the task, once it is half way."""
    return int(eventually(lambda: [t for t in master.texts() if t.startswith("half")])[0].split()[1])


def test_reports_of_user_processes_arrive_before_the_exit(fake_master: FakeMaster, runner: RunnerUnderTest) -> None:
    reporting(fake_master, runner, wait=False)
    assert runner.finish().code == 0
    assert steps(fake_master) == list(range(1, 501))


def test_master_away_delays_reports_and_loses_none(fake_master: FakeMaster, runner: RunnerUnderTest) -> None:
    reporting(fake_master, runner, wait=True)
    half(fake_master)
    fake_master.stop()
    (runner.dir.path / "go").touch()
    eventually(lambda: "master away" in runner.dir.runner_log.read_text())
    started = runner.dir.started.read_text()
    group = int(started.split('"group": ')[1].split(",")[0])
    eventually(lambda: not Path(f"/proc/{group}").exists())  # the task finished without its master
    assert is_held(runner.dir.lock)
    fake_master.start()
    assert runner.finish().code == 0
    assert steps(fake_master) == list(range(1, 501))
    assert [t for t in fake_master.texts() if t.startswith("step")] == [f"step {n}" for n in range(1, 501)]


def test_master_that_comes_back_at_another_address_is_found_through_the_launch_file(
    fake_master: FakeMaster, runner: RunnerUnderTest
) -> None:
    reporting(fake_master, runner, wait=True)
    half(fake_master)
    old = fake_master.url
    fake_master.stop()
    fake_master.start(port=0)
    assert fake_master.url != old
    (runner.dir.path / "go").touch()
    fresh = runner.dir.path / "launch.new"
    fresh.write_text(runner.dir.launch.read_text().replace(old, fake_master.url))
    fresh.rename(runner.dir.launch)
    assert runner.finish().code == 0
    assert steps(fake_master) == list(range(1, 501))


def test_killed_runner_takes_its_task_with_it_and_the_next_one_reports_the_loss(
    fake_master: FakeMaster, runner: RunnerUnderTest
) -> None:
    reporting(fake_master, runner, wait=True)
    pid = half(fake_master)
    fake_master.refuse = lambda batch: (503, "unavailable", "not now")
    runner.kill()
    runner.await_release()
    assert not _runs(pid)
    fake_master.refuse = lambda batch: None
    told = runner.start().finish()
    assert told.cause is ExitCause.LOST
    assert steps(fake_master) == list(range(1, 251))
    assert len([t for t in fake_master.texts() if t.startswith("step")]) == 250


def test_third_runner_adds_no_second_exit(fake_master: FakeMaster, runner: RunnerUnderTest) -> None:
    reporting(fake_master, runner, wait=True)
    half(fake_master)
    runner.kill()
    runner.await_release()
    runner.start().finish()
    runner.dir.done.unlink()
    runner.start().finish()
    exits = [r for r in fake_master.journals["logs"] if type(r).__name__ == "Exit"]
    assert len(exits) == 1


def test_runner_killed_before_its_task_began_starts_it_the_second_time(
    fake_master: FakeMaster, runner: RunnerUnderTest
) -> None:
    fake_master.spec.task_type, fake_master.spec.trial_id, fake_master.spec.config = "TRIAL", 1, {}
    fake_master.files = {"a.txt": "content"}
    fake_master.spec.entrypoint = "cat a.txt"
    fake_master.rendezvous_open.clear()
    runner.start()
    eventually(lambda: "STARTING" in fake_master.phases())
    runner.kill()
    runner.await_release()
    fake_master.rendezvous_open.set()
    assert runner.start().finish().code == 0
    assert fake_master.texts() == ["content"]


def test_process_that_left_its_group_dies_with_a_killed_runner(
    fake_master: FakeMaster, runner: RunnerUnderTest
) -> None:
    fake_master.spec.entrypoint = "setsid sh -c 'echo $$; exec sleep 300' & sleep 300"
    runner.start()
    [pid] = eventually(fake_master.texts)
    runner.kill()
    runner.await_release()
    assert not _runs(int(pid))


def test_runner_whose_directory_was_removed_ends_with_its_task(
    fake_master: FakeMaster, runner: RunnerUnderTest, tmp_path: Path
) -> None:
    fake_master.spec.entrypoint = "echo $$; exec sleep 300"
    runner.start()
    [pid] = eventually(fake_master.texts)
    fake_master.stop()
    away = runner.dir.path.rename(tmp_path / "being removed")  # at once: what it still writes keeps nothing here
    shutil.rmtree(away)
    assert runner.wait() == 0
    assert not _runs(int(pid))


def test_gap_is_closed_from_the_masters_position(fake_master: FakeMaster, runner: RunnerUnderTest) -> None:
    """The master was restored from a moment before the last records."""
    reporting(fake_master, runner, wait=True)
    half(fake_master)
    with fake_master._lock:
        for records in fake_master.journals.values():
            del records[20:]
    (runner.dir.path / "go").touch()
    assert runner.finish().code == 0
    assert steps(fake_master) == list(range(1, 501))
    assert [t for t in fake_master.texts() if t.startswith("step")] == [f"step {n}" for n in range(1, 501)]


def test_refused_record_is_replaced_by_its_reason_and_the_rest_goes_on(
    fake_master: FakeMaster, runner: RunnerUnderTest
) -> None:
    def refuse(batch: ReportBatch) -> Refusal | None:
        records = [record for segment in batch.segments for record in segment.records]
        bad = any(isinstance(r, MetricReport) and r.steps == 77 for r in records)
        return (400, "invalid_argument", "step 77 is cursed") if bad else None

    fake_master.refuse = refuse
    reporting(fake_master, runner, wait=False)
    assert runner.finish().code == 0
    assert steps(fake_master) == [n for n in range(1, 501) if n != 77]
    [records] = [r for name, r in fake_master.journals.items() if name.startswith("user-")]
    assert isinstance(records[76], LogLine)
    assert "step 77 is cursed" in records[76].text


def test_server_error_is_retried_until_it_works(fake_master: FakeMaster, runner: RunnerUnderTest) -> None:
    failures = iter([(500, "internal", "broken"), (503, "unavailable", "later")])
    fake_master.refuse = lambda batch: next(failures, None)
    fake_master.spec.entrypoint = "echo hello"
    assert runner.start().finish().code == 0
    assert fake_master.texts() == ["hello"]


def test_killed_task_process_is_an_exit_by_signal(fake_master: FakeMaster, runner: RunnerUnderTest) -> None:
    reporting(fake_master, runner, wait=True)
    os.kill(half(fake_master), signal.SIGKILL)
    told = runner.finish()
    assert (told.cause, told.code) == (ExitCause.EXITED, 137)
    assert steps(fake_master) == list(range(1, 251))


def _runs(pid: int) -> bool:
    """Alive and no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False
