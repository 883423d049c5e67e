"""Keras's own `model.fit` with one callback of Determined. Runs on TensorFlow 2.15, and on Keras 3 with any backend.

The data are made on the spot: three kinds of flowers that differ in the sizes of their leaves.
"""

import logging

import keras
import numpy as np

import determined as det
import determined.keras

CENTERS = np.array([[5.0, 3.4, 1.5, 0.2], [5.9, 2.8, 4.3, 1.3], [6.6, 3.0, 5.6, 2.0]], dtype="float32")


def flowers(count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Leaf sizes, and the kind of each flower as one of three columns."""
    draws = np.random.default_rng(seed)
    kinds = draws.integers(0, len(CENTERS), count)
    sizes = CENTERS[kinds] + draws.normal(0, 0.6, (count, 4)).astype("float32")
    return sizes, np.eye(len(CENTERS), dtype="float32")[kinds]


def build_model(hparams: dict) -> keras.Model:
    model = keras.Sequential(
        [
            keras.Input((4,)),
            keras.layers.Dense(hparams["width"], activation="relu"),
            keras.layers.Dense(len(CENTERS), activation="softmax"),
        ]
    )
    optimizer = keras.optimizers.Adam(hparams["lr"])
    model.compile(optimizer, loss="categorical_crossentropy", metrics=["categorical_accuracy"])
    return model


def main() -> None:
    logging.basicConfig(level=logging.INFO, format=det.LOG_FORMAT)
    info = det.get_cluster_info()
    hparams = info.trial.hparams if info else {"lr": 0.01, "width": 8, "epochs": 3}
    keras.utils.set_random_seed(info.trial.trial_seed if info else 0)
    distributed = det.core.DummyDistributedContext()  # one process for all slots
    with det.core.init(distributed=distributed) as core_context:
        callback = det.keras.DeterminedCallback(
            core_context,
            checkpoint=info.latest_checkpoint if info else None,
            continue_id=info.trial.trial_id if info else "off cluster",
        )
        x, y = flowers(480, seed=1)
        build_model(hparams).fit(
            x,
            y,
            batch_size=32,
            epochs=hparams["epochs"],
            validation_data=flowers(160, seed=2),
            callbacks=[callback],
        )


if __name__ == "__main__":
    main()
