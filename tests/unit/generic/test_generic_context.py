"""generic.init on a cluster: the calls of the tutorial, and how a script's end is taken."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import determined as det
from determined import core, generic
from determined.wire.report import CheckpointReport, EarlyExit, MetricReport, PreemptAck, Status

Task = Callable[..., None]
SPACE = {"batch_size": 32, "learning_rate": 0.001}


class _Tensor:
    """What a tensor can do that is not a number for Python's own libraries."""

    def __init__(self, value: Any) -> None:
        self._value = value

    def tolist(self) -> Any:
        return self._value


def test_a_trial_knows_its_hyperparameters_seed_and_ids(task: Task) -> None:
    task(hparams=SPACE)
    training = generic.init().training
    assert training.hparams == SPACE
    assert (training.trial_seed, training.trial_id, training.experiment_id) == (1, 7, 3)


def test_arguments_for_runs_off_cluster_do_not_change_a_trial(task: Task) -> None:
    task(hparams=SPACE)
    training = generic.init(hparams={"lr": 1}, trial_seed=5, max_length={"batches": 3}).training
    assert (training.hparams, training.trial_seed) == (SPACE, 1)


def test_metrics_arrive_with_tensors_as_numbers(task: Task, runner: Any) -> None:
    task()
    training = generic.init().training
    training.report_training_metrics(
        batches_trained=64, metrics={"loss": _Tensor(0.5), "per_class": _Tensor([1.0, 2.0])}
    )
    training.report_validation_metrics(batches_trained=64, metrics={"loss": _Tensor(0.25)})
    first, second = runner.wait_for(2, MetricReport)
    assert (first.group, first.steps, first.metrics) == ("training", 64, {"loss": 0.5, "per_class": [1.0, 2.0]})
    assert (second.group, second.steps, second.metrics) == ("validation", 64, {"loss": 0.25})


@pytest.mark.parametrize("name", ["batches_trained", "steps_completed", "latest_batch"])
def test_the_count_of_batches_has_three_names(task: Task, runner: Any, name: str) -> None:
    task()
    training = generic.init().training
    training.report_training_metrics(**{name: 5}, metrics={"x": 1})
    training.report_validation_metrics(**{name: 6}, metrics={"x": 1})
    assert [record.steps for record in runner.wait_for(2, MetricReport)] == [5, 6]


@pytest.mark.parametrize(
    ("wrong", "word"),
    [
        ({"metrics": {"x": 1}}, "batches_trained"),
        ({"batches_trained": 1, "latest_batch": 1, "metrics": {"x": 1}}, "once"),
        ({"batches_trained": 1}, "metrics is missing"),
        ({"batches_trained": 1.5, "metrics": {"x": 1}}, "integer"),
    ],
)
def test_a_report_needs_one_count_and_its_metrics(task: Task, wrong: dict[str, Any], word: str) -> None:
    task()
    training = generic.init().training
    with pytest.raises(TypeError, match=word):
        training.report_training_metrics(**wrong)
    with pytest.raises(TypeError, match=word):
        training.report_validation_metrics(**wrong)


def test_a_checkpoint_says_how_many_batches_were_reported_before_it(task: Task, runner: Any, tmp_path: Path) -> None:
    task()
    context = generic.init()
    for batches in (10, 30, 20):
        context.training.report_training_metrics(batches_trained=batches, metrics={"x": 1})
    assert context.checkpoint.last_saved_uuid is None
    with context.checkpoint.save_path() as path:
        Path(f"{path}/my_checkpoint").write_text("weights")
    (report,) = runner.wait_for(1, CheckpointReport)
    assert (report.steps, report.uuid) == (30, context.checkpoint.last_saved_uuid)
    assert (tmp_path / "checkpoints" / report.uuid / "my_checkpoint").read_text() == "weights"


def test_metadata_of_a_checkpoint_is_kept_and_may_say_the_steps(task: Task, runner: Any) -> None:
    task()
    with generic.init().checkpoint.save_path({"steps_completed": 4, "epoch": 2}) as path:
        (path / "a").write_text("")
    (report,) = runner.wait_for(1, CheckpointReport)
    assert (report.steps, report.metadata) == (4, {"steps_completed": 4, "epoch": 2})


