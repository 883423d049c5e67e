"""Estimators that TensorFlow brings, and those made of Keras models."""

from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf
from small_trial import SmallTrial, checkpoints, train

from determined.estimator._one_batch import run


class Premade(SmallTrial):
    def build_estimator(self) -> Any:
        optimizer = self.context.wrap_optimizer(tf.keras.optimizers.legacy.Adam(0.05))
        columns = [tf.feature_column.numeric_column("x")]
        return tf.estimator.DNNRegressor([4], columns, optimizer=optimizer)

    def dataset(self, records: int, shuffle: bool = False) -> Any:
        x = np.linspace(-1.0, 1.0, records, dtype=np.float32)[:, None]
        data = self.context.wrap_dataset(tf.data.Dataset.from_tensor_slices(({"x": x}, 3 * x + 1)))
        return data.batch(self.context.get_per_slot_batch_size())


class OfKeras(SmallTrial):
    def build_estimator(self) -> Any:
        model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(1,), name="line")])
        model.compile(self.context.wrap_optimizer(tf.keras.optimizers.legacy.SGD(0.1)), loss="mse")
        return tf.keras.estimator.model_to_estimator(model)

    def dataset(self, records: int, shuffle: bool = False) -> Any:
        x = np.linspace(-1.0, 1.0, records, dtype=np.float32)[:, None]
        data = self.context.wrap_dataset(tf.data.Dataset.from_tensor_slices((x, 3 * x + 1)))
        return data.batch(self.context.get_per_slot_batch_size())


def test_a_premade_estimator_learns_and_resumes_exactly(tmp_path: Path) -> None:
    alone = train(Premade, tmp_path / "alone", batches=9)
    train(Premade, tmp_path / "paused", batches=4)
    (paused,) = checkpoints(tmp_path / "paused")
    resumed = train(Premade, tmp_path / "paused", batches=9, latest=paused.name)
    assert alone.of["validation"][9]["average_loss"] < alone.of["validation"][3]["average_loss"]
    assert resumed.of["validation"][9] == alone.of["validation"][9]


def test_a_keras_model_as_an_estimator_learns(tmp_path: Path) -> None:
    reports = train(OfKeras, tmp_path, batches=9)
    assert reports.of["validation"][9]["loss"] < reports.of["validation"][3]["loss"]


def test_one_batch_tries_a_trial_off_cluster() -> None:
    trial = run(SmallTrial, {"hyperparameters": {"global_batch_size": 4}})
    assert isinstance(trial, SmallTrial)
