"""Test of a DeepSpeedTrial on one batch off cluster: whether it trains, validates and checkpoints at all."""

from determined._json import JsonObject
from determined.pytorch import _one_batch
from determined.pytorch.deepspeed._trainer import MADE, Trainer
from determined.pytorch.deepspeed._trial import DeepSpeedTrial


def run(trial_class: type[DeepSpeedTrial], config: JsonObject) -> DeepSpeedTrial:
    """Train `trial_class` on one batch; the trial. `determined.experimental.test_one_batch` calls this."""
    trial: DeepSpeedTrial = _one_batch.try_out(trial_class, config, Trainer, **MADE)
    return trial
