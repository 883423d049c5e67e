"""`deepspeed.init` and `Trainer`: training with DeepSpeed from a script of one's own, on a cluster or off it."""

import contextlib
from collections.abc import Iterator
from typing import Any, cast

from determined import core
from determined._json import JsonObject
from determined.pytorch import _trainer
from determined.pytorch.deepspeed._backend import backend
from determined.pytorch.deepspeed._context import DeepSpeedTrialContext
from determined.pytorch.deepspeed._controller import DeepSpeedTrialController
from determined.pytorch.deepspeed._trial import DeepSpeedTrial

# How a context is made, besides what PyTorch's and DeepSpeed's have in common.
MADE: JsonObject = {"backend": backend, "context_class": DeepSpeedTrialContext}


@contextlib.contextmanager
def init(
    *,
    hparams: JsonObject | None = None,
    exp_conf: JsonObject | None = None,
    distributed: core.DistributedContext | None = None,
    enable_tensorboard_logging: bool = True,
) -> Iterator[DeepSpeedTrialContext]:
    """A context to build a DeepSpeedTrial with, for the length of the block.

    `deepspeed.init_distributed` is called here, unless the variable DET_MANUAL_INIT_DISTRIBUTED is set.

    Args:
        hparams: hyperparameters; on a cluster the trial's own when left out.
        exp_conf: an experiment config, for `get_experiment_config` off cluster; on a cluster the experiment's own.
        distributed: who this process is among its peers, off cluster; on a cluster the launcher says it.
        enable_tensorboard_logging: whether reported metrics are also written as TensorBoard events.

    Raises:
        ValueError: a task with several slots whose entrypoint has no launcher.

    Example:
        >>> with deepspeed.init(hparams={"lr": 0.1}) as context:
        ...     trainer = deepspeed.Trainer(MyTrial(context), context)
        ...     trainer.fit(max_length=pytorch.Epoch(1))
    """
    info = _trainer.trial_info()
    given = hparams if hparams is not None or info is None else info.trial.hparams
    with _trainer._context(
        info,
        distributed=distributed,
        hparams=given,
        exp_conf=exp_conf if info is None else info.trial._config,
        aggregation_frequency=1,
        enable_tensorboard_logging=enable_tensorboard_logging,
        **MADE,
    ) as context:
        yield cast(DeepSpeedTrialContext, context)


class Trainer(_trainer.Trainer):
    """Trains a trial; `fit` is that of `determined.pytorch.Trainer`.

    Args:
        trial: the trial.
        context: what `deepspeed.init` gave, and the trial was built with.

    Example:
        >>> trainer = deepspeed.Trainer(trial, context)
        >>> trainer.fit(max_length=pytorch.Epoch(10), validation_period=pytorch.Epoch(1))
    """

    _CONTROLLER = cast(Any, DeepSpeedTrialController)

    def __init__(self, trial: DeepSpeedTrial, context: DeepSpeedTrialContext) -> None:
        super().__init__(cast(Any, trial), context)
