"""basic_search and advanced_search: one operation at a time, completed once, left with a word to the master."""

from collections.abc import Callable
from typing import Any

import pytest
from driven_search import OPERATION, drive

from determined import generic
from determined.wire.report import PreemptAck, Progress, Status

Task = Callable[..., None]
EPOCHS = {"name": "random", "metric": "x", "max_length": {"epochs": 50}, "max_trials": 10}
LATE = {**EPOCHS, "time_metric": "epochs", "max_time": 50}


def _kinds(runner: Any, count: int) -> list[type]:
    return [type(record) for record in runner.wait_for(count)]


def test_the_loop_of_the_tutorial_trains_reports_completes_and_may_be_restarted(
    task: Task, master: Any, runner: Any
) -> None:
    task(EPOCHS)
    metrics = drive(master, [3])
    context = generic.init()
    op = context.training.basic_search()
    assert op is not None
    for epoch in range(op.epochs):
        if epoch == op.epochs - 1:
            op.complete(0.5)
        else:
            op.report_progress(epoch)
    context.close()
    assert metrics == [0.5]
    assert runner.wait_for(3) == [Progress(0.0, raw=False), Progress(1.0, raw=False), PreemptAck()]


def test_the_same_operation_is_returned_until_it_is_completed_then_the_next_then_none(
    task: Task, master: Any, runner: Any
) -> None:
    task(EPOCHS)
    drive(master, [3, 9])
    training = generic.init().training
    first = training.basic_search()
    assert first is not None and first.epochs == 3
    assert training.basic_search() is first
    first.complete(1.0)
    second = training.basic_search()
    assert second is not None and second.epochs == 9
    second.complete(1.0)
    assert training.basic_search() is None
    assert training.basic_search() is None


def test_a_restart_that_finds_nothing_to_do_gets_the_operation_it_had_completed(
    task: Task, master: Any, runner: Any
) -> None:
    task(EPOCHS)
    metrics = drive(master, [3, 9], done=2)
    context = generic.init()
    op = context.training.basic_search()
    assert op is not None
    assert (op.epochs, op.completed) == (9, True)
    op.report_progress(4)
    op.complete(0.5)  # the last epoch, trained again after a crash, ends as it ended before
    assert context.training.basic_search() is None
    context.close()
    assert metrics == []
    assert _kinds(runner, 1) == [PreemptAck]


def test_an_operation_left_unfinished_is_not_acknowledged(task: Task, master: Any, runner: Any) -> None:
    task(EPOCHS)
    drive(master, [3])
    context = generic.init()
    context.training.basic_search()
    context.training.set_status("leaving")
    context.close()
    assert _kinds(runner, 1) == [Status]


def test_a_script_that_fails_after_its_operation_does_not_ask_for_a_restart(
    task: Task, master: Any, runner: Any
) -> None:
    task(EPOCHS)
    drive(master, [3])
    with pytest.raises(OSError, match="full"), generic.init() as context:
        op = context.training.basic_search()
        assert op is not None
        op.complete(1.0)
        context.training.set_status("saving")
        raise OSError("the disk is full")
    assert _kinds(runner, 1) == [Status]


def test_the_late_generation_has_one_made_up_operation_and_no_restart(task: Task, master: Any, runner: Any) -> None:
    task(LATE)
    context = generic.init()
    with pytest.warns(FutureWarning):
        op = context.training.basic_search()
    assert op is not None
    assert op.epochs == 50
    op.report_progress(25)
    op.complete(1.0)
    context.training.set_status("done")
    context.close()
    assert runner.wait_for(2) == [Progress(0.5), Status("done")]
    assert master.requests == []


def test_a_search_without_lengths_says_what_is_missing(task: Task) -> None:
    task({"name": "single", "metric": "x"})
    training = generic.init().training
    with pytest.raises(ValueError, match=r"searcher\.max_length"):
        training.basic_search()
    with pytest.raises(ValueError, match=r"searcher\.max_length"):
        next(training.advanced_search())


def test_progress_outside_of_the_operation_is_cut_off(task: Task, master: Any, runner: Any) -> None:
    task(EPOCHS)
    drive(master, [3])
    op = generic.init().training.basic_search()
    assert op is not None
    for reported in (-1, 2, 99):
        op.report_progress(reported)
    assert [record.value for record in runner.wait_for(3)] == [0.0, 2.0, 3.0]


