"""Code of a PyTorchTrial in a DeepSpeedTrial: what is told of it."""

from typing import Any

import pytest
from small_ds_trial import SmallTrial, fitted, mean_square


class Moved(SmallTrial):
    def train_batch(self, batch: Any, epoch_idx: int, batch_idx: int) -> dict[str, Any]:  # type: ignore[override]
        inputs, targets = batch
        return {"loss": mean_square(self.engine(inputs), targets)}


def test_trial_that_expects_batches_is_told_that_it_gets_an_iterator(caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(ValueError, match="unpack"):
        fitted({}, 1, trial_class=Moved)
    assert "Moved.train_batch has a parameter `batch`" in caplog.text
    assert "Moved.evaluate_batch" not in caplog.text
