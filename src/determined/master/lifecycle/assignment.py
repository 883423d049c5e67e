"""Giving an allocation its nodes: one runner row per node, slots with the lowest free ids, ports of its own."""

import uuid
from datetime import datetime
from typing import Unpack

from sqlalchemy import Connection

from determined.engines.model import Device
from determined.master.db.queries import allocation as allocations
from determined.master.db.queries import runner as runners
from determined.master.db.queries.log import append_master_line
from determined.master.db.rows.allocations import Allocation, AllocationValues, RunnerValues
from determined.master.lifecycle.capacity import Capacity
from determined.master.lifecycle.ports import PortChoice
from determined.master.lifecycle.states import AllocationState


def assign(
    conn: Connection,
    now: datetime,
    allocation_id: str,
    placement: list[tuple[str, int]],
    *,
    capacity: dict[str, Capacity],
    ports: PortChoice,
) -> None:
    """PENDING -> ASSIGNED. The rows are what the reconciler hands to the engines, now or after a restart."""
    allocation = allocations.get(conn, allocation_id)
    if allocation.state != AllocationState.PENDING:
        return
    rows = [_runner(allocation_id, rank, capacity[node_id], n) for rank, (node_id, n) in enumerate(placement)]
    insert(conn, now, allocation, rows, ports)
    where = ", ".join(f"agent {r['node_id']} slots {r['slot_ids']}" for r in rows)
    append_master_line(conn, now, allocation.task_id, f"assigned to {where}", allocation_id=allocation_id)


def insert(
    conn: Connection,
    now: datetime,
    allocation: Allocation,
    rows: list[RunnerValues],
    ports: PortChoice,
) -> None:
    """Write the rows of an allocation's runners, and its ports."""
    runners.insert_rows(conn, rows)
    values: AllocationValues = {"state": AllocationState.ASSIGNED, "assigned_at": now}
    if allocation.trial_id is not None:
        values["ports"] = ports.choose(allocations.reserved_ports(conn))
    allocations.update_row(conn, allocation.id, values)


def runner_row(allocation_id: str, rank: int, /, **where: Unpack[RunnerValues]) -> RunnerValues:
    """Return a new row; `where`: engine, node_id, slot_ids, device, address."""
    return {
        "resource_id": str(uuid.uuid4()),
        "allocation_id": allocation_id,
        "container_id": str(uuid.uuid4()),
        "rank": rank,
        "state": AllocationState.ASSIGNED,
        **where,
    }


def _runner(allocation_id: str, rank: int, capacity: Capacity, slots: int) -> RunnerValues:
    taken = capacity.take(slots)
    addresses = capacity.node.addresses
    return runner_row(
        allocation_id,
        rank,
        engine=capacity.engine,
        node_id=capacity.node.id,
        slot_ids=[slot.id for slot in taken],
        device=taken[0].device if taken else Device.CPU,
        address=addresses[0] if addresses else "127.0.0.1",
    )
