"""Events of a module's own Lightning loggers are in their files when a checkpoint is reported."""

from pathlib import Path
from typing import Any

import lightning.pytorch as L
import pytest
from fits import Net, fit
from lightning.pytorch.loggers import CSVLogger, TensorBoardLogger
from tensorboard.backend.event_processing.event_file_loader import EventFileLoader

pytestmark = pytest.mark.timeout(600)  # TensorBoard imports TensorFlow, which takes a minute on a busy machine


class Writing(Net):
    """Writes past Lightning, which saves its loggers only where it logs to them itself."""

    def on_train_batch_end(self, outputs: Any, batch: Any, batch_idx: int) -> None:
        super().on_train_batch_end(outputs, batch, batch_idx)
        self.loggers[0].experiment.add_scalar("mine", 1.0, self.global_step)
        self.loggers[1].log_metrics({"mine": 1.0}, step=self.global_step)


class Looking(L.Callback):
    """Reads the files right after a checkpoint, before the next batch."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.seen: dict[int, tuple[list[int], int]] = {}

    def on_train_batch_start(self, trainer: Any, pl_module: Any, batch: Any, batch_idx: int) -> None:
        files = [str(path) for path in self.directory.rglob("*tfevents*")]
        events = [event for file in files for event in EventFileLoader(file).Load()]
        steps = [event.step for event in events if any(value.tag == "mine" for value in event.summary.value)]
        tables = [path.read_text().splitlines()[1:] for path in self.directory.rglob("metrics.csv")]
        self.seen[trainer.global_step] = steps, sum(len(lines) for lines in tables)


def test_what_a_module_wrote_before_a_checkpoint_is_in_a_file(task: Any, runner: Any, tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    looking = Looking(logs)
    own = [TensorBoardLogger(str(logs), name="tb"), CSVLogger(str(logs), name="csv")]
    fitted = fit(
        task, runner, module=Writing, own=lambda: [looking], logger=own, every_n_batches=2, max_epochs=1,
        log_every_n_steps=100,
    )  # fmt: skip
    assert len(fitted.checkpoints) == 3
    for step in (2, 4):
        assert looking.seen[step] == (list(range(1, step + 1)), step)
