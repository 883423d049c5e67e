"""Pools whose engine chooses the nodes itself (Slurm): an allocation goes to it at once, and waits there."""

from datetime import datetime

from sqlalchemy import Connection

from determined._json import JsonObject
from determined.config import ExperimentConfig
from determined.config.engine_sections import engine_options
from determined.config.job import TaskConfig
from determined.engines.model import Device
from determined.errors import InvalidArgument
from determined.master.db.queries import allocation as allocations
from determined.master.db.queries import submitted_task as submitted_tasks
from determined.master.db.queries import task as tasks
from determined.master.db.queries.log import append_master_line
from determined.master.db.rows.allocations import Allocation
from determined.master.lifecycle import allocation as lifecycle
from determined.master.lifecycle import assignment
from determined.master.lifecycle.cluster import PlacingEngine
from determined.master.lifecycle.ports import PortChoice
from determined.master.lifecycle.states import AllocationState


def hand_over(
    conn: Connection,
    now: datetime,
    allocation_id: str,
    name: str,
    engine: PlacingEngine,
    *,
    ports: PortChoice,
) -> None:
    """PENDING -> ASSIGNED, its nodes yet unknown: each runner names its own when it begins (lifecycle/claiming.py)."""
    allocation = allocations.get(conn, allocation_id)
    if allocation.state != AllocationState.PENDING:
        return
    pool, slots = allocation.pool, allocation.slots
    try:
        options = options_of(conn, allocation, engine.kind)
        sizes = engine.spread(pool, slots, options, single_node=bool(allocation.single_node))
    except InvalidArgument as e:
        lifecycle.reject(conn, now, allocation_id, e.message)
        return
    device = engine.device if slots else Device.CPU
    rows = [
        assignment.runner_row(
            allocation_id, rank, engine=name, node_id=pool, slot_ids=list(range(size)), device=device, address=None
        )
        for rank, size in enumerate(sizes)
    ]
    assignment.insert(conn, now, allocation, rows, ports)
    text = f"handed to {name}: {len(sizes)} node(s) of pool {pool}, {slots} slot(s)"
    append_master_line(conn, now, allocation.task_id, text, allocation_id=allocation_id)


def options_of(conn: Connection, allocation: Allocation, kind: str) -> JsonObject:
    """Read what the submitter says to an engine of this kind alone: the section of that name of the config."""
    if allocation.trial_id is None:
        submitted = submitted_tasks.find(conn, allocation.task_id)
        return {} if submitted is None else engine_options(TaskConfig.load(submitted.config), kind)
    config = ExperimentConfig.load(tasks.trial_details(conn, allocation.trial_id).config)
    return engine_options(config, kind)
