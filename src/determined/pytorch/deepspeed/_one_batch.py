"""One batch of a DeepSpeedTrial off cluster: whether it trains, validates and checkpoints at all."""

from typing import Any

from determined.pytorch import _one_batch
from determined.pytorch.deepspeed._trainer import MADE, Trainer
from determined.pytorch.deepspeed._trial import DeepSpeedTrial


def run(trial_class: type[DeepSpeedTrial], config: dict[str, Any]) -> DeepSpeedTrial:
    """Train `trial_class` on one batch; the trial. `determined.experimental.test_one_batch` calls this."""
    trial: DeepSpeedTrial = _one_batch.try_out(trial_class, config, Trainer, **MADE)
    return trial
