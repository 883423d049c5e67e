"""A trial that compiles its model without having it wrapped."""

from typing import Any

import model_def


class UnwrappedModel(model_def.Trial):
    def build_model(self) -> Any:
        keras = model_def.tf.keras
        model = keras.Sequential([keras.layers.Input([3]), keras.layers.Dense(1)])
        model.compile("sgd", "mse")
        return model
