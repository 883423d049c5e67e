"""Reported metrics as TensorBoard events: on until they are switched off, at any time."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from small_trial import SmallTrial
from task_around import FakeRunner

from determined import pytorch
from determined.pytorch import _tensorboard
from determined.tensorboard import metric_events

STORED = Path("checkpoints", "cluster", "tensorboard", "experiment", "3", "trial", "7")


@pytest.mark.parametrize("is_on", [True, False])
def test_events_are_written_from_when_they_are_switched_on_to_when_they_are_switched_off(
    tmp_path: Path, task: Callable[..., None], runner: FakeRunner, is_on: bool
) -> None:
    task()
    with pytorch.init(enable_tensorboard_logging=is_on) as context:
        train = context._core.train
        train.report_metrics("first", 1, {"x": 1.0})
        context.set_enable_tensorboard_logging(not is_on)
        train.report_metrics("second", 2, {"x": 1.0})
        context.set_enable_tensorboard_logging(is_on)
        train.report_metrics("third", 3, {"x": 1.0})
    (events,) = (tmp_path / STORED).glob("events.out.tfevents.*")
    written = events.read_bytes()
    found = [group for group in ("first", "second", "third") if f"Determined/{group}/x".encode() in written]
    assert found == (["first", "third"] if is_on else ["second"])


def test_files_of_the_user_are_stored_while_no_metrics_are_written(
    tmp_path: Path, task: Callable[..., None], runner: FakeRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(metric_events, "_SOON", 0.01)
    task()
    with pytorch.init(enable_tensorboard_logging=False) as context:
        (context.get_tensorboard_path() / "mine").write_text("a chart")
        _tensorboard.upload(context._core)
        _until((tmp_path / STORED / "mine").is_file)
        assert not list((tmp_path / STORED).glob("*tfevents*"))


class _Writing(SmallTrial):
    """Looks, in each batch, at what the ones before have written."""

    def train_batch(self, batch: Any, epoch_idx: int, batch_idx: int) -> dict[str, Any]:
        writer = self.context.get_tensorboard_writer()
        self.found = b"".join(file.read_bytes() for file in self.context.get_tensorboard_path().iterdir())
        writer.add_scalar(f"mine/{batch_idx}", 1.0, batch_idx)
        return super().train_batch(batch, epoch_idx, batch_idx)


@pytest.mark.usefixtures("own_place")
def test_what_the_user_writes_is_in_the_file_when_metrics_are_reported() -> None:
    with pytorch.init() as context:
        trial = _Writing(context)
        pytorch.Trainer(trial, context).fit(max_length=pytorch.Batch(4), reporting_period=pytorch.Batch(2))
    assert b"mine/1" in trial.found
    assert b"mine/2" not in trial.found


def _until(is_done: Callable[[], Any]) -> None:
    import time

    deadline = time.monotonic() + 60
    while not is_done():
        assert time.monotonic() < deadline
        time.sleep(0.005)
