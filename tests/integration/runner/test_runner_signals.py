"""Preempt, kill, over: what the master or an operator wants of a running task."""

import json
import os
import signal
import time
from pathlib import Path
from typing import Any

from fake_master import FakeMaster, RunnerUnderTest, eventually

from determined.wire.report import ExitCause

AWARE = """
import os, time, sys
from pathlib import Path
from determined.rundir.control import Control
control = Control.open(Path(os.environ["DET_RUN_DIR"]) / "control")
control.aware = True
print("ready", flush=True)
while not control.preempt:
    time.sleep(0.01)
print("saved", flush=True)
"""
POLITE = """
import signal, sys, time
def leave(*_):
    print("asked", flush=True)
    sys.exit(0)
signal.signal(signal.SIGTERM, leave)
print("ready", flush=True)
time.sleep(60)
"""

FAILED = """
import os, signal, sys, time
from pathlib import Path
from determined.rundir.failure import Failure, record_failure
def keep():
    record_failure(Path(os.environ["DET_RUN_DIR"]), Failure(3, 9, time.time(), ["no memory left"]))
def leave(*_):
    if "late" in sys.argv: keep()
    sys.exit(1)
signal.signal(signal.SIGTERM, leave)
if "late" not in sys.argv: keep()
print("ready", flush=True)
time.sleep(60)
"""


def start(master: FakeMaster, runner: RunnerUnderTest, code: str, entrypoint: str = "python3 t.py") -> None:
    master.files = {"t.py": code}
    master.spec.entrypoint = entrypoint
    runner.start()
    eventually(lambda: "ready" in master.texts())


def test_script_that_watches_preemption_leaves_by_itself(fake_master: FakeMaster, runner: RunnerUnderTest) -> None:
    start(fake_master, runner, AWARE)
    fake_master.signal(preempt=True)
    told = runner.finish()
    assert (told.cause, told.code) == (ExitCause.EXITED, 0)
    assert fake_master.texts() == ["ready", "saved"]


def test_script_that_does_not_watch_is_ended_for_a_pause(fake_master: FakeMaster, runner: RunnerUnderTest) -> None:
    start(fake_master, runner, POLITE)
    fake_master.signal(preempt=True)
    told = runner.finish()
    assert told.cause is ExitCause.PREEMPTED
    assert fake_master.texts() == ["ready", "asked"]
    assert [t for t in fake_master.texts("agent") if "does not watch for preemption" in t and "SIGKILL 15 s later" in t]


def test_task_that_a_batch_system_ends_before_its_runner_was_killed(
    fake_master: FakeMaster, runner: RunnerUnderTest
) -> None:
    """Its signal goes to every process of a job, in any order."""
    fake_master.spec.entrypoint = "echo $$; exec sleep 60"
    runner.start_patient()
    task = int(eventually(fake_master.texts)[0])
    os.kill(task, signal.SIGTERM)
    eventually(lambda: not Path(f"/proc/{task}").exists())
    os.kill(runner.pid, signal.SIGTERM)
    told = runner.finish()
    assert (told.cause, told.code) == (ExitCause.KILLED, 143)


def test_kill_gives_the_program_under_a_shell_its_grace(fake_master: FakeMaster, runner: RunnerUnderTest) -> None:
    code = POLITE.replace('print("asked", flush=True)', 'time.sleep(0.5); print("asked", flush=True)')
    start(fake_master, runner, code, "true && python3 t.py; echo never")
    fake_master.signal(kill=True)
    told = runner.finish()
    assert told.cause is ExitCause.KILLED
    assert "asked" in fake_master.texts()


def test_rank_that_failed_before_its_peers_stays_the_cause_though_they_reported_first(
    fake_master: FakeMaster, runner: RunnerUnderTest
) -> None:
    """Its launcher was still ending the other ranks of the node when the word of the peers' failure came."""
    start(fake_master, runner, FAILED)
    before = time.time()
    fake_master.signal(kill=True, peer_failed=True)
    told = runner.finish()
    assert (told.cause, told.code) == (ExitCause.EXITED, 9)
    assert "rank 3 failed first" in told.message and "no memory left" in told.message
    assert told.time <= before


def test_rank_that_fails_of_being_ended_for_its_peers_is_no_cause(
    fake_master: FakeMaster, runner: RunnerUnderTest
) -> None:
    start(fake_master, runner, FAILED, "python3 t.py late")
    fake_master.signal(kill=True, peer_failed=True)
    assert runner.finish().cause is ExitCause.KILLED


