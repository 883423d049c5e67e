"""A model in TensorFlow Core: variables, operations, a loss. It knows of nothing around it."""

import numpy as np
import tensorflow as tf

INPUTS, CLASSES = 8, 3


def logits_of(x: tf.Tensor, hidden: int) -> tf.Tensor:
    w1 = tf.compat.v1.get_variable("w1", [INPUTS, hidden], initializer=tf.compat.v1.glorot_uniform_initializer())
    b1 = tf.compat.v1.get_variable("b1", [hidden], initializer=tf.compat.v1.zeros_initializer())
    w2 = tf.compat.v1.get_variable("w2", [hidden, CLASSES], initializer=tf.compat.v1.glorot_uniform_initializer())
    return tf.matmul(tf.tanh(tf.matmul(x, w1) + b1), w2)


def loss_of(logits: tf.Tensor, labels: tf.Tensor) -> tf.Tensor:
    return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))


def records(number: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Points around three centres."""
    centres = np.random.default_rng(0).normal(size=(CLASSES, INPUTS))
    random = np.random.default_rng(seed)
    labels = random.integers(CLASSES, size=number)
    return (centres[labels] + random.normal(size=(number, INPUTS))).astype(np.float32), labels.astype(np.int32)
