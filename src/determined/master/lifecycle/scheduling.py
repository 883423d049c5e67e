"""Scheduling pass: rows and nodes in, assignments out. The pure engines/scheduling decides.

`look` only reads and says whether anything would change; `act` looks again inside the write transaction
and changes it.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from sqlalchemy import Connection

from determined.engines.scheduling import fair_share, priority, round_robin
from determined.engines.scheduling.feasible import is_feasible
from determined.engines.scheduling.model import Decision, NodeView, Request, Settings
from determined.engines.scheduling.wait_reasons import IMPOSSIBLE
from determined.master.db.queries import allocation as allocations
from determined.master.db.queries import node as node_rows
from determined.master.db.queries import runner as runners
from determined.master.db.queries import search, search_queue
from determined.master.db.queries import trial as trials
from determined.master.db.queries.allocation import LiveAllocation
from determined.master.db.queries.runner import AliveRunner
from determined.master.db.rows.allocations import Runner
from determined.master.lifecycle import allocation as lifecycle
from determined.master.lifecycle import assignment, engine_placed_pools, topics, trial_state
from determined.master.lifecycle.capacity import Capacity, Overrides, capacities
from determined.master.lifecycle.cluster import PlacedNode, PlacingEngine
from determined.master.lifecycle.pools import Pool, SchedulerKind
from determined.master.lifecycle.ports import PortChoice
from determined.master.lifecycle.slot_holders import holders
from determined.master.lifecycle.states import AllocationState

_QUEUED_PER_EXPERIMENT = 100  # more would only wait, and cost every look at the queue and every pause
_QUEUED_PER_PASS = 25  # bounds how long one pass holds the writer

_DECIDE: dict[SchedulerKind, Callable[[Sequence[Request], Sequence[NodeView], Settings], Decision]] = {
    SchedulerKind.PRIORITY: priority.decide,
    SchedulerKind.FAIR_SHARE: fair_share.decide,
    SchedulerKind.ROUND_ROBIN: round_robin.decide,
}


@dataclass(frozen=True, slots=True)
class SchedulingInput:
    """Input of a scheduling pass besides the rows."""

    nodes: Sequence[PlacedNode]
    pools: dict[str, Pool]
    launch_error: bool = True
    ports: PortChoice = field(default_factory=PortChoice)
    placing: Mapping[str, tuple[str, PlacingEngine]] = field(default_factory=dict)  # pools whose engine chooses nodes


@dataclass(frozen=True, slots=True)
class SentSignals:
    """Signals that were sent to a live allocation."""

    allocation_id: str
    preempted: bool
    killed: bool


@dataclass(slots=True)
class Pass:
    """Result of a scheduling pass.

    `alive`: runners their engines must have. `changes`: whether rows would change, or have.
    """

    alive: Sequence[AliveRunner] = ()
    reasons: dict[str, str] = field(default_factory=dict)
    changes: bool = False
    queued: dict[str, list[int]] = field(default_factory=dict)  # pool -> sizes of what waits for slots
    topics: set[str] = field(default_factory=set)
    signals: frozenset[SentSignals] = frozenset()
    waiting_searches: set[str] = field(default_factory=set)  # topics of the loops that have work to do for a search


def look(conn: Connection, now: datetime, world: SchedulingInput) -> Pass:
    """Return what the rows ask for, without changing any."""
    due = bool(allocations.overdue(conn, now)) or bool(trials.wanting_allocation(conn, _QUEUED_PER_EXPERIMENT))
    chosen = _decide(conn, world)
    return Pass(
        alive=runners.alive(conn),
        reasons=chosen.reasons,
        changes=due or bool(chosen.starts or chosen.handed or chosen.preempts or chosen.rejects),
        queued=chosen.queued,
        signals=_signals(chosen.live),
        waiting_searches=_waiting_searches(conn),
    )


def act(conn: Connection, now: datetime, world: SchedulingInput) -> Pass:
    """Kill what has outstayed its deadline, queue what wants to run, assign what fits, preempt what must leave."""
    done = Pass(changes=True)
    late = allocations.overdue(conn, now)
    for allocation_id in late:
        lifecycle.request_kill(conn, now, allocation_id, "it did not exit in time after it was asked to")
    queued = _queue(conn, now)
    chosen = _decide(conn, world)
    changed = _apply(conn, now, world, chosen)
    for allocation_id in {*late, *queued, *changed}:
        done.topics.update(topics.of_allocation(conn, allocation_id))
    done.reasons, done.queued = chosen.reasons, chosen.queued
    done.alive = runners.alive(conn)
    done.signals = _signals(allocations.live_with_job(conn))
    return done


def forecast(conn: Connection, world: SchedulingInput, wanted: Request, pool: str) -> str | None:
    """Return what a request would wait for if it were made now; None when it would start."""
    if pool in world.placing:
        return f"pool '{pool}' has a queue of its own, in which '{world.placing[pool][0]}' decides when it starts"
    chosen = _situation(conn, world)
    _decide_pool(world, chosen, pool, [*_requests(conn, chosen).get(pool, ()), wanted])
    if any(allocation_id == wanted.allocation_id for allocation_id, _ in chosen.starts):
        return None
    return chosen.reasons.get(wanted.allocation_id, f"waits for its turn in pool '{pool}'")


def _queue(conn: Connection, now: datetime) -> list[str]:
    """Allocations for trials that want one, a bounded number per pass: the next pass follows at once."""
    queued: list[str] = []
    waiting = trials.waiting_counts(conn)
    for trial in trials.wanting_allocation(conn, _QUEUED_PER_EXPERIMENT):
        if waiting[trial.experiment_id] >= _QUEUED_PER_EXPERIMENT:
            continue
        # Apart by a microsecond each, or the scheduler would start trials of one pass in an order of no meaning.
        allocation_id = trial_state.allocate(conn, now + timedelta(microseconds=len(queued)), trial)
        if allocation_id is not None:
            queued.append(allocation_id)
            waiting[trial.experiment_id] += 1
        if len(queued) == _QUEUED_PER_PASS:
            break
    return queued


@dataclass(slots=True)
class _Chosen:
    live: Sequence[LiveAllocation] = ()
    held: Sequence[Runner] = ()  # runners that hold some of the capacity
    capacity: dict[str, Capacity] = field(default_factory=dict)
    starts: list[tuple[str, list[tuple[str, int]]]] = field(default_factory=list)
    handed: list[tuple[str, str]] = field(default_factory=list)  # allocation, pool: to engines that choose the nodes
    queued: dict[str, list[int]] = field(default_factory=dict)
    preempts: list[str] = field(default_factory=list)
    rejects: list[str] = field(default_factory=list)
    reasons: dict[str, str] = field(default_factory=dict)


def _decide(conn: Connection, world: SchedulingInput) -> _Chosen:
    chosen = _situation(conn, world)
    if all(row.state != AllocationState.PENDING for row in chosen.live):
        return chosen
    for name, requests in _requests(conn, chosen).items():
        _decide_pool(world, chosen, name, requests)
    return chosen


def _situation(conn: Connection, world: SchedulingInput) -> _Chosen:
    """Return what is there before anything is decided."""
    live = allocations.live_with_job(conn)
    held = runners.of_live_allocations(conn)
    return _Chosen(live, held, capacities(world.nodes, held, Overrides(node_rows.overrides(conn)), world.pools))


def _requests(conn: Connection, chosen: _Chosen) -> dict[str, list[Request]]:
    """Return the requests of everything live, by pool."""
    excluded = allocations.excluded_nodes(conn)
    placements = _placements(chosen.held)
    requests: dict[str, list[Request]] = {}
    for row in chosen.live:
        requests.setdefault(row.pool, []).append(_request(row, excluded, placements))
    return requests


def _waiting_searches(conn: Connection) -> set[str]:
    """Return whom to wake: the loops of large searches and of samplers, which would else look at each hint."""
    pieces = {topics.PIECES} if search_queue.experiments(conn) else set()
    return pieces | ({topics.PROPOSALS} if search.active_with_sampler(conn) else set())


def is_impossible(reason: str | None) -> bool:
    """Return whether this reason says that waiting alone will not help."""
    return reason is not None and reason.startswith(IMPOSSIBLE)


def _decide_pool(world: SchedulingInput, chosen: _Chosen, name: str, requests: list[Request]) -> None:
    pool = world.pools.get(name)
    if pool is None:
        text = f"{IMPOSSIBLE}: pool '{name}' is not in the master's config"
        chosen.reasons.update({r.allocation_id: text for r in requests if r.placement is None})
        return
    waiting = [r for r in requests if r.placement is None]
    if name in world.placing:
        chosen.handed += [(r.allocation_id, name) for r in waiting]
        return
    views = _views(chosen, name)
    decision = _DECIDE[pool.scheduler](requests, views, pool.settings)
    chosen.starts += decision.start
    chosen.preempts += decision.preempt
    chosen.reasons.update(_with_holders(decision.reasons, waiting, chosen, _views(chosen, name)))
    started = {allocation_id for allocation_id, _ in decision.start}
    chosen.queued[name] = [r.slots for r in waiting if r.allocation_id not in started]
    if world.launch_error:
        chosen.rejects += [r.allocation_id for r in requests if _out_of_nodes(r, views, pool.settings)]


def _with_holders(
    reasons: dict[str, str], waiting: list[Request], chosen: _Chosen, views: list[NodeView]
) -> dict[str, str]:
    """Return the reasons; those of requests for more slots than are free also name the jobs that hold them."""
    free = sum(v.free_slots for v in views)
    short = {r.allocation_id for r in waiting if r.slots > free}
    if not short:
        return reasons  # who holds what is looked up only for those who wait for it
    who = holders(chosen.live, chosen.held, {v.id for v in views}, sum(v.total_slots for v in views))
    if who is None:
        return reasons
    return {
        one: f"{text}; {who}" if one in short and not is_impossible(text) else text for one, text in reasons.items()
    }


def _views(chosen: _Chosen, pool: str) -> list[NodeView]:
    """Return the nodes of a pool. One that it shares has no longer what this pass starts there for another pool."""
    slots: Counter[str] = Counter()
    places: Counter[str] = Counter()
    for node_id, count in (part for _, placement in chosen.starts for part in placement):
        slots[node_id] += count
        places[node_id] += count == 0
    views = [capacity.view() for capacity in chosen.capacity.values() if capacity.serves(pool)]
    return [
        replace(view, free_slots=view.free_slots - slots[view.id], used_aux=view.used_aux + places[view.id])
        for view in views
    ]


def _out_of_nodes(request: Request, views: list[NodeView], settings: Settings) -> bool:
    """Return whether its log policies have excluded so many nodes that what is left can never hold it."""
    if request.placement is not None or not request.excluded_nodes:
        return False
    every = [v.total_slots for v in views]
    left = [v.total_slots for v in views if v.id not in request.excluded_nodes]
    mixed = settings.allow_heterogeneous
    fits = is_feasible(request.slots, every, request.single_node, heterogeneous=mixed)
    return fits and (not left or not is_feasible(request.slots, left, request.single_node, heterogeneous=mixed))


def _apply(conn: Connection, now: datetime, world: SchedulingInput, chosen: _Chosen) -> list[str]:
    """Do as was decided; the allocations that this changes."""
    for allocation_id in chosen.rejects:
        lifecycle.reject(conn, now, allocation_id, "its log policies exclude the nodes that could hold it")
    starts = [(one, placement) for one, placement in chosen.starts if one not in chosen.rejects]
    for allocation_id, placement in starts:
        assignment.assign(conn, now, allocation_id, placement, capacity=chosen.capacity, ports=world.ports)
    for allocation_id, pool in chosen.handed:
        engine_placed_pools.hand_over(conn, now, allocation_id, *world.placing[pool], ports=world.ports)
    for allocation_id in chosen.preempts:
        lifecycle.request_preemption(conn, now, allocation_id, "its slots are needed by another job")
    changed = (allocation_id for allocation_id, _ in (*starts, *chosen.handed))
    return [*chosen.rejects, *changed, *chosen.preempts]


def _request(
    row: LiveAllocation,
    excluded: dict[str, frozenset[str]],
    placements: dict[str, tuple[tuple[str, int], ...]],
) -> Request:
    return Request(
        allocation_id=row.id,
        job_id=row.job_id,
        slots=row.slots,
        preemptible=row.preemptible,
        single_node=row.single_node,
        priority=row.priority,
        weight=row.weight,
        max_slots=row.max_slots,
        position=row.position,
        job_submitted=row.submitted_at,
        requested_at=row.requested_at,
        excluded_nodes=excluded.get(row.task_id, frozenset()),
        placement=placements.get(row.id),
        leaving=row.preempt_at is not None or row.kill_at is not None,
    )


def _signals(live: Sequence[LiveAllocation]) -> frozenset[SentSignals]:
    sent = (SentSignals(row.id, row.preempt_at is not None, row.kill_at is not None) for row in live)
    return frozenset(s for s in sent if s.preempted or s.killed)


def _placements(held: Sequence[Runner]) -> dict[str, tuple[tuple[str, int], ...]]:
    placements: dict[str, list[tuple[str, int]]] = {}
    for row in held:
        placements.setdefault(row.allocation_id, []).append((row.node_id, len(row.slot_ids)))
    return {allocation_id: tuple(places) for allocation_id, places in placements.items()}
