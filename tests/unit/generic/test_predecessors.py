"""Scripts written for `determined._generic` and `determined._core` run under the names of their time."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from driven_search import drive

from determined import _core, _generic, core, generic
from determined.wire.report import CheckpointReport, MetricReport, PreemptAck

Task = Callable[..., None]
EPOCHS = {"name": "random", "metric": "x", "max_length": {"epochs": 3}, "max_trials": 10}
METADATA = {"latest_batch": 5, "framework": "torch-2", "format": "pickle", "total_records": 10, "total_epochs": 1}


def test_the_public_names_are_these() -> None:
    both = {
        "Checkpointing", "Context", "DistributedContext", "EarlyExitReason", "Preemption", "SearcherOp", "Training",
        "Unit", "init",
    }  # fmt: skip
    assert set(_generic.__all__) == both | {"AdvancedSearcher"}
    assert set(_core.__all__) == both | {"Searcher"}
    assert generic.__all__ == [
        "Checkpointing", "Context", "DistributedContext", "EarlyExitReason", "LatestCheckpoint", "SearcherOp",
        "Training", "Unit", "init",
    ]  # fmt: skip
    for module in (_generic, _core, generic):
        assert all(getattr(module, name) is not None for name in module.__all__)
    assert _generic.Unit("UNIT_EPOCHS") is _generic.Unit.EPOCHS


@pytest.mark.parametrize("module", [_generic, _core])
def test_a_search_of_that_time_runs(task: Task, master: Any, runner: Any, module: Any) -> None:
    task(EPOCHS)
    metrics = drive(master, [1, 3])
    with module.init() as context:
        for op in context.searcher.ops():
            assert op.unit is module.Unit.EPOCHS
            context.training.report_training_metrics(latest_batch=op.epochs, metrics={"x": 1.0})
            context.training.report_validation_metrics(latest_batch=op.epochs, metrics={"x": 1.0})
            op.report_progress(op.length)
            op.complete(0.5)
    assert metrics == [0.5, 0.5]
    assert type(runner.wait_for(7)[-1]) is PreemptAck
    assert [record.steps for record in runner.wait_for(4, MetricReport)] == [1, 1, 3, 3]


def test_a_checkpoint_is_stored_as_uuid_and_path(task: Task, runner: Any, tmp_path: Path) -> None:
    task()
    with _core.init() as context:
        with context.checkpointing.store_path(METADATA) as (uuid, path):
            (path / "weights").write_text("1")
        with context.checkpointing.restore_path(uuid) as restored:
            assert (restored / "weights").read_text() == "1"
        context.checkpointing.download(uuid, tmp_path / "copy")
        again = context.checkpointing.upload(tmp_path / "copy", {"latest_batch": 6})
    first, second = runner.wait_for(2, CheckpointReport)
    assert (first.uuid, first.steps, first.metadata) == (uuid, 5, {**METADATA, "steps_completed": 5})
    assert (second.uuid, second.steps) == (again, 6)


@pytest.mark.parametrize("metadata", [{}, {"framework": "torch"}, {"latest_batch": 1, "mine": 2}])
def test_metadata_is_restricted_to_the_keys_of_that_time(task: Task, metadata: dict[str, Any]) -> None:
    task()
    with (
        _core.init() as context,
        pytest.raises(ValueError, match="latest_batch"),
        context.checkpointing.store_path(metadata),
    ):
        pass


@pytest.mark.parametrize("how", [{}, {"chief_only": True}])
def test_preemption_is_heard_and_acknowledged(task: Task, runner: Any, how: dict[str, bool]) -> None:
    task()
    with _core.init() as context:
        assert context.preemption.should_preempt(**how) is False
        runner.control.preempt = True
        assert context.preemption.should_preempt(**how) is True
    assert runner.wait_for(1) == [PreemptAck()]


class _Worker:
    """Rank 1 of 2, whose chief says that everybody shall leave."""

    rank, size, cross_rank = 1, 2, 0

    def broadcast(self, _value: Any) -> bool:
        return True

    def close(self) -> None:
        return


def test_workers_ask_their_chief_unless_told_not_to_ask(task: Task) -> None:
    task(slot_ids=[0, 1])
    with _core.init(distributed=_Worker()) as context:  # type: ignore[arg-type]
        assert context.preemption.should_preempt() is True
        with pytest.raises(RuntimeError, match="rank 1"):
            context.preemption.should_preempt(chief_only=True)


def test_off_cluster_everything_is_logged(off_cluster: Path) -> None:
    with _generic.init() as context:
        assert [op.length for op in _completed(context)] == [1]
        assert context.preemption.should_preempt() is False
        context.training.report_training_metrics(latest_batch=1, metrics={"x": 1.0})
        context.searcher.acknowledge_out_of_ops()
        context.preemption.acknowledge_preemption_signal()
    assert isinstance(context.distributed, core.DistributedContext)


def _completed(context: Any) -> list[Any]:
    seen = []
    for op in context.searcher.ops():
        op.complete(1.0)
        seen.append(op)
    return seen
