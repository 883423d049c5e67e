"""make_metric: from the values of all batches on all slots, one number."""

from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from two_ranks import on_two_ranks

from determined import core
from determined.estimator import MetricReducer
from determined.estimator._reducer import metric_ops

ALONE = core.DummyDistributedContext()


class Mean(MetricReducer):
    def __init__(self) -> None:
        self.sum, self.count = 0.0, 0

    def accumulate(self, metric: Any) -> Any:
        self.sum, self.count = self.sum + metric.sum(), self.count + metric.size
        return self.sum, self.count

    def cross_slot_reduce(self, per_slot_metrics: list[Any]) -> Any:
        sums, counts = zip(*per_slot_metrics, strict=True)
        return sum(sums) / sum(counts)


def _evaluated(ops: tuple[Any, Any], batches: int) -> Any:
    value, update = ops
    with tf.compat.v1.Session() as session:
        for _ in range(batches):
            session.run(update)
        return session.run(value)


def test_a_function_gets_the_values_of_all_batches() -> None:
    with tf.Graph().as_default():
        ops = metric_ops(tf.constant([1.0, 2.0]), lambda batches: sum(map(np.sum, batches)), np.float32, ALONE)
        assert _evaluated(ops, 3) == np.float32(9.0)


def test_a_metric_of_several_tensors_keeps_its_form() -> None:
    with tf.Graph().as_default():
        metric = {"right": tf.constant(3), "all": tf.constant(4)}
        ops = metric_ops(metric, lambda batches: sum(b["right"] / b["all"] for b in batches), np.float64, ALONE)
        assert _evaluated(ops, 2) == 1.5
        ops = metric_ops([tf.constant(1), tf.constant(2)], lambda batches: batches[0][1], np.int64, ALONE)
        assert _evaluated(ops, 1) == 2


def test_a_reducer_that_is_used_again_begins_anew() -> None:
    reducer = Mean()
    for _ in range(2):
        with tf.Graph().as_default():
            assert _evaluated(metric_ops(tf.constant([1.0, 3.0]), reducer, np.float32, ALONE), 2) == 2.0
    assert reducer.count == 0


def test_values_of_the_slots_take_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    def work(distributed: core.DistributedContext) -> Any:
        ops = metric_ops(
            tf.constant(distributed.rank), lambda batches: int("1" + "".join(map(str, batches))), np.int64, distributed
        )
        return int(_evaluated(ops, 3 - distributed.rank))

    assert on_two_ranks(work, monkeypatch) == [101010, 101010]


def test_several_metrics_of_several_slots_are_not_confused(monkeypatch: pytest.MonkeyPatch) -> None:
    def work(distributed: core.DistributedContext) -> Any:
        ops = [metric_ops(tf.constant(float(10**n)), sum, np.float32, distributed) for n in range(5)]
        with tf.compat.v1.Session() as session:
            session.run([update for _, update in ops])
            return session.run([value for value, _ in reversed(ops)])

    assert on_two_ranks(work, monkeypatch) == [[20000.0, 2000.0, 200.0, 20.0, 2.0]] * 2


def test_a_slot_without_data_has_no_part_in_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def work(distributed: core.DistributedContext) -> Any:
        ops = metric_ops(tf.constant([2.0, 4.0]), Mean(), np.float32, distributed)
        return float(_evaluated(ops, 1 - distributed.rank))

    assert on_two_ranks(work, monkeypatch) == [3.0, 3.0]


@pytest.mark.parametrize("metric", [1.0, [], {}, {"a": 1.0}, [[1.0]], None], ids=repr)
def test_a_metric_without_tensors_is_refused(metric: Any) -> None:
    with tf.Graph().as_default(), pytest.raises(TypeError, match="pass a tensor"):
        metric_ops(metric, sum, np.float32, ALONE)


def test_a_reducer_that_is_no_function_is_refused() -> None:
    with tf.Graph().as_default(), pytest.raises(TypeError, match="MetricReducer"):
        metric_ops(tf.constant(1.0), "mean", np.float32, ALONE)
