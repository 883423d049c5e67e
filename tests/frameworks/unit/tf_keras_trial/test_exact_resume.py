"""Weights, metrics and callbacks after a pause are those of a run that was left alone."""

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from small_keras_trial import PairTrial, Run, SmallTrial, stopping_after

from determined.keras._tensorflow import KERAS_3
from determined.keras.callbacks import Callback, EarlyStopping, ReduceLROnPlateau, TensorBoard


def _trial(kind_of_data: str, *callbacks: Any) -> type[SmallTrial]:
    class Trial(SmallTrial):
        kind = kind_of_data

        def keras_callbacks(self) -> list[Any]:
            return [make() for make in callbacks]

    return Trial


def _plateau() -> Any:
    return ReduceLROnPlateau(monitor="val_mae", factor=0.5, patience=1, min_delta=100.0)


def _same(one: list[Any], other: list[Any]) -> bool:
    return all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


@pytest.mark.parametrize(("kind", "pause"), [("arrays", 7), ("arrays", 10), ("sequence", 7), ("dataset", 7)])
def test_a_paused_trial_ends_with_the_weights_of_one_left_alone(tmp_path: Path, kind: str, pause: int) -> None:
    alone = Run(tmp_path / "alone", _trial(kind), batches=13)
    before = Run(tmp_path / "paused", _trial(kind, stopping_after(pause)), batches=13)
    after = Run(tmp_path / "paused", _trial(kind), batches=13, latest=before.saved[-1])
    assert before.reports.training[-1][0] == pause
    assert _same(alone.weights, after.weights)
    assert [*before.reports.validation, *after.reports.validation] == alone.reports.validation


def test_training_really_depends_on_what_is_restored(tmp_path: Path) -> None:
    one, other = Run(tmp_path / "one", batches=10), Run(tmp_path / "other", _trial("sequence"), batches=10)
    assert not _same(one.weights, other.weights)


def test_the_learning_rate_and_patience_of_callbacks_outlive_a_pause(tmp_path: Path) -> None:
    alone = Run(tmp_path / "alone", _trial("arrays", _plateau))
    before = Run(tmp_path / "paused", _trial("arrays", _plateau, stopping_after(12)))
    after = Run(tmp_path / "paused", _trial("arrays", _plateau, stopping_after(1000)), latest=before.saved[-1])
    rates = [float(run.trial.model.optimizer.learning_rate.numpy()) for run in (alone, before, after)]
    assert rates[0] == rates[2] < rates[1] < 0.05
    assert _same(alone.weights, after.weights)


def test_early_stopping_counts_validations_across_a_pause(tmp_path: Path) -> None:
    def stopping() -> Any:
        return EarlyStopping(monitor="val_loss", patience=3, min_delta=1000.0)

    alone = Run(tmp_path / "alone", _trial("arrays", stopping), batches=60)
    before = Run(tmp_path / "paused", _trial("arrays", stopping, stopping_after(12)), batches=60)
    after = Run(
        tmp_path / "paused", _trial("arrays", stopping, stopping_after(1000)), batches=60, latest=before.saved[-1]
    )
    assert alone.reports.validation[-1][0] == after.reports.validation[-1][0] == 20
    assert after.reports.training[-1][0] == 20


@pytest.mark.skipif(KERAS_3, reason="Keras 3 has no legacy optimizers")
def test_legacy_optimizers_keep_their_moments_and_learning_rate(tmp_path: Path) -> None:
    class Legacy(SmallTrial):
        def build_model(self) -> Any:
            model = super().build_model()
            model.compile(tf.keras.optimizers.legacy.Adam(0.05), "mse", metrics=["mae"])
            return model

        def keras_callbacks(self) -> list[Any]:
            return [_plateau(), stopping_after(stop)()]

    stop = 1000
    alone = Run(tmp_path / "alone", Legacy)
    stop = 12
    before = Run(tmp_path / "paused", Legacy)
    stop = 1000
    after = Run(tmp_path / "paused", Legacy, latest=before.saved[-1])
    assert float(alone.trial.model.optimizer.learning_rate.numpy()) < 0.05
    assert _same(alone.weights, after.weights)


