"""Reduction of the metrics of evaluate_batch to one number each: per batch, then over the batches of all ranks."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from determined.errors import InvalidExperimentException
from determined.pytorch._metric_columns import Array, Column, is_numeric
from determined.pytorch._reducer import Reducer, interleaved

_OPERATIONS: dict[Reducer, Callable[..., Any]] = {
    Reducer.AVG: np.mean,
    Reducer.SUM: np.sum,
    Reducer.MAX: np.max,
    Reducer.MIN: np.min,
}


@dataclass(frozen=True, slots=True)
class Counted:
    """Number of validated batches and records. None: nobody knows."""

    batches: int | None
    records: int | None

    @staticmethod
    def total(counts: "Iterable[Counted]") -> "Counted":
        each = list(counts)
        records = [count.records for count in each if count.records is not None]
        return Counted(sum(count.batches or 0 for count in each), sum(records) if len(records) == len(each) else None)


@dataclass(frozen=True, slots=True)
class Share:
    """Results of the batches of one rank: a number per batch and metric."""

    numbers: dict[str, Array]
    counted: Counted


def share_of(columns: dict[str, Column], counted: Counted, chosen: object) -> Share:
    """Share of one rank.

    Args:
        columns: its metrics, a value per batch.
        counted: its batches and records.
        wanted: what `evaluation_reducer` returned.

    Raises:
        InvalidExperimentException: `wanted` is no reducer, or not one for each metric.
        TypeError: a metric that is no number.
    """
    if not counted.batches:
        return Share({}, counted)
    reducers = _by_name(chosen, list(columns))
    return Share({name: _per_batch(name, column, reducers[name]) for name, column in columns.items()}, counted)


def reduced(shares: list[Share], chosen: object) -> dict[str, float]:
    """Reduce over all batches, in the order that one process would have them in: the same result to the last bit.

    Raises:
        RuntimeError: there is no batch.
        ValueError: ranks have metrics of different names.
    """
    having = {rank: share.numbers for rank, share in enumerate(shares) if share.counted.batches}
    if not having:
        raise RuntimeError(
            "build_validation_data_loader returned a loader without a single batch; give it data, and a batch_size of "
            "no more records than there are if drop_last is set"
        )
    names = _same_names(having)
    reducers = _by_name(chosen, names)
    return {
        name: float(_OPERATIONS[reducers[name]](interleaved(numbers[name] for numbers in having.values())))
        for name in names
    }


def _by_name(chosen: object, names: list[str]) -> dict[str, Reducer]:
    if isinstance(chosen, Reducer):
        return dict.fromkeys(names, chosen)
    kinds = ", ".join(f"Reducer.{each.name}" for each in Reducer)
    if not isinstance(chosen, dict):
        raise InvalidExperimentException(
            f"evaluation_reducer returned {chosen!r}; return one of {kinds}, or a dict of one for each metric"
        )
    if set(chosen) != set(names):
        raise InvalidExperimentException(
            f"evaluation_reducer has reducers for {sorted(map(str, chosen))} and evaluate_batch returned metrics "
            f"{sorted(names)}; give every metric one, and no others"
        )
    for name, reducer in chosen.items():
        if not isinstance(reducer, Reducer):
            raise InvalidExperimentException(
                f"evaluation_reducer returned {reducer!r} for {name!r}; return one of {kinds}, and metrics of your own "
                "making through context.wrap_reducer"
            )
    return chosen


def _per_batch(name: str, column: Column, reducer: Reducer) -> Array:
    """A number for each batch. Vectors are reduced as batches are later; the last one may be shorter."""
    operation = _OPERATIONS[reducer]
    if isinstance(column, np.ndarray) and is_numeric(column) and column.size:
        return np.asarray(operation(column.reshape(len(column), -1).astype(np.float64), axis=1))
    return np.asarray([operation(_numbers(name, value)) for value in column], dtype=np.float64)


def _numbers(name: str, value: object) -> Array:
    array = np.asarray(value)
    is_number = array.dtype.kind in "biuf"
    if not is_number or not array.size:
        what = "an empty array" if is_number else f"a {type(value).__name__}"
        raise TypeError(
            f"evaluate_batch returned {what} as metric {name!r}, which evaluation_reducer cannot reduce; return "
            "numbers or tensors, or reduce it by context.wrap_reducer"
        )
    return array.astype(np.float64)


def _same_names(having: dict[int, dict[str, Array]]) -> list[str]:
    first, names = next((rank, list(numbers)) for rank, numbers in having.items())
    for rank, numbers in having.items():
        if set(numbers) != set(names):
            raise ValueError(
                f"evaluate_batch returned metrics {sorted(numbers)} on rank {rank} and {sorted(names)} on rank "
                f"{first}; return the same names on every rank"
            )
    return names
