"""Training of an EstimatorTrial: what is reported and saved, and that a pause leaves no trace."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from small_trial import SmallTrial, checkpoints, train, variables
from two_ranks import on_two_ranks

from determined.core import DummyDistributedContext
from determined.errors import CheckpointNotFound
from determined.estimator import RunHook
from determined.estimator._weights import Weights


def test_summaries_and_loss_are_training_metrics_and_validations_come_by_their_period(tmp_path: Path) -> None:
    reports = train(SmallTrial, tmp_path, batches=8)
    assert sorted(reports.of["training"]) == [2, 3, 5, 6, 8]
    assert set(reports.of["training"][8]) == {"batches", "loss", "slope_now"}
    assert sorted(reports.of["validation"]) == [3, 6, 8]
    assert set(reports.of["validation"][8]) == {"batches", "loss", "highest"}
    assert reports.of["validation"][8]["loss"] < reports.of["validation"][3]["loss"]


def test_a_pause_leaves_no_trace_in_weights_or_metrics(tmp_path: Path) -> None:
    seldom = {"min_validation_period": {"batches": 6}}
    alone = train(SmallTrial, tmp_path / "alone", batches=12, config=seldom)
    first = train(SmallTrial, tmp_path / "paused", batches=7, config=seldom)
    (paused,) = checkpoints(tmp_path / "paused")
    second = train(SmallTrial, tmp_path / "paused", batches=12, config=seldom, latest=paused.name)
    assert min(second.of["training"]) > 7
    assert first.of["validation"][6] == alone.of["validation"][6]
    assert second.of["validation"][12] == alone.of["validation"][12]
    undisturbed, resumed = (variables(checkpoints(tmp_path / name)[-1]) for name in ("alone", "paused"))
    assert undisturbed.keys() == resumed.keys()
    assert all(np.array_equal(undisturbed[name], resumed[name]) for name in undisturbed)


def test_another_trials_checkpoint_gives_its_weights_and_batches_are_counted_anew(tmp_path: Path) -> None:
    train(SmallTrial, tmp_path, batches=8)
    (first,) = checkpoints(tmp_path)
    reports = train(SmallTrial, tmp_path, batches=4, latest=first.name, trial_id=2)
    assert sorted(reports.of["training"]) == [2, 3, 4]
    assert reports.of["training"][2]["loss"] < 1.0, "the line was fitted before"


def test_a_checkpoint_holds_weights_position_origin_and_code(tmp_path: Path) -> None:
    Path("notes.txt").write_text("code")
    train(SmallTrial, tmp_path, batches=2)
    (stored,) = checkpoints(tmp_path)
    assert {"slope", "offset", "global_step", "slope/Momentum"} <= variables(stored).keys()
    assert (stored / "code" / "notes.txt").read_text() == "code"
    assert json.loads((stored / "load_data.json").read_text())["trial_type"] == "EstimatorTrial"
    metadata = json.loads((stored / "metadata.json").read_text())
    assert metadata["framework"] == f"tensorflow-{tf.__version__}" and metadata["format"] == "saved_model"
    assert metadata["steps_completed"] == 2


def test_going_on_from_what_is_no_checkpoint_of_an_estimator_says_what_is_missing(tmp_path: Path) -> None:
    with pytest.raises(CheckpointNotFound, match="has no weights of an estimator"):
        Weights(tmp_path / "estimator", DummyDistributedContext()).put_back(tmp_path)


def test_a_validation_before_the_first_batch_is_of_the_weights_training_begins_with(tmp_path: Path) -> None:
    reports = train(SmallTrial, tmp_path, batches=2, config={"perform_initial_validation": True})
    assert sorted(reports.of["validation"]) == [0, 2]
    assert reports.of["validation"][0]["loss"] > reports.of["validation"][2]["loss"]


class _Listener(RunHook):
    def __init__(self) -> None:
        self.heard: list[str] = []

    def on_checkpoint_load(self, checkpoint_dir: str) -> None:
        self.heard.append(f"load {(Path(checkpoint_dir) / 'heard.txt').read_text()}")

    def on_checkpoint_end(self, checkpoint_dir: str) -> None:
        (Path(checkpoint_dir) / "heard.txt").write_text("note")
        self.heard.append("end")

    def on_trial_close(self) -> None:
        self.heard.append("close")


def test_hooks_hear_of_checkpoints_and_of_the_end_and_may_add_files(tmp_path: Path) -> None:
    first, second = _Listener(), _Listener()
    train(type("First", (SmallTrial,), {"hooks": (first,)}), tmp_path, batches=2)
    assert first.heard == ["end", "close"]
    (stored,) = checkpoints(tmp_path)
    train(type("Second", (SmallTrial,), {"hooks": (second,)}), tmp_path, batches=4, latest=stored.name)
    assert second.heard == ["load note", "end", "close"]


def test_a_hook_of_the_model_hears_too(tmp_path: Path) -> None:
    listener = _Listener()

    class WithHook(SmallTrial):
        def model_fn(self, features: Any, labels: Any, mode: str) -> Any:
            return super().model_fn(features, labels, mode)._replace(training_hooks=(listener,))

    train(WithHook, tmp_path, batches=2)
    assert listener.heard == ["end", "close"]


def test_a_hook_of_the_validation_hears_once_though_it_is_one_of_training_too(tmp_path: Path) -> None:
    both, one = _Listener(), _Listener()

    class Watched(SmallTrial):
        hooks = (both,)

        def build_validation_spec(self) -> Any:
            return super().build_validation_spec()._replace(hooks=(both, one))

    train(Watched, tmp_path, batches=2)
    assert both.heard == one.heard == ["end", "close"]


def test_what_a_spec_says_and_is_not_heard_is_named_once_with_the_way_out(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    class Ported(SmallTrial):
        def build_train_spec(self) -> Any:
            listeners = (tf.estimator.CheckpointSaverListener(),)
            return super().build_train_spec()._replace(max_steps=9, saving_listeners=listeners)

        def build_validation_spec(self) -> Any:
            exporter = tf.estimator.FinalExporter("final", lambda: None)
            return super().build_validation_spec()._replace(exporters=(exporter,))

    train(Ported, tmp_path, batches=4)
    warnings = [record.getMessage() for record in caplog.records if "is ignored" in record.getMessage()]
    assert [text.partition(" ")[0] for text in warnings] == [
        "TrainSpec.max_steps", "TrainSpec.saving_listeners", "EvalSpec.exporters",
    ]  # fmt: skip
    caplog.clear()
    train(SmallTrial, tmp_path / "plain", batches=1)
    assert "is ignored" not in caplog.text


class _StopAt(tf.estimator.SessionRunHook):
    def __init__(self, batch: int) -> None:
        self.left = batch

    def after_run(self, run_context: Any, run_values: Any) -> None:
        self.left -= 1
        if not self.left:
            run_context.request_stop()


def test_a_hook_that_asks_for_it_stops_training_gracefully_with_a_checkpoint(tmp_path: Path) -> None:
    reports = train(type("Stopped", (SmallTrial,), {"hooks": (_StopAt(5),)}), tmp_path, batches=100)
    assert max(reports.of["training"]) == 5
    (stored,) = checkpoints(tmp_path)
    assert variables(stored)["global_step"] == 5


def test_a_stop_asked_for_by_the_context_comes_at_the_end_of_a_chunk(tmp_path: Path) -> None:
    class Stopping(SmallTrial):
        def dataset(self, records: int, shuffle: bool = False) -> Any:
            self.context.set_stop_requested(True)
            return super().dataset(records, shuffle)

    reports = train(Stopping, tmp_path, batches=100)
    assert sorted(reports.of["training"]) == [2]
    assert len(checkpoints(tmp_path)) == 1


def test_state_that_a_pause_would_lose_is_named_once_and_tensors_are_none(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    class Stateful(SmallTrial):
        def __init__(self, context: Any) -> None:
            super().__init__(context)
            self.graphs, self.seen = 0, ["tensor"]

        def metrics(self, y: Any) -> dict[str, Any]:
            self.graphs, self.seen = self.graphs + 1, [y]
            return super().metrics(y)

    train(Stateful, tmp_path, batches=6, config={"min_checkpoint_period": {"batches": 2}})
    warnings = [record.getMessage() for record in caplog.records if "no checkpoint holds" in record.getMessage()]
    assert len(warnings) == 1 and "self.graphs" in warnings[0] and "self.seen" not in warnings[0]


def test_two_ranks_train_one_model_on_halves_of_the_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class NoShuffle(SmallTrial):
        def dataset(self, records: int, shuffle: bool = False) -> Any:
            return super().dataset(records)

    def half(distributed: Any) -> Any:
        return train(NoShuffle, tmp_path / "two", batches=6, distributed=distributed)

    chief, _ = on_two_ranks(half, monkeypatch)
    alone = train(NoShuffle, tmp_path / "one", batches=6)
    assert chief.of["validation"][6]["highest"] == pytest.approx(alone.of["validation"][6]["highest"], rel=1e-5)
    assert chief.of["training"][6]["loss"] == pytest.approx(alone.of["training"][6]["loss"], rel=1e-5)
    (two,), (one,) = checkpoints(tmp_path / "two"), checkpoints(tmp_path / "one")
    assert variables(two)["slope"] == pytest.approx(variables(one)["slope"], rel=1e-5)


def test_a_rank_without_validation_data_holds_nobody_up_and_has_no_part_in_the_metrics(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class OneRecord(SmallTrial):
        validation_records = 1

    def rank(distributed: Any) -> Any:
        return train(OneRecord, tmp_path / "two", batches=2, distributed=distributed)

    chief, _ = on_two_ranks(rank, monkeypatch)
    (stored,) = checkpoints(tmp_path / "two")
    trained = variables(stored)
    assert chief.of["validation"][2]["highest"] == pytest.approx(trained["offset"] - trained["slope"], rel=1e-5)


def test_hooks_for_the_chief_run_on_the_chief_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def rank(distributed: Any) -> Any:
        listener = _Listener()

        class WithChiefHook(SmallTrial):
            def model_fn(self, features: Any, labels: Any, mode: str) -> Any:
                return super().model_fn(features, labels, mode)._replace(training_chief_hooks=(listener,))

        train(WithChiefHook, tmp_path, batches=2, distributed=distributed)
        return listener.heard

    assert on_two_ranks(rank, monkeypatch) == [["end", "close"], []]


def test_a_pause_of_two_ranks_leaves_no_trace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def run(batches: int, storage: str, latest: str | None = None) -> Any:
        def rank(distributed: Any) -> Any:
            return train(SmallTrial, tmp_path / storage, batches=batches, latest=latest, distributed=distributed)

        return on_two_ranks(rank, monkeypatch)[0]

    alone = run(8, "alone")
    run(5, "paused")
    (paused,) = checkpoints(tmp_path / "paused")
    resumed = run(8, "paused", paused.name)
    assert resumed.of["validation"][8] == alone.of["validation"][8]
    assert resumed.of["training"][8] == alone.of["training"][8]


def test_a_rank_that_is_asked_to_stop_stops_all_at_the_end_of_the_chunk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def rank(distributed: Any) -> Any:
        hooks = (_StopAt(3),) if distributed.rank == 1 else ()
        return train(type("One", (SmallTrial,), {"hooks": hooks}), tmp_path, batches=100, distributed=distributed)

    chief, _ = on_two_ranks(rank, monkeypatch)
    assert max(chief.of["training"]) == 3
    assert len(checkpoints(tmp_path)) == 1
