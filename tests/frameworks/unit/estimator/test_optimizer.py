"""Optimizers of all ranks step by the mean of their gradients."""

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from two_ranks import on_two_ranks

from determined import core
from determined.errors import InvalidExperimentException
from determined.estimator._optimizer import averaging

v1 = tf.compat.v1
Step = Callable[[Any, Any, list[Any]], Any]  # optimizer, loss, variables -> train_op


def _minimize(optimizer: Any, loss: Any, variables: list[Any]) -> Any:
    return optimizer.minimize(loss, var_list=variables)


def _by_hand(optimizer: Any, loss: Any, variables: list[Any]) -> Any:
    return optimizer.apply_gradients(zip(tf.gradients(loss, variables), variables, strict=True))


def _clipped(optimizer: Any, loss: Any, variables: list[Any]) -> Any:
    pairs = optimizer.compute_gradients(loss, variables)
    return optimizer.apply_gradients(
        [(tf.clip_by_value(gradient, -1.5, 1.5), variable) for gradient, variable in pairs]
    )


def _get_updates(optimizer: Any, loss: Any, variables: list[Any]) -> Any:
    return optimizer.get_updates(loss, variables)


def _stepped(
    make: Callable[[], Any], step: Step, monkeypatch: pytest.MonkeyPatch, *, compress: bool = False
) -> list[Any]:
    """The variables of both ranks, which begin with 0, after a step with the gradients (1, 1) and (3, 3)."""

    def work(distributed: core.DistributedContext) -> Any:
        variables = [v1.get_variable(name, [2], initializer=v1.zeros_initializer()) for name in ("a", "b")]
        loss = tf.reduce_sum(tf.add_n(variables)) * (1.0 + 2.0 * distributed.rank)
        train = step(averaging(make(), distributed, compress=compress), loss, variables)
        with v1.Session() as session:
            session.run(v1.global_variables_initializer())
            session.run(train)
            return np.concatenate(session.run(variables))

    return on_two_ranks(work, monkeypatch)


@pytest.mark.parametrize(
    ("make", "step", "expected"),
    [
        (lambda: v1.train.GradientDescentOptimizer(1.0), _minimize, -2.0),
        (lambda: v1.train.GradientDescentOptimizer(1.0), _by_hand, -2.0),
        (lambda: v1.train.GradientDescentOptimizer(1.0), _clipped, -1.5),
        (lambda: tf.keras.optimizers.legacy.SGD(1.0), _get_updates, -2.0),
        (lambda: tf.keras.optimizers.legacy.SGD(1.0, clipvalue=1.5), _get_updates, -1.5),
    ],
    ids=["minimize", "gradients by hand", "clipped", "keras", "keras, clipped"],
)
def test_both_ranks_step_by_the_mean(
    make: Callable[[], Any], step: Step, expected: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variables in _stepped(make, step, monkeypatch):
        assert variables.tolist() == [expected] * 4


def test_compressed_gradients_are_averaged_in_full_precision(monkeypatch: pytest.MonkeyPatch) -> None:
    for variables in _stepped(lambda: v1.train.GradientDescentOptimizer(1.0), _minimize, monkeypatch, compress=True):
        assert variables.dtype == np.float32 and variables.tolist() == [-2.0] * 4


def test_a_copy_made_from_the_configuration_averages_too(monkeypatch: pytest.MonkeyPatch) -> None:
    def copied(optimizer: Any, loss: Any, variables: list[Any]) -> Any:
        return type(optimizer).from_config(optimizer.get_config()).get_updates(loss, variables)

    for variables in _stepped(lambda: tf.keras.optimizers.legacy.SGD(1.0), copied, monkeypatch):
        assert variables.tolist() == [-2.0] * 4


def test_sparse_and_missing_gradients_are_exchanged(monkeypatch: pytest.MonkeyPatch) -> None:
    def work(distributed: core.DistributedContext) -> Any:
        table = v1.get_variable("table", [3, 1], initializer=v1.zeros_initializer())
        unused = v1.get_variable("unused", [1], initializer=v1.zeros_initializer())
        loss = tf.reduce_sum(tf.gather(table, [distributed.rank]))
        optimizer = averaging(v1.train.GradientDescentOptimizer(1.0), distributed, compress=False)
        pairs = optimizer.compute_gradients(loss, [table, unused])
        assert pairs[1][0] is None and pairs[0][0].shape == [3, 1]
        train = optimizer.apply_gradients(pairs)
        with v1.Session() as session:
            session.run(v1.global_variables_initializer())
            session.run(train)
            return session.run(table).ravel().tolist()

    assert on_two_ranks(work, monkeypatch) == [[-0.5, -0.5, 0.0]] * 2


def _late(tensor: Any) -> Any:
    def pass_on(value: Any) -> Any:
        time.sleep(0.2)
        return value

    late = tf.numpy_function(pass_on, [tensor], tensor.dtype)
    late.set_shape(tensor.shape)
    return late


def test_several_optimizers_are_not_confused_whichever_is_ready_first(monkeypatch: pytest.MonkeyPatch) -> None:
    def work(distributed: core.DistributedContext) -> Any:
        steps = []
        for number, name in enumerate(("dnn", "linear")):
            variable = v1.get_variable(name, [2 + number], initializer=v1.zeros_initializer())
            gradient = tf.fill([2 + number], 1.0 + 2.0 * distributed.rank)
            gradient = _late(gradient) if distributed.rank == number else gradient
            optimizer = averaging(v1.train.GradientDescentOptimizer(1.0), distributed, compress=False)
            steps.append(optimizer.apply_gradients([(gradient, variable)]))
        with v1.Session() as session:
            session.run(v1.global_variables_initializer())
            session.run(steps)
            return np.concatenate(session.run(v1.global_variables())).tolist()

    assert on_two_ranks(work, monkeypatch) == [[-2.0] * 5] * 2


def test_an_exchange_in_a_branch_that_is_not_taken_keeps_no_other_from_happening(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def work(distributed: core.DistributedContext) -> Any:
        variable = v1.get_variable("a", [1], initializer=v1.zeros_initializer())
        gradient = tf.fill([1], 1.0 + 2.0 * distributed.rank)

        def step() -> Any:
            optimizer = averaging(v1.train.GradientDescentOptimizer(1.0), distributed, compress=False)
            with tf.control_dependencies([optimizer.apply_gradients([(gradient, variable)])]):
                return tf.constant(True)

        seldom = tf.cond(v1.placeholder_with_default(False, []), step, lambda: tf.constant(False))
        with v1.Session() as session:
            always = step()
            session.run(v1.global_variables_initializer())
            session.run([seldom, always])
            return session.run(variable).tolist()

    assert on_two_ranks(work, monkeypatch) == [[-2.0]] * 2


def test_an_optimizer_alone_is_left_as_it_is() -> None:
    optimizer = v1.train.AdamOptimizer()
    assert averaging(optimizer, core.DummyDistributedContext(), compress=False) is optimizer
    assert type(optimizer) is v1.train.AdamOptimizer


@pytest.mark.parametrize("optimizer", ["adam", tf.keras.optimizers.Adam()], ids=["name", "Keras's newer kind"])
def test_an_optimizer_of_another_kind_is_refused(optimizer: Any) -> None:
    with pytest.raises(InvalidExperimentException, match=r"tf.keras.optimizers.legacy"):
        averaging(optimizer, core.DummyDistributedContext(), compress=False)
