"""A small regression with what a pause could lose: shuffled data, dropout, moments of the optimizer."""

from typing import Any

import numpy as np
import tensorflow as tf

import determined as det
from determined import keras


def points() -> tuple[np.ndarray, np.ndarray]:
    x = np.random.default_rng(1).normal(size=(16, 3)).astype(np.float32)
    return x, x.sum(axis=1, keepdims=True)


class Trial(keras.TFKerasTrial):
    def __init__(self, context: keras.TFKerasTrialContext) -> None:
        self.context = context
        self.lr = float(context.get_hparam("lr"))
        if self.lr < 0:
            raise det.InvalidHP("lr is negative")

    def build_model(self) -> Any:
        layers = tf.keras.layers
        stack = [layers.Input([3]), layers.Dense(16), layers.Dropout(0.1), layers.Dense(1)]
        model = self.context.wrap_model(tf.keras.Sequential(stack))
        optimizer = self.context.wrap_optimizer(tf.keras.optimizers.SGD(self.lr / 4, momentum=0.5))
        model.compile(optimizer, "mse", metrics=["mae"])
        return model

    def build_training_data_loader(self) -> Any:
        return points()

    def build_validation_data_loader(self) -> Any:
        return points()
