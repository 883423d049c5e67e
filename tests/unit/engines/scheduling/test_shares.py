"""Fair shares in numbers: they add up, follow weights and limits, and no weight can stop a pool."""

import random
from collections import Counter

import pytest
from scheduling_pools import Queue, after, node

from determined.engines.scheduling.fair_share import decide
from determined.engines.scheduling.model import NodeView, Request, Settings

SETTINGS = Settings(pool="gpu")
SEEDS = range(200)


def jobs_of_single_slots(rng: random.Random, count: int) -> list[Request]:
    """Return jobs of random weights, each with so many requests for one slot."""
    q = Queue()
    weights = {f"j{n}": rng.choice((1.0, 1.0, 2.0, 5.0, 0.5)) for n in range(rng.randint(1, 6))}
    return [q.pending(f"{job}-{n}", job_id=job, weight=weight) for job, weight in weights.items() for n in range(count)]


def shares(requests: list[Request], nodes: list[NodeView]) -> Counter[str]:
    """Return the slots of each job once the decision is carried out and the victims have left."""
    decision = decide(requests, after(requests, *nodes), SETTINGS)
    known = {r.allocation_id: r for r in requests}
    used = Counter({r.job_id: 0 for r in requests})
    for request in requests:
        kept = request.placement is not None and request.allocation_id not in decision.preempt
        used[request.job_id] += request.slots if kept else 0
    for key, _ in decision.start:
        used[known[key].job_id] += known[key].slots
    return used


def test_single_slots_are_given_out_to_the_last_one() -> None:
    for seed in SEEDS:
        rng = random.Random(seed)
        size, demand = rng.randint(1, 12), rng.randint(1, 12)
        requests = jobs_of_single_slots(rng, demand)
        assert shares(requests, [node("n", size)]).total() == min(size, len(requests)), seed


def test_of_two_jobs_that_want_more_than_all_the_heavier_gets_as_much_at_least() -> None:
    for seed in range(60):
        rng = random.Random(seed)
        requests = jobs_of_single_slots(rng, 41)
        used = shares(requests, [node("n", rng.randint(20, 40))])
        weight = {r.job_id: r.weight for r in requests}
        for one in used:
            lighter = (job for job in used if weight[job] * 2 <= weight[one])
            assert all(used[one] >= used[job] for job in lighter), (seed, used)


def test_jobs_of_one_weight_differ_by_one_slot_at_most() -> None:
    for count in range(1, 7):
        for size in range(1, 25):
            q = Queue()
            requests = [q.pending(f"{job}-{n}", job_id=f"j{job}") for job in range(count) for n in range(25)]
            used = shares(requests, [node("n", size)])
            assert max(used.values()) - min(used.values()) <= 1, (count, size, used)


def test_no_job_goes_beyond_its_max_slots_whatever_is_free() -> None:
    for seed in SEEDS:
        rng, q = random.Random(seed), Queue()
        limits = {f"j{n}": rng.choice((None, 0, 1, 2, 5)) for n in range(4)}
        requests = [
            q.pending(f"{job}-{n}", rng.choice((1, 2)), job_id=job, max_slots=limit)
            for job, limit in limits.items()
            for n in range(5)
        ]
        for job, used in shares(requests, [node("n", 8), node("m", 8)]).items():
            limit = limits[job]
            assert limit is None or used <= limit, (seed, job)


def test_nobody_is_preempted_while_there_is_room_for_all() -> None:
    for seed in SEEDS:
        rng, q = random.Random(seed), Queue()
        running = [
            q.running(f"r{n}", 1, "n", job_id=f"j{rng.randrange(3)}", weight=rng.choice((1, 9))) for n in range(6)
        ]
        waiting = [q.pending(f"w{n}", job_id=f"j{rng.randrange(4)}") for n in range(2)]
        decision = decide([*running, *waiting], after(running, node("n", 8)), SETTINGS)
        assert (decision.preempt, len(decision.start)) == ([], 2), seed


@pytest.mark.parametrize("weight", [1e308, float("inf"), 5e-324], ids=["huge", "infinite", "tiny"])
def test_no_weight_stops_the_others_of_its_pool(weight: float) -> None:
    """A user may write any number above 0; an error in here would end scheduling for everybody."""
    q = Queue()
    odd = [q.pending(f"a{n}", job_id="a", weight=weight) for n in range(8)]
    plain = [q.pending(f"b{n}", job_id="b") for n in range(8)]
    decision = decide([*odd, *plain], [node("n", 8)], SETTINGS)
    assert len(decision.start) == 8
    assert len(decision.reasons) == 8


def test_draining_slots_are_shared_out_only_while_they_are_used() -> None:
    q = Queue()
    held = q.running("held", 2, "d", job_id="a")
    waiting = [q.pending(f"w{n}", job_id="b") for n in range(4)]
    nodes = after([held], node("d", 4, draining=True), node("n", 2))
    decision = decide([held, *waiting], nodes, SETTINGS)
    assert sorted(key for key, _ in decision.start) == ["w0", "w1"]
    assert decision.preempt == []
    assert decision.reasons["w2"] == (
        "waits for its fair share of pool 'gpu': its job may use 2 of 4 slots now, uses 2 and asks for 1 more"
    )
