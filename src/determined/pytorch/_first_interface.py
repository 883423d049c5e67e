"""Trials of the first releases (0.12): they build a model, an optimizer and a scheduler, get the model in every call,
and leave backward pass and step to the loop."""

import inspect
import logging
from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import nn

from determined.errors import InvalidExperimentException
from determined.pytorch._callback import PyTorchCallback
from determined.pytorch._context import PyTorchTrialContext
from determined.pytorch._lr_scheduler import LRScheduler
from determined.pytorch._trial import PyTorchTrial

logger = logging.getLogger("determined.pytorch")


def adopt(trial: PyTorchTrial, context: PyTorchTrialContext) -> None:
    """Make a trial with `build_model` and `optimizer`, which wraps nothing itself, one of today's. Others stay as
    they are."""
    if context.models or context.optimizers or not _is_of_first_releases(trial):
        return
    logger.warning(
        "%s is a trial of the first releases (build_model, optimizer, create_lr_scheduler); it runs as it did. Today's "
        "trials wrap their model and optimizer in __init__",
        type(trial).__name__,
    )
    model = context.wrap_model(_call(trial, "build_model"))
    optimizer = context.wrap_optimizer(_call(trial, "optimizer", model))
    scheduler = _call(trial, "create_lr_scheduler", optimizer) if _has(trial, "create_lr_scheduler") else None
    _wrap_scheduler(context, scheduler)
    # As such trials reach what they have built.
    vars(context).update(get_model=lambda: model, get_optimizer=lambda: optimizer, get_lr_scheduler=lambda: scheduler)
    vars(trial)["train_batch"] = _training(trial, context, model, optimizer)
    for method, argument in (("evaluate_batch", "batch"), ("evaluate_full_dataset", "data_loader")):
        if getattr(type(trial), method) is not getattr(PyTorchTrial, method):
            vars(trial)[method] = _evaluating(getattr(trial, method), argument, model)


class ClipGradsL2Norm(PyTorchCallback):
    """Deprecated: clips gradients by their norm before each step; use `step_optimizer(optimizer, clip_grads=...)`.

    Args:
        clip_value: the largest norm.
    """

    def __init__(self, clip_value: float) -> None:
        self._clip_value = clip_value

    def on_before_optimizer_step(self, parameters: Iterable[nn.Parameter]) -> None:
        torch.nn.utils.clip_grad_norm_(parameters, self._clip_value)


class ClipGradsL2Value(PyTorchCallback):
    """Deprecated: clips each gradient to a range before each step; use `step_optimizer(optimizer, clip_grads=...)`.

    Args:
        clip_value: the largest absolute value.
    """

    def __init__(self, clip_value: float) -> None:
        self._clip_value = clip_value

    def on_before_optimizer_step(self, parameters: Iterable[nn.Parameter]) -> None:
        torch.nn.utils.clip_grad_value_(parameters, self._clip_value)


def _is_of_first_releases(trial: PyTorchTrial) -> bool:
    """Today's trials may have helpers of these names; only the first releases gave `train_batch` the model."""
    parameters = inspect.signature(trial.train_batch).parameters.values()
    takes_model = any(each.name == "model" or each.kind is each.VAR_KEYWORD for each in parameters)
    return takes_model and _has(trial, "build_model") and _has(trial, "optimizer")


def _has(trial: PyTorchTrial, method: str) -> bool:
    """Look on the class: `self.optimizer` of today's trials is an attribute."""
    return callable(getattr(type(trial), method, None))


def _call(trial: PyTorchTrial, method: str, *arguments: object) -> Any:
    return getattr(trial, method)(*arguments)


def _wrap_scheduler(context: PyTorchTrialContext, scheduler: object) -> None:
    if scheduler is None:
        return
    if not isinstance(scheduler, LRScheduler):
        raise InvalidExperimentException(
            f"create_lr_scheduler returned a {type(scheduler).__name__}; return a determined.pytorch.LRScheduler(...) "
            "or None"
        )
    context.wrap_lr_scheduler(scheduler._scheduler, scheduler._step_mode, scheduler._frequency)


def _training(
    trial: PyTorchTrial, context: PyTorchTrialContext, model: nn.Module, optimizer: torch.optim.Optimizer
) -> Callable[..., object]:
    own: Callable[..., object] = trial.train_batch

    def train_batch(batch: object, epoch_idx: int, batch_idx: int) -> Any:
        metrics = own(batch=batch, model=model, epoch_idx=epoch_idx, batch_idx=batch_idx)
        context.backward(_loss_in(metrics))
        context.step_optimizer(optimizer)
        return metrics

    return train_batch


def _loss_in(metrics: object) -> torch.Tensor:
    loss = metrics.get("loss") if isinstance(metrics, dict) else metrics
    if isinstance(loss, torch.Tensor):
        return loss
    raise InvalidExperimentException(
        "train_batch of a trial with build_model must return the loss to be minimized, a tensor, by itself or as "
        f"'loss' in a dict; it returned {metrics!r}"
    )


def _evaluating(own: Callable[..., object], argument: str, model: nn.Module) -> Callable[[object], object]:
    if argument == "batch":
        return lambda batch: own(batch=batch, model=model)
    return lambda data_loader: own(data_loader=data_loader, model=model)
