"""Small fits of a task: left alone, or paused in an epoch and gone on with in what could be another process."""

import contextlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import keras
import numpy as np
from task_around import FakeRunner

from determined import core
from determined.keras import DeterminedCallback
from determined.wire.report import CheckpointReport, MetricReport, PreemptAck

RECORDS, BATCH = 20, 4  # five batches an epoch
SEARCHER = {"name": "single", "metric": "val_loss"}
IS_KERAS_3 = keras.__version__.startswith("3.")

Metrics = dict[str, Any]


@dataclass
class Fitted:
    """Result of a fit."""

    weights: list[Any]
    epochs: list[int]
    training: dict[int, Metrics] = field(default_factory=dict)
    validation: dict[int, Metrics] = field(default_factory=dict)
    checkpoints: list[CheckpointReport] = field(default_factory=list)
    is_preempted: bool = False
    learning_rate: float = 0.0


class Pausing(keras.callbacks.Callback):
    """Notes the epochs; the cluster wants the slots back in the middle of epoch `pause_in`, from 0."""

    def __init__(self, runner: FakeRunner, pause_in: int | None) -> None:
        super().__init__()
        self.runner, self.pause_in = runner, pause_in
        self.epochs: list[int] = []

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        self.epochs.append(epoch)
        if epoch == self.pause_in:
            self.runner.control.preempt = True


def fit(
    task: Any,
    runner: FakeRunner,
    *,
    searcher: Metrics | None = None,
    pause_in: int | None = None,
    latest: str | None = None,
    continue_id: Any = 7,
    epochs: int = 4,
    data: str = "arrays",
    validates: bool = True,
    learning_rate: float = 0.05,
    others: tuple[Any, ...] = (),
    is_mirrored: bool = False,
    make: Callable[[float], Any] | None = None,
    verbose: int = 0,
    **options: Any,
) -> Fitted:
    """Fit a new model; `options` are those of the callback."""
    task(searcher=searcher or SEARCHER, latest_checkpoint=latest)
    keras.utils.set_random_seed(3)
    with _strategy().scope() if is_mirrored else contextlib.nullcontext():
        model = (make or make_model)(learning_rate)
    first = len(runner.records)
    pausing = Pausing(runner, pause_in)
    runner.control.preempt = False
    with core.init() as core_context:
        callback = DeterminedCallback(core_context, latest, continue_id, **options)
        kept = [each(core_context) if isinstance(each, type) else each for each in others]
        held_out = records(8, seed=2)
        model.fit(
            **_inputs(data),
            epochs=epochs,
            verbose=verbose,
            callbacks=[pausing, callback, *kept],
            validation_data=held_out if validates else None,
        )
        core_context.train.set_status("done")
        core_context._reporter.settle()
    return _fitted(model, pausing, runner.records[first:])


def records(count: int, seed: int) -> tuple[Any, Any]:
    draws = np.random.default_rng(seed)
    x = draws.normal(size=(count, 3)).astype("float32")
    return x, x.sum(axis=1, keepdims=True) * 0.5


def make_model(learning_rate: float) -> Any:
    """With dropout on Keras 3, whose random numbers can be saved."""
    drop = [keras.layers.Dropout(0.5)] if IS_KERAS_3 else []
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(4), *drop, keras.layers.Dense(1)])
    model.compile(keras.optimizers.Adam(learning_rate), loss="mse", metrics=["mae"])
    return model


def _strategy() -> Any:
    import tensorflow as tf

    return tf.distribute.MirroredStrategy(["CPU:0"])


def _inputs(data: str) -> dict[str, Any]:
    x, y = records(RECORDS, seed=1)
    if data == "arrays":
        return {"x": x, "y": y, "batch_size": BATCH}
    import tensorflow as tf

    shuffled = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(RECORDS, seed=5).batch(BATCH)
    return {"x": shuffled} if data == "dataset" else {"x": shuffled.repeat(), "steps_per_epoch": 5}


def _fitted(model: Any, pausing: Pausing, told: list[Any]) -> Fitted:
    reports = [record for record in told if isinstance(record, MetricReport)]
    return Fitted(
        weights=[np.array(weight) for weight in model.get_weights()],
        epochs=pausing.epochs,
        training={report.steps: report.metrics for report in reports if report.group == "training"},
        validation={report.steps: report.metrics for report in reports if report.group == "validation"},
        checkpoints=[record for record in told if isinstance(record, CheckpointReport)],
        is_preempted=any(isinstance(record, PreemptAck) for record in told),
        learning_rate=float(np.array(model.optimizer.learning_rate)),
    )
