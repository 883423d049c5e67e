"""Events of TensorBoard callbacks are in their files when a checkpoint is reported: a kill leaves no gap."""

from pathlib import Path
from typing import Any

import keras
import pytest
from keras_fits import fit
from tensorboard.backend.event_processing.event_file_loader import EventFileLoader

from determined.keras import TensorBoard

pytestmark = pytest.mark.timeout(600)  # importing TensorFlow takes a minute on a busy machine


class Looking(keras.callbacks.Callback):  # type: ignore[misc]
    """Comes after DeterminedCallback and before TensorBoard: right after the checkpoint is reported."""

    def __init__(self, directory: Path) -> None:
        super().__init__()
        self.directory = directory
        self.seen: list[set[int]] = []

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        files = [str(path) for path in self.directory.rglob("*tfevents*")]
        events = [event for file in files for event in EventFileLoader(file).Load()]
        self.seen.append({event.step for event in events if any(v.tag == "batch_loss" for v in event.summary.value)})


class _Ours(TensorBoard):  # type: ignore[misc]
    def __init__(self, core_context: Any) -> None:
        super().__init__(core_context, update_freq="batch")


@pytest.mark.parametrize("is_ours", [True, False])
def test_every_batch_before_a_checkpoint_is_in_a_file(is_ours: bool, task: Any, runner: Any, tmp_path: Path) -> None:
    own = keras.callbacks.TensorBoard(log_dir=str(tmp_path / "own"), update_freq="batch")
    looking = Looking(tmp_path)
    fitted = fit(task, runner, epochs=2, validates=False, others=(looking, _Ours if is_ours else own))
    assert len(fitted.checkpoints) == 2
    first, second = looking.seen
    assert len(first) == 5
    assert len(second) == 10
