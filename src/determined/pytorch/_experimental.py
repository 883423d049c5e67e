"""PyTorchExperimentalContext: `context.experimental`."""

import logging
from typing import Any, Protocol

import torch
from torch import nn

from determined._json import JsonObject
from determined.pytorch._amp import MixedPrecision
from determined.pytorch._gradients import Gradients

logger = logging.getLogger("determined.pytorch")


class _Parent(Protocol):
    """Parts of PyTorchTrialContext that this module uses. The context imports this module; the reverse is a ring."""

    device: torch.device
    models: list[nn.Module]
    _precision: MixedPrecision
    _gradients: Gradients
    _auto_to_device: bool
    _reproducible_data: bool

    def wrap_reducer(
        self, reducer: Any, name: str | None = None, for_training: bool = True, for_validation: bool = True
    ) -> Any: ...

    def reset_reducers(self) -> None: ...

    def reduce_metrics(self, for_training: bool) -> JsonObject: ...


class PyTorchExperimentalContext:
    """Choices a trial makes in its constructor, before it wraps anything. May change from release to release."""

    def __init__(self, parent: _Parent) -> None:
        self._parent = parent

    def use_amp(self, dtype: torch.dtype | None = None) -> None:
        """Compute the forward pass of every wrapped model in mixed precision; outputs are full precision again.

        With float16 the loss and gradients are scaled automatically by `backward` and `step_optimizer`, and the
        scaler is saved in checkpoints. bfloat16 needs no scaling.

        Args:
            dtype: float16 on a GPU and bfloat16 elsewhere, where it is None.

        Raises:
            InvalidExperimentException: after `wrap_model`, twice, or beside `wrap_scaler` or `configure_apex_amp`.

        Example:
            >>> context.experimental.use_amp(torch.bfloat16)
            >>> model = context.wrap_model(model)
        """
        parent = self._parent
        parent._precision.enable(parent.device, dtype, parent.models)
        if parent._precision.is_automatic:
            parent._gradients.plain = False

    def disable_dataset_reproducibility_checks(self) -> None:
        """Allow any iterable in place of `determined.pytorch.DataLoader`, for training and for validation.

        That is a `torch.utils.data.DataLoader`, also one of an `IterableDataset`, or a loader of another library. It is
        taken as it comes on every rank, and iterated again whenever it ends; the trial shares its data among the ranks
        and skips what was trained before a pause, `context.get_initial_batch()` batches, e.g. with
        `determined.pytorch.samplers`. A loader without a length has one endless epoch.

        Example:
            >>> context.experimental.disable_dataset_reproducibility_checks()
        """
        self._parent._reproducible_data = False

    def disable_auto_to_device(self) -> None:
        """Leave batches where the loader made them; `context.to_device` moves what a trial wants moved."""
        self._parent._auto_to_device = False

    def wrap_reducer(
        self, reducer: Any, name: str | None = None, for_training: bool = True, for_validation: bool = True
    ) -> Any:
        """Deprecated: `context.wrap_reducer`."""
        self._warn("wrap_reducer")
        return self._parent.wrap_reducer(reducer, name, for_training, for_validation)

    def reset_reducers(self) -> None:
        """Deprecated: `context.reset_reducers`."""
        self._warn("reset_reducers")
        self._parent.reset_reducers()

    def reduce_metrics(self, for_training: bool) -> JsonObject:
        """Deprecated: `context.reduce_metrics`."""
        self._warn("reduce_metrics")
        return self._parent.reduce_metrics(for_training)

    def _warn(self, method: str) -> None:
        logger.warning("context.experimental.%s is deprecated; call context.%s", method, method)
