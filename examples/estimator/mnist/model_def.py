"""A convolutional network for MNIST as an Estimator with a model_fn of its own."""

import numpy as np
import tensorflow as tf
from data import CLASSES, digits

from determined.estimator import EstimatorTrial, EstimatorTrialContext


class MNistTrial(EstimatorTrial):
    def __init__(self, context: EstimatorTrialContext) -> None:
        self.context = context

    def build_estimator(self) -> tf.estimator.Estimator:
        return tf.estimator.Estimator(self.model_fn)

    def build_train_spec(self) -> tf.estimator.TrainSpec:
        return tf.estimator.TrainSpec(lambda: self.dataset("training_records", seed=1, shuffle=True))

    def build_validation_spec(self) -> tf.estimator.EvalSpec:
        return tf.estimator.EvalSpec(lambda: self.dataset("validation_records", seed=2), steps=None)

    def build_serving_input_receiver_fns(self) -> dict:
        return {"serving": served_pictures}

    def dataset(self, records: str, seed: int, shuffle: bool = False) -> tf.data.Dataset:
        pictures, labels = digits(self.context.get_data_config()[records], seed)
        data = tf.data.Dataset.from_tensor_slices(({"pictures": pictures}, labels))
        data = self.context.wrap_dataset(data)  # every slot its part, before anything else
        if shuffle:
            data = data.shuffle(1024)
        return data.batch(self.context.get_per_slot_batch_size())

    def model_fn(self, features, labels, mode) -> tf.estimator.EstimatorSpec:
        logits = self.network(features["pictures"], training=mode == tf.estimator.ModeKeys.TRAIN)
        predictions = {"digit": tf.argmax(logits, axis=1), "probabilities": tf.nn.softmax(logits)}
        if mode == tf.estimator.ModeKeys.PREDICT:
            return tf.estimator.EstimatorSpec(mode, predictions=predictions)
        loss = tf.compat.v1.losses.sparse_softmax_cross_entropy(labels, logits)
        right = tf.cast(tf.equal(predictions["digit"], labels), tf.float32)
        tf.compat.v1.summary.scalar("accuracy", tf.reduce_mean(right))  # a training metric
        optimizer = self.context.wrap_optimizer(tf.compat.v1.train.AdamOptimizer(self.context.get_hparam("lr")))
        step = tf.compat.v1.train.get_global_step()
        metrics = {
            "accuracy": tf.compat.v1.metrics.mean(right),
            # All batches of all slots, in one function.
            "worst_batch": self.context.make_metric(right, lambda batches: min(map(np.mean, batches)), np.float32),
        }
        return tf.estimator.EstimatorSpec(
            mode, loss=loss, train_op=optimizer.minimize(loss, step), eval_metric_ops=metrics
        )

    def network(self, pictures: tf.Tensor, training: bool) -> tf.Tensor:
        x = tf.expand_dims(pictures, -1)
        x = tf.compat.v1.layers.conv2d(x, self.context.get_hparam("filters"), 5, strides=2, activation="relu")
        x = tf.compat.v1.layers.flatten(tf.compat.v1.layers.max_pooling2d(x, 2, 2))
        x = tf.compat.v1.layers.dense(x, 32, activation="relu")
        if training:
            # Keyed by the step: what tf.nn.dropout draws would begin anew after a pause.
            seed = [self.context.get_trial_seed(), tf.cast(tf.compat.v1.train.get_global_step(), tf.int32)]
            x = tf.nn.experimental.stateless_dropout(x, self.context.get_hparam("dropout"), seed=seed)
        return tf.compat.v1.layers.dense(x, CLASSES)


def served_pictures() -> tf.estimator.export.ServingInputReceiver:
    """Describe what the SavedModel in every checkpoint takes."""
    inputs = {"pictures": tf.compat.v1.placeholder(tf.float32, [None, 28, 28])}
    return tf.estimator.export.ServingInputReceiver(inputs, inputs)
