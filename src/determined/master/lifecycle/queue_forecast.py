"""Forecast whether a job would start now or wait, and for what: the schedulers themselves are asked."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection

from determined.config import Resources
from determined.engines.scheduling.model import Request
from determined.master.config import MasterConfig
from determined.master.lifecycle import scheduling
from determined.master.lifecycle.cluster import Cluster
from determined.master.lifecycle.pools import pools_of
from determined.master.lifecycle.queue_position import queue_position
from determined.master.lifecycle.scheduling import SchedulingInput

_NOT_SUBMITTED = "not submitted yet"


def scheduling_input(cluster: Cluster, config: MasterConfig) -> SchedulingInput:
    """Return what scheduling is told besides the rows; in the event loop, as everything of engines."""
    pools = pools_of(config)
    placing = {pool: found for pool in pools if (found := cluster.placing(pool)) is not None}
    return SchedulingInput(nodes=cluster.nodes(), pools=pools, launch_error=config.launch_error, placing=placing)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Request that a task would make. `priority`: None is the pool's default."""

    pool: str
    slots: int
    preemptible: bool
    single_node: bool
    priority: int | None
    weight: float
    max_slots: int | None


def waits_for(conn: Connection, now: datetime, world: SchedulingInput, resources: Resources) -> str | None:
    """Return what the first trial of an experiment with these resources would wait for; None when it would start."""
    wanted = Wanted(
        pool=resources.resource_pool,
        slots=resources.slots_per_trial,
        preemptible=True,
        single_node=bool(resources.is_single_node),
        priority=resources.priority,
        weight=resources.weight,
        max_slots=resources.max_slots,
    )
    return task_waits_for(conn, now, world, wanted)


def task_waits_for(conn: Connection, now: datetime, world: SchedulingInput, wanted: Wanted) -> str | None:
    """Return what a task would wait for; None when it would start."""
    pool = world.pools.get(wanted.pool)
    default = pool.default_priority if pool is not None else 0
    request = Request(
        allocation_id=_NOT_SUBMITTED,
        job_id=_NOT_SUBMITTED,
        slots=wanted.slots,
        preemptible=wanted.preemptible,
        single_node=wanted.single_node,
        priority=default if wanted.priority is None else wanted.priority,
        weight=wanted.weight,
        max_slots=wanted.max_slots,
        position=queue_position(now),
        job_submitted=now,
        requested_at=now,
    )
    return scheduling.forecast(conn, world, request, wanted.pool)
