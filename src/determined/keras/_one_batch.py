"""Test of a TFKerasTrial on one batch off cluster: whether it trains, validates and checkpoints at all."""

import secrets
import tempfile

from determined import core
from determined._json import JsonObject
from determined.keras._context import TFKerasTrialContext
from determined.keras._entrypoint import train
from determined.keras._tensorflow import check_backend
from determined.keras._trial import TFKerasTrial
from determined.trial import EnvContext


def run(trial_class: type[TFKerasTrial], config: JsonObject) -> TFKerasTrial:
    """Train `trial_class` on one batch; the trial. `determined.experimental.test_one_batch` calls this."""
    check_backend()
    env = EnvContext.from_config(config, seed=secrets.randbits(31), test_mode=True)
    with (
        tempfile.TemporaryDirectory(prefix="determined-") as storage,
        core.init(checkpoint_storage=storage) as core_context,
    ):
        return train(trial_class, TFKerasTrialContext(core_context, env))
