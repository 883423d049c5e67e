"""TFKerasTrial and its context: what is captured, reported, called and refused."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from small_keras_trial import BATCH, PairTrial, Run, SmallTrial, points

from determined import core
from determined.errors import InvalidExperimentException
from determined.keras import TFKerasTrialContext
from determined.keras import callbacks as det_callbacks
from determined.keras._gradients import averaging, over_core
from determined.keras._parallel import joined
from determined.keras._tensorflow import KERAS_3
from determined.trial import EnvContext, local_core_context


def test_metrics_are_those_of_the_chunk_and_validations_are_named_so(tmp_path: Path) -> None:
    run = Run(tmp_path, batches=6)
    assert [batches for batches, _ in run.reports.training] == [3, 5, 6]
    assert set(run.reports.training[0][1]) == {"batches", "loss", "mae"}
    assert set(run.reports.validation[-1][1]) == {"batches", "val_loss", "val_mae"}


def test_validation_is_what_keras_itself_would_say(tmp_path: Path) -> None:
    run = Run(tmp_path, batches=6)
    expected = run.trial.model.evaluate(*points(10), batch_size=BATCH, verbose=0, return_dict=True)
    found = run.reports.validation[-1][1]
    assert {name: found[f"val_{name}"] for name in expected} == pytest.approx(expected)


def test_hooks_are_called_in_order(tmp_path: Path) -> None:
    heard: list[str] = []

    class Listener(det_callbacks.Callback):
        def on_train_begin(self, logs: Any = None) -> None:
            heard.append("train_begin")

        def on_train_end(self, logs: Any = None) -> None:
            heard.append("train_end")

        def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
            heard.append(f"epoch_begin {epoch}")

        def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
            heard.append(f"epoch_end {epoch} {logs}")

        def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
            assert isinstance(logs["loss"], float)
            heard.append(f"batch {batch}")

        def on_train_workload_begin(self, total_batches_trained: int, batches_requested: Any, logs: Any) -> None:
            heard.append(f"workload_begin {total_batches_trained} {batches_requested}")

        def on_train_workload_end(self, total_batches_trained: int, logs: Any) -> None:
            heard.append(f"workload_end {total_batches_trained}")

        def on_test_begin(self, logs: Any = None) -> None:
            heard.append("test_begin")

        def on_test_end(self, logs: Any = None) -> None:
            heard.append(f"test_end {sorted(logs)}")

        def on_checkpoint_end(self, checkpoint_dir: str) -> None:
            heard.append("checkpoint_end")
            assert (Path(checkpoint_dir) / "load_data.json").is_file()

    class Trial(SmallTrial):
        callbacks = (Listener(),)

    Run(tmp_path, Trial, batches=2, config={"records_per_epoch": BATCH, "min_validation_period": {"batches": 0}})
    assert heard == [
        "train_begin", "workload_begin 0 2",
        "epoch_begin 0", "batch 0", "epoch_end 0 {}", "epoch_begin 1", "batch 1", "epoch_end 1 {}",
        "workload_end 2", "test_begin", "test_end ['val_loss', 'val_mae']", "checkpoint_end", "train_end",
    ]  # fmt: skip


def test_a_callback_of_ours_with_epochs_needs_their_length(tmp_path: Path) -> None:
    class PerEpoch(det_callbacks.Callback):
        def on_epoch_end(self, epoch: int, logs: Any = None) -> None: ...

    class Trial(SmallTrial):
        callbacks = (PerEpoch(),)

    with pytest.raises(AssertionError, match=r"PerEpoch has on_epoch_end.*records_per_epoch"):
        Run(tmp_path, Trial)


def test_a_plain_callback_with_epochs_is_warned_of(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    class Trial(SmallTrial):
        def keras_callbacks(self) -> list[Any]:
            return [tf.keras.callbacks.CSVLogger(str(tmp_path / "epochs.csv"))]

    Run(tmp_path, Trial, batches=1)
    assert "CSVLogger has on_epoch_end" in caplog.text


def test_callbacks_of_keras_that_would_wait_in_vain_are_named_with_what_to_use(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    class Patient(tf.keras.callbacks.EarlyStopping):  # type: ignore[misc]
        pass

    class Trial(SmallTrial):
        def keras_callbacks(self) -> list[Any]:
            best, every = str(tmp_path / "best.weights.h5"), str(tmp_path / "{epoch}.weights.h5")
            return [
                Patient("val_mae"),
                det_callbacks.EarlyStopping(),
                tf.keras.callbacks.ModelCheckpoint(best, save_best_only=True, save_weights_only=True),
                tf.keras.callbacks.ModelCheckpoint(every, save_weights_only=True),
            ]

    Run(tmp_path, Trial, batches=1)
    said = [line for line in caplog.messages if "so it does nothing" in line]
    assert len(said) == 2
    assert said[0].startswith("Patient looks at val_mae") and "determined.keras.callbacks" in said[0]
    assert said[1].startswith("ModelCheckpoint looks at val_loss") and "leave it out" in said[1]


def test_a_lambda_callback_hears_of_batches(tmp_path: Path) -> None:
    heard: list[int] = []

    class Trial(SmallTrial):
        def keras_callbacks(self) -> list[Any]:
            return [tf.keras.callbacks.LambdaCallback(on_batch_end=lambda batch, logs: heard.append(batch))]

    Run(tmp_path, Trial, batches=2)
    assert heard == [0, 1]


def test_an_optimizer_that_nobody_wrapped_is_warned_of(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    class Trial(PairTrial):
        def build_model(self) -> Any:
            model = super().build_model()
            model.unseen = tf.keras.optimizers.SGD()
            return model

    Run(tmp_path, Trial, batches=1)
    assert "Pair.unseen did not go through" in caplog.text
    assert "maker_optimizer" not in caplog.text


@pytest.mark.skipif(not KERAS_3, reason="Keras 2 refuses it")
def test_gradients_are_added_up_for_an_optimizer_that_is_named(tmp_path: Path) -> None:
    run = Run(tmp_path, _Subclassed, batches=2, config={"optimizations": {"aggregation_frequency": 2}})
    assert run.trial.model.optimizer.gradient_accumulation_steps == 2


@pytest.mark.skipif(KERAS_3, reason="Keras 3 can do it")
def test_gradients_cannot_be_added_up_by_keras_2(tmp_path: Path) -> None:
    with pytest.raises(InvalidExperimentException, match="aggregation_frequency=2"):
        Run(tmp_path, _Subclassed, batches=2, config={"optimizations": {"aggregation_frequency": 2}})


def test_compile_and_fit_are_noted_and_not_run(tmp_path: Path) -> None:
    class Native(SmallTrial):
        def build_model(self) -> Any:
            model = super().build_model()
            model.fit(*points(), validation_data=points(8), shuffle=False, callbacks=[_Counter()])
            assert getattr(model, "optimizer", None) is None or not model.optimizer.iterations.numpy()
            return model

        def build_training_data_loader(self) -> Any:
            raise AssertionError("fit was given the data")

    run = Run(tmp_path, Native, batches=3)
    assert run.context._fit_options.shuffle is False
    assert _Counter.batches == 3


class _Counter(tf.keras.callbacks.Callback):
    batches = 0

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        _Counter.batches += 1


def test_fit_needs_validation_data() -> None:
    context = _context()
    model = context.wrap_model(tf.keras.Sequential([tf.keras.layers.Dense(1)]))
    with pytest.raises(InvalidExperimentException, match="without validation_data"):
        model.fit(*points())


class _Unwrapped(SmallTrial):
    def build_model(self) -> Any:
        return tf.keras.Sequential([tf.keras.layers.Dense(1)])


class _Uncompiled(SmallTrial):
    def build_model(self) -> Any:
        return self.context.wrap_model(tf.keras.Sequential([tf.keras.layers.Dense(1)]))


class _UnwrappedDataset(SmallTrial):
    def build_training_data_loader(self) -> Any:
        return tf.data.Dataset.from_tensor_slices(points()).batch(BATCH)


class _EmptyDataset(SmallTrial):
    def build_training_data_loader(self) -> Any:
        return self.context.wrap_dataset(tf.data.Dataset.from_tensor_slices(points())).take(0).batch(BATCH)


class _EmptyForNet(_EmptyDataset):
    def build_model(self) -> Any:
        return _Subclassed.build_model(self)  # built from data, of which there is none


class _EndlessValidation(SmallTrial):
    def build_validation_data_loader(self) -> Any:
        return self.context.wrap_dataset(tf.data.Dataset.from_tensor_slices(points())).batch(BATCH).repeat()


@pytest.mark.parametrize(
    ("trial", "words"),
    [
        (_Unwrapped, "passed through context.wrap_model"),
        (_Uncompiled, "must call compile"),
        (_UnwrappedDataset, "not passed through context.wrap_dataset"),
        (_EmptyDataset, "dataset is empty"),
        (_EmptyForNet, "dataset is empty"),
        (_EndlessValidation, "without an end"),
    ],
)
def test_what_cannot_be_trained_is_said(tmp_path: Path, trial: type[SmallTrial], words: str) -> None:
    with pytest.raises(InvalidExperimentException, match=words):
        Run(tmp_path, trial)


def test_a_subclassed_model_is_built_from_its_data_and_loaded_again(tmp_path: Path) -> None:
    before = Run(tmp_path, _Subclassed, batches=3)
    after = Run(tmp_path, _Subclassed, batches=5, latest=before.saved[-1])
    alone = Run(tmp_path / "alone", _Subclassed, batches=5)
    assert all(np.array_equal(a, b) for a, b in zip(alone.weights, after.weights, strict=True))
    assert (tmp_path / before.saved[-1] / "determined-keras-model-inputs.json").is_file()


class Net(tf.keras.Model):
    def __init__(self) -> None:
        super().__init__()
        self.inner = tf.keras.layers.Dense(4)
        self.outer = tf.keras.layers.Dense(1)

    def call(self, x: Any, training: bool = False) -> Any:
        return self.outer(self.inner(x))


class _Subclassed(SmallTrial):
    def build_model(self) -> Any:
        self.model = self.context.wrap_model(Net())
        self.model.compile("sgd", "mse")
        return self.model


def test_options_that_are_not_given_stay() -> None:
    context = _context()
    context.configure_fit(workers=4, class_weight={0: 1.0})
    context.configure_fit(shuffle=False)
    options = context._fit_options
    assert (options.workers, options.class_weight, options.shuffle) == (4, {0: 1.0}, False)
    context.configure_fit(class_weight=None)
    assert context._fit_options.class_weight is None


def test_names_of_optimizers_are_refused_by_wrap_optimizer() -> None:
    with pytest.raises(InvalidExperimentException, match="got the name 'adam'"):
        _context().wrap_optimizer("adam")


def test_caches_of_older_releases_say_what_to_use() -> None:
    with pytest.raises(RuntimeError, match=r"tf\.data\.Dataset\.cache"):
        _context().experimental.cache_train_dataset("id", "v1")


def test_an_unmanaged_context_leaves_everything_as_it_is() -> None:
    context = TFKerasTrialContext.from_config({"hyperparameters": {"global_batch_size": 4}})
    model = context.wrap_model(tf.keras.Sequential([tf.keras.layers.Input([2]), tf.keras.layers.Dense(1)]))
    model.compile("sgd", "mse")
    assert model.optimizer is not None


class _Peers:
    """Two ranks, of which the other sends gradients that are three times as large."""

    rank, size = 0, 2
    sent: list[Any] = []

    def gather(self, mine: list[Any]) -> list[Any]:
        self.sent = [part.dtype for part in mine]
        return [mine, [3 * part for part in mine]]

    def broadcast(self, means: Any) -> Any:
        return means


@pytest.mark.parametrize(("compress", "sent"), [(False, "float32"), (True, "float16")])
def test_gradients_are_averaged_before_they_are_applied(compress: bool, sent: str) -> None:
    peers: Any = _Peers()
    optimizer = averaging(tf.keras.optimizers.SGD(1.0), over_core(peers, compress=compress))
    variables = [tf.keras.layers.Dense(1, use_bias=False), tf.keras.layers.Dense(1, use_bias=False)]
    for layer in variables:
        layer.build([None, 1])
        layer.set_weights([np.zeros([1, 1])])
    pairs = [(tf.constant([[1.0]]), variables[0].trainable_weights[0]), (None, variables[1].trainable_weights[0])]

    @tf.function
    def step() -> None:
        optimizer.apply_gradients(pairs[:1])

    step()
    assert variables[0].get_weights()[0].item() == pytest.approx(-2.0)
    assert type(optimizer).__name__ == "SGD"
    assert peers.sent == [sent]


def test_the_config_says_whether_gradients_are_compressed(monkeypatch: pytest.MonkeyPatch) -> None:
    peers: Any = _Peers()
    monkeypatch.delenv("USE_HOROVOD", raising=False)
    monkeypatch.setenv("USE_TORCH_DISTRIBUTED", "True")
    monkeypatch.setattr(core.DistributedContext, "from_torch_distributed", lambda: peers)
    trial = SimpleNamespace(_config={"optimizations": {"gradient_compression": True}})
    info: Any = SimpleNamespace(trial=trial, slot_ids=[0, 1], container_addrs=["127.0.0.1"])
    with joined(info) as ranks:
        assert ranks.average is not None
        (mean,) = ranks.average([tf.constant([1.0])])
    assert peers.sent == ["float16"] and mean.numpy().tolist() == [2.0]


def _context() -> TFKerasTrialContext:
    env = EnvContext.from_config({"hyperparameters": {"global_batch_size": 4}}, seed=1)
    return TFKerasTrialContext(local_core_context(), env)
