"""The graph with a session and a training loop of its own, as TensorFlow Core has it; compare `model_def.py`."""

import tensorflow as tf
from graph import CLASSES, INPUTS, logits_of, loss_of, records

BATCH, STEPS, LEARNING_RATE = 32, 64, 0.1


def main() -> None:
    tf.compat.v1.disable_v2_behavior()
    x = tf.compat.v1.placeholder(tf.float32, [None, INPUTS])
    y = tf.compat.v1.placeholder(tf.int32, [None])
    logits = logits_of(x, hidden=16)
    loss = loss_of(logits, y)
    train = tf.compat.v1.train.MomentumOptimizer(LEARNING_RATE, momentum=0.9).minimize(loss)
    features, labels = records(1024, seed=1)
    with tf.compat.v1.Session() as session:
        session.run(tf.compat.v1.global_variables_initializer())
        for step in range(STEPS):
            at = slice(step * BATCH % 1024, step * BATCH % 1024 + BATCH)
            session.run(train, {x: features[at], y: labels[at]})
        features, labels = records(256, seed=2)
        print(f"{CLASSES} classes, loss {session.run(loss, {x: features, y: labels}):.4f}")


if __name__ == "__main__":
    main()
