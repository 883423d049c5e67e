"""Seeded random pools with what runs and waits there, and the rule of fitting once more, by trying every choice."""

import itertools
import random
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from scheduling_pools import NOON, Queue, after, node

from determined.engines.scheduling.model import Decision, FittingPolicy, NodeView, Request, Settings

_SIZES = (1, 2, 2, 4, 4, 8)


@dataclass(frozen=True)
class Case:
    """A pool, and all requests in it; `nodes` have the slots taken that `requests` hold."""

    nodes: list[NodeView]
    requests: list[Request]
    settings: Settings

    @property
    def waiting(self) -> list[Request]:
        return [r for r in self.requests if r.placement is None]

    def by_id(self) -> dict[str, Request]:
        return {r.allocation_id: r for r in self.requests}

    def nodes_after(self, decision: Decision) -> list[NodeView]:
        """Return the nodes with what the decision starts on them."""
        known = self.by_id()
        begun = [replace(known[key], placement=tuple(where)) for key, where in decision.start]
        return after(begun, *self.nodes)


def random_case(seed: int, *, preemption: bool) -> Case:
    rng = random.Random(seed)
    idle = [_node(rng, n) for n in range(rng.randint(1, 5))]
    queue, jobs = Queue(), _jobs(rng)
    requests = [_request(rng, queue, f"r{n}", jobs) for n in range(rng.randint(0, 8))]
    running = _placed(rng, requests, idle)
    waiting = [_request(rng, queue, f"w{n}", jobs) for n in range(rng.randint(1, 10))]
    fitting = rng.choice(list(FittingPolicy))
    mixed = [*running, *waiting]
    rng.shuffle(mixed)
    return Case(after(running, *idle), mixed, Settings(pool="gpu", preemption=preemption, fitting=fitting))


def fits(request: Request, nodes: list[NodeView]) -> bool:
    """Try every node, then every set of whole idle nodes of one size."""
    usable = [n for n in nodes if n.enabled and not n.draining and n.id not in request.excluded_nodes]
    if not request.slots:
        return any(n.used_aux < n.max_aux for n in usable)
    if any(n.free_slots >= request.slots for n in usable):
        return True
    if request.single_node:
        return False
    idle = [n.total_slots for n in usable if n.free_slots == n.total_slots]
    sets = (some for count in range(2, len(idle) + 1) for some in itertools.combinations(idle, count))
    return any(len(set(some)) == 1 and sum(some) == request.slots for some in sets)


def emptied(nodes: list[NodeView]) -> list[NodeView]:
    """Return the nodes as if nothing ran there."""
    return [replace(n, free_slots=n.total_slots, used_aux=0) for n in nodes]


def _node(rng: random.Random, number: int) -> NodeView:
    enabled = rng.random() < 0.9
    draining = rng.random() < (0.1 if enabled else 0.5)
    return node(f"n{number}", rng.choice(_SIZES), max_aux=rng.randint(0, 2), enabled=enabled, draining=draining)


def _jobs(rng: random.Random) -> list[dict[str, Any]]:
    """Return what all requests of a job share; people have moved some of them in the queue."""
    places = rng.sample(range(20), 6)
    return [
        {
            "job_id": f"job{n}",
            "priority": rng.choice((10, 42, 42, 60)),
            "position": float(place),
            "job_submitted": NOON + timedelta(minutes=n),
        }
        for n, place in enumerate(places)
    ]


def _request(rng: random.Random, queue: Queue, name: str, jobs: list[dict[str, Any]]) -> Request:
    excluded = frozenset({f"n{rng.randrange(5)}"}) if rng.random() < 0.1 else frozenset()
    return queue.pending(
        name,
        rng.choice((0, 1, 1, 2, 3, 4, 8)),
        preemptible=rng.random() < 0.8,
        single_node=rng.random() < 0.2,
        excluded_nodes=excluded,
        **rng.choice(jobs),
    )


def _placed(rng: random.Random, requests: list[Request], nodes: list[NodeView]) -> list[Request]:
    """Return those of the requests that found room on a random node, or on all of them."""
    placed: list[Request] = []
    for request in requests:
        left = after(placed, *nodes)
        room = [n.id for n in left if (n.free_slots >= request.slots if request.slots else n.used_aux < n.max_aux)]
        if room:
            where = ((rng.choice(room), request.slots),)
            placed.append(replace(request, placement=where, leaving=rng.random() < 0.2))
    return placed
