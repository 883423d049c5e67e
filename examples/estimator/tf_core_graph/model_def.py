"""The same graph as an EstimatorTrial: placeholders became what `input_fn` gives, the loop is the platform's."""

import tensorflow as tf
from graph import logits_of, loss_of, records

from determined.estimator import EstimatorTrial, EstimatorTrialContext


class GraphTrial(EstimatorTrial):
    def __init__(self, context: EstimatorTrialContext) -> None:
        self.context = context

    def build_estimator(self) -> tf.estimator.Estimator:
        return tf.estimator.Estimator(self.model_fn)

    def build_train_spec(self) -> tf.estimator.TrainSpec:
        return tf.estimator.TrainSpec(lambda: self.dataset(1024, seed=1, shuffle=True))

    def build_validation_spec(self) -> tf.estimator.EvalSpec:
        return tf.estimator.EvalSpec(lambda: self.dataset(256, seed=2), steps=None)

    def dataset(self, number: int, seed: int, shuffle: bool = False) -> tf.data.Dataset:
        data = self.context.wrap_dataset(tf.data.Dataset.from_tensor_slices(records(number, seed)))
        if shuffle:
            data = data.shuffle(number)
        return data.batch(self.context.get_per_slot_batch_size())

    def model_fn(self, features, labels, mode) -> tf.estimator.EstimatorSpec:
        logits = logits_of(features, hidden=self.context.get_hparam("hidden"))
        if mode == tf.estimator.ModeKeys.PREDICT:
            return tf.estimator.EstimatorSpec(mode, predictions=logits)
        loss = loss_of(logits, labels)
        return tf.estimator.EstimatorSpec(
            mode,
            loss=loss,
            train_op=self.train_op(loss),
            eval_metric_ops={"accuracy": tf.compat.v1.metrics.accuracy(labels, tf.argmax(logits, axis=1))},
        )

    def train_op(self, loss: tf.Tensor) -> tf.Operation:
        """Gradients by hand, as Core programs often have them: they are averaged over the slots when applied."""
        optimizer = tf.compat.v1.train.MomentumOptimizer(self.context.get_hparam("lr"), momentum=0.9)
        variables = tf.compat.v1.trainable_variables()
        gradients, _ = tf.clip_by_global_norm(tf.gradients(loss, variables), 5.0)
        wrapped = self.context.wrap_optimizer(optimizer)
        return wrapped.apply_gradients(
            zip(gradients, variables, strict=True), global_step=tf.compat.v1.train.get_global_step()
        )
