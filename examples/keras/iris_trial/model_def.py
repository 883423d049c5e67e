"""A small classifier of flowers as a TFKerasTrial; it runs on TensorFlow 2.15 (Keras 2) and 2.21 (Keras 3) alike."""

import tensorflow as tf
from data import flowers

from determined import keras


class IrisTrial(keras.TFKerasTrial):
    def __init__(self, context: keras.TFKerasTrialContext) -> None:
        self.context = context

    def build_model(self) -> tf.keras.Model:
        model = tf.keras.Sequential(
            [
                tf.keras.layers.Input([4]),
                tf.keras.layers.Dense(self.context.get_hparam("hidden_size"), activation="relu"),
                tf.keras.layers.Dropout(self.context.get_hparam("dropout")),
                tf.keras.layers.Dense(3),
            ]
        )
        model = self.context.wrap_model(model)
        optimizer = self.context.wrap_optimizer(tf.keras.optimizers.Adam(self.context.get_hparam("learning_rate")))
        model.compile(
            optimizer=optimizer,
            loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
            metrics=[tf.keras.metrics.SparseCategoricalAccuracy(name="accuracy")],
        )
        return model

    def build_training_data_loader(self) -> keras.InputData:
        return flowers(self.context.get_data_config()["training_records"], seed=1)

    def build_validation_data_loader(self) -> keras.InputData:
        return flowers(self.context.get_data_config()["validation_records"], seed=2)

    def keras_callbacks(self) -> list[tf.keras.callbacks.Callback]:
        return [keras.callbacks.ReduceLROnPlateau(monitor="val_loss", factor=0.5, patience=2)]
