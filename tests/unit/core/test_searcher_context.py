"""Searcher operations of both generations."""

import warnings
from collections.abc import Callable
from typing import Any

import pytest

from determined import core
from determined.wire.report import MetricReport, PreemptAck, Progress, Status

Task = Callable[..., None]
OPERATION = ("GET", "/api/v1/trials/7/searcher/operation")
COMPLETED = ("POST", "/api/v1/trials/7/searcher/completed_operation")
CLASSIC = {"name": "single", "metric": "x", "max_length": {"batches": 20}}
LATE = {"name": "single", "metric": "x", "max_length": {"epochs": 4}, "time_metric": "epochs", "max_time": 4}


def _drive(master: Any, lengths: list[int]) -> list[Any]:
    """A searcher that wants each of `lengths` in turn; returns the metrics it got."""
    metrics: list[Any] = []

    def operation(_body: Any) -> tuple[int, Any]:
        done = len(metrics) == len(lengths)
        length = lengths[-1] if done else lengths[len(metrics)]
        return 200, {"op": {"validateAfter": {"length": str(length)}}, "completed": done}

    def completed(body: Any) -> tuple[int, Any]:
        assert body["op"]["length"] == lengths[len(metrics)]
        metrics.append(body["searcherMetric"])
        return 200, {}

    master.routes[OPERATION] = operation
    master.routes[COMPLETED] = completed
    return metrics


def test_classic_operations_follow_one_another_and_end_with_an_ack(task: Task, master: Any, runner: Any) -> None:
    task(CLASSIC)
    metrics = _drive(master, [10, 20])
    seen = []
    with core.init() as context:
        for op in context.searcher.operations():
            seen.append(op.length)
            op.report_progress(op.length)
            context.train.report_validation_metrics(op.length, {"x": 0.5})
            op.report_completed(0.5)
    assert (seen, metrics) == ([10, 20], [0.5, 0.5])
    assert [type(r) for r in runner.wait_for(5)] == [Progress, MetricReport, Progress, MetricReport, PreemptAck]
    assert runner.records[0] == Progress(10.0, raw=False)


def test_metrics_are_with_the_master_before_their_operation_completes(task: Task, master: Any, runner: Any) -> None:
    task(CLASSIC)
    _drive(master, [10])
    held: list[int] = []
    accept = master.routes[COMPLETED]
    master.routes[COMPLETED] = lambda body: (held.append(len(runner.records)), accept(body))[1]
    with core.init() as context:
        for op in context.searcher.operations():
            for step in range(50):
                context.train.report_training_metrics(step, {"x": 1})
            op.report_completed(1.0)
    assert held == [50]


def test_leaving_the_loop_early_is_silent(task: Task, master: Any, runner: Any) -> None:
    task(CLASSIC)
    _drive(master, [10])
    with core.init() as context:
        for _op in context.searcher.operations():
            break
        context.train.set_status("left")
    assert PreemptAck not in [type(record) for record in runner.wait_for(1)]


def test_going_on_without_completing_is_an_error(task: Task, master: Any) -> None:
    task(CLASSIC)
    _drive(master, [10])
    with core.init() as context, pytest.raises(RuntimeError, match="report_completed"):
        for _op in context.searcher.operations():
            pass


def test_an_operation_completes_once(task: Task, master: Any, runner: Any) -> None:
    task(CLASSIC)
    _drive(master, [10])
    with core.init() as context:
        for op in context.searcher.operations():
            op.report_completed(1.0)
            with pytest.raises(RuntimeError, match="already completed"):
                op.report_completed(1.0)
            op.report_progress(10)
            with pytest.raises(RuntimeError, match="after the operation"):
                op.report_progress(11)


def test_nan_travels_as_a_word(task: Task, master: Any) -> None:
    task(CLASSIC)
    metrics = _drive(master, [10])
    with core.init() as context:
        for op in context.searcher.operations():
            op.report_completed(float("nan"))
    assert metrics == ["NaN"]


