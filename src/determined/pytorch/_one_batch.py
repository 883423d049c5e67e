"""Test of a PyTorchTrial on one batch off cluster: whether it trains, validates and checkpoints at all."""

import secrets
import tempfile
from typing import Any

from determined._json import JsonObject
from determined.pytorch._trainer import Trainer, _context, seed_everything
from determined.pytorch._trial import PyTorchTrial
from determined.trial import Batch, EnvContext


def run(trial_class: type[PyTorchTrial], config: JsonObject) -> PyTorchTrial:
    """Train `trial_class` on one batch; the trial. `determined.experimental.test_one_batch` calls this."""
    trial: PyTorchTrial = try_out(trial_class, config, Trainer)
    return trial


def try_out(trial_class: type[Any], config: JsonObject, trainer: type[Trainer], **made: Any) -> Any:
    """`made`: how the context is made, where it is not that of a PyTorchTrial."""
    env = EnvContext.from_config(config, seed=secrets.randbits(31), test_mode=True)
    seed_everything(env.trial_seed)
    optimizations = env.experiment_config.get_optimizations_config()
    with (
        tempfile.TemporaryDirectory(prefix="determined-") as storage,
        _context(
            None,
            distributed=None,
            hparams=env.hparams,
            exp_conf=env.experiment_config,
            aggregation_frequency=int(optimizations["aggregation_frequency"]),
            average_aggregated_gradients=bool(optimizations["average_aggregated_gradients"]),
            gradient_compression=bool(optimizations["gradient_compression"]),
            enable_tensorboard_logging=False,
            env=env,
            checkpoint_storage=storage,
            **made,
        ) as context,
    ):
        trial = trial_class(context)
        trainer(trial, context).fit(
            max_length=Batch(1), reporting_period=Batch(1), checkpoint_policy="none", test_mode=True
        )
    return trial
