"""Models that have no variables before their first batch: paused and gone on with as any other."""

from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf
from keras_fits import IS_KERAS_3, fit, records

from determined.errors import CheckpointStateException
from determined.keras import DeterminedCallback


def _lazy(learning_rate: float) -> Any:
    model = keras.Sequential([keras.layers.Dense(4), keras.layers.Dense(1)])
    model.compile(keras.optimizers.Adam(learning_rate), loss="mse", metrics=["mae"])
    return model


class Net(keras.Model):  # type: ignore[misc]
    """With operations of TensorFlow beside its layers."""

    def __init__(self) -> None:
        super().__init__()
        self.wide, self.narrow = keras.layers.Dense(4), keras.layers.Dense(1)

    def call(self, inputs: Any) -> Any:
        return self.narrow(tf.concat([self.wide(inputs), inputs], axis=1))


def _own(learning_rate: float) -> Any:
    model = Net()
    model.compile(keras.optimizers.Adam(learning_rate), loss="mse", metrics=["mae"])
    return model


class OnlyTrains(keras.Model):  # type: ignore[misc]
    """Has no `call`, as many examples of autoencoders."""

    def __init__(self) -> None:
        super().__init__()
        self.net = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1)])

    def train_step(self, data: Any) -> Any:
        with tf.GradientTape() as tape:
            error = self._error(data)
        weights = self.net.trainable_variables
        self.optimizer.apply_gradients(zip(tape.gradient(error, weights), weights, strict=True))
        return {"error": error}

    def test_step(self, data: Any) -> Any:
        return {"error": self._error(data)}

    def _error(self, data: Any) -> Any:
        x, y = data
        return tf.reduce_mean(tf.square(self.net(x) - y))


def _only_trains(learning_rate: float) -> Any:
    model = OnlyTrains()
    model.compile(keras.optimizers.Adam(learning_rate))
    return model


class Told(Net):
    """Must be told whether it trains."""

    def call(self, inputs: Any, training: bool) -> Any:
        return super().call(inputs) * (1.0 if training else 0.5)


def _told(learning_rate: float) -> Any:
    model = Told()
    model.compile(keras.optimizers.Adam(learning_rate), loss="mse", metrics=["mae"])
    return model


class LazyParts(OnlyTrains):
    """Model whose layer, too, has no variables before the first batch."""

    def __init__(self) -> None:
        keras.Model.__init__(self)
        self.net = keras.Sequential([keras.layers.Dense(1)], name="lazy_part")


def _lazy_parts(learning_rate: float) -> Any:
    model = LazyParts()
    model.compile(keras.optimizers.Adam(learning_rate))
    return model


@pytest.mark.parametrize("make", [_lazy, _own, _only_trains, _told])
@pytest.mark.parametrize("data", ["arrays", "dataset"])
def test_a_pause_changes_nothing(make: Any, data: str, task: Any, runner: Any) -> None:
    searcher = {"name": "single", "metric": "val_error" if make is _only_trains else "val_loss"}
    alone = fit(task, runner, searcher=searcher, data=data, make=make, epochs=2)
    paused = fit(task, runner, searcher=searcher, data=data, make=make, epochs=2, pause_in=0)
    assert paused.is_preempted
    resumed = fit(task, runner, searcher=searcher, data=data, make=make, epochs=2, latest=paused.checkpoints[-1].uuid)
    assert paused.validation | resumed.validation == alone.validation
    for one, other in zip(alone.weights, resumed.weights, strict=True):
        np.testing.assert_array_equal(one, other)


def test_another_trials_checkpoint_gives_its_weights_to_a_class_of_the_users(task: Any, runner: Any) -> None:
    first = fit(task, runner, make=_own, epochs=1)
    again = fit(task, runner, make=_own, epochs=1, latest=first.checkpoints[-1].uuid, continue_id=8, learning_rate=0.0)
    for one, other in zip(first.weights, again.weights, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.skipif(not IS_KERAS_3, reason="Keras 2 loads into variables that are made later")
def test_parts_that_cannot_be_loaded_before_their_first_batch_are_named(task: Any, runner: Any) -> None:
    searcher = {"name": "single", "metric": "val_error"}
    first = fit(task, runner, searcher=searcher, make=_lazy_parts, epochs=1)
    with pytest.raises(CheckpointStateException, match=r"LazyParts has 0 of the 2 weights.*Input.*: lazy_part"):
        fit(task, runner, searcher=searcher, make=_lazy_parts, epochs=2, latest=first.checkpoints[-1].uuid)


@pytest.mark.skipif(not IS_KERAS_3, reason="Keras 2 loads into variables that are made later")
def test_data_without_shapes_are_told_how_to_go_on(monkeypatch: pytest.MonkeyPatch, task: Any, runner: Any) -> None:
    first = fit(task, runner, make=_own, epochs=1)
    monkeypatch.setattr("keras_fits._inputs", lambda _data: {"x": _shapeless(), "steps_per_epoch": 2})
    with pytest.raises(CheckpointStateException, match="call it on a batch before fit, or give it an Input"):
        fit(task, runner, make=_own, epochs=2, latest=first.checkpoints[-1].uuid)


@pytest.mark.skipif(not IS_KERAS_3, reason="Keras 2 loads into variables that are made later")
def test_a_load_model_of_the_users_may_build_by_itself(monkeypatch: pytest.MonkeyPatch, task: Any, runner: Any) -> None:
    class OwnFormat(DeterminedCallback):  # type: ignore[misc]
        def load_model(self, model: Any, path: str, distributed: Any) -> None:
            model(records(1, seed=1)[0], training=False)
            super().load_model(model, path, distributed)

    monkeypatch.setattr("determined.keras._data_position.data_spec", lambda: None)  # as with torch
    first = fit(task, runner, make=_own, epochs=1)
    monkeypatch.setattr("keras_fits.DeterminedCallback", OwnFormat)
    again = fit(task, runner, make=_own, epochs=1, latest=first.checkpoints[-1].uuid, continue_id=8, learning_rate=0.0)
    for one, other in zip(first.weights, again.weights, strict=True):
        np.testing.assert_array_equal(one, other)


def _shapeless() -> Any:
    x, y = records(4, seed=1)
    return tf.data.Dataset.from_generator(lambda: iter([(x, y)] * 2), output_types=(tf.float32, tf.float32)).repeat()
