"""The fair-share scheduler."""

import math
import time
from collections import Counter

import pytest
from scheduling_pools import Queue, after, node

from determined.engines.scheduling.fair_share import decide
from determined.engines.scheduling.model import Decision, NodeView, Request, Settings

SETTINGS = Settings(pool="gpu")


def run(requests: list[Request], *nodes: NodeView) -> Decision:
    return decide(requests, after(requests, *nodes), SETTINGS)


def started_by_job(decision: Decision, requests: list[Request]) -> Counter[str]:
    job = {request.allocation_id: request.job_id for request in requests}
    return Counter(job[allocation] for allocation, _ in decision.start)


def test_slots_are_divided_by_weight() -> None:
    q = Queue()
    light = [q.pending(f"a{i}", job_id="a", weight=10) for i in range(3)]
    heavy = [q.pending(f"b{i}", job_id="b", weight=30) for i in range(7)]
    decision = run(light + heavy, node("n1", 8))
    assert started_by_job(decision, light + heavy) == {"a": 2, "b": 6}


@pytest.mark.parametrize("weight", [1e308, math.inf, 5e-324])
def test_weights_beyond_what_floats_divide_leave_no_slot_idle(weight: float) -> None:
    q = Queue()
    odd = [q.pending(f"a{i}", job_id="a", weight=weight) for i in range(8)]
    other = [q.pending(f"b{i}", job_id="b", weight=weight) for i in range(8)]
    for requests in (odd, odd + other):
        assert sum(started_by_job(run(requests, node("n1", 8)), requests).values()) == 8


def test_max_slots_caps_a_jobs_demand() -> None:
    q = Queue()
    capped = [q.pending(f"a{i}", job_id="a", max_slots=1) for i in range(4)]
    free = [q.pending(f"b{i}", job_id="b") for i in range(4)]
    decision = run(capped + free, node("n1"))
    assert started_by_job(decision, capped + free) == {"a": 1, "b": 3}
    assert decision.reasons["a1"] == "waits for its own job, which uses 1 of its max_slots=1"
    assert decision.reasons["b3"] == (
        "waits for its fair share of pool 'gpu': its job may use 3 of 4 slots now, uses 3 and asks for 1 more"
    )


def test_of_two_jobs_that_need_the_whole_pool_the_older_runs() -> None:
    q = Queue()
    requests = [q.pending("old", 2), q.pending("new", 2)]
    decision = run(requests, node("n1", 2))
    assert [allocation for allocation, _ in decision.start] == ["old"]
    assert "its job may use 0 of 2 slots" in decision.reasons["new"]


def test_lowered_max_slots_preempts_the_oldest() -> None:
    q = Queue()
    requests = [q.running(f"r{i}", 1, "n1", job_id="a", max_slots=2) for i in range(4)]
    assert run(requests, node("n1")).preempt == ["r0", "r1"]


def test_tasks_already_leaving_are_not_preempted_again() -> None:
    q = Queue()
    requests = [q.running(f"r{i}", 1, "n1", job_id="a", max_slots=2, leaving=i < 2) for i in range(4)]
    assert run(requests, node("n1")).preempt == []


def test_leaving_tasks_still_count_against_max_slots() -> None:
    q = Queue()
    requests = [
        q.running("leaving", 1, "n1", job_id="a", max_slots=1, leaving=True),
        q.pending("next", 1, job_id="a", max_slots=1),
    ]
    decision = run(requests, node("n1"))
    assert decision.start == []
    assert decision.reasons["next"] == "waits for its own job, which uses 1 of its max_slots=1"


def test_newcomer_gets_its_share_of_a_full_pool_by_preemption() -> None:
    q = Queue()
    running = [q.running(f"r{i}", 1, "n1", job_id="a") for i in range(4)]
    requests = [*running, *(q.pending(f"b{i}", job_id="b") for i in range(4))]
    decision = run(requests, node("n1"))
    assert decision.preempt == ["r0", "r1"]
    assert decision.start == []


def test_preemption_is_decided_once_and_then_stable() -> None:
    q = Queue()
    running = [q.running(f"r{i}", 1, "n1", job_id="a", leaving=i < 2) for i in range(4)]
    requests = [*running, *(q.pending(f"b{i}", job_id="b") for i in range(4))]
    decision = run(requests, node("n1"))
    assert decision.preempt == []
    assert decision.start == []


def test_non_preemptible_slots_are_granted_first() -> None:
    q = Queue()
    fixed = [q.running(f"r{i}", 1, "n1", job_id="a", preemptible=False) for i in range(3)]
    wants = [q.pending(f"b{i}", job_id="b") for i in range(4)]
    decision = run([*fixed, *wants], node("n1"))
    assert decision.preempt == []
    assert len(decision.start) == 1


def test_request_bigger_than_the_pool_takes_nobodys_share() -> None:
    q = Queue()
    requests = [q.pending("huge", 9), *(q.pending(f"b{i}", job_id="b") for i in range(8))]
    decision = run(requests, node("n1", 8))
    assert len(decision.start) == 8
    assert decision.reasons == {"huge": "cannot start: 9 slots exceed pool 'gpu' (8 slots)"}


def test_job_that_cannot_use_its_share_gives_it_back_but_keeps_what_runs() -> None:
    q = Queue()
    requests = [
        q.running("mine", 4, "n1", job_id="a"),
        q.pending("mine-big", 8, job_id="a"),
        *(q.pending(f"b{i}", job_id="b") for i in range(4)),
    ]
    decision = run(requests, node("n1"), node("n2"))
    assert decision.preempt == []
    assert len(decision.start) == 4


def test_zero_slot_requests_start_whenever_they_fit() -> None:
    q = Queue()
    requests = [q.running("r", 4, "n1"), q.pending("aux1", 0), q.pending("aux2", 0)]
    decision = run(requests, node("n1", max_aux=1))
    assert decision.start == [("aux1", [("n1", 0)])]
    assert "zero-slot place" in decision.reasons["aux2"]


def test_job_never_preempts_and_starts_in_one_pass() -> None:
    q = Queue()
    requests = [
        *(q.running(f"r{i}", 1, "n1", job_id="a", max_slots=1) for i in range(2)),
        q.pending("p", 1, job_id="a", max_slots=1),
    ]
    decision = run(requests, node("n1"))
    assert decision.preempt == ["r0"]
    assert decision.start == []


def test_share_with_free_slots_in_the_wrong_places_says_so() -> None:
    q = Queue()
    fixed = [q.running(f"r{i}", 2, f"n{i}", job_id="a", preemptible=False) for i in range(2)]
    decision = run([*fixed, q.pending("p", 3)], node("n0"), node("n1"))
    assert "scattered" in decision.reasons["p"]


def test_ten_thousand_jobs_are_decided_quickly() -> None:
    q = Queue()
    requests = [q.pending(f"p{i}", (1, 2, 8, 16)[i % 4], weight=1 + i % 3) for i in range(10_000)]
    nodes = [node(f"n{i}", 8) for i in range(100)]
    begin = time.process_time()
    decision = decide(requests, nodes, SETTINGS)
    assert time.process_time() - begin < 2  # seconds of the processor; some 0.1 on a machine of today
    assert len(decision.start) + len(decision.reasons) == 10_000