def test_a_master_that_is_away_is_waited_for(task: Task, master: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    task(CLASSIC)
    _drive(master, [10])
    answer, refusals = master.routes[OPERATION], iter(range(3))

    def away_at_first(body: Any) -> tuple[int, Any]:
        if next(refusals, None) is None:
            return answer(body)  # type: ignore[no-any-return]
        return 503, {"error": {"code": 14, "reason": "unavailable", "error": "starting"}}

    master.routes[OPERATION] = away_at_first
    pauses: list[float] = []
    with core.init() as context:
        monkeypatch.setattr(context._master, "_sleep", pauses.append)
        for op in context.searcher.operations():
            op.report_completed(1.0)
    assert pauses == [1.0, 2.0, 4.0]


def test_late_operations_are_one_made_up_operation(task: Task, master: Any, runner: Any) -> None:
    task(LATE)
    with core.init() as context, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        lengths = []
        for op in context.searcher.operations():
            lengths.append(op.length)
            op.report_progress(1)
            op.report_progress(99)
            op.report_completed(1.0)
    assert lengths == [4]
    assert [w.category for w in caught] == [FutureWarning]
    assert runner.wait_for(2) == [Progress(0.25), Progress(1.0)]
    assert master.requests == []


def test_the_late_generation_never_asks_for_a_restart(task: Task, runner: Any) -> None:
    task(LATE)
    with core.init() as context:
        context.searcher.acknowledge_out_of_ops()
        context.train.set_status("leaving")
    assert [type(record) for record in runner.wait_for(1)] == [Status]


@pytest.mark.parametrize(
    ("searcher", "unit"),
    [
        ({"name": "custom", "unit": "batches"}, core.Unit.BATCHES),
        ({"name": "custom"}, None),
        ({"name": "pbt", "length_per_round": {"epochs": 5}}, core.Unit.EPOCHS),
        (
            {"name": "adaptive_simple", "max_length": {"records": 5}, "time_metric": "t", "max_time": 1},
            core.Unit.RECORDS,
        ),
    ],
)
def test_methods_with_lengths_of_their_own_are_classic(
    task: Task, master: Any, runner: Any, searcher: dict[str, Any], unit: core.Unit | None
) -> None:
    task({**searcher, "metric": "x"})
    metrics = _drive(master, [10, 20])
    with core.init() as context:
        assert context.searcher.get_configured_units() is unit
        for op in context.searcher.operations():
            op.report_completed(1.0)
    assert metrics == [1.0, 1.0]
    assert runner.wait_for(1) == [PreemptAck()]


@pytest.mark.parametrize(
    ("metric", "sent"),
    [
        ({"loss": 1, "latency": float("inf")}, {"loss": 1, "latency": "Infinity"}),
        ([1, {"any": ["JSON", None, True]}], [1, {"any": ["JSON", None, True]}]),
    ],
)
def test_several_metrics_and_any_json_are_told_as_they_are(task: Task, master: Any, metric: Any, sent: Any) -> None:
    task({"name": "custom", "metric": "x"})
    metrics = _drive(master, [10])
    with core.init() as context:
        for op in context.searcher.operations():
            op.report_completed(metric)
    assert metrics == [sent]


def test_a_script_that_saves_after_its_last_operation_is_not_taken_for_a_deaf_one(
    task: Task, master: Any, runner: Any
) -> None:
    task(CLASSIC)
    _drive(master, [10, 20])
    aware = []
    with core.init() as context:
        for op in context.searcher.operations():
            aware.append(runner.control.aware)
            op.report_completed(1.0)
        aware.append(runner.control.aware)
    assert aware == [False, False, True], "between operations it is as deaf as it was"


def test_the_trained_length_is_known_after_the_last_operation(task: Task, master: Any) -> None:
    task(CLASSIC)
    _drive(master, [10, 20])
    with core.init() as context:
        assert context.searcher.get_trained_length() == 0
        for op in context.searcher.operations():
            op.report_completed(1.0)
        assert context.searcher.get_trained_length() == 20


def test_without_max_length_there_is_no_operation(task: Task) -> None:
    task({"name": "single", "metric": "x"})
    with core.init() as context:
        for call in (
            context.searcher.operations,
            context.searcher.acknowledge_out_of_ops,
            context.searcher.get_configured_units,
        ):
            with pytest.raises(ValueError, match="max_length"):
                call()


@pytest.mark.parametrize(
    ("searcher", "unit"),
    [
        ({"max_length": {"batches": 5}}, core.Unit.BATCHES),
        ({"max_length": {"records": 5}}, core.Unit.RECORDS),
        ({"max_length": 5}, None),
        ({"max_length": 5, "unit": "epochs"}, core.Unit.EPOCHS),
    ],
)
def test_units_come_from_the_config(task: Task, searcher: dict[str, Any], unit: core.Unit | None) -> None:
    task(searcher)
    with core.init() as context:
        assert context.searcher.get_configured_units() is unit