def test_a_save_that_fails_leaves_and_reports_nothing(task: Task, runner: Any, tmp_path: Path) -> None:
    task()
    context = generic.init()
    with pytest.raises(OSError, match="full"), context.checkpoint.save_path() as path:
        (path / "half").write_text("")
        raise OSError("the disk is full")
    context.training.set_status("after")
    assert runner.wait_for(1) == [Status("after")]
    assert context.checkpoint.last_saved_uuid is None
    assert not [p for p in (tmp_path / "checkpoints").rglob("*") if p.name == "half"]


def _save_one(task: Task) -> str:
    task()
    context = generic.init()
    with context.checkpoint.save_path() as path:
        (path / "state.json").write_text(json.dumps({"epoch": 3}))
    context.close()
    saved = context.checkpoint.last_saved_uuid
    assert saved is not None
    return saved


def test_the_latest_checkpoint_opens_as_a_directory_again_and_again(task: Task, runner: Any) -> None:
    uuid = _save_one(task)
    task(latest_checkpoint=uuid)
    context = generic.init()
    latest = context.latest_checkpoint
    assert latest is not None
    assert latest.uuid == uuid
    for _ in range(2):
        with latest as path, latest as again:
            assert json.loads((path / "state.json").read_text()) == {"epoch": 3}
            assert (again / "state.json").exists()


def test_checkpoints_are_restored_and_deleted_by_their_uuid(task: Task, runner: Any, master: Any) -> None:
    uuid = _save_one(task)
    master.routes[("PATCH", "/api/v1/checkpoints")] = {}
    context = generic.init()
    with context.checkpoint.restore_path(uuid) as path:
        assert (path / "state.json").exists()
    context.checkpoint.delete(uuid)
    with pytest.raises(det.errors.CheckpointNotFound), context.checkpoint.restore_path(uuid):
        pass


def test_a_first_start_has_no_latest_checkpoint(task: Task) -> None:
    task()
    assert generic.init().latest_checkpoint is None


@pytest.mark.parametrize("how", [{}, {"block": False}, {"block": True}])
def test_asking_to_leave_is_heard_and_acknowledged_once(task: Task, runner: Any, how: dict[str, bool]) -> None:
    task()
    context = generic.init()
    assert not context.should_preempt(**how)
    runner.control.preempt = True
    assert context.should_preempt(**how)
    assert context.should_preempt(**how)
    context.training.set_status("last")
    assert [type(record) for record in runner.wait_for(2)] == [PreemptAck, Status]


def test_a_second_init_returns_the_live_context(task: Task) -> None:
    task()
    first = generic.init()
    assert generic.init() is first
    first.close()
    first.close()
    assert generic.init() is not first


def test_the_core_context_underneath_is_there_and_started(task: Task, runner: Any) -> None:
    task()
    context = generic.init()
    assert isinstance(context.core, core.Context)
    assert context.core.preempt.should_preempt() is False
    assert (context.distributed.rank, context.info.trial.trial_id) == (0, 7)  # type: ignore[union-attr]


def test_invalid_hyperparameters_inside_the_block_end_the_trial_cleanly(task: Task, runner: Any) -> None:
    task()
    with pytest.raises(SystemExit) as ended, generic.init():
        raise det.InvalidHP("too wide")
    assert ended.value.code == 0
    assert runner.wait_for(1) == [EarlyExit("EXITED_REASON_INVALID_HP")]


def test_early_exits_are_reported(task: Task, runner: Any) -> None:
    task()
    generic.init().training.report_early_exit(generic.EarlyExitReason.INVALID_HP)
    assert runner.wait_for(1) == [EarlyExit("EXITED_REASON_INVALID_HP")]


def test_the_best_validation_of_the_experiment_is_asked_for(task: Task, runner: Any, master: Any) -> None:
    task()
    path = "/api/v1/experiments/3/searcher/best_searcher_validation_metric"
    master.routes[("GET", path)] = {"metric": 0.5}
    assert generic.init().training.get_experiment_best_validation() == 0.5


def test_several_slots_need_to_know_their_ranks(task: Task) -> None:
    task(slot_ids=[0, 1])
    with pytest.raises(ValueError, match="distributed"):
        generic.init()