def test_an_operation_completes_once(task: Task, master: Any) -> None:
    task(EPOCHS)
    drive(master, [3])
    op = generic.init().training.basic_search()
    assert op is not None
    op.complete(1.0)
    with pytest.raises(RuntimeError, match="already completed"):
        op.complete(1.0)


class _Tensor:
    """What a 0-d tensor with a gradient can do, and a reason not to call float() on it."""

    def tolist(self) -> float:
        return 0.25

    def __float__(self) -> float:
        raise AssertionError("frameworks warn when a tensor with a gradient is made a float")


@pytest.mark.parametrize(
    ("metric", "sent"),
    [
        (_Tensor(), 0.25),
        (3, 3.0),
        ("0.5", 0.5),
        (float("nan"), "NaN"),
        ({"loss": _Tensor(), "latency": 2}, {"loss": 0.25, "latency": 2.0}),
    ],
)
def test_metrics_become_numbers(task: Task, master: Any, metric: Any, sent: Any) -> None:
    task(EPOCHS)
    metrics = drive(master, [3])
    op = generic.init().training.basic_search()
    assert op is not None
    op.complete(metric)
    assert metrics == [sent]


def test_a_metric_that_is_no_number_leaves_the_operation_open(task: Task, master: Any) -> None:
    task(EPOCHS)
    metrics = drive(master, [3])
    op = generic.init().training.basic_search()
    assert op is not None
    with pytest.raises(TypeError, match="no number"):
        op.complete([1.0, 2.0])
    assert not op.completed
    op.complete(1.0)
    assert metrics == [1.0]


@pytest.mark.parametrize(
    ("length", "unit"),
    [({"epochs": 5}, "epochs"), ({"batches": 5}, "batches"), ({"records": 5}, "records")],
)
def test_a_length_is_told_in_its_own_unit_only(task: Task, master: Any, length: dict[str, int], unit: str) -> None:
    task({**EPOCHS, "max_length": length})
    drive(master, [5])
    op = generic.init().training.basic_search()
    assert op is not None
    assert op.unit is generic.Unit[unit.upper()]
    assert (op.length, getattr(op, unit)) == (5, 5)
    for other in {"epochs", "batches", "records"} - {unit}:
        with pytest.raises(RuntimeError, match=f"use op.{unit}"):
            getattr(op, other)


def test_a_bare_length_counts_whatever_the_script_counts(task: Task, master: Any) -> None:
    task({**EPOCHS, "max_length": 5})
    drive(master, [5])
    op = generic.init().training.basic_search()
    assert op is not None
    assert op.unit is None
    assert (op.epochs, op.batches, op.records) == (5, 5, 5)


def test_advanced_search_goes_through_every_operation(task: Task, master: Any, runner: Any) -> None:
    task(EPOCHS)
    metrics = drive(master, [1, 4])
    context = generic.init()
    seen = []
    for op in context.training.advanced_search():
        seen.append(op.epochs)
        op.complete(op.epochs / 10)
    context.close()
    assert (seen, metrics) == ([1, 4], [0.1, 0.4])
    assert _kinds(runner, 1) == [PreemptAck]


class _Worker:
    """Rank 1 of 2: hears from its chief that the first operation is complete and that there is no other."""

    rank, size = 1, 2

    def __init__(self, *answers: Any) -> None:
        self._answers = iter(answers)

    def broadcast(self, _value: Any) -> Any:
        return next(self._answers)

    def close(self) -> None:
        return


def test_workers_hear_lengths_and_completions_from_their_chief(task: Task, master: Any, runner: Any) -> None:
    task(EPOCHS, slot_ids=[0, 1])
    chief = _Worker(3, False, True, 9, True, None)  # length, not yet, complete, length, complete, nothing more
    context = generic.init(distributed=chief)  # type: ignore[arg-type]
    first = context.training.basic_search()
    assert first is not None and first.epochs == 3
    assert context.training.basic_search() is first
    second = context.training.basic_search()
    assert second is not None and second.epochs == 9
    with pytest.raises(RuntimeError, match="only the chief"):
        second.complete(1.0)
    assert context.training.basic_search() is None
    context.close()
    assert master.requests == []


def test_operations_are_asked_for_after_what_was_reported(task: Task, master: Any, runner: Any) -> None:
    task(EPOCHS)
    drive(master, [3])
    training = generic.init().training
    training.report_training_metrics(batches_trained=1, metrics={"x": 1.0})
    assert training.basic_search() is not None
    assert len(runner.records) == 1
    assert master.requests[0][:2] == OPERATION
