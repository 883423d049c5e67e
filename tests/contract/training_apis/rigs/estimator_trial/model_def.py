"""A line fitted to shuffled points, by an optimizer with momentum."""

from typing import Any

import numpy as np
import tensorflow as tf

import determined as det
from determined import estimator


class Trial(estimator.EstimatorTrial):
    def __init__(self, context: estimator.EstimatorTrialContext) -> None:
        self.context = context
        self.lr = float(context.get_hparam("lr"))
        if self.lr < 0:
            raise det.InvalidHP("lr is negative")

    def build_estimator(self) -> Any:
        return tf.estimator.Estimator(self.model_fn)

    def build_train_spec(self) -> Any:
        return tf.estimator.TrainSpec(lambda: self.points().shuffle(16).batch(4))

    def build_validation_spec(self) -> Any:
        return tf.estimator.EvalSpec(lambda: self.points().batch(4), steps=None)

    def points(self) -> Any:
        x = np.linspace(-1.0, 1.0, 16, dtype=np.float32)
        return self.context.wrap_dataset(tf.data.Dataset.from_tensor_slices((x, 3 * x + 1)))

    def model_fn(self, features: Any, labels: Any, mode: str) -> Any:
        slope = tf.compat.v1.get_variable("slope", [], initializer=tf.compat.v1.random_normal_initializer())
        offset = tf.compat.v1.get_variable("offset", [], initializer=tf.compat.v1.zeros_initializer())
        loss = tf.reduce_mean(tf.square(slope * features + offset - labels))
        train_op = self.optimizer().minimize(loss, tf.compat.v1.train.get_global_step())
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)

    def optimizer(self) -> Any:
        return self.context.wrap_optimizer(tf.compat.v1.train.MomentumOptimizer(self.lr, 0.5))
