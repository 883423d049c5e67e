"""Events of TensorBoard callbacks are in their files when a checkpoint is reported: a kill leaves no gap."""

from pathlib import Path
from typing import Any

import pytest
import tensorflow as tf
from small_keras_trial import Run, SmallTrial

from determined.keras.callbacks import Callback, TensorBoard

pytestmark = pytest.mark.timeout(600)  # importing TensorFlow takes a minute on a busy machine


class Looking(Callback):
    """Reads the files when training goes on, right after a checkpoint."""

    def __init__(self, directory: Path) -> None:
        super().__init__()
        self.directory = directory
        self.seen: dict[int, dict[str, int]] = {}

    def on_train_workload_begin(self, total_batches_trained: int, batches_requested: int | None, logs: Any) -> None:
        files = [str(path) for path in self.directory.rglob("*tfevents*")]
        events = [event for file in files for event in tf.compat.v1.train.summary_iterator(file)]
        tags = [value.tag for event in events for value in event.summary.value]
        self.seen[total_batches_trained] = {tag: tags.count(tag) for tag in tags}


@pytest.mark.parametrize("is_ours", [True, False])
def test_what_was_written_before_a_checkpoint_is_in_a_file(is_ours: bool, tmp_path: Path) -> None:
    looking = Looking(tmp_path)

    class Trial(SmallTrial):
        def keras_callbacks(self) -> list[Any]:
            own = tf.keras.callbacks.TensorBoard(log_dir=str(tmp_path / "own"), update_freq="batch")
            return [looking, TensorBoard(update_freq="batch") if is_ours else own]

    Run(tmp_path / "run", Trial, batches=8, config={"min_checkpoint_period": {"batches": 5}})
    assert looking.seen[5]["batch_loss"] == 5
    assert looking.seen[5]["evaluation_val_loss_vs_iterations"] == 1, "of the validation before it"
