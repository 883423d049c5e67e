"""The round-robin scheduler."""

from scheduling_pools import Queue, after, node

from determined.engines.scheduling.model import Settings
from determined.engines.scheduling.round_robin import decide


def test_jobs_take_turns() -> None:
    q = Queue()
    requests = [
        *(q.pending(f"a{i}", job_id="a") for i in range(4)),
        *(q.pending(f"b{i}", job_id="b") for i in range(4)),
    ]
    decision = decide(requests, [node("n1")], Settings())
    assert [allocation for allocation, _ in decision.start] == ["a0", "b0", "a1", "b1"]
    assert decision.reasons["a3"].startswith("waits for its job's turn")


def test_job_with_fewer_running_slots_comes_first() -> None:
    q = Queue()
    requests = [q.running("r", 2, "n1", job_id="a"), q.pending("a0", job_id="a"), q.pending("b0", job_id="b")]
    decision = decide(requests, after(requests, node("n1", 3)), Settings())
    assert [allocation for allocation, _ in decision.start] == ["b0"]
    assert "0 of 3 free" in decision.reasons["a0"]


def test_job_leaves_the_round_when_its_oldest_request_does_not_fit() -> None:
    q = Queue()
    requests = [
        q.pending("a-big", 8, job_id="a"),
        q.pending("a-small", 1, job_id="a"),
        q.pending("b0", 1, job_id="b"),
    ]
    decision = decide(requests, [node("n1")], Settings())
    assert [allocation for allocation, _ in decision.start] == ["b0"]


def test_nobody_is_preempted() -> None:
    q = Queue()
    requests = [q.running("r", 4, "n1", priority=99), q.pending("p", 4, priority=1)]
    assert decide(requests, after(requests, node("n1")), Settings(preemption=True)).preempt == []
