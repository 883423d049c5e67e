"""Best practices of a PyTorchTrial, looked at when training begins and at checkpoints: nothing of it is in the loop."""

import logging
from collections.abc import Iterator
from typing import Any

import torch
from torch import nn

from determined.trial import AttributeWatch

logger = logging.getLogger("determined.pytorch")


class Practices:
    """Warns, once, of what a resume would lose."""

    def __init__(self, trial: object, context: Any) -> None:
        self._trial = trial
        self._context = context
        self._watch: AttributeWatch | None = None

    def begin(self) -> None:
        """The trial is ready to train its first batch here."""
        self._watch = AttributeWatch(self._trial, self._is_kept)
        if self._context.optimizers:  # a DeepSpeed engine has its own
            warn_of_unwrapped_optimizers(self._trial, self._context)

    def look(self) -> None:
        """A checkpoint is about to be saved."""
        if self._watch is not None:
            self._watch.look()

    def _is_kept(self, value: Any) -> bool:
        context = self._context
        held = [context, *getattr(context, "optimizers", []), *getattr(context, "lr_schedulers", [])]
        for model in context.models:
            held += [model, *model.modules(), *model.parameters(), *model.buffers()]
        return any(value is each for each in held)


def warn_of_unwrapped_optimizers(trial: object, context: Any) -> None:
    owned = {id(parameter) for model in context.models for parameter in model.parameters()}
    for place, optimizer in _optimizers(trial):
        if any(optimizer is wrapped for wrapped in context.optimizers):
            continue
        if not any(id(each) in owned for group in optimizer.param_groups for each in group["params"]):
            continue
        logger.warning(
            "%s in self.%s is over parameters of a wrapped model and did not go through self.context.wrap_optimizer: "
            "its state is in no checkpoint, and it does not wait for gradients of other slots; pass it through "
            "wrap_optimizer",
            type(optimizer).__name__,
            place,
        )


def _optimizers(trial: object) -> Iterator[tuple[str, torch.optim.Optimizer]]:
    """Those that a trial holds, each once: as attributes, in containers, or as attributes of its own objects."""
    seen: set[int] = set()
    for name, value in vars(trial).items():
        for optimizer in _within(value):
            if id(optimizer) not in seen:
                seen.add(id(optimizer))
                yield name, optimizer


def _within(value: Any) -> list[torch.optim.Optimizer]:
    if isinstance(value, torch.optim.Optimizer):
        return [value]
    if isinstance(value, nn.Module):
        return []
    inner: Any = value
    if isinstance(value, dict):
        inner = value.values()
    elif not isinstance(value, list | tuple):
        inner = getattr(value, "__dict__", {}).values()
    return [each for each in inner if isinstance(each, torch.optim.Optimizer)]
