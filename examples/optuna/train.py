"""Gradient descent with momentum into a curved valley. Which learning rate and momentum get furthest down?"""

import logging
import time

import determined as det

EPOCHS = 16
STEPS_PER_EPOCH = 20


def loss(x: float, y: float) -> float:
    return (1 - x) ** 2 + 10 * (y - x * x) ** 2


def gradient(x: float, y: float) -> tuple[float, float]:
    return -2 * (1 - x) - 40 * x * (y - x * x), 20 * (y - x * x)


def main(core_context: det.core.Context, learning_rate: float, momentum: float) -> None:
    x, y, speed_x, speed_y = -1.0, 1.0, 0.0, 0.0
    for epoch in range(1, EPOCHS + 1):
        for _ in range(STEPS_PER_EPOCH):
            slope_x, slope_y = gradient(x, y)
            speed_x = momentum * speed_x - learning_rate * slope_x
            speed_y = momentum * speed_y - learning_rate * slope_y
            x, y = x + speed_x, y + speed_y
            if abs(x) > 1e6 or abs(y) > 1e6:
                raise det.InvalidHP(f"learning_rate={learning_rate} with momentum={momentum} leaves the valley")
        time.sleep(0.05)
        logging.info("epoch %s: loss %s", epoch, loss(x, y))
        # The search learns from `loss`; with adaptive_asha it also wants to know how far the trial is.
        metrics = {"loss": loss(x, y), "epochs": epoch}
        core_context.train.report_validation_metrics(steps_completed=epoch, metrics=metrics)
        if core_context.preempt.should_preempt():
            return


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format=det.LOG_FORMAT)
    info = det.get_cluster_info()
    on_cluster = info is not None and info.task_type == "TRIAL"
    hparams = info.trial.hparams if on_cluster else {"learning_rate": 0.001, "momentum": 0.9}
    with det.core.init() as core_context:
        main(core_context, **hparams)
