"""Checks of a trial before it is trained; each message names the method and the way out."""

import logging
from typing import Any

import torch

from determined.errors import InvalidExperimentException
from determined.pytorch._context import PyTorchTrialContext
from determined.pytorch._loader import DataLoader
from determined.pytorch._lr_scheduler import LRScheduler
from determined.pytorch._trial import PyTorchTrial

logger = logging.getLogger("determined.pytorch")


def check_wrapped(trial: PyTorchTrial, context: PyTorchTrialContext) -> None:
    """Raise InvalidExperimentException without a wrapped model or optimizer."""
    name = type(trial).__name__
    if not context.models:
        raise InvalidExperimentException(
            f"{name}.__init__ wrapped no model; pass each through self.context.wrap_model(model)"
        )
    if not context.optimizers:
        raise InvalidExperimentException(
            f"{name}.__init__ wrapped no optimizer; pass each through self.context.wrap_optimizer(optimizer)"
        )


def check_loader(loader: object, method: str, context: PyTorchTrialContext) -> Any:
    """The loader, if it is one the loop can shard and resume, or after `disable_dataset_reproducibility_checks` any
    iterable.

    Raises:
        RuntimeError: torch's own loader without `disable_dataset_reproducibility_checks`.
        TypeError: something else.
    """
    if isinstance(loader, DataLoader) or (not context._reproducible_data and hasattr(loader, "__iter__")):
        return loader
    if isinstance(loader, torch.utils.data.DataLoader):
        raise RuntimeError(
            f"{method} returned a torch.utils.data.DataLoader, which can be neither sharded nor resumed; return a "
            "determined.pytorch.DataLoader, or call self.context.experimental.disable_dataset_reproducibility_checks() "
            "in __init__ and shard the data yourself"
        )
    raise TypeError(
        f"{method} returned a {type(loader).__name__}; return a determined.pytorch.DataLoader, or call "
        "self.context.experimental.disable_dataset_reproducibility_checks() in __init__ and return any iterable"
    )


def warn_of_endless_epoch(context: PyTorchTrialContext) -> None:
    """Data without a length has no end of an epoch: schedulers that wait for one are named."""
    for scheduler in context.lr_schedulers:
        if scheduler._step_mode is LRScheduler.StepMode.STEP_EVERY_EPOCH:
            logger.warning(
                "%s was wrapped with STEP_EVERY_EPOCH, but the training data has no length, so that no epoch ends and "
                "the learning rate never changes; use STEP_EVERY_BATCH with frequency=batches, or MANUAL_STEP",
                type(scheduler._scheduler).__name__,
            )
