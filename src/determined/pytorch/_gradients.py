"""Gradients: backward passes, their aggregation over batches, clipping, and the optimizer's step."""

import contextlib
import logging
from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import nn

from determined.errors import InvalidExperimentException
from determined.pytorch import _parallel
from determined.pytorch._amp import MixedPrecision

logger = logging.getLogger("determined.pytorch")

ClipGrads = Callable[[Iterable[nn.Parameter]], Any]
Pending = list[list[torch.Tensor | None]]


class Gradients:
    """Implementation of `context.backward` and `context.step_optimizer`.

    Attributes:
        plain: nothing is to be done beyond `loss.backward(); optimizer.step(); optimizer.zero_grad()`.
        steps: whether optimizers step on the current batch; they do not while gradients are aggregated.
    """

    def __init__(self, *, aggregation_frequency: int, average: bool, precision: MixedPrecision) -> None:
        self.plain = aggregation_frequency == 1
        self.steps = True
        self._every = aggregation_frequency
        self._average = average
        self._precision = precision
        self._averages: dict[int, bool] = {}  # by the id of a wrapped optimizer
        self._exchanging: list[nn.Module] = []
        self._before_step: ClipGrads | None = None
        self._losses = 0  # of this batch, for apex
        self._scaled = False  # our scaler stepped an optimizer in this batch
        self._warned_of_loss = False

    def know_optimizer(self, optimizer: torch.optim.Optimizer, average: bool | None) -> None:
        """Note how the gradients of a wrapped optimizer are aggregated."""
        self._averages[id(optimizer)] = self._average if average is None else average
        if _parallel.is_horovod_optimizer(optimizer):
            self.plain = False

    def know_instead(self, before: list[torch.optim.Optimizer], now: list[torch.optim.Optimizer]) -> None:
        """Optimizers were replaced; each aggregates as the one in its place did, if there was one."""
        for number, optimizer in enumerate(now):
            old = before[number] if number < len(before) else optimizer
            self.know_optimizer(optimizer, self._averages.get(id(old)))

    def know_model(self, model: nn.Module) -> None:
        """Note a wrapped model whose ranks exchange gradients."""
        self._exchanging += _parallel.exchanging(model)

    def call_before_step(self, hook: ClipGrads) -> None:
        """Have `hook` called with an optimizer's parameters before each step, ahead of `clip_grads`."""
        self._before_step, self.plain = hook, False

    def begin_batch(self, batch_idx: int) -> None:
        """Begin a batch; call it only where gradients are aggregated. Ranks exchange them on batches that step, and
        else not."""
        steps = (batch_idx + 1) % self._every == 0
        if steps is not self.steps:
            self._switch(steps)

    def end_batch(self) -> None:
        """End a batch; call it unless `plain`."""
        self._losses = 0
        scaler = self._precision.scaler
        if self._scaled and scaler is not None:
            scaler.update()
            self._scaled = False

    def backward(
        self, loss: torch.Tensor, gradient: torch.Tensor | None, retain_graph: bool, create_graph: bool
    ) -> None:
        if self.plain:
            loss.backward(gradient, retain_graph, create_graph)  # type: ignore[no-untyped-call]
        else:
            self._backward(loss, gradient, retain_graph, create_graph)

    def step(
        self,
        optimizer: torch.optim.Optimizer,
        clip_grads: ClipGrads | None,
        auto_zero_grads: bool,
        scaler: torch.amp.GradScaler | None,
    ) -> None:
        if id(optimizer) not in self._averages:
            self._meet_stranger(optimizer)
        if not self.plain or clip_grads is not None or scaler is not None:
            self._step(optimizer, clip_grads, auto_zero_grads, scaler)
            return
        optimizer.step()
        if auto_zero_grads:
            optimizer.zero_grad()

    def pending(self, optimizers: list[torch.optim.Optimizer], ranks: int) -> Pending | None:
        """Gradients added up and not stepped by yet, for a checkpoint between two steps: by optimizer and parameter.

        Each of several ranks collects its own. None where the last batch stepped.
        """
        if self.steps:
            return None
        if ranks > 1 and not _parallel.can_read_gradients(self._exchanging):
            self._warn_of_loss()
            return None
        return [[p.grad for p in _parallel.parameters_of(optimizer)] for optimizer in optimizers]

    def put_back(self, optimizers: list[torch.optim.Optimizer], pending: Pending) -> None:
        """Go on adding up where `pending` was taken."""
        for optimizer, gradients in zip(optimizers, pending, strict=True):
            for parameter, gradient in zip(_parallel.parameters_of(optimizer), gradients, strict=True):
                parameter.grad = None if gradient is None else gradient.to(parameter.device)
        self._switch(steps=False)

    def _switch(self, steps: bool) -> None:
        self.steps = steps
        for model in self._exchanging:
            _parallel.exchange_gradients(model, steps)

    def _backward(self, loss: torch.Tensor, *options: Any) -> None:
        precision = self._precision
        if precision.apex is not None:
            self._backward_with_apex(loss, *options)
        elif precision.is_automatic and precision.scaler is not None:
            precision.scaler.scale(loss).backward(*options)  # type: ignore[no-untyped-call]
        else:
            loss.backward(*options)  # type: ignore[no-untyped-call]

    def _backward_with_apex(self, loss: torch.Tensor, *options: object) -> None:
        """The n-th loss of every batch has the n-th loss scale."""
        optimizers, number = self._precision.apex_optimizers, self._losses
        self._losses += 1
        with self._precision.apex.scale_loss(
            loss, optimizers, loss_id=number, delay_unscale=not self.steps
        ) as scaled_loss:
            scaled_loss.backward(*options)

    def _step(
        self,
        optimizer: Any,
        clip_grads: ClipGrads | None,
        auto_zero_grads: bool,
        scaler: torch.amp.GradScaler | None,
    ) -> None:
        if self._every > 1 and not auto_zero_grads:
            raise InvalidExperimentException(
                f"step_optimizer(auto_zero_grads=False) with aggregation_frequency={self._every}: gradients are "
                "aggregated between steps and must be zeroed by each; leave auto_zero_grads as it is"
            )
        if not self.steps:
            return
        is_horovod = _parallel.is_horovod_optimizer(optimizer)
        if is_horovod:
            optimizer.synchronize()
        if self._every > 1 and self._averages[id(optimizer)]:
            _divide(optimizer, self._every)
        clipping = [clip for clip in (self._before_step, clip_grads) if clip is not None]
        scaler = self._scaler_of(optimizer, scaler, is_clipping=bool(clipping))
        for clip in clipping:
            clip(self._clippable(optimizer))
        with optimizer.skip_synchronize() if is_horovod else contextlib.nullcontext():
            optimizer.step() if scaler is None else scaler.step(optimizer)
        if auto_zero_grads:
            optimizer.zero_grad()

    def _scaler_of(
        self, optimizer: torch.optim.Optimizer, given: torch.amp.GradScaler | None, *, is_clipping: bool
    ) -> torch.amp.GradScaler | None:
        """Return who makes the step. Gradients scaled by `use_amp` are brought back to their size before they are
        clipped."""
        ours = self._precision.scaler
        if given is not None or not self._precision.is_automatic or ours is None:
            return given
        if is_clipping:
            ours.unscale_(optimizer)
        self._scaled = True
        return ours

    def _clippable(self, optimizer: torch.optim.Optimizer) -> list[nn.Parameter]:
        if self._precision.apex is not None:
            return list(self._precision.apex.master_params(optimizer))
        return _parallel.parameters_of(optimizer)

    def _warn_of_loss(self) -> None:
        if self._warned_of_loss:
            return
        self._warned_of_loss = True
        logger.warning(
            "a checkpoint was taken between two optimizer steps (aggregation_frequency=%s), and sharded gradients are "
            "not part of it: going on from it aggregates anew. Choose checkpoint and validation periods that are "
            "multiples of aggregation_frequency",
            self._every,
        )

    def _meet_stranger(self, optimizer: torch.optim.Optimizer) -> None:
        if not isinstance(optimizer, torch.optim.Optimizer):
            raise TypeError(f"step_optimizer got a {type(optimizer).__name__}; pass what wrap_optimizer returned")
        logger.warning(
            "step_optimizer got a %s that was not wrapped, so that no checkpoint holds its state; pass it through "
            "context.wrap_optimizer in __init__ and use what that returns",
            type(optimizer).__name__,
        )
        self.know_optimizer(optimizer, None)


def _divide(optimizer: torch.optim.Optimizer, divisor: int) -> None:
    gradients = [parameter.grad for parameter in _parallel.parameters_of(optimizer) if parameter.grad is not None]
    if gradients:
        torch._foreach_div_(gradients, divisor)
