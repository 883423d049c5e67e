"""Event files of frameworks are stored while they are open, and TensorBoard reads what we write."""

import importlib.util
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from determined import tensorboard
from determined.storage import SharedFSStorageManager
from determined.tensorboard import MetricEvents, TensorboardManager, metric_events
from determined.tensorboard.metric_writers.tensorflow import TFWriter

pytestmark = pytest.mark.timeout(600)  # importing TensorFlow takes a minute on a busy machine
needs_torch = pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="no PyTorch in this environment")


class Stored:
    """A directory that is copied while it grows, and its copy."""

    def __init__(self, manager: TensorboardManager, store: Path) -> None:
        self.directory = manager.base_path
        self._store = store / "p"

    def await_scalars(self, tag: str, number: int) -> list[float]:
        wait = threading.Event()
        for _ in range(600):
            found = self._scalars(tag)
            if len(found) >= number:
                return found
            wait.wait(0.05)
        raise AssertionError(f"{tag}: {number} values were not stored; there are {found}")

    def _scalars(self, tag: str) -> list[float]:
        """Return the values in all files, read by TensorBoard itself."""
        found: list[float] = []
        for file in sorted(self._store.rglob("*tfevents*")):
            events = EventAccumulator(str(file), size_guidance={"tensors": 0, "scalars": 0}).Reload()
            if tag in events.Tags()["scalars"]:
                found += [event.value for event in events.Scalars(tag)]
            elif tag in events.Tags()["tensors"]:
                found += [_number(event.tensor_proto) for event in events.Tensors(tag)]
        return found


def _number(tensor: Any) -> float:
    from tensorboard.util import tensor_util

    return float(tensor_util.make_ndarray(tensor))


@pytest.fixture
def stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stored]:
    monkeypatch.setattr(metric_events, "_INTERVAL", 0.05)
    store = tmp_path / "store"
    manager = TensorboardManager(tmp_path / "local", SharedFSStorageManager(str(store)), "p")
    monkeypatch.setattr("determined.tensorboard.factory._temporary", lambda: manager.base_path)
    events = MetricEvents(manager)
    events.start()
    yield Stored(manager, store)
    events.close()


def _grows(stored: Stored, tag: str, add: Callable[[int], None]) -> None:
    for step in range(3):
        add(step)
        assert stored.await_scalars(tag, step + 1) == pytest.approx([0.5 * n for n in range(step + 1)])


def test_our_own_writer(stored: Stored) -> None:
    writer = tensorboard.get_metric_writer()
    _grows(stored, "Determined/val_x", lambda step: writer.on_validation_step_end(step, {"x": 0.5 * step}))
    writer.writer.reset()


def test_the_writer_over_tensorflow(stored: Stored) -> None:
    writer = tensorboard.BatchMetricWriter(TFWriter())
    _grows(stored, "Determined/x", lambda step: writer.on_train_step_end(step, {"x": 0.5 * step}))


@needs_torch
def test_the_writer_over_torch(stored: Stored) -> None:
    from determined.tensorboard.metric_writers.pytorch import TorchWriter

    writer = tensorboard.BatchMetricWriter(TorchWriter())
    _grows(stored, "Determined/x", lambda step: writer.on_train_step_end(step, {"x": 0.5 * step}))


def test_the_tensorboard_callback_of_keras(stored: Stored) -> None:
    import tensorflow as tf

    callback = tf.keras.callbacks.TensorBoard(log_dir=str(stored.directory), write_graph=False)
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    model.compile(optimizer="sgd", loss="mse")

    class Look(tf.keras.callbacks.Callback):  # type: ignore[misc,name-defined]
        def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
            stored.await_scalars("epoch_loss", epoch)

    x = tf.ones((4, 1))
    model.fit(x, x, epochs=3, verbose=0, callbacks=[callback, Look()])
    assert len(stored.await_scalars("epoch_loss", 3)) == 3


@needs_torch
def test_the_logger_of_lightning(stored: Stored) -> None:
    from lightning.pytorch.loggers import TensorBoardLogger

    logger = TensorBoardLogger(str(stored.directory))

    def add(step: int) -> None:
        logger.log_metrics({"x": 0.5 * step}, step=step)
        logger.save()

    _grows(stored, "x", add)


def test_the_hook_of_estimators(stored: Stored) -> None:
    tf = pytest.importorskip("tensorflow")
    if not hasattr(tf, "estimator"):
        pytest.skip("this TensorFlow has no estimators")
    with tf.Graph().as_default():
        writer = tf.compat.v1.summary.FileWriterCache.get(str(stored.directory))

    def add(step: int) -> None:
        value = tf.compat.v1.Summary.Value(tag="x", simple_value=0.5 * step)
        writer.add_summary(tf.compat.v1.Summary(value=[value]), step)
        writer.flush()

    _grows(stored, "x", add)
