"""What a waiting request says is true: every sentence is compared with the pool as the decision leaves it."""

import re
from collections.abc import Callable

import pytest
from random_clusters import Case, fits, random_case
from scheduling_pools import Queue, after, node

from determined.engines.scheduling import fair_share, priority, round_robin
from determined.engines.scheduling.model import Decision, NodeView, Request, Settings

SEEDS = range(400)
PREEMPT = Settings(pool="gpu", preemption=True)
KEEP = Settings(pool="gpu")


def free_and_all(nodes: list[NodeView]) -> tuple[int, int]:
    """Return the free slots, and all that are or may be used: of a draining node those in use."""
    open_nodes = [n for n in nodes if n.enabled and not n.draining]
    used = sum(n.total_slots - n.free_slots for n in nodes if n.draining)
    return sum(n.free_slots for n in open_nodes), sum(n.total_slots for n in open_nodes) + used


def is_true(text: str, request: Request, case: Case, decision: Decision) -> bool:
    """Check one reason against what is free after the decision."""
    nodes = case.nodes_after(decision)
    fits_now = fits(request, nodes)
    if counted := re.search(r"(\d+) of (\d+) free( but scattered)?", text):
        free, total = free_and_all(nodes)
        is_scattered = counted[3] is not None
        told = (int(counted[1]), int(counted[2])) == (free, total)
        return told and not fits_now and is_scattered == (free >= request.slots)
    if used := re.search(r"zero-slot place in pool 'gpu': (\d+) of (\d+) in use", text):
        open_nodes = [n for n in nodes if n.enabled and not n.draining]
        places = (sum(n.used_aux for n in open_nodes), sum(n.max_aux for n in open_nodes))
        return (int(used[1]), int(used[2])) == places and not fits_now
    if "promised to" in text:
        return bool(decision.preempt) or any(r.leaving for r in case.requests)
    if "reserved" in text:
        return fits_now and any(
            f"job {r.job_id}," in text and r.allocation_id in decision.reasons for r in case.waiting
        )
    if "higher priority" in text:
        return any(r.priority < request.priority for r in case.waiting if r.allocation_id in decision.reasons)
    if "before it in the queue" in text:
        own = (request.priority, request.position, request.requested_at)
        earlier = (r for r in case.waiting if (r.priority, r.position, r.requested_at) < own)
        return fits_now and any(r.allocation_id in decision.reasons for r in earlier)
    return text.startswith(
        ("cannot start", "waits for its job's turn", "waits for its fair share", "waits for its own")
    )


@pytest.mark.parametrize(
    ("decide", "preemption"),
    [(priority.decide, False), (priority.decide, True), (fair_share.decide, False), (round_robin.decide, False)],
    ids=["priority", "priority-preempting", "fair_share", "round_robin"],
)
def test_every_reason_is_true_of_the_pool_as_it_is_left(decide: Callable[..., Decision], preemption: bool) -> None:
    for seed in SEEDS:
        case = random_case(seed, preemption=preemption)
        decision = decide(case.requests, case.nodes, case.settings)
        for request in case.waiting:
            text = decision.reasons.get(request.allocation_id)
            assert text is None or is_true(text, request, case, decision), (seed, request, text)


def test_request_whose_slots_are_promised_to_another_does_not_say_they_are_scattered() -> None:
    q = Queue()
    requests = [
        q.running("victim", 3, "A", priority=60), q.pending("want", 4, priority=40), q.pending("low", 1, priority=50),
    ]  # fmt: skip
    decision = priority.decide(requests, after(requests, node("A")), PREEMPT)
    assert decision.preempt == ["victim"]
    assert decision.reasons["low"] == (
        "waits for preempted tasks to leave: their slots in pool 'gpu' are promised to jobs of higher priority"
    )


def test_request_behind_one_that_is_kept_waiting_says_that_and_not_that_slots_are_scattered() -> None:
    q = Queue()
    requests = [
        q.running("r", 3, "A"), q.pending("big", 4, priority=10),
        q.pending("first", 1, priority=50), q.pending("second", 1, priority=60),
    ]  # fmt: skip
    decision = priority.decide(requests, after(requests, node("A")), KEEP)
    assert decision.start == []
    assert decision.reasons["second"] == (
        "waits behind jobs before it in the queue, for which the free slots of pool 'gpu' are kept"
    )


def test_nothing_is_promised_where_nobody_leaves() -> None:
    """A shell that a reservation keeps out is promised nothing; preemptible tasks behind it may fill the gap."""
    q = Queue()
    requests = [
        q.running("fixed", 3, "A", preemptible=False), q.pending("large", 4),
        q.pending("shell", 1, preemptible=False), q.pending("trial", 1, priority=60),
    ]  # fmt: skip
    decision = priority.decide(requests, after(requests, node("A")), PREEMPT)
    assert decision.preempt == []
    assert decision.reasons["shell"] == "waits for 1 free slot in pool 'gpu': 0 of 4 free, 1 job ahead"
    assert [key for key, _ in decision.start] == ["trial"]
    alone = requests[:3]
    decision = priority.decide(alone, after(alone, node("A")), PREEMPT)
    assert decision.reasons["shell"] == "waits behind job job-large, for which 4 slots of pool 'gpu' are reserved"
