"""Asking to leave is heard at once, acknowledged once, and answers the same to every rank."""

from collections.abc import Callable
from typing import Any

import pytest

from determined import core
from determined.wire.report import PreemptAck, Status

Task = Callable[..., None]


def test_the_flag_of_the_runner_is_heard_and_acknowledged_once(task: Task, runner: Any) -> None:
    task()
    with core.init() as context:
        assert not context.preempt.should_preempt()
        runner.control.preempt = True
        assert context.preempt.should_preempt()
        assert context.preempt.should_preempt(), "it stays true"
        context.train.set_status("last")
    assert [type(record) for record in runner.wait_for(2)] == [PreemptAck, Status]


def test_without_auto_ack_the_script_acknowledges_itself(task: Task, runner: Any) -> None:
    task()
    runner.control.preempt = True
    with core.init() as context:
        assert context.preempt.should_preempt(auto_ack=False)
        context.train.set_status("not yet")
        context.preempt.acknowledge_preemption_signal()
    assert [type(record) for record in runner.wait_for(2)] == [Status, PreemptAck]


def test_only_a_script_that_has_asked_counts_as_watching(task: Task, runner: Any) -> None:
    task()
    context = core.init()
    assert not runner.control.attached
    with context:
        assert runner.control.attached
        assert not runner.control.aware
        context.preempt.should_preempt()
        assert runner.control.aware


def test_asking_before_the_start_is_an_error(task: Task) -> None:
    task()
    context = core.init()
    with pytest.raises(RuntimeError, match="started"):
        context.preempt.should_preempt()
    with context, pytest.raises(RuntimeError, match="already started"):
        context.preempt.start()


class _Rank:
    """Rank 1 of 2, each on a node of its own, whose chief broadcasts `answer`."""

    rank, size, cross_rank = 1, 2, 1

    def __init__(self, answer: bool) -> None:
        self.answer = answer

    def broadcast(self, _stuff: Any) -> bool:
        return self.answer


def test_workers_take_the_chiefs_answer_and_leave_the_ack_to_it(run_dir: Any, runner: Any) -> None:
    from determined.core._reporter import Reporter

    reporter = Reporter(run_dir)
    runner.control.preempt = True
    for answer in (False, True):
        worker = core.PreemptContext(reporter, _Rank(answer)).start()  # type: ignore[arg-type]
        assert worker.should_preempt() is answer
    assert reporter.settle()
    assert runner.records == []
    reporter.close()


def test_chief_only_refuses_workers_on_and_off_cluster(run_dir: Any) -> None:
    from determined.core._reporter import Reporter

    reporter = Reporter(run_dir)
    mode = core.PreemptMode.ChiefOnly
    worker = _Rank(False)
    for context in (
        core.PreemptContext(reporter, worker, mode),  # type: ignore[arg-type]
        core.DummyPreemptContext(worker, mode),  # type: ignore[arg-type]
    ):
        with pytest.raises(RuntimeError, match="ChiefOnly"):
            context.start().should_preempt()
    reporter.close()


def test_a_node_without_the_chief_is_not_taken_for_deaf_when_only_the_chief_asks(run_dir: Any, runner: Any) -> None:
    from determined.core._reporter import Reporter

    reporter = Reporter(run_dir)
    core.PreemptContext(reporter, _Rank(False), core.PreemptMode.ChiefOnly).start()  # type: ignore[arg-type]
    assert runner.control.aware
    reporter.close()


def test_workers_that_ask_for_themselves_acknowledge_for_themselves(run_dir: Any, runner: Any) -> None:
    from determined.core._reporter import Reporter

    reporter = Reporter(run_dir)
    runner.control.preempt = True
    mode = core.PreemptMode.WorkersAskMaster
    worker = core.PreemptContext(reporter, _Rank(False), mode).start()  # type: ignore[arg-type]
    assert worker.should_preempt()
    assert [type(record) for record in runner.wait_for(1)] == [PreemptAck]
    reporter.close()
