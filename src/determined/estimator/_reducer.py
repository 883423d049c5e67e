"""Validation metrics that are computed outside of the graph, from the values of all batches on all slots."""

import abc
import copy
from collections.abc import Callable
from itertools import zip_longest
from typing import Any

import numpy as np
import numpy.typing as npt
import tensorflow as tf

from determined import core


class MetricReducer(abc.ABC):
    """A metric in two steps: over the batches of a slot, then over the slots.

    Each validation begins with a copy of the object that `make_metric` was given.

    Example:
        >>> class Mean(MetricReducer):
        ...     def __init__(self):
        ...         self.sum, self.count = 0.0, 0
        ...     def accumulate(self, metric):
        ...         self.sum, self.count = self.sum + metric.sum(), self.count + metric.size
        ...         return self.sum, self.count
        ...     def cross_slot_reduce(self, per_slot_metrics):
        ...         sums, counts = zip(*per_slot_metrics)
        ...         return sum(sums) / sum(counts)
    """

    @abc.abstractmethod
    def accumulate(self, metric: Any) -> Any:
        """Take in one batch's value: an array, or a list or dict of arrays, as `make_metric` was given tensors.

        Returns:
            What this slot has so far. It must pickle.
        """

    @abc.abstractmethod
    def cross_slot_reduce(self, per_slot_metrics: list[Any]) -> Any:
        """The metric, from what `accumulate` returned last on each slot that had data."""


def metric_ops(
    metric: object,
    reducer: Callable[[list[object]], object] | MetricReducer,
    numpy_dtype: npt.DTypeLike,
    dist: core.DistributedContext,
) -> "tuple[tf.Tensor, tf.Operation]":
    """(value_op, update_op) in the graph in which `metric` is. Raises TypeError as `make_metric` says."""
    _check_metric(metric)
    state = _SlotState(_as_reducer(reducer), metric, np.dtype(numpy_dtype), dist)
    update_op = tf.numpy_function(state.update, tf.nest.flatten(metric), tf.bool)
    values = tf.compat.v1.get_collection_ref(_VALUES)
    # One after the other: each is an exchange among all ranks, which must come in the same order everywhere.
    with tf.control_dependencies(values[-1:]):
        value_op = tf.numpy_function(state.value, [], tf.as_dtype(np.dtype(numpy_dtype)))
    values.append(value_op)
    return value_op, update_op


_VALUES = "determined_metric_values"  # of a graph: all value_ops so far
_NOTHING = "determined: no batch"  # what a slot without data has


class _SlotState:
    """State of one metric in one validation on this slot."""

    def __init__(
        self, reducer: MetricReducer, structure: object, dtype: npt.DTypeLike, dist: core.DistributedContext
    ) -> None:
        self._reducer = reducer
        self._structure = structure
        self._dtype = dtype
        self._dist = dist
        self._so_far: object = _NOTHING

    def update(self, *values: Any) -> bool:
        self._so_far = self._reducer.accumulate(tf.nest.pack_sequence_as(self._structure, list(values)))
        return True

    def value(self) -> Any:
        slots = self._dist.allgather(self._so_far)
        given = [state for state in slots if not (isinstance(state, str) and state == _NOTHING)]
        if not given:
            return np.zeros((), self._dtype)  # whoever evaluates will find that there was no data at all
        return np.asarray(self._reducer.cross_slot_reduce(given), dtype=self._dtype)


class _FunctionReducer(MetricReducer):
    """A function of all batches' values. Those of the slots take turns, as batches did before they were divided."""

    def __init__(self, function: Callable[[list[object]], object]) -> None:
        self._function = function
        self._batches: list[object] = []

    def accumulate(self, metric: Any) -> list[Any]:
        self._batches.append(metric)
        return self._batches

    def cross_slot_reduce(self, per_slot_metrics: list[Any]) -> Any:
        turns = zip_longest(*per_slot_metrics, fillvalue=_NOTHING)
        return self._function([value for turn in turns for value in turn if not isinstance(value, str)])


def _as_reducer(reducer: object) -> MetricReducer:
    if isinstance(reducer, MetricReducer):
        return copy.deepcopy(reducer)
    if not callable(reducer):
        raise TypeError(f"make_metric got reducer={reducer!r}; pass a function of a list, or a MetricReducer")
    return _FunctionReducer(reducer)


def _check_metric(metric: object) -> None:
    parts = list(metric.values()) if isinstance(metric, dict) else metric
    parts = parts if isinstance(parts, list | tuple) else [parts]
    if not parts or not all(tf.is_tensor(part) for part in parts):
        raise TypeError(f"make_metric got metric={metric!r}; pass a tensor, or a flat list or dict of tensors")
