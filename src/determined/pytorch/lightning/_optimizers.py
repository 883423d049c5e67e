"""Optimizers and schedulers that `configure_optimizers` returned, in every form Lightning allows."""

from dataclasses import dataclass
from typing import Any

import torch

from determined._json import JsonObject
from determined.errors import InvalidModelException
from determined.pytorch._lr_scheduler import LRScheduler

_PLATEAU = (
    "it is stepped by a metric; step it in on_validation_end of a PyTorchCallback, after "
    "context.wrap_lr_scheduler(scheduler, LRScheduler.StepMode.MANUAL_STEP)"
)
_STEP_MODES = {"epoch": LRScheduler.StepMode.STEP_EVERY_EPOCH, "step": LRScheduler.StepMode.STEP_EVERY_BATCH}


@dataclass(frozen=True, slots=True)
class Scheduler:
    """A scheduler and when the loop steps it."""

    scheduler: object
    step_mode: LRScheduler.StepMode
    frequency: int


@dataclass(frozen=True, slots=True)
class Configured:
    optimizers: list[torch.optim.Optimizer]
    schedulers: list[Scheduler]


def configured(returned: object) -> Configured:
    """Read what `configure_optimizers` returned. Raises InvalidModelException for what cannot be trained by."""
    optimizers, schedulers = _split(returned)
    if not optimizers:
        raise InvalidModelException(f"configure_optimizers returned {returned!r}; return at least one optimizer")
    for optimizer in optimizers:
        if not isinstance(optimizer, torch.optim.Optimizer):
            raise InvalidModelException(
                f"configure_optimizers returned a {type(optimizer).__name__} among its optimizers; return objects of "
                "torch.optim.Optimizer"
            )
    return Configured(optimizers, [_scheduler(each) for each in schedulers])


def _split(returned: object) -> tuple[list[Any], list[object]]:
    if returned is None:
        return [], []
    if isinstance(returned, dict):
        return _of_dict(returned)
    if not isinstance(returned, list | tuple):
        return [returned], []
    if len(returned) == 2 and all(isinstance(part, list | tuple) for part in returned):
        return list(returned[0]), list(returned[1])
    parts = [_of_dict(each) if isinstance(each, dict) else ([each], []) for each in returned]
    return [one for part in parts for one in part[0]], [one for part in parts for one in part[1]]


def _of_dict(returned: JsonObject) -> tuple[list[object], list[object]]:
    if "optimizer" not in returned:
        raise InvalidModelException(
            f"configure_optimizers returned a dict with {sorted(returned)}; it needs the key 'optimizer'"
        )
    if returned.get("frequency"):
        raise InvalidModelException(
            "configure_optimizers gave an optimizer a frequency; each steps on every batch: return None from "
            "training_step for those that should not"
        )
    scheduler = returned.get("lr_scheduler")
    if scheduler is None:
        return [returned["optimizer"]], []
    if returned.get("monitor") and not isinstance(scheduler, dict):
        scheduler = {"scheduler": scheduler, "monitor": returned["monitor"]}
    return [returned["optimizer"]], [scheduler]


def _scheduler(given: Any) -> Scheduler:
    options = given if isinstance(given, dict) else {"scheduler": given}
    scheduler = options.get("scheduler")
    if scheduler is None:
        raise InvalidModelException(
            f"configure_optimizers returned a scheduler's dict with {sorted(options)}; it needs the key 'scheduler'"
        )
    is_plateau = isinstance(scheduler, torch.optim.lr_scheduler.ReduceLROnPlateau)
    for key, is_there in (("ReduceLROnPlateau", is_plateau), *((key, bool(options.get(key))) for key in _BY_METRIC)):
        if is_there:
            raise InvalidModelException(f"configure_optimizers returned a scheduler with {key}; {_PLATEAU}")
    interval = options.get("interval") or "epoch"
    if interval not in _STEP_MODES:
        raise InvalidModelException(
            f"configure_optimizers returned a scheduler with interval={interval!r}; give {' or '.join(_STEP_MODES)}"
        )
    return Scheduler(scheduler, _STEP_MODES[interval], int(options.get("frequency") or 1))


_BY_METRIC = ("reduce_on_plateau", "monitor")
