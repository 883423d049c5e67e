"""What a trial asks the master, and TensorBoard files."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from determined import core

Task = Callable[..., None]
BEST = ("GET", "/api/v1/experiments/3/searcher/best_searcher_validation_metric")


def test_metadata_is_replaced_and_read_back(task: Task, master: Any) -> None:
    stored: dict[str, Any] = {}

    def store(body: dict[str, Any]) -> tuple[int, Any]:
        stored.clear()
        stored.update(body["metadata"])
        return 200, {"metadata": stored}

    task()
    master.routes["POST", "/api/v1/runs/7/metadata"] = store
    master.routes["GET", "/api/v1/runs/7/metadata"] = lambda _body: (200, {"metadata": stored})
    with core.init() as context:
        context.train.set_metadata({"old": 1})
        assert context.train.set_metadata({"a": {"b": 1}}) == {"a": {"b": 1}}
        assert context.train.get_metadata() == {"a": {"b": 1}}


def test_requests_carry_the_tasks_token(task: Task, master: Any) -> None:
    task()
    master.routes["GET", "/api/v1/runs/7/metadata"] = {"metadata": None}
    with core.init() as context:
        assert context.train.get_metadata() is None
    assert master.headers[0]["Grpc-Metadata-x-allocation-token"] == "Bearer token"


def test_the_best_validation_is_asked_after_everything_has_arrived(task: Task, master: Any, runner: Any) -> None:
    task()
    master.routes[BEST] = lambda _body: (200, {"metric": float(len(runner.records))})
    with core.init() as context:
        for step in range(100):
            context.train.report_validation_metrics(step, {"x": 1})
        assert context.train.get_experiment_best_validation() == 100.0


def test_no_best_validation_yet_is_none(task: Task) -> None:
    task()
    with core.init() as context:
        assert context.train.get_experiment_best_validation() is None


def test_the_last_validation_is_read_from_the_trial(task: Task, master: Any) -> None:
    task()
    master.routes["GET", "/api/v1/trials/7"] = {"trial": {"latestValidation": {"totalBatches": 30}}}
    with core.init() as context:
        assert context.train._get_last_validation() == 30


def test_auto_mode_stores_reported_metrics_as_events(task: Task, runner: Any, tmp_path: Path) -> None:
    task()
    with core.init() as context:
        context.train.report_training_metrics(1, {"loss": 0.5, "note": "text"})
        context.train.report_validation_metrics(1, {"loss": 0.25, "val_acc": 1})
        (context.train.get_tensorboard_path() / "mine").write_text("user's own")
    stored = tmp_path / "checkpoints" / "cluster" / "tensorboard" / "experiment" / "3" / "trial" / "7"
    (events,) = stored.glob("events.out.tfevents.*")
    raw = events.read_bytes()
    for tag in (b"Determined/loss", b"Determined/val_loss", b"Determined/val_acc"):
        assert tag in raw
    assert b"note" not in raw
    assert (stored / "mine").read_text() == "user's own"
    with pytest.raises(RuntimeError, match="MANUAL"):
        context.train.upload_tensorboard_files()


def test_manual_mode_uploads_what_the_script_selects(task: Task, tmp_path: Path) -> None:
    task()
    with core.init(tensorboard_mode=core.TensorboardMode.MANUAL) as context:
        context.train.report_training_metrics(1, {"loss": 0.5})
        for name in ("a", "b"):
            (context.train.get_tensorboard_path() / name).write_text(name)
        context.train.upload_tensorboard_files(
            lambda path: path.name == "a", lambda path, rank: path.with_name(f"{path.name}-{rank}")
        )
    stored = tmp_path / "checkpoints" / "cluster" / "tensorboard" / "experiment" / "3" / "trial" / "7"
    assert [path.name for path in stored.iterdir()] == ["a-0"]


def test_a_broken_store_does_not_disturb_training(
    task: Task, runner: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    task()
    (tmp_path / "checkpoints").write_text("a file where the store should be")
    with core.init() as context:
        context.train.report_training_metrics(1, {"loss": 0.5})
    assert runner.wait_for(1)[0].metrics == {"loss": 0.5}
    assert "could not be stored" in caplog.text
