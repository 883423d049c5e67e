"""Health of a training: NaN in its metrics, optimizers that never step, and what to do about errors of torch's."""

import contextlib
import logging
import math
from collections.abc import Iterator, Sequence
from numbers import Real
from typing import TYPE_CHECKING, Any

import torch

from determined._json import JsonObject
from determined.constants import GPU_MEMORY_ADVICE, HOST_MEMORY_ADVICE

if TYPE_CHECKING:
    from determined.pytorch._context import PyTorchTrialContext

logger = logging.getLogger("determined.pytorch")

_NOT_FINITE = (
    "training metric %r is %s %s; training goes on, and a search takes it for the worst value. To find the operation, "
    "call torch.autograd.set_detect_anomaly(True) in __init__ (slow). What usually helps: a lower learning rate, %s"
)
_NO_STEP = (
    "no optimizer has stepped in the first %d batches: the weights are those the trial began with. Call "
    "self.context.step_optimizer(optimizer) in train_batch, with the optimizer that wrap_optimizer returned; a "
    "GradScaler that finds infinite gradients in every batch skips its steps, too"
)
_NO_GRADIENT = (
    "optimizer %d (%s) stepped, but none of its parameters had a gradient: nothing was learned. Call "
    "self.context.backward(loss) before step_optimizer in train_batch, on a loss that is computed from the wrapped "
    "model without detach() or item(), and make the optimizer of that model's parameters"
)
_NO_GRAPH = (
    "in train_batch the loss given to backward was not computed from parameters that need gradients: compute it from "
    "the wrapped model's output, outside of torch.no_grad(), without detach() or item()"
)
_HOST_SIGNS = ("DefaultCPUAllocator: can't allocate memory", "DefaultCPUAllocator: not enough memory")


class Health:
    """Looks at each chunk of training once it is on the host, and warns once a trial of each ill.

    Args:
        context: whose optimizers are watched up to their first step.
    """

    _HELPS = (
        "clipping (context.step_optimizer(optimizer, clip_grads=...)), and with float16 a GradScaler "
        "(context.experimental.use_amp()) or bf16 in its place"
    )

    def __init__(self, context: "PyTorchTrialContext") -> None:
        self._every = context._aggregation_frequency
        self._names = [type(optimizer).__name__ for optimizer in context.optimizers]
        all_of_them = context.optimizers if context.distributed.rank == 0 else []  # only the chief looks
        self._first_steps = {i: _FirstStep(each) for i, each in enumerate(all_of_them) if _can_be_watched(each)}
        self._sees_all = len(self._first_steps) == len(all_of_them)
        self._warned_of_metric = False
        self._warned_of_steps = False
        self._warned: set[int] = set()  # of the optimizers, those that stepped without gradients
        self._last = 0

    def look(self, batches_trained: int, averages: JsonObject, per_batch: Sequence[JsonObject] | None = None) -> None:
        """Check a chunk by its averages and, to name the batch, by the metrics of each of its batches."""
        first = batches_trained - len(per_batch) if per_batch else self._last
        if not self._warned_of_metric:
            self._look_at_metrics(first, batches_trained, averages, per_batch or ())
        if not self._warned_of_steps:
            self._look_at_steps(batches_trained - first)
        self._last = batches_trained

    def _look_at_metrics(self, first: int, end: int, averages: JsonObject, per_batch: Sequence[JsonObject]) -> None:
        bad = next((name for name, value in averages.items() if _is_bad(value)), None)
        if bad is None:
            return
        self._warned_of_metric = True
        index = next((first + i for i, metrics in enumerate(per_batch) if _is_bad(metrics.get(bad))), None)
        value = averages[bad] if index is None else per_batch[index - first][bad]
        where = f"between batches {first} and {end}" if index is None else f"in batch {index}"
        logger.warning(_NOT_FINITE, bad, value, where, self._HELPS)

    def _look_at_steps(self, batches: int) -> None:
        steps = self._first_steps.values()
        for index, first in self._first_steps.items():
            if first.had_gradients is not None:
                first.forget()
            if first.had_gradients is False and index not in self._warned:
                self._warned.add(index)
                logger.warning(_NO_GRADIENT, index, self._names[index])
        if any(first.had_gradients is not None for first in steps):
            # All are watched on until they have stepped: one of several may wait for its epoch.
            self._warned_of_steps = all(first.had_gradients is not None for first in steps)
        elif self._first_steps and self._sees_all and batches >= self._every:
            self._warned_of_steps = True
            logger.warning(_NO_STEP, batches)


@contextlib.contextmanager
def explained() -> Iterator[None]:
    """Around training: an error that torch words for itself gets a note on what to change in the trial."""
    try:
        yield
    except (RuntimeError, MemoryError) as error:
        note = advice(error)
        if note is not None and note not in getattr(error, "__notes__", ()):
            error.add_note(note)
        raise


def advice(error: BaseException) -> str | None:
    """Return what to change after `error`; None where we know nothing better than its own words."""
    text = str(error)
    if isinstance(error, torch.OutOfMemoryError) or "CUDA error: out of memory" in text:
        return f"out of memory on the accelerator. What helps: {GPU_MEMORY_ADVICE}"
    if isinstance(error, MemoryError) or any(sign in text for sign in _HOST_SIGNS):
        return f"out of memory on the host. What helps: {HOST_MEMORY_ADVICE}"
    if "does not require grad and does not have a grad_fn" in text:
        return _NO_GRAPH
    return None


class _FirstStep:
    """First step of one optimizer, seen by a hook that is removed after the chunk in which it stepped."""

    def __init__(self, optimizer: torch.optim.Optimizer) -> None:
        self.had_gradients: bool | None = None  # None until it has stepped
        self._hook = optimizer.register_step_pre_hook(self._see)

    def forget(self) -> None:
        """Remove the hook; not from inside the hook, as torch is walking over its hooks then."""
        self._hook.remove()

    def _see(self, optimizer: torch.optim.Optimizer, args: Any, kwargs: Any) -> None:
        if self.had_gradients is not None:
            return
        # With a closure the gradients are made inside of the step. The first argument is the optimizer itself.
        closure = any(callable(value) for value in (*args[1:], kwargs.get("closure")))
        parameters = (p for group in optimizer.param_groups for p in group["params"])
        self.had_gradients = closure or any(p.grad is not None for p in parameters)


def _can_be_watched(optimizer: object) -> bool:
    """Return False for an optimizer that wraps another and never called Optimizer.__init__: torch keeps and calls no
    hooks for it."""
    is_hooked = getattr(getattr(type(optimizer), "step", None), "hooked", False)
    return bool(is_hooked) and hasattr(optimizer, "_optimizer_step_pre_hooks")


def _is_bad(value: object) -> bool:
    return isinstance(value, Real) and not math.isfinite(value)