def test_failure_before_a_kill_by_people_is_a_kill(fake_master: FakeMaster, runner: RunnerUnderTest) -> None:
    start(fake_master, runner, FAILED)
    fake_master.signal(kill=True)
    assert runner.finish().cause is ExitCause.KILLED


def test_sigterm_to_the_runner_is_a_kill_with_a_report(fake_master: FakeMaster, runner: RunnerUnderTest) -> None:
    start(fake_master, runner, POLITE)
    os.kill(runner.pid, signal.SIGTERM)
    told = runner.finish()
    assert told.cause is ExitCause.KILLED
    assert fake_master.texts() == ["ready", "asked"]


def test_task_that_starts_while_the_runner_is_told_to_end_can_be_asked_to(
    fake_master: FakeMaster, runner: RunnerUnderTest
) -> None:
    """It has our own way with signals, where that is to ignore them."""
    fake_master.spec.entrypoint = ["sleep", "600"]
    told = runner.start_told().finish()
    assert runner.dir.started.exists()
    assert (told.cause, told.code) == (ExitCause.KILLED, 128 + signal.SIGTERM)


def test_other_signals_are_passed_on(fake_master: FakeMaster, runner: RunnerUnderTest) -> None:
    code = POLITE.replace("SIGTERM", "SIGUSR1")
    start(fake_master, runner, code)
    os.kill(runner.pid, signal.SIGUSR1)
    told = runner.finish()
    assert (told.cause, told.code) == (ExitCause.EXITED, 0)
    assert fake_master.texts() == ["ready", "asked"]


def test_kill_before_the_entrypoint_began_is_reported_as_killed(
    fake_master: FakeMaster, runner: RunnerUnderTest, tmp_path: Path
) -> None:
    fake_master.spec.task_type, fake_master.spec.trial_id, fake_master.spec.config = "TRIAL", 1, {}
    fake_master.spec.entrypoint = "echo never"
    fake_master.rendezvous_open.clear()
    runner.start()
    eventually(lambda: "STARTING" in fake_master.phases())
    fake_master.signal(kill=True)
    told = runner.finish()
    assert told.cause is ExitCause.KILLED
    assert fake_master.texts() == []


def test_fault_of_the_preflight_is_said_though_the_peer_said_it_first_and_had_us_ended(
    fake_master: FakeMaster, runner: RunnerUnderTest
) -> None:
    def gather(topic: str, data: dict[str, Any]) -> list[dict[str, Any]]:
        mine = json.loads(data["json"])
        if topic == "preflight facts":
            return [data, {"json": json.dumps(mine | {"rank": 1, "node": "other", "port": 1})}]
        fake_master.signal(kill=True, peer_failed=True)
        eventually(lambda: fake_master.kill_heard)
        return [data, {"json": json.dumps({"rank": 1, "found": []})}]

    fake_master.spec.task_type, fake_master.spec.trial_id, fake_master.spec.config = "TRIAL", 1, {}
    fake_master.spec.entrypoint = "echo never"
    fake_master.addresses, fake_master.gather = ["127.0.0.1", "127.0.0.1"], gather
    told = runner.start_patient().finish()
    assert told.cause is ExitCause.FAILED
    assert [text for text in fake_master.texts("agent") if "cannot reach other" in text]
    assert fake_master.texts() == []


def test_answer_that_the_allocation_ended_kills_the_task_and_still_drains(
    fake_master: FakeMaster, runner: RunnerUnderTest
) -> None:
    start(fake_master, runner, POLITE)
    fake_master.ended = True
    fake_master.signal(ended=True)
    told = runner.finish()
    assert told.cause is ExitCause.KILLED
    assert fake_master.texts() == ["ready", "asked"]


def test_runner_of_a_stale_run_ends_itself(fake_master: FakeMaster, runner: RunnerUnderTest) -> None:
    start(
        fake_master,
        runner,
        "import os, time\nprint(os.getpid())\nprint('ready')\nwhile True: print('x'); time.sleep(.05)",
    )
    pid = fake_master.texts()[0]
    fake_master.gone = {"reports", "signals", "spec"}
    assert runner.wait() == 0
    assert runner.dir.done.exists()
    assert fake_master.exit() is None
    eventually(lambda: not Path(f"/proc/{pid}").exists())


def test_runner_that_is_stale_from_the_beginning_starts_nothing(
    fake_master: FakeMaster, runner: RunnerUnderTest
) -> None:
    fake_master.gone = {"reports", "signals", "spec"}
    fake_master.spec.entrypoint = "echo never"
    assert runner.start().wait() == 0
    assert runner.dir.done.exists()
    assert not runner.dir.started.exists()
