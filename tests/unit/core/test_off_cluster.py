"""Off cluster every call of Core API checks its arguments and does no more than log."""

import logging
from pathlib import Path
from typing import Any

import pytest

from determined import core
from determined.core._preempt import PreemptContext
from determined.errors import CheckpointNotFound


class Worker:
    """Rank 1 of 2, whose chief broadcasts False."""

    rank, size, cross_rank, local_rank = 1, 2, 0, 1

    def broadcast(self, _stuff: Any) -> Any:
        return False


WORKER: Any = Worker()


def test_reports_are_logged_with_plain_values(off_cluster: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger="determined.core"), core.init() as context:
        context.train.report_training_metrics(5, {"loss": 0.5}, [{"loss": 1}])
        context.train.report_validation_metrics(5, {"acc": 1})
        context.train.report_metrics("mine", 6, {"x": "text"})
        context.train.set_status("thinking")
        context.train.report_progress(0.25)
        context.train.report_early_exit(core.EarlyExitReason.INVALID_HP)
        context.train.upload_tensorboard_files()
    said = [record.getMessage() for record in caplog.records]
    assert "training metrics at steps_completed=5: {'loss': 0.5}" in said
    assert "validation metrics at steps_completed=5: {'acc': 1}" in said
    assert "mine metrics at steps_completed=6: {'x': 'text'}" in said
    assert {"status: thinking", "progress: 0.25", "early exit: INVALID_HP"} <= set(said)


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda train: train.report_metrics("a.b", 1, {}), ValueError),
        (lambda train: train.report_metrics("", 1, {}), ValueError),
        (lambda train: train.report_validation_metrics(1, {"a": None}), RuntimeError),
        (lambda train: train.report_training_metrics(1, {"a": object()}), TypeError),
        (lambda train: train.report_training_metrics(1, {}, [{"a": object()}]), TypeError),
        (lambda train: train.report_training_metrics(1, [1]), TypeError),
        (lambda train: train.report_progress(1.5), ValueError),
        (lambda train: train.report_progress(float("nan")), ValueError),
    ],
)
def test_what_a_cluster_would_refuse_is_refused_here(off_cluster: Path, call: Any, error: type[Exception]) -> None:
    with core.init() as context, pytest.raises(error):
        call(context.train)


def test_what_a_master_would_know_is_nothing_and_metadata_is_kept(off_cluster: Path) -> None:
    with core.init() as context:
        assert context.train.get_experiment_best_validation() is None
        assert context.train.get_metadata() is None
        given = {"a": 1}
        assert context.train.set_metadata(given) == {"a": 1}
        given["a"] = 2
        assert context.train.get_metadata() == {"a": 1}


def test_a_checkpoint_needs_no_steps_and_is_described_by_itself(off_cluster: Path) -> None:
    with core.init() as context:
        with context.checkpoint.store_path({"note": "x"}) as (path, uuid):
            (path / "weights").write_text("1")
        assert context.checkpoint.get_metadata(uuid) == {"note": "x"}
        with context.checkpoint.store_path() as (path, bare):
            (path / "weights").write_text("1")
        assert context.checkpoint.get_metadata(bare) == {}
        context.checkpoint.delete(uuid)
        with pytest.raises(CheckpointNotFound), context.checkpoint.restore_path(uuid):
            pass
        with context.checkpoint.restore_path(bare) as path:
            assert (path / "weights").read_text() == "1"


def test_one_operation_of_one_epoch_must_be_completed_once(off_cluster: Path) -> None:
    searcher = core.DummySearcherContext(core.DummyDistributedContext())
    assert searcher.get_configured_units() is core.Unit.EPOCHS
    (operation,) = [self_completing(operation) for operation in searcher.operations()]
    assert operation.length == 1
    with pytest.raises(RuntimeError, match="already completed"):
        operation.report_completed(0.1)
    with pytest.raises(RuntimeError, match=r"call op\.report_completed\(\) before"):
        list(core.DummySearcherContext(core.DummyDistributedContext(), 7).operations())


def self_completing(operation: Any) -> Any:
    operation.report_progress(1)
    operation.report_completed(0.5)
    return operation


def test_workers_follow_operations_and_report_nothing() -> None:
    searcher = core.DummySearcherContext(WORKER, 3)
    (operation,) = searcher.operations()
    assert operation.length == 3
    for call in (operation.report_progress, operation.report_completed):
        with pytest.raises(RuntimeError, match="only the chief may call"):
            call(1)
    for mode in (core.SearcherMode.ChiefOnly, "CHEIF_ONLY"):
        with pytest.raises(RuntimeError, match="rank 1 iterates over operations in ChiefOnly mode"):
            searcher.operations(mode)  # type: ignore[arg-type]


@pytest.mark.parametrize("mode", list(core.PreemptMode))
def test_nobody_is_preempted_whoever_asks(mode: core.PreemptMode) -> None:
    with PreemptContext(None, core.DummyDistributedContext(), mode) as preempt:
        assert preempt.should_preempt() is False
        preempt.acknowledge_preemption_signal()
        assert preempt.should_preempt(auto_ack=False) is False


def test_modes_may_be_given_by_their_values_and_others_are_refused() -> None:
    with PreemptContext(None, WORKER, "WORKERS_ASK_MASTER") as preempt:  # type: ignore[arg-type]
        assert preempt.should_preempt() is False
    with PreemptContext(None, WORKER, core.PreemptMode.WorkersAskChief) as preempt:
        assert preempt.should_preempt() is False
    with (
        PreemptContext(None, WORKER, core.PreemptMode.ChiefOnly) as preempt,
        pytest.raises(RuntimeError, match="rank 1 called should_preempt in ChiefOnly mode"),
    ):
        preempt.should_preempt()
    with pytest.raises(ValueError, match="SOMEBODY"):
        PreemptContext(None, WORKER, "SOMEBODY")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "how",
    [
        {"sampling_interval": float("nan")}, {"sampling_interval": "1"}, {"sampling_interval": 0},
        {"samples_per_report": True}, {"samples_per_report": -1}, {"samples_per_report": "2"},
    ],
    ids=str,
)  # fmt: skip
def test_a_profiler_that_measures_nothing_still_refuses_nonsense(off_cluster: Path, how: dict[str, Any]) -> None:
    with core.init() as context, pytest.raises(ValueError, match=f"{next(iter(how))}="):
        context.profiler.on(**how)


def test_a_profiler_off_cluster_goes_on_and_off_without_a_thread(off_cluster: Path) -> None:
    with core.init() as context:
        context.profiler.on(0.1, 1)
        context.profiler.off()
        context.profiler.off()
        assert isinstance(context.profiler, core.DummyProfilerContext)
