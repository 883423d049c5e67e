"""A task that is killed leaves nothing unstored of what it wrote for TensorBoard."""

from pathlib import Path

import pytest
from fake_master import FakeMaster, RunnerUnderTest, eventually

from determined.wire.report import ExitCause

TRAIN = """
import os, shutil, signal, sys, time
from determined import core

with core.init() as context:
    for step in range(1, 6):
        context.train.report_validation_metrics(step, {"x": step})
    with context.checkpoint.store_path({"steps_completed": 5}) as (path, _):
        (path / "weights").write_text("1")
    (context.train.get_tensorboard_path() / "mine.txt").write_text("of the user")
    if "spoil" in sys.argv:
        store = context.checkpoint._storage_manager.base
        shutil.rmtree(store)
        store.write_text("a file where the store was")
    print("saved", flush=True)
    if "stay" in sys.argv:
        time.sleep(600)
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
def store(fake_master: FakeMaster, tmp_path: Path) -> Path:
    spec = fake_master.spec
    spec.task_type, spec.trial_id, spec.experiment_id, spec.trial_run_id = "TRIAL", 7, 3, 1
    spec.address, spec.slot_counts = "127.0.0.1", [1]
    spec.config = {
        "searcher": {"name": "single", "metric": "x"},
        "checkpoint_storage": {"type": "directory", "container_path": str(tmp_path / "store")},
    }
    fake_master.files = {"train.py": TRAIN}
    return tmp_path / "store"


def stored(store: Path) -> tuple[int, str]:
    """Return how many of the five validations are there, and what the user wrote."""
    [trial] = store.glob("c/tensorboard/experiment/3/trial/7")
    events = b"".join(path.read_bytes() for path in trial.glob("events*"))
    return events.count(b"Determined/val_x"), (trial / "mine.txt").read_text()


def test_what_was_reported_before_a_checkpoint_is_stored_though_the_process_is_killed_at_once(
    fake_master: FakeMaster, runner: RunnerUnderTest, store: Path
) -> None:
    fake_master.spec.entrypoint = ["python3", "train.py"]
    assert runner.start().finish().code == 137
    assert stored(store) == (5, "of the user")


def test_a_storage_that_fails_is_a_line_in_the_log_and_the_exit_is_told(
    fake_master: FakeMaster, runner: RunnerUnderTest, store: Path
) -> None:
    fake_master.spec.entrypoint = ["python3", "train.py", "spoil"]
    told = runner.start().finish()
    assert (told.cause, told.code) == (ExitCause.EXITED, 137)
    [said] = [line for line in fake_master.lines("agent") if "last TensorBoard events" in line.text]
    assert said.level == "WARNING"
    assert str(store) in said.text


def test_events_of_a_task_whose_runner_was_killed_are_stored_by_the_next_one(
    fake_master: FakeMaster, runner: RunnerUnderTest, store: Path
) -> None:
    fake_master.files["startup-hook.sh"] = "export HOOKED=1\n"
    fake_master.spec.entrypoint = ["python3", "train.py", "stay"]
    runner.start()
    eventually(lambda: "saved" in fake_master.texts())
    runner.kill()
    assert runner.start().finish().cause is ExitCause.LOST
    assert stored(store) == (5, "of the user")
