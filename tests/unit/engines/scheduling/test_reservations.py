"""A large job starts in the end, whatever arrives behind it: pools simulated pass by pass, with seeded arrivals."""

import random
from dataclasses import replace

import pytest
from scheduling_pools import Queue, after, node

from determined.engines.scheduling.model import NodeView, Request, Settings
from determined.engines.scheduling.priority import decide

NODES = [node("A", 4), node("B", 4), node("C", 2)]


class Pool:
    """A pool whose running tasks end at random, each after a few passes at most."""

    def __init__(self, seed: int, nodes: list[NodeView], settings: Settings) -> None:
        self._rng, self._nodes, self._settings = random.Random(seed), nodes, settings
        self._queue = Queue()
        self._left: dict[str, int] = {}
        self.requests: list[Request] = []
        self.started: list[str] = []

    def arrive(self, name: str, slots: int, **changes: object) -> None:
        self.requests.append(self._queue.pending(name, slots, **changes))

    def step(self) -> None:
        """Decide once, then let time pass."""
        decision = decide(self.requests, after(self.requests, *self._nodes), self._settings)
        placements = dict(decision.start)
        self.started += placements
        self._left |= {name: self._rng.randint(1, 6) for name in placements}
        leaving = {*decision.preempt, *(name for name, left in self._left.items() if left <= 0)}
        held = [r for r in self.requests if r.allocation_id not in leaving]
        self.requests = [
            replace(r, placement=tuple(placements[r.allocation_id])) if r.allocation_id in placements else r
            for r in held
        ]
        self._left = {name: left - 1 for name, left in self._left.items() if name not in leaving}


@pytest.mark.parametrize("size", [3, 4, 8])
@pytest.mark.parametrize("preemption", [False, True], ids=["keeping", "preempting"])
def test_large_job_starts_once_what_ran_before_it_has_ended(size: int, preemption: bool) -> None:
    for seed in range(25):
        pool = Pool(seed, NODES, Settings(preemption=preemption))
        rng = random.Random(seed)
        for n in range(12):
            pool.arrive(f"before{n}", rng.choice((1, 2)), preemptible=False)
        pool.step()
        pool.arrive("large", size)
        for n in range(40):
            if "large" in pool.started:
                break
            pool.arrive(f"behind{n}", rng.choice((1, 1, 2)), preemptible=False)
            pool.step()
        assert "large" in pool.started, seed


def test_job_that_no_node_can_hold_reserves_nothing() -> None:
    pool = Pool(0, NODES, Settings())
    pool.arrive("impossible", 5)
    for n in range(5):
        pool.arrive(f"s{n}", 2)
    pool.step()
    assert sorted(pool.started) == [f"s{n}" for n in range(5)]


def test_second_large_job_does_not_reserve_beside_the_first() -> None:
    """One reservation at a time: with one for each a full pool would stand idle, slot by slot."""
    q = Queue()
    requests = [
        q.running("a", 3, "A"), q.running("b", 3, "B"),
        q.pending("first", 4), q.pending("second", 4), q.pending("small", 1),
    ]  # fmt: skip
    decision = decide(requests, after(requests, node("A"), node("B")), Settings())
    assert [name for name, _ in decision.start] == ["small"]


def test_reservation_avoids_nodes_that_the_job_may_not_use() -> None:
    q = Queue()
    requests = [
        q.running("a", 1, "A"), q.running("b", 3, "B"),
        q.pending("large", 4, excluded_nodes=frozenset({"A"})), q.pending("small", 3), q.pending("one", 1),
    ]  # fmt: skip
    decision = decide(requests, after(requests, node("A"), node("B")), Settings())
    assert decision.start == [("small", [("A", 3)])]
    assert decision.reasons["one"] == "waits behind job job-large, for which 4 slots of pool 'default' are reserved"


def test_nobody_is_preempted_for_a_shell_that_a_reservation_keeps_out() -> None:
    """It would not start on the slot that is freed; the trial would come back to it, and be preempted again."""
    q = Queue()
    requests = [
        q.running("fixed", 3, "A", preemptible=False), q.pending("large", 4), q.pending("shell", 1, preemptible=False),
        q.running("trial", 1, "A", priority=60),
    ]  # fmt: skip
    decision = decide(requests, after(requests, node("A")), Settings(preemption=True))
    assert (decision.start, decision.preempt) == ([], [])


def test_nobody_is_preempted_for_a_shell_that_may_not_start_before_a_more_urgent_job() -> None:
    q = Queue()
    requests = [
        q.running("fixed", 1, "B", preemptible=False, priority=1), q.running("trial", 4, "A", priority=60),
        q.pending("urgent", 8, priority=10), q.pending("shell", 4, priority=50, preemptible=False),
    ]  # fmt: skip
    decision = decide(requests, after(requests, node("A"), node("B")), Settings(preemption=True))
    assert (decision.start, decision.preempt) == ([], [])
    preemptible = [*requests[:3], q.pending("other", 4, priority=50)]
    decision = decide(preemptible, after(preemptible, node("A"), node("B")), Settings(preemption=True))
    assert decision.preempt == ["trial"], "one that may backfill can use the room"
