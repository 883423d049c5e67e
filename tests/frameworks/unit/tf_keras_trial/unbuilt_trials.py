"""Trials of models whose parts make their variables at the first batch, and the same models written as is advised."""

from typing import Any

import tensorflow as tf
from small_keras_trial import Pair, PairTrial, SmallTrial


class Taught(tf.keras.Model):  # type: ignore[misc,name-defined]
    """Learns from a model that is called by train_step alone."""

    def __init__(self, is_lazy: bool) -> None:
        super().__init__()
        layers = tf.keras.layers
        self.net = tf.keras.Sequential([layers.Input([2]), layers.Dense(1)])
        first = [] if is_lazy else [layers.Input([2])]
        self.teacher = tf.keras.Sequential([*first, layers.Dense(1)], name="lazy_teacher")
        self.teacher.trainable = False

    def call(self, x: Any, training: bool = False) -> Any:
        return self.net(x)

    def train_step(self, data: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = self.loss_of(data)
        variables = self.net.trainable_variables
        self.optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
        return {"loss": loss}

    def test_step(self, data: Any) -> Any:
        return {"loss": self.loss_of(data)}

    def loss_of(self, data: Any) -> Any:
        return tf.reduce_mean((self.net(data[0]) - self.teacher(data[0])) ** 2)


class TaughtTrial(SmallTrial):
    model_class = Taught
    is_lazy = True

    def build_model(self) -> Any:
        self.model = self.context.wrap_model(self.model_class(self.is_lazy))
        self.model.compile("sgd")
        return self.model


class BuiltTrial(TaughtTrial):
    """With an Input, and with other weights than any that were saved."""

    is_lazy = False

    def build_model(self) -> Any:
        model = super().build_model()
        model.teacher.set_weights([0 * weight for weight in model.teacher.get_weights()])
        return model


class LazyPair(Pair):
    def __init__(self) -> None:
        tf.keras.Model.__init__(self)
        self.maker = tf.keras.Sequential([tf.keras.layers.Dense(2)], name="lazy_maker")
        self.judge = tf.keras.Sequential([tf.keras.layers.Dense(1)], name="lazy_judge")


class LazyPairTrial(PairTrial):
    def build_model(self) -> Any:
        self.model = self.context.wrap_model(LazyPair())
        wrap = self.context.wrap_optimizer
        self.model.compile(wrap(tf.keras.optimizers.Adam(0.05)), judge=wrap(tf.keras.optimizers.SGD(0.05)))
        return self.model


class BuiltPairTrial(PairTrial):
    """PairTrial of a model without a lazy part; it is found in this module."""
