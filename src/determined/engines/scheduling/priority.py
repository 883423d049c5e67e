"""The priority scheduler, the default."""

from collections.abc import Iterable, Sequence
from itertools import groupby

from determined.engines.scheduling.fitting import Cluster, shape_of
from determined.engines.scheduling.model import Decision, NodeView, Placement, Request, Settings
from determined.engines.scheduling.wait_reasons import WaitReasons, jobs_ahead


def decide(requests: Iterable[Request], nodes: Sequence[NodeView], settings: Settings) -> Decision:
    """Decide what to start and whom to preempt. Slotted and zero-slot requests never wait for one another."""
    slotted: list[Request] = []
    zero_slot: list[Request] = []
    for request in requests:
        (slotted if request.slots else zero_slot).append(request)
    decision = Decision()
    for some in (slotted, zero_slot):
        _Pass(some, nodes, settings).run(decision)
    return decision


class _Pass:
    """Pass over the levels. `cluster` also holds what is only promised; `real` only what runs or starts now."""

    def __init__(self, requests: list[Request], nodes: Sequence[NodeView], settings: Settings) -> None:
        self._settings = settings
        self._cluster = Cluster(nodes, settings)
        self._real = Cluster(nodes, settings)
        self._queue = sorted((r for r in requests if r.placement is None), key=_order)
        self._candidates = _candidates(requests) if settings.preemption else {}
        self._hopeless: set[object] = set()
        self._fitting: dict[object, bool] = {}
        self._backfilling = False
        self._promised_any = False
        self._started: list[tuple[Request, Placement]] = []
        self._victims: list[str] = []
        self._no_room: list[Request] = []
        self._promised: list[Request] = []
        self._behind_promise: list[Request] = []
        self._held: list[Request] = []
        self._reserved_for: Request | None = None
        self._is_keeping = False  # the owner of the level's reservation waits, and nothing is promised to it
        self._reservation: Placement = ()

    def run(self, decision: Decision) -> None:
        for _, level in groupby(self._queue, key=lambda request: request.priority):
            self._level(list(level))
        decision.start.extend((request.allocation_id, list(where)) for request, where in self._started)
        decision.preempt.extend(self._victims)
        self._explain(decision.reasons)

    def _level(self, level: list[Request]) -> None:
        failed: list[Request] = []
        for request in level:
            placement = self._fit(request)
            if placement is None:
                failed.append(request)
                self._reserve(request)
                continue
            self._cluster.take(placement)
            self._start_or_hold(request, placement)
        self._drop_reservation()
        if not failed:
            return
        is_late, self._backfilling = self._backfilling, True
        for request in failed:
            # One that may not start behind a waiting level once there is room for it needs no victims.
            may_start = self._may_backfill(request) if is_late else self._settings.preemption
            served = may_start and self._promise(request)
            if served and request is self._reserved_for:
                self._is_keeping = False
            (self._promised if served else self._no_room).append(request)
        self._is_keeping = False

    def _fit(self, request: Request) -> Placement | None:
        if not self._reservation or not self._settings.preemption or request.preemptible:
            return self._cluster.fit(request)
        self._cluster.take(self._reservation)
        placement = self._cluster.fit(request)
        self._cluster.release(self._reservation)
        return placement

    def _reserve(self, request: Request) -> None:
        """Keep room for the first request that does not fit: else smaller ones behind it could take each slot for ever.

        With preemption only those are kept out that could not be preempted for it later.
        """
        if self._reserved_for is not None or not request.slots:
            return
        placement = self._cluster.reserve(request)
        if placement is None:
            return
        self._reserved_for, self._reservation = request, placement
        if not self._settings.preemption:
            self._cluster.take(placement)

    def _drop_reservation(self) -> None:
        """Drop the reservation at the end of a level: later requests wait anyway, or can be preempted."""
        if self._reservation and not self._settings.preemption:
            self._cluster.release(self._reservation)
        self._is_keeping = bool(self._reservation)
        self._reservation = ()

    def _start_or_hold(self, request: Request, placement: Placement) -> None:
        if self._promised_any:
            self._behind_promise.append(request)
        elif self._backfilling and not self._may_backfill(request):
            self._held.append(request)
        else:
            self._real.take(placement)
            self._started.append((request, placement))

    def _may_backfill(self, request: Request) -> bool:
        return self._settings.preemption and request.preemptible

    def _promise(self, request: Request) -> bool:
        """Reserve what `request` will get once victims have left; False when it fits even then nowhere."""
        placement = self._fit_promise(request) or self._make_room(request)
        if placement is None:
            return False
        self._cluster.take(placement)
        self._promised_any = True
        return True

    def _fit_promise(self, request: Request) -> Placement | None:
        """Fit a request on what is free or will be; one that `_reserve` would keep out then, only outside of that.

        Inside, it would not start when its victims have left. They would come back, and be preempted again for ever.
        """
        if self._reserved_for is None or not self._is_constrained(request):
            return self._cluster.fit(request)
        kept = self._cluster.reserve(self._reserved_for) or ()
        self._cluster.take(kept)
        placement = self._cluster.fit(request)
        self._cluster.release(kept)
        return placement

    def _is_constrained(self, request: Request) -> bool:
        return self._is_keeping and not request.preemptible and request is not self._reserved_for

    def _make_room(self, request: Request) -> Placement | None:
        # What could ever be freed only shrinks during a pass (later requests may evict fewer), so one failure of a
        # shape speaks for every later request of it.
        shape = shape_of(request), self._is_constrained(request)
        if shape in self._hopeless:
            return None
        freed: list[Request] = []
        for victim in self._candidates.values():
            if not victim.leaving and victim.priority < request.priority:
                break
            if not _may_evict(request, victim):
                continue
            where = victim.placement or ()
            self._cluster.release(where)
            freed.append(victim)
            if not self._cluster.may_fit_after(where, request):
                continue
            placement = self._fit_promise(request)
            if placement is not None:
                self._evict(freed)
                return placement
        for victim in freed:
            self._cluster.take(victim.placement or ())
        self._hopeless.add(shape)
        return None

    def _evict(self, victims: list[Request]) -> None:
        for victim in victims:
            del self._candidates[victim.allocation_id]
            if not victim.leaving:
                self._victims.append(victim.allocation_id)

    def _explain(self, reasons: dict[str, str]) -> None:
        texts = WaitReasons(self._real, self._settings)
        started = {request.allocation_id for request, _ in self._started}
        ahead = jobs_ahead([r for r in self._queue if r.allocation_id not in started])
        reasons.update((r.allocation_id, self._why_no_room(texts, r, ahead(r))) for r in self._no_room)
        reasons.update((r.allocation_id, texts.promised()) for r in self._promised)
        reasons.update((r.allocation_id, texts.behind_promise()) for r in self._behind_promise)
        reasons.update((r.allocation_id, texts.backfill(r)) for r in self._held)

    def _why_no_room(self, texts: WaitReasons, request: Request, jobs_ahead: int) -> str:
        """Return the reason of a request that got no room. One that would fit waits for another, who has the room."""
        if not self._would_fit(request):
            return texts.no_room(request, jobs_ahead)
        owner = self._reserved_for
        if owner is not None and owner is not request and owner.priority == request.priority:
            return texts.reserved(owner)
        return texts.behind_promise() if self._promised_any else texts.kept()

    def _would_fit(self, request: Request) -> bool:
        """Return whether it fits on what is free at the end of the pass; found out once for each shape."""
        shape = shape_of(request)
        if shape not in self._fitting:
            self._fitting[shape] = self._real.fit(request) is not None
        return self._fitting[shape]


def _order(request: Request) -> tuple[object, ...]:
    return request.priority, *_age(request)


def _age(request: Request) -> tuple[object, ...]:
    return request.position, request.job_submitted, request.requested_at, request.allocation_id


def _candidates(requests: list[Request]) -> dict[str, Request]:
    """Return who may give slots back, in order: those already leaving, then the newest of the lowest priority first."""
    running = [r for r in requests if r.placement is not None]
    leaving = sorted((r for r in running if r.leaving), key=_order, reverse=True)
    victims = sorted((r for r in running if r.preemptible and not r.leaving), key=_order, reverse=True)
    return {r.allocation_id: r for r in (*leaving, *victims)}


def _may_evict(request: Request, victim: Request) -> bool:
    if victim.leaving or victim.priority > request.priority:
        return True
    return victim.position > request.position
