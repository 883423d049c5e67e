"""Reducers: how validation metrics become one number, and metrics of the user's own making across slots."""

import abc
import enum
import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from torch import Tensor

from determined import core
from determined._json import JsonObject
from determined.pytorch._metric_columns import each_tensor, plain

logger = logging.getLogger("determined.pytorch")


class Reducer(enum.Enum):
    """Reduction of `evaluate_batch` metrics of all batches on all slots to one number."""

    AVG = 1
    SUM = 2
    MAX = 3
    MIN = 4


class MetricReducer(abc.ABC):
    """A metric that no average of batches gives, such as a median or an F1 score. Register it by `wrap_reducer`.

    Collect values in a method of your own, called from `train_batch` or `evaluate_batch`.

    Example:
        >>> class Accuracy(MetricReducer):
        ...     def __init__(self):
        ...         self.reset()
        ...
        ...     def reset(self):
        ...         self.right, self.total = 0, 0
        ...
        ...     def update(self, right, total):
        ...         self.right, self.total = self.right + right, self.total + total
        ...
        ...     def per_slot_reduce(self):
        ...         return self.right, self.total
        ...
        ...     def cross_slot_reduce(self, per_slot_metrics):
        ...         right, total = map(sum, zip(*per_slot_metrics))
        ...         return right / total
    """

    @abc.abstractmethod
    def reset(self) -> None:
        """Forget all values; called before every reporting chunk of training and every validation."""

    @abc.abstractmethod
    def per_slot_reduce(self) -> Any:
        """Return what this slot has to tell the others. Tensors travel to them over the host's memory.

        With one slot there is nobody to tell, and `cross_slot_reduce` gets them where they are.
        """

    @abc.abstractmethod
    def cross_slot_reduce(self, per_slot_metrics: list[Any]) -> Any:
        """The metric, or a dict of metrics if the reducer has no name.

        Args:
            per_slot_metrics: what `per_slot_reduce` returned on each slot, in the order of ranks.
        """


class FunctionReducer(MetricReducer):
    """Reducer that `wrap_reducer` makes of a function: the function gets the values of all slots in one list.

    The values of slots are interleaved, so that data dealt out to slots batch by batch comes back in its order.
    """

    def __init__(self, function: Callable[[list[object]], object]) -> None:
        self._function = function
        self._values: list[object] = []

    def reset(self) -> None:
        self._values = []

    def update(self, value: Any) -> None:
        """Add a value, of any kind that can be pickled."""
        self._values.append(_detached(value))

    def per_slot_reduce(self) -> list[Any]:
        return self._values

    def cross_slot_reduce(self, per_slot_metrics: list[Any]) -> Any:
        return self._function(interleaved(per_slot_metrics))


class ReducerSet:
    """Reducers of a trial. They share one exchange between ranks."""

    def __init__(self) -> None:
        self._registered: list[_Registered] = []

    def wrap(
        self,
        reducer: MetricReducer | Callable[[list[object]], object],
        name: str | None = None,
        for_training: bool = True,
        for_validation: bool = True,
    ) -> MetricReducer:
        """Register a reducer.

        Args:
            reducer: a MetricReducer, or a function of a list of values.
            name: of the metric; None for a reducer that returns a dict of metrics.
            for_training: whether it is part of training metrics.
            for_validation: whether it is part of validation metrics.

        Returns:
            The MetricReducer; for a function an object with a method `update(value)`.

        Raises:
            AssertionError: a reducer of a wrong kind, or one that is registered already.
        """
        checked = _checked(reducer)
        for other in self._registered:
            if other.reducer is checked:
                raise AssertionError(f"wrap_reducer got {_title(checked, name)} twice; wrap each object once")
        self._registered.append(_Registered(checked, name, for_training, for_validation))
        return checked

    def reset(self) -> None:
        """Reset every reducer."""
        for each in self._registered:
            each.call("reset")

    def reduce(self, distributed: core.DistributedContext, *, for_training: bool) -> JsonObject:
        """Metrics over all ranks, on every rank. All ranks must call it; without reducers nothing is exchanged.

        Raises:
            ValueError: a method of a reducer failed; it is named.
            AssertionError: a dict from a reducer with a name, or something else from one without.
        """
        chosen = [each for each in self._registered if each.counts(for_training)]
        if not chosen:
            return {}
        prepared = _on_host if distributed.size > 1 else _detached
        per_rank = distributed.allgather([prepared(each.call("per_slot_reduce")) for each in chosen])
        metrics: JsonObject = {}
        for position, each in enumerate(chosen):
            reduced = each.named(each.call("cross_slot_reduce", [values[position] for values in per_rank]))
            for name in reduced.keys() & metrics.keys():
                logger.warning("several reducers give a metric %r, and the last one counts; rename one", name)
            metrics |= reduced
        return metrics


@dataclass(frozen=True, slots=True)
class _Registered:
    reducer: MetricReducer
    name: str | None
    for_training: bool
    for_validation: bool

    def counts(self, for_training: bool) -> bool:
        return self.for_training if for_training else self.for_validation

    def call(self, method: str, *arguments: object) -> Any:
        try:
            return getattr(self.reducer, method)(*arguments)
        except Exception as err:
            raise ValueError(
                f"{_title(self.reducer, self.name)} failed in {method}: {type(err).__name__}: {err}"
            ) from err

    def named(self, result: object) -> JsonObject:
        title = _title(self.reducer, self.name)
        if self.name is None:
            if not isinstance(result, dict):
                raise AssertionError(
                    f"{title} returned a {type(result).__name__}; return a dict of metrics, or give wrap_reducer a name"
                )
            return {name: plain(value) for name, value in result.items()}
        if isinstance(result, dict):
            raise AssertionError(f"{title} returned a dict; return one value, or give wrap_reducer no name")
        return {self.name: plain(result)}


def interleaved(sequences: Iterable[Iterable[object]]) -> list[Any]:
    """First of all, then the second of all, and so on; shorter ones just end earlier."""
    lists = [list(sequence) for sequence in sequences]
    longest = max(map(len, lists), default=0)
    return [values[at] for at in range(longest) for values in lists if at < len(values)]


def _checked(reducer: object) -> MetricReducer:
    if isinstance(reducer, MetricReducer):
        return reducer
    if isinstance(reducer, type) and issubclass(reducer, MetricReducer):
        raise AssertionError(f"wrap_reducer got the class {reducer.__name__}; pass an object of it")
    if not callable(reducer):
        raise AssertionError(
            f"wrap_reducer got a {type(reducer).__name__}; pass a MetricReducer or a function of a list of values"
        )
    return FunctionReducer(reducer)


def _title(reducer: MetricReducer, name: str | None) -> str:
    function = getattr(reducer, "_function", None)
    kind = type(reducer).__name__ if function is None else getattr(function, "__name__", repr(function))
    return f"reducer {kind}" if name is None else f"reducer {kind} ({name!r})"


def _detached(value: object) -> object:
    """Detach a value of train_batch from its graph, which it would keep alive."""
    return each_tensor(value, Tensor.detach)


def _on_host(value: object) -> object:
    """Tensors of a device cannot be unpickled by a rank that lacks it."""
    return each_tensor(value, _to_host)


def _to_host(tensor: Tensor) -> Tensor:
    return tensor.detach().cpu()
