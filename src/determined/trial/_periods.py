"""Units of training: how often something happens, or how long training lasts, in batches or epochs."""

import abc
import math
from collections.abc import Container, Iterable
from fractions import Fraction

Count = int | float | Fraction  # a number of batches; math.inf is "never"
EpochLength = int | Fraction | None  # in batches; they need not divide the records of an epoch


class TrainUnit(abc.ABC):
    """A number of units (`every n`, or a length), or the 1-based counts at which something happens.

    Args:
        value: an int, below 1 meaning every unit; or a container of counts, such as `[1, 10, 100]`.

    Raises:
        TypeError: neither.
    """

    def __init__(self, value: int | Container[int]) -> None:
        if isinstance(value, bool) or not isinstance(value, int | Container):
            raise TypeError(f"{type(self).__name__}({value!r}): give an int or a container of ints such as [1, 10]")
        self.value = value

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.value!r})"

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.value == getattr(other, "value", None)

    __hash__ = None  # type: ignore[assignment]

    @abc.abstractmethod
    def _batches_per_unit(self, epoch_length: EpochLength) -> Count:
        """math.inf where there is no such unit."""

    def _fires(self, batches: int, epoch_length: EpochLength) -> bool:
        """Return whether it happens when `batches` have been trained in all."""
        unit = self._batches_per_unit(epoch_length)
        if batches == 0 or unit == math.inf or batches % unit:
            return False
        count = int(batches // unit)
        return count % max(self.value, 1) == 0 if isinstance(self.value, int) else count in self.value

    def _next(self, batches: int, epoch_length: EpochLength) -> Count:
        """A bound of when it happens next: not before that many batches have been trained in all."""
        unit = self._batches_per_unit(epoch_length)
        if unit == math.inf:
            return math.inf
        done = int(batches // unit)
        if isinstance(self.value, int):
            every = max(self.value, 1)
            return (done // every + 1) * every * unit
        if isinstance(self.value, Iterable):
            return min((count for count in self.value if count > done), default=math.inf) * unit
        return (done + 1) * unit  # it can only be asked, count by count

    def _length(self, epoch_length: EpochLength) -> Count:
        """Return the length in whole batches."""
        length = _whole(self) * self._batches_per_unit(epoch_length)
        return length if length == math.inf else max(math.floor(length), 1)


class Batch(TrainUnit):
    """Batches, counted over the whole training.

    Example:
        >>> Batch(100)
        Batch(100)
    """

    def _batches_per_unit(self, epoch_length: EpochLength) -> Count:
        return 1


class Epoch(TrainUnit):
    """Passes over the training data of this worker; something due every epoch happens after its last batch.

    Example:
        >>> Epoch([1, 5])
        Epoch([1, 5])
    """

    def _batches_per_unit(self, epoch_length: EpochLength) -> Count:
        return epoch_length or math.inf


def check_length(length: object, call: str) -> TrainUnit:
    """Return a length. Raises TypeError unless it is Batch or Epoch of a number."""
    if not isinstance(length, Batch | Epoch) or not isinstance(length.value, int):
        raise TypeError(f"{call} got max_length={length!r}; give Batch(n) or Epoch(n) with an int")
    if length.value < 1:
        raise ValueError(f"{call} got max_length={length!r}; train for at least 1")
    return length


def check_period(period: object, name: str) -> TrainUnit | None:
    """Return a period. Raises TypeError unless it is None (never), Batch or Epoch."""
    if period is not None and not isinstance(period, Batch | Epoch):
        raise TypeError(f"Trainer.fit got {name}={period!r}; give pytorch.Batch(n), pytorch.Epoch(n) or None for never")
    return period


def _whole(unit: TrainUnit) -> int:
    if not isinstance(unit.value, int):
        raise TypeError(f"{unit!r} is no length; give an int")
    return unit.value
