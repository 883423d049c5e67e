"""What a pause leaves no trace of: weights, metrics and callbacks are those of a run that was left alone."""

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from small_keras_trial import BATCH, Run, SmallTrial, stopping_after

from determined.keras.callbacks import Callback, EarlyStopping, ReduceLROnPlateau


def _trial(kind_of_data: str, *callbacks: Any) -> type[SmallTrial]:
    class Trial(SmallTrial):
        kind = kind_of_data

        def keras_callbacks(self) -> list[Any]:
            return [make() for make in callbacks]

    return Trial


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
    def plateau() -> Any:
        return ReduceLROnPlateau(monitor="val_mae", factor=0.5, patience=1, min_delta=100.0)

    alone = Run(tmp_path / "alone", _trial("arrays", plateau))
    before = Run(tmp_path / "paused", _trial("arrays", plateau, stopping_after(12)))
    after = Run(tmp_path / "paused", _trial("arrays", plateau, stopping_after(1000)), latest=before.saved[-1])
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


def test_another_trials_checkpoint_gives_weights_and_no_place(tmp_path: Path) -> None:
    before = Run(tmp_path, batches=6)
    directory = tmp_path / before.saved[-1] / "workload_sequencer.pkl"
    state = pickle.loads(directory.read_bytes())
    directory.write_bytes(pickle.dumps({**state, "trial_id": 5}))
    after = Run(tmp_path, batches=3, latest=before.saved[-1], config={"hyperparameters": {"global_batch_size": BATCH}})
    assert after.reports.training[-1][0] == 3
