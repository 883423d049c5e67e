"""The fair-share scheduler: slots are divided among jobs by weight and demand."""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from determined.engines.scheduling.fitting import Cluster, shape_of
from determined.engines.scheduling.model import Decision, NodeView, Request, Settings
from determined.engines.scheduling.wait_reasons import WaitReasons


def decide(requests: Iterable[Request], nodes: Sequence[NodeView], settings: Settings) -> Decision:
    """Decide what to start and whom to preempt. Zero-slot requests start whenever they fit."""
    ordered = sorted(requests, key=_age)
    return _Pass(ordered, nodes, settings).run()


@dataclass(slots=True)
class _Job:
    """Share of one job.

    Tasks that already leave are not `running`: they neither ask for slots nor are preempted again.
    """

    weight: float
    max_slots: int | None
    submitted: datetime
    running: list[Request] = field(default_factory=list)
    pending: list[Request] = field(default_factory=list)
    leaving: int = 0
    started: int = 0
    demand: int = 0
    offered: int = 0
    closed: bool = False

    @property
    def active(self) -> int:
        return sum(request.slots for request in self.running)

    @property
    def used(self) -> int:
        return self.active + self.leaving + self.started

    @property
    def unsatisfied(self) -> bool:
        return not self.closed and self.offered < self.demand


class _Pass:
    def __init__(self, ordered: list[Request], nodes: Sequence[NodeView], settings: Settings) -> None:
        self._ordered = ordered
        self._settings = settings
        self._cluster = Cluster(nodes, settings)
        self._capacity = self._cluster.total
        self._jobs: dict[str, _Job] = {}
        self._placeable = _Placeable(ordered, nodes, settings)
        self._decision = Decision()
        self._waiting: list[Request] = []

    def run(self) -> Decision:
        for request in self._ordered:
            self._admit(request)
        jobs = sorted(self._jobs.values(), key=lambda job: job.submitted)
        offer(jobs, self._capacity)
        for job in jobs:
            self._assign(job)
        self._explain()
        return self._decision

    def _admit(self, request: Request) -> None:
        """Add a request to its job's share; requests that the pool cannot hold only wait."""
        if not request.slots:
            if request.placement is None and not self._try_start(request):
                self._waiting.append(request)
            return
        job = self._jobs.setdefault(request.job_id, _Job(request.weight, request.max_slots, request.job_submitted))
        if request.placement is None:
            if request.slots <= self._capacity and self._placeable(request):
                job.pending.append(request)
            else:
                self._waiting.append(request)
        elif request.leaving:
            job.leaving += request.slots
        else:
            job.running.append(request)

    def _assign(self, job: _Job) -> None:
        if job.active > job.offered:
            self._preempt(job, job.active - job.offered)
            self._waiting.extend(job.pending)
            return
        for request in job.pending:
            if job.used + request.slots <= job.offered and self._try_start(request):
                job.started += request.slots
            else:
                self._waiting.append(request)

    def _preempt(self, job: _Job, excess: int) -> None:
        for request in job.running:
            if excess <= 0:
                return
            if request.preemptible:
                self._decision.preempt.append(request.allocation_id)
                excess -= request.slots

    def _try_start(self, request: Request) -> bool:
        placement = self._cluster.fit(request)
        if placement is None:
            return False
        self._cluster.take(placement)
        self._decision.start.append((request.allocation_id, list(placement)))
        return True

    def _explain(self) -> None:
        texts = WaitReasons(self._cluster, self._settings)
        for request in self._waiting:
            self._decision.reasons[request.allocation_id] = self._reason(texts, request)

    def _reason(self, texts: WaitReasons, request: Request) -> str:
        if not request.slots or not self._placeable(request):
            return texts.no_room(request)
        job = self._jobs[request.job_id]
        if job.used + request.slots <= job.offered:
            return texts.no_room(request)
        return texts.share(request, offered=job.offered, used=job.used)


class _Placeable:
    """Predicate: could a request be placed if every movable task were gone? Other requests are not worth an offer."""

    def __init__(self, requests: list[Request], nodes: Sequence[NodeView], settings: Settings) -> None:
        self._roomy = Cluster(nodes, settings)
        self._known: dict[object, bool] = {}
        for request in requests:
            if request.placement is not None and request.slots and (request.preemptible or request.leaving):
                self._roomy.release(request.placement)

    def __call__(self, request: Request) -> bool:
        shape = shape_of(request)
        if shape not in self._known:
            self._known[shape] = self._roomy.fit(request) is not None
        return self._known[shape]


def offer(jobs: list[_Job], capacity: int) -> None:
    """Set `offered` of every job by progressive filling. `jobs` come oldest first."""
    for job in jobs:
        wanted = job.active + sum(request.slots for request in job.pending)
        job.demand = wanted if job.max_slots is None else min(wanted, job.max_slots)
        # Nobody can take these away, so they are granted before anything is divided.
        job.offered = sum(request.slots for request in job.running if not request.preemptible)
        capacity -= job.offered
    filling = sorted(jobs, key=lambda job: job.demand)
    newest_first = list(reversed(jobs))
    while True:
        capacity = _fill(filling, capacity)
        filling = [job for job in filling if job.unsatisfied]
        newest_first = [job for job in newest_first if not job.closed]
        returned = _close_stuck(newest_first) if capacity <= 0 else 0
        if not returned:
            return
        capacity += returned


def _fill(jobs: list[_Job], capacity: int) -> int:
    """Run rounds of offers until capacity or demand is exhausted; return what is left."""
    weights = Counter(job.weight for job in jobs if job.unsatisfied)
    while capacity > 0 and (jobs := [job for job in jobs if job.unsatisfied]):
        round_capacity = capacity
        for job in jobs:
            # Summed anew from the few distinct weights: subtracting from a running sum would drift and move shares.
            weight = sum(value * count for value, count in weights.items())
            step = min(_share(round_capacity * job.weight / weight), capacity, job.demand - job.offered)
            job.offered += step
            capacity -= step
            weights[job.weight] -= not job.unsatisfied
            if capacity <= 0:
                break
    return capacity


def _share(slots: float) -> int:
    """Round a share down, to one slot at least. Weights at the end of floats give no number: those jobs take turns."""
    return max(1, int(slots)) if math.isfinite(slots) else 1


def _close_stuck(newest_first: list[_Job]) -> int:
    """Close jobs, newest first, that can start nothing with their offer, until one gives slots back; returns those."""
    for job in newest_first:
        if job.closed or not job.pending:
            continue
        surplus = job.offered - job.active
        if surplus >= min(request.slots for request in job.pending) or (job.active and surplus <= 0):
            continue
        # A job that runs something keeps what it runs: giving that back too would preempt it to start nothing.
        job.closed = True
        if surplus:
            job.offered -= surplus
            return surplus
    return 0


def _age(request: Request) -> tuple[object, ...]:
    return request.requested_at, request.allocation_id
