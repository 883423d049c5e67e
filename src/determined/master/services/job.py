"""The job queue: who waits, for what, behind whom; and changing that."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from sqlalchemy import Connection

from determined.config.task_kinds import kind_of_job
from determined.errors import DeterminedError, InvalidArgument
from determined.master.auth.identity import Caller, require_owner, require_user
from determined.master.context import MasterContext
from determined.master.db.queries import allocation as allocations
from determined.master.db.queries import job as jobs
from determined.master.db.queries import node as node_rows
from determined.master.db.queries import runner as runners
from determined.master.db.queries.allocation import LiveAllocation
from determined.master.lifecycle import cluster, queue, topics
from determined.master.lifecycle.capacity import Overrides, capacities
from determined.master.lifecycle.job import set_resources
from determined.master.lifecycle.pools import SchedulerKind, pools_of
from determined.master.lifecycle.scheduling import is_impossible
from determined.master.lifecycle.states import AllocationState
from determined.master.services import pool_binding, queue_eta
from determined.wire import job as wire
from determined.wire.base import OrderBy
from determined.wire.codec import rfc3339, rfc3339_or_none
from determined.wire.pool import QueueStats


async def list_jobs(ctx: MasterContext, params: wire.ListJobs) -> list[wire.Job]:
    """List jobs with live allocations, in scheduling order."""
    nodes = cluster.of(ctx.bus).nodes()
    found = await ctx.db.read(lambda conn: _situation(conn, ctx, nodes))
    every = _jobs(ctx, found.rows)
    _estimate(ctx, every, found)
    shown = [job for job in every if _matches(job, params)]
    return shown[::-1] if params.order_by == OrderBy.DESC else shown


async def stats(ctx: MasterContext, pools: Sequence[str]) -> list[wire.RPQueueStat]:
    """Queued and scheduled jobs of each pool (all pools when none is named)."""
    every = await list_jobs(ctx, wire.ListJobs())
    names = list(pools) or list(pools_of(ctx.config))
    return [wire.RPQueueStat(resource_pool=name, stats=count(every, name), aggregates=[]) for name in names]


def count(shown: Sequence[wire.Job], pool: str) -> QueueStats:
    states = Counter(_state(job) for job in shown if job.resource_pool == pool)
    queued = states.pop(wire.JobState.QUEUED, 0)
    return QueueStats(queued_count=queued, scheduled_count=states.total())


async def update(ctx: MasterContext, caller: Caller, updates: Sequence[wire.QueueControl]) -> None:
    """Apply one action per entry; entries that fail do not stop the others, and are all named in the error."""
    require_user(caller)
    failures: list[str] = []
    for control in updates:
        try:
            await _update_one(ctx, caller, control)
        except DeterminedError as e:
            failures.append(f"job {control.job_id}: {e.message}")
    if failures:
        raise InvalidArgument("\n".join(failures))


@dataclass(frozen=True, slots=True)
class _Situation:
    """Live allocations with their jobs; where some wait, also free slots by pool and when each job first ran."""

    rows: Sequence[LiveAllocation]
    free: Mapping[str, int] = field(default_factory=dict)
    first_starts: Mapping[str, datetime] = field(default_factory=dict)


def _situation(conn: Connection, ctx: MasterContext, nodes: Sequence[cluster.PlacedNode]) -> _Situation:
    rows = allocations.live_with_job(conn)
    if all(row.state != AllocationState.PENDING for row in rows):
        return _Situation(rows)
    held, overrides = runners.of_live_allocations(conn), Overrides(node_rows.overrides(conn))
    free: Counter[str] = Counter()
    for capacity in capacities(nodes, held, overrides, pools_of(ctx.config)).values():
        free[capacity.pool] += len(capacity.free)
    return _Situation(rows, free, jobs.first_starts(conn, sorted({row.job_id for row in rows})))


def _estimate(ctx: MasterContext, every: Sequence[wire.Job], found: _Situation) -> None:
    """Tell the queued ones when they may start, where the pool has an order in which they do."""
    now = ctx.clock.now()
    for name, pool in pools_of(ctx.config).items():
        own = [job for job in every if job.resource_pool == name]
        # one that cannot start waits for no slots, and holds nobody up
        queued = [
            job
            for job in own
            if _state(job) == wire.JobState.QUEUED and job.requested_slots and not is_impossible(job.reason)
        ]
        if not queued or pool.scheduler != SchedulerKind.PRIORITY:
            continue
        running = [_running(job, now, found.first_starts.get(job.job_id)) for job in own if job.allocated_slots]
        times = queue_eta.starts(now, found.free.get(name, 0), running, [job.requested_slots for job in queued])
        for job, time in zip(queued, times, strict=True):
            job.eta = rfc3339_or_none(time)


def _running(job: wire.Job, now: datetime, first_start: datetime | None) -> queue_eta.Running:
    return queue_eta.Running(job.allocated_slots, queue_eta.end(now, first_start, job.progress))


async def _update_one(ctx: MasterContext, caller: Caller, control: wire.QueueControl) -> None:
    actions = {
        "ahead_of": control.ahead_of,
        "behind_of": control.behind_of,
        "priority": control.priority,
        "resource_pool": control.resource_pool,
        "weight": control.weight,
    }
    given = {name: value for name, value in actions.items() if value is not None}
    if len(given) != 1:
        raise InvalidArgument(f"give exactly one of {', '.join(actions)}, not {sorted(given)}")
    [action] = given

    def write(conn: Connection) -> str:
        require_owner(caller, jobs.get(conn, control.job_id).owner_id, f"job {control.job_id}")
        _apply(conn, ctx, control, action)
        experiment_id = jobs.experiment_of(conn, control.job_id)
        return "tasks" if experiment_id is None else f"experiment:{experiment_id}"

    ctx.bus.publish(await ctx.db.write(write), topics.SCHEDULE, "jobs")


def _apply(conn: Connection, ctx: MasterContext, control: wire.QueueControl, action: str) -> None:
    now = ctx.clock.now()
    if action in ("ahead_of", "behind_of"):
        _require_priority_scheduler(conn, ctx, control.job_id)
        anchor = control.ahead_of or control.behind_of or ""
        queue.move(conn, now, control.job_id, anchor, ahead=action == "ahead_of")
    elif control.priority is not None:
        set_resources(conn, now, control.job_id, {"priority": control.priority})
    elif control.weight is not None:
        set_resources(conn, now, control.job_id, {"weight": control.weight})
    elif control.resource_pool is not None:
        _require_other_pool(conn, ctx, control.job_id, control.resource_pool)
        set_resources(conn, now, control.job_id, {"pool": control.resource_pool})


def _require_priority_scheduler(conn: Connection, ctx: MasterContext, job_id: str) -> None:
    name = jobs.get(conn, job_id).pool
    pool = pools_of(ctx.config).get(name)
    if pool is not None and pool.scheduler != SchedulerKind.PRIORITY:
        raise InvalidArgument(f"pool '{name}' has a {pool.scheduler} scheduler: its jobs have no order to change")


def _require_other_pool(conn: Connection, ctx: MasterContext, job_id: str, name: str) -> None:
    job = jobs.get(conn, job_id)
    pool_binding.require_available(conn, ctx.config, name, job.workspace_id)
    if job.pool == name:
        raise InvalidArgument(f"it is in resource pool '{name}' already")


def _jobs(ctx: MasterContext, rows: Sequence[LiveAllocation]) -> list[wire.Job]:
    pools = pools_of(ctx.config)
    reasons = cluster.of(ctx.bus).reasons
    grouped: dict[str, list[LiveAllocation]] = {}
    for row in rows:
        if kind_of_job(row.job_type).is_queued:
            grouped.setdefault(row.job_id, []).append(row)
    ordered = sorted(grouped.values(), key=lambda group: _order(group[0]))
    listed: list[wire.Job] = []
    ahead: Counter[str] = Counter()
    waiting: set[tuple[str, int]] = set()
    for group in ordered:
        head = group[0]
        pool = pools.get(head.pool)
        fair = pool is not None and pool.scheduler != SchedulerKind.PRIORITY
        job = _to_wire(group, reasons)
        better_waits = any(p == head.pool and level < head.priority for p, level in waiting)
        state = _job_state(group, reasons, backfilled=better_waits and not fair)
        job.summary = wire.JobSummary(jobs_ahead=-1 if fair else ahead[head.pool], state=state)
        ahead[head.pool] += 1
        if state == wire.JobState.QUEUED:
            waiting.add((head.pool, head.priority))
        listed.append(job)
    return listed


def _to_wire(group: list[LiveAllocation], reasons: dict[str, str]) -> wire.Job:
    head = group[0]
    queued = [row for row in group if _is_queued(row, reasons)]
    return wire.Job(
        job_id=head.job_id,
        type=wire.JobType[head.job_type],
        entity_id=str(head.experiment_id if head.experiment_id is not None else head.task_id),
        name=head.experiment_name or head.description or head.task_id,
        resource_pool=head.pool,
        submission_time=rfc3339(head.submitted_at),
        username=head.username,
        user_id=head.owner_id,
        workspace_id=head.workspace_id,
        is_preemptible=bool(head.preemptible),
        requested_slots=sum(row.slots for row in group),
        allocated_slots=sum(row.slots for row in group if not _is_queued(row, reasons)),
        priority=head.priority,
        weight=head.weight,
        progress=head.progress,
        reason=next((reasons[row.id] for row in queued if row.id in reasons), None),
    )


def _is_queued(row: LiveAllocation, reasons: dict[str, str]) -> bool:
    """Return whether the allocation waits, here or in a queue of its engine's own."""
    handed = row.state == AllocationState.ASSIGNED and row.id in reasons
    return handed or row.state == AllocationState.PENDING


def _job_state(group: list[LiveAllocation], reasons: dict[str, str], *, backfilled: bool) -> wire.JobState:
    if all(_is_queued(row, reasons) for row in group):
        return wire.JobState.QUEUED
    return wire.JobState.SCHEDULED_BACKFILLED if backfilled else wire.JobState.SCHEDULED


def _order(row: LiveAllocation) -> tuple[object, ...]:
    return row.pool, row.priority, row.position, row.submitted_at, row.job_id


def _state(job: wire.Job) -> wire.JobState:
    return job.summary.state if job.summary is not None else wire.JobState.UNSPECIFIED


def _matches(job: wire.Job, params: wire.ListJobs) -> bool:
    if params.resource_pool and job.resource_pool != params.resource_pool:
        return False
    return not params.states or _state(job) in params.states
