"""Makes the checkpoints of this directory, by TensorFlow 2.15: files as older releases left them to Keras to write."""

from pathlib import Path

import h5py
import numpy as np
import tensorflow as tf

HERE = Path(__file__).parent


def main() -> None:
    tf.keras.utils.set_random_seed(3)
    layers = tf.keras.layers
    inputs = layers.Input([3, 2])
    x = layers.BatchNormalization()(layers.LSTM(4)(inputs))
    model = tf.keras.Model(inputs, layers.Dense(1)(x))
    model.compile(tf.keras.optimizers.legacy.Adam(0.1), "mse")
    data = np.linspace(-1.0, 1.0, 4 * 3 * 2, dtype=np.float32).reshape(4, 3, 2)
    model.fit(data, data.sum(axis=(1, 2)), epochs=3, batch_size=4, verbose=0)
    for name in ("weights", "whole_h5"):
        (HERE / name).mkdir(exist_ok=True)
    model.save_weights(str(HERE / "weights" / "determined-keras-model-weights"), save_format="tf")
    _save_optimizer(model.optimizer, HERE / "weights" / "determined-keras-optimizer-weights.h5")
    model.save(HERE / "whole_h5" / "determined-keras-model.h5", save_format="h5")
    _save_variables(model, HERE / "saved_model" / "determined-keras-model")
    np.save(HERE / "outputs.npy", model.predict(data, verbose=0))


def _save_optimizer(optimizer: tf.keras.optimizers.legacy.Optimizer, file: Path) -> None:
    """In the layout of Keras's own HDF5 files."""
    names = [weight.name for weight in optimizer.weights]
    with h5py.File(file, "w") as stored:
        group = stored.create_group("optimizer-0").create_group("optimizer_weights")
        group.attrs["weight_names"] = [name.encode() for name in names]
        for name, value in zip(names, optimizer.get_weights(), strict=True):
            group.create_dataset(name, data=value)


def _save_variables(model: tf.keras.Model, directory: Path) -> None:
    """Save the files of a SavedModel that are read; its graph would be most of the bytes."""
    model.save(directory, save_format="tf")
    for path in directory.iterdir():
        if path.is_file():
            path.unlink()
    (directory / "assets").rmdir()


if __name__ == "__main__":
    main()
