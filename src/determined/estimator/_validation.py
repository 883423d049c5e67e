"""Metrics of several ranks made one: the mean of numbers; anything else is the first rank's."""

from collections.abc import Sequence
from numbers import Number
from typing import Any

import numpy as np
import tensorflow as tf

from determined._json import JsonObject
from determined.errors import InvalidExperimentException

_NOT_METRICS = ("global_step",)


class BatchCount(tf.estimator.SessionRunHook):  # type: ignore[misc]
    """Counts the batches of a validation."""

    def __init__(self) -> None:
        self.batches = 0

    def after_run(
        self, run_context: "tf.compat.v1.train.SessionRunContext", run_values: "tf.compat.v1.train.SessionRunValues"
    ) -> None:
        self.batches += 1


def plain(metrics: JsonObject) -> JsonObject:
    """Return what `Estimator.evaluate` returns, as it is reported. Summaries, which are bytes, are none."""
    return {
        name: value.item() if isinstance(value, np.generic) else value
        for name, value in metrics.items()
        if name not in _NOT_METRICS and not isinstance(value, bytes)
    }


def over_ranks(everybody: Sequence[tuple[JsonObject, int]]) -> JsonObject:
    """Average over the ranks that had data.

    Args:
        everybody: metrics and number of batches of each rank.

    Raises:
        InvalidExperimentException: none had any.
    """
    given = [metrics for metrics, batches in everybody if batches]
    if not given:
        raise InvalidExperimentException(
            "the validation data gave not one batch; see that the input_fn of build_validation_spec returns a dataset "
            "with records, also after wrap_dataset has divided it and batch(drop_remainder=True) dropped a rest"
        )
    return means(given)


def means(everybody: Sequence[JsonObject]) -> JsonObject:
    """Average each metric that the first has."""
    return {name: _mean([metrics[name] for metrics in everybody if name in metrics]) for name in everybody[0]}


def _mean(values: Sequence[Any]) -> object:
    first = values[0]
    if not all(isinstance(value, Number) and not isinstance(value, bool) for value in values):
        return first
    # Of equal values, as make_metric gives them, a mean may differ in the last bit, and is never an int.
    return first if all(value == first for value in values) else sum(values) / len(values)
