"""Keras's own fit with one callback of Determined."""

from typing import Any

import keras
import numpy as np

import determined as det
from determined.keras import DeterminedCallback


def points() -> tuple[np.ndarray, np.ndarray]:
    x = np.random.default_rng(1).normal(size=(16, 3)).astype(np.float32)
    return x, x.sum(axis=1, keepdims=True)


def build_model(lr: float) -> Any:
    """Build the model; without dropout on Keras 2, whose random numbers cannot be saved."""
    dropout = [keras.layers.Dropout(0.1)] if keras.__version__.startswith("3.") else []
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(16), *dropout, keras.layers.Dense(1)])
    model.compile(keras.optimizers.SGD(lr / 4, momentum=0.5), loss="mse", metrics=["mae"])
    return model


def main(**fit: Any) -> None:
    info = det.get_cluster_info()
    with det.core.init() as core_context:
        lr = float(info.trial.hparams["lr"])
        if lr < 0:
            raise det.InvalidHP("lr is negative")
        keras.utils.set_random_seed(info.trial.trial_seed)
        callback = DeterminedCallback(core_context, info.latest_checkpoint, info.trial.trial_id)
        x, y = points()
        build_model(lr).fit(x, y, batch_size=4, epochs=3, verbose=0, callbacks=[callback], **fit)


if __name__ == "__main__":
    main(validation_data=points())
