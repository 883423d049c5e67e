"""A trial that trains in a second, and where it runs: off cluster, with every report kept."""

import contextlib
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf

from determined import core
from determined.core import DummyCheckpointContext, DummyDistributedContext, DummyTrainContext
from determined.keras import TFKerasTrial, TFKerasTrialContext
from determined.keras._entrypoint import train
from determined.keras._gradients import over_core
from determined.storage import SharedFSStorageManager
from determined.trial import EnvContext

RECORDS = 22  # not a whole number of batches
BATCH = 4


def points(records: int = RECORDS) -> tuple[Any, Any]:
    x = np.linspace(-1.0, 1.0, records * 2, dtype=np.float32).reshape(records, 2)
    return x, (x.sum(axis=1, keepdims=True) * 3 + 1).astype(np.float32)


class ShufflingSequence(tf.keras.utils.Sequence):
    """Shuffles itself at the end of an epoch, and adds noise while it is read."""

    def __init__(self) -> None:
        super().__init__()
        self.x, self.y = points()
        self.order = np.arange(RECORDS)
        self.ended = 0

    def __len__(self) -> int:
        return RECORDS // BATCH

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        chosen = self.order[index * BATCH : (index + 1) * BATCH]
        noise = np.random.normal(scale=0.01, size=(len(chosen), 2))
        return self.x[chosen] + noise.astype(np.float32), self.y[chosen]

    def on_epoch_end(self) -> None:
        self.ended += 1
        np.random.shuffle(self.order)


class SmallTrial(TFKerasTrial):
    """Dropout draws, BatchNormalization keeps statistics, Adam keeps moments: a pause could lose each."""

    kind = "arrays"
    callbacks: tuple[Any, ...] = ()
    model: Any = None

    def __init__(self, context: TFKerasTrialContext) -> None:
        self.context = context

    def build_model(self) -> Any:
        layers = tf.keras.layers
        self.model = tf.keras.Sequential(
            [layers.Input([2]), layers.Dense(8), layers.BatchNormalization(), layers.Dropout(0.3), layers.Dense(1)]
        )
        model = self.context.wrap_model(self.model)
        model.compile(self.context.wrap_optimizer(tf.keras.optimizers.Adam(0.05)), "mse", metrics=["mae"])
        return model

    def build_training_data_loader(self) -> Any:
        if self.kind == "arrays":
            return points()
        if self.kind == "sequence":
            return ShufflingSequence()
        dataset = self.context.wrap_dataset(tf.data.Dataset.from_tensor_slices(points()))
        return dataset.shuffle(RECORDS).batch(BATCH)

    def build_validation_data_loader(self) -> Any:
        return points(10)

    def keras_callbacks(self) -> list[Any]:
        return list(self.callbacks)


class Pair(tf.keras.Model):
    """Two models, each trained by an optimizer of its own; nobody calls the whole."""

    def __init__(self) -> None:
        super().__init__()
        layers = tf.keras.layers
        self.maker = tf.keras.Sequential([layers.Input([2]), layers.Dense(2)])
        self.judge = tf.keras.Sequential([layers.Input([2]), layers.Dense(1)])

    def compile(self, maker: Any, judge: Any) -> None:
        super().compile()
        self.maker_optimizer, self.judge_optimizer = maker, judge

    def train_step(self, data: Any) -> Any:
        for part, optimizer in ((self.judge, self.judge_optimizer), (self.maker, self.maker_optimizer)):
            with tf.GradientTape() as tape:
                loss = self.loss_of(data)
            variables = part.trainable_variables
            optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
        return {"loss": loss}

    def test_step(self, data: Any) -> Any:
        return {"loss": self.loss_of(data)}

    def loss_of(self, data: Any) -> Any:
        x, y = data
        return tf.reduce_mean((self.judge(self.maker(x)) - y) ** 2)


class PairTrial(SmallTrial):
    """Trial whose validation data has one record: fewer than two ranks could share."""

    def build_model(self) -> Any:
        self.model = self.context.wrap_model(Pair())
        wrap = self.context.wrap_optimizer
        self.model.compile(wrap(tf.keras.optimizers.Adam(0.05)), judge=wrap(tf.keras.optimizers.SGD(0.05)))
        return self.model

    def build_validation_data_loader(self) -> Any:
        return self.context.wrap_dataset(tf.data.Dataset.from_tensor_slices(points(1))).batch(BATCH)


class Reports(DummyTrainContext):
    def __init__(self, tensorboard: Path) -> None:
        super().__init__(tensorboard)
        self.training: list[tuple[int, dict[str, Any]]] = []
        self.validation: list[tuple[int, dict[str, Any]]] = []
        self.statuses: list[str] = []

    def set_status(self, status: str) -> None:
        self.statuses.append(status)

    def report_training_metrics(self, steps_completed: int, metrics: Any, batch_metrics: Any = None) -> None:
        self.training.append((steps_completed, metrics))

    def report_validation_metrics(self, steps_completed: int, metrics: Any) -> None:
        self.validation.append((steps_completed, metrics))


class Run:
    """Process of a trial: what it reported, and the model it left behind."""

    def __init__(
        self,
        storage: Path,
        trial_class: type[TFKerasTrial] = SmallTrial,
        *,
        batches: int = 20,
        latest: str | None = None,
        config: dict[str, Any] | None = None,
        distributed: core.DistributedContext | None = None,
    ) -> None:
        config = {
            "hyperparameters": {"global_batch_size": BATCH},
            "searcher": {"name": "single", "metric": "val_loss", "max_length": {"batches": batches}},
            "min_validation_period": {"batches": 5},
            "scheduling_unit": 3,
            "checkpoint_policy": "none",
            **(config or {}),
        }
        self.tensorboard = storage.with_name(f"{storage.name}-tensorboard")
        self.reports = Reports(self.tensorboard)
        self.storage = storage
        env = EnvContext.from_config(config, seed=11, latest_checkpoint=latest)
        ranks = distributed or DummyDistributedContext()
        files = DummyCheckpointContext(ranks, SharedFSStorageManager(str(storage)))
        before = set(self.checkpoints)
        average = over_core(ranks) if ranks.size > 1 else None
        core_context = core.Context(files, distributed=ranks, train=self.reports)
        with contextlib.nullcontext(core_context.start()) if distributed else core_context:
            self.context = TFKerasTrialContext(core_context, env, average)
            self.trial: Any = train(trial_class, self.context)
        self.saved = sorted(set(self.checkpoints) - before, key=lambda each: (storage / each).stat().st_mtime_ns)

    @property
    def checkpoints(self) -> list[str]:
        return [path.name for path in self.storage.iterdir()] if self.storage.is_dir() else []

    @property
    def weights(self) -> list[Any]:
        return [np.array(weight) for weight in self.trial.model.get_weights()]


def stopping_after(batches: int) -> type[tf.keras.callbacks.Callback]:
    """Stop within a chunk, with a checkpoint, as a pause does."""

    class Stop(tf.keras.callbacks.Callback):
        def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
            if batch + 1 == batches:
                self.model.stop_training = True

    return Stop
