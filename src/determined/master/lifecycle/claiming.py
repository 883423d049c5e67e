"""A runner that its engine started on another host asks for its launch file: given once, to one sitter."""

from datetime import datetime
from typing import Any

from sqlalchemy import Connection, RowMapping

from determined.errors import Conflict, Gone, NotFound
from determined.master.db.queries import allocation as allocations
from determined.master.db.queries import runner as runners
from determined.master.db.queries.log import append_master_line
from determined.wire.claim import ClaimRequest


def claim(conn: Connection, now: datetime, asked: ClaimRequest) -> RowMapping:
    """The runner's row. Where it really runs is written down with the claimant.

    Raises:
        NotFound: the allocation has no such rank.
        Gone: it is over, or about to be: there is nothing to begin.
        Conflict: another sitter has it.
    """
    allocation = allocations.get(conn, asked.allocation_id)
    group = runners.of_allocation(conn, asked.allocation_id)
    runner = next((row for row in group if row["rank"] == asked.rank), None)
    if runner is None:
        raise NotFound(f"allocation {asked.allocation_id} has {len(group)} runners, none of rank {asked.rank}")
    if allocation["ended_at"] is not None or allocation["kill_at"] is not None or runner["exited_at"] is not None:
        raise Gone(f"allocation {asked.allocation_id} is over; there is nothing to begin")
    if runner["claimant"] not in (None, asked.claimant):
        raise Conflict(f"rank {asked.rank} of allocation {asked.allocation_id} was begun before; it begins only once")
    if runner["claimant"] is None:
        _write(conn, now, allocation, runner, asked)
    return runners.get(conn, runner["resource_id"])


def _write(conn: Connection, now: datetime, allocation: RowMapping, runner: RowMapping, asked: ClaimRequest) -> None:
    told = {"node_id": asked.node_id, "address": asked.address, "slot_ids": asked.slot_ids}
    values: dict[str, Any] = {name: value for name, value in told.items() if value is not None}
    runners.update_row(conn, runner["resource_id"], {**values, "claimant": asked.claimant})
    if asked.node_id is not None:
        slots = asked.slot_ids if asked.slot_ids is not None else runner["slot_ids"]
        text = f"rank {asked.rank} runs on {asked.node_id} slots {slots}"
        append_master_line(conn, now, allocation["task_id"], text, allocation_id=allocation["id"])