def test_models_trained_by_several_optimizers_go_on_where_they_were(tmp_path: Path) -> None:
    alone = Run(tmp_path / "alone", PairTrial, batches=6)
    before = Run(tmp_path / "paused", PairTrial, batches=4)
    after = Run(tmp_path / "paused", PairTrial, batches=6, latest=before.saved[-1])
    assert _same(alone.weights, after.weights)


def test_the_last_checkpoint_of_an_early_stop_holds_the_best_weights(tmp_path: Path) -> None:
    def stopping() -> Any:
        return EarlyStopping(monitor="val_loss", patience=1, min_delta=1000.0, restore_best_weights=True)

    trial = _trial("arrays", stopping)
    stopped = Run(tmp_path / "stopped", trial, batches=60)
    first = Run(tmp_path / "first", _trial("arrays"), batches=5)  # of which only the first validation was good
    loaded = tf.keras.models.clone_model(first.trial.model)
    suffix = ".weights.h5" if KERAS_3 else ""
    loaded.load_weights(str(tmp_path / "stopped" / stopped.saved[-1] / f"determined-keras-model-weights{suffix}"))
    assert stopped.reports.training[-1][0] == 10
    assert _same(loaded.get_weights(), first.weights)


def test_callbacks_keep_the_state_they_return(tmp_path: Path) -> None:
    class Count(Callback):
        def __init__(self) -> None:
            super().__init__()
            self.batches = np.zeros(1)

        def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
            self.batches = self.batches + 1

        def get_state(self) -> Any:
            return {"batches": self.batches}

        def load_state(self, state: Any) -> None:
            self.batches = state["batches"]

    counter = Count()
    before = Run(tmp_path, _trial("arrays", Count), batches=6)
    Run(tmp_path, _trial("arrays", lambda: counter), batches=9, latest=before.saved[-1])
    assert counter.batches == 9


def test_a_sequence_hears_of_every_epoch_that_was_trained_before(tmp_path: Path) -> None:
    trial = _trial("sequence")
    before = Run(tmp_path, trial, batches=12)  # epochs have 5 batches
    made: list[Any] = []

    class Noted(trial):  # type: ignore[misc, valid-type]
        def build_training_data_loader(self) -> Any:
            made.append(super().build_training_data_loader())
            return made[-1]

    Run(tmp_path, Noted, batches=16, latest=before.saved[-1])
    assert made[-1].ended == 3


def test_state_on_the_trial_that_a_pause_would_lose_is_warned_of(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    class Trial(SmallTrial):
        seen = 0

        def keras_callbacks(self) -> list[Any]:
            trial = self
            trial.seen = 0

            class Count(Callback):
                def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
                    trial.seen += 1

            return [Count()]

    Run(tmp_path, Trial, batches=2)
    assert "self.seen" in caplog.text
    assert "get_state" in caplog.text


def test_another_trials_checkpoint_gives_weights_but_no_place_and_no_learning_rate(tmp_path: Path) -> None:
    class Faster(SmallTrial):
        def build_model(self) -> Any:
            model = super().build_model()
            model.compile(tf.keras.optimizers.SGD(0.01), "mse")
            return model

    class Slower(Faster):
        def build_model(self) -> Any:
            model = super().build_model()
            model.compile(tf.keras.optimizers.SGD(1e-30), "mse")
            return model

    before = Run(tmp_path, Faster, batches=6)
    directory = tmp_path / before.saved[-1] / "workload_sequencer.pkl"
    state = pickle.loads(directory.read_bytes())
    directory.write_bytes(pickle.dumps({**state, "trial_id": 5}))
    after = Run(tmp_path, Slower, batches=3, latest=before.saved[-1])
    assert after.reports.training[-1][0] == 3
    assert np.array_equal(after.weights[0], before.weights[0])


def test_batches_in_event_files_are_counted_on_after_a_pause(tmp_path: Path) -> None:
    trial = _trial("arrays", lambda: TensorBoard(update_freq="batch"))
    before = Run(tmp_path / "run", trial, batches=3)
    after = Run(tmp_path / "run", trial, batches=5, latest=before.saved[-1])
    files = [str(file) for file in after.tensorboard.rglob("*tfevents*")]
    events = [event for file in files for event in tf.compat.v1.train.summary_iterator(file)]
    steps = [event.step for event in events if any(value.tag == "batch_loss" for value in event.summary.value)]
    assert len(steps) == len(set(steps)) == 5
