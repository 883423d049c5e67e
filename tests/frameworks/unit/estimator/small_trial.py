"""A trial that trains in a second, and where it runs: off cluster, with every report kept."""

from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf

from determined import core
from determined.core import DummyCheckpointContext, DummyDistributedContext, DummyTrainContext
from determined.estimator import EstimatorTrial, EstimatorTrialContext, EstimatorTrialController
from determined.storage import SharedFSStorageManager
from determined.trial import EnvContext

BATCH = 4


class SmallTrial(EstimatorTrial):
    """Fits a line to shuffled points; the order of the points is seen in the weights."""

    training_records = 24
    validation_records = 8
    hooks: tuple[Any, ...] = ()

    def __init__(self, context: EstimatorTrialContext) -> None:
        self.context = context

    def build_estimator(self) -> Any:
        return tf.estimator.Estimator(self.model_fn)

    def build_train_spec(self) -> Any:
        return tf.estimator.TrainSpec(lambda: self.dataset(self.training_records, shuffle=True), hooks=list(self.hooks))

    def build_validation_spec(self) -> Any:
        return tf.estimator.EvalSpec(lambda: self.dataset(self.validation_records), steps=None)

    def dataset(self, records: int, shuffle: bool = False) -> Any:
        x = np.linspace(-1.0, 1.0, records, dtype=np.float32)
        data = self.context.wrap_dataset(tf.data.Dataset.from_tensor_slices((x, 3 * x + 1)))
        data = data.shuffle(records) if shuffle else data
        return data.batch(self.context.get_per_slot_batch_size())

    def model_fn(self, features: Any, labels: Any, mode: str) -> Any:
        slope = tf.compat.v1.get_variable("slope", [], initializer=tf.compat.v1.random_normal_initializer())
        offset = tf.compat.v1.get_variable("offset", [], initializer=tf.compat.v1.zeros_initializer())
        y = slope * features + offset
        if mode == tf.estimator.ModeKeys.PREDICT:
            return tf.estimator.EstimatorSpec(mode, predictions={"y": y})
        loss = tf.reduce_mean(tf.square(y - labels))
        tf.compat.v1.summary.scalar("slope_now", slope)
        return tf.estimator.EstimatorSpec(
            mode, loss=loss, train_op=self.train_op(loss), eval_metric_ops=self.metrics(y)
        )

    def train_op(self, loss: Any) -> Any:
        optimizer = self.context.wrap_optimizer(tf.compat.v1.train.MomentumOptimizer(0.05, 0.9))
        return optimizer.minimize(loss, tf.compat.v1.train.get_global_step())

    def metrics(self, y: Any) -> dict[str, Any]:
        return {"highest": self.context.make_metric(y, lambda batches: max(map(np.max, batches)), np.float32)}


class Reports(DummyTrainContext):
    """Off cluster nothing is reported; here it is kept: group -> batches -> metrics."""

    def __init__(self) -> None:
        super().__init__()
        self.of: dict[str, dict[int, dict[str, Any]]] = {"training": {}, "validation": {}}

    def report_metrics(self, group: str, steps_completed: int, metrics: dict[str, Any]) -> None:
        super().report_metrics(group, steps_completed, metrics)
        self.of[group][steps_completed] = dict(metrics)


def train(
    trial_class: type[EstimatorTrial],
    storage: Path,
    *,
    batches: int,
    latest: str | None = None,
    trial_id: int = 1,
    config: dict[str, Any] | None = None,
    distributed: core.DistributedContext | None = None,
) -> Reports:
    """Train until `batches`, from the checkpoint `latest` if there is one; what was reported."""
    given = {
        "hyperparameters": {"global_batch_size": BATCH},
        "searcher": {"name": "single", "metric": "loss", "max_length": {"batches": batches}},
        "min_validation_period": {"batches": 3},
        "scheduling_unit": 2,
        "checkpoint_policy": "none",
        **(config or {}),
    }
    env = EnvContext.from_config(given, seed=5, latest_checkpoint=latest, det_trial_id=str(trial_id))
    dist, reports = distributed or DummyDistributedContext(), Reports()
    files = DummyCheckpointContext(dist, SharedFSStorageManager(str(storage)))
    with core.Context(files, distributed=dist, train=reports) as core_context:
        context = EstimatorTrialContext(core_context, env)
        EstimatorTrialController(trial_class(context), context).run()
    return reports


def checkpoints(storage: Path) -> list[Path]:
    """Return the checkpoints, oldest first."""
    return sorted((path for path in storage.iterdir() if path.is_dir()), key=lambda path: path.stat().st_mtime_ns)


def variables(checkpoint: Path) -> dict[str, Any]:
    prefix = tf.train.latest_checkpoint(str(checkpoint))
    return {name: tf.train.load_variable(prefix, name) for name, _ in tf.train.list_variables(prefix)}
