"""LRScheduler: a scheduler of torch's and when the training loop steps it."""

import enum
from typing import TYPE_CHECKING

from determined._json import JsonObject

if TYPE_CHECKING:
    from torch import Tensor
    from torch.optim.lr_scheduler import LRScheduler as TorchScheduler


class LRScheduler:
    """A learning-rate scheduler, stepped by the training loop or by hand.

    Args:
        scheduler: of `torch.optim.lr_scheduler`, or anything with `step`, `state_dict` and `load_state_dict`.
        step_mode: what it counts.
        frequency: it is stepped once in so many of them.

    Raises:
        TypeError: an argument of a wrong type.
        ValueError: a frequency below 1.

    Example:
        >>> scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=2)
        >>> LRScheduler(scheduler, LRScheduler.StepMode.STEP_EVERY_EPOCH)
    """

    class StepMode(enum.Enum):
        """Moment at which a scheduler is stepped.

        STEP_EVERY_EPOCH: after the last batch of an epoch.
        STEP_EVERY_BATCH: after a batch; those whose gradients were only collected are caught up with at the next
            step of the optimizer.
        MANUAL_STEP: by the user's own call of `step`.
        STEP_EVERY_OPTIMIZER_STEP: after a step of the optimizer.
        """

        STEP_EVERY_EPOCH = 1
        STEP_EVERY_BATCH = 2
        MANUAL_STEP = 3
        STEP_EVERY_OPTIMIZER_STEP = 4

    def __init__(self, scheduler: "TorchScheduler", step_mode: "LRScheduler.StepMode", frequency: int = 1) -> None:
        self._scheduler = _checked_scheduler(scheduler)
        self._step_mode = _checked_mode(step_mode)
        self._frequency = _checked_frequency(frequency)
        self._is_manual = step_mode is self.StepMode.MANUAL_STEP

    def step(self, *args: object, **kwargs: object) -> None:
        """Step the scheduler, with whatever its own `step` takes."""
        self._scheduler.step(*args, **kwargs)  # type: ignore[arg-type]

    def get_last_lr(self) -> "list[float | Tensor]":
        """The learning rate of each parameter group."""
        return self._scheduler.get_last_lr()

    def state_dict(self) -> JsonObject:
        """The scheduler's own state."""
        return self._scheduler.state_dict()

    def load_state_dict(self, state_dict: JsonObject) -> None:
        """Take back what `state_dict` returned."""
        self._scheduler.load_state_dict(state_dict)

    def _after_batch(self, batch_idx: int, epoch_length: int | None, aggregation_frequency: int) -> None:
        """Step as often as is due. The optimizer steps on every `aggregation_frequency`-th batch, and only there."""
        if self._is_manual:
            return
        done = batch_idx + 1
        if done % aggregation_frequency:
            return
        for _ in range(self._steps_due(done, epoch_length, aggregation_frequency)):
            self._scheduler.step()

    def _steps_due(self, done: int, epoch_length: int | None, every: int) -> int:
        """Multiples of the frequency among the batches, epochs or steps since the optimizer's last step."""
        frequency, mode = self._frequency, self._step_mode
        if mode is self.StepMode.STEP_EVERY_BATCH:
            return done // frequency - (done - every) // frequency
        if mode is self.StepMode.STEP_EVERY_OPTIMIZER_STEP:
            return 0 if done // every % frequency else 1
        if epoch_length is None:
            return 0
        # An epoch's step is taken with the last optimizer step before its end, which may fall within the epoch.
        batch_idx = done - 1
        return (batch_idx + every) // epoch_length // frequency - batch_idx // epoch_length // frequency


def _checked_scheduler(scheduler: "TorchScheduler") -> "TorchScheduler":
    missing = [
        name for name in ("step", "state_dict", "load_state_dict") if not callable(getattr(scheduler, name, None))
    ]
    if missing or isinstance(scheduler, type):
        raise TypeError(
            f"scheduler={scheduler!r} is not a learning-rate scheduler; pass an object of torch.optim.lr_scheduler"
        )
    return scheduler


def _checked_mode(step_mode: object) -> LRScheduler.StepMode:
    if not isinstance(step_mode, LRScheduler.StepMode):
        names = ", ".join(mode.name for mode in LRScheduler.StepMode)
        raise TypeError(f"step_mode={step_mode!r} is not a LRScheduler.StepMode; pass one of {names}")
    return step_mode


def _checked_frequency(frequency: object) -> int:
    if not isinstance(frequency, int) or isinstance(frequency, bool):
        raise TypeError(f"frequency={frequency!r} is a {type(frequency).__name__}; pass an int")
    if frequency < 1:
        raise ValueError(f"frequency={frequency} of a LRScheduler is below 1; pass 1 to step it every time")
    return frequency
