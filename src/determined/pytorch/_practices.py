"""Best practices of a PyTorchTrial, looked at when training begins and at checkpoints: nothing of it is in the loop."""

import itertools
import logging
from collections.abc import Iterator
from typing import TYPE_CHECKING

import torch
from torch import nn

from determined.trial import AttributeWatch

if TYPE_CHECKING:
    from determined.pytorch._context import PyTorchTrialContext

logger = logging.getLogger("determined.pytorch")

_REMEDY = (
    "pass a model through self.context.wrap_model (an engine through wrap_model_engine), and keep the rest in a "
    "callback with state_dict and load_state_dict"
)


class Practices:
    """Warns, once, of what a resume would lose."""

    def __init__(self, trial: object, context: "PyTorchTrialContext") -> None:
        self._trial = trial
        self._context = context
        self._kept: set[int] = set()
        self._watch: AttributeWatch | None = None

    def begin(self) -> None:
        """The trial is ready to train its first batch here."""
        self._kept = _kept_by(self._context)
        self._watch = AttributeWatch(self._trial, lambda value: id(value) in self._kept, _REMEDY, _weights_of)
        if self._context.optimizers:  # a DeepSpeed engine has its own
            warn_of_unwrapped_optimizers(self._trial, self._context)

    def look(self) -> None:
        """A checkpoint is about to be saved."""
        if self._watch is not None:
            self._kept = _kept_by(self._context)
            self._watch.look()


def warn_of_unwrapped_optimizers(trial: object, context: "PyTorchTrialContext") -> None:
    wrapped = {id(parameter) for model in context.models for parameter in model.parameters()}
    forgotten = {id(parameter) for model in _models(trial) for parameter in model.parameters()} - wrapped
    for place, optimizer in _optimizers(trial):
        if any(optimizer is each for each in context.optimizers):
            continue
        trained = {id(each) for group in optimizer.param_groups for each in group["params"]}
        if trained & wrapped:
            _warn(optimizer, place, "a wrapped model", "pass it through wrap_optimizer")
        elif trained & forgotten:
            _warn(
                optimizer,
                place,
                "a model that is not wrapped either",
                "pass both through wrap_model and wrap_optimizer",
            )


def _warn(optimizer: torch.optim.Optimizer, place: str, model: str, remedy: str) -> None:
    logger.warning(
        "%s in self.%s is over parameters of %s and did not go through self.context.wrap_optimizer: its state is in no "
        "checkpoint, and it does not wait for gradients of other slots; %s",
        type(optimizer).__name__,
        place,
        model,
        remedy,
    )


def _kept_by(context: "PyTorchTrialContext") -> set[int]:
    """The ids of what a checkpoint holds, and of its parts."""
    held = [context, *context.optimizers, *context.lr_schedulers]
    for model in context.models:
        held += [model, *model.modules(), *model.parameters(), *model.buffers()]
    return set(map(id, held))


def _weights_of(value: object) -> Iterator[torch.Tensor] | None:
    return itertools.chain(value.parameters(), value.buffers()) if isinstance(value, nn.Module) else None


def _optimizers(trial: object) -> Iterator[tuple[str, torch.optim.Optimizer]]:
    """List the optimizers that a trial holds, each once: as attributes, in containers, or as attributes of its own
    objects."""
    seen: set[int] = set()
    for name, value in vars(trial).items():
        for optimizer in _within(value):
            if isinstance(optimizer, torch.optim.Optimizer) and id(optimizer) not in seen:
                seen.add(id(optimizer))
                yield name, optimizer


def _models(trial: object) -> Iterator[nn.Module]:
    for value in vars(trial).values():
        yield from (each for each in _within(value) if isinstance(each, nn.Module))


def _within(value: object) -> list[object]:
    """An optimizer or a model itself; else what a container or an object holds."""
    if isinstance(value, torch.optim.Optimizer | nn.Module):
        return [value]
    if isinstance(value, dict):
        return list(value.values())
    return list(value) if isinstance(value, list | tuple) else list(getattr(value, "__dict__", {}).values())
