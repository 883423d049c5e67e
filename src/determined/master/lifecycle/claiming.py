"""A runner that its engine started on another host asks for its launch file: given once, to one sitter."""

from datetime import datetime

from sqlalchemy import Connection

from determined.errors import Conflict, Gone, NotFound
from determined.master.db.queries import allocation as allocations
from determined.master.db.queries import runner as runners
from determined.master.db.queries.log import append_master_line
from determined.master.db.rows.allocations import Allocation, Runner, RunnerValues
from determined.wire.claim import ClaimRequest


def claim(conn: Connection, now: datetime, request: ClaimRequest) -> Runner:
    """Return the runner's row, after writing its claimant and where it really runs.

    Raises:
        NotFound: the allocation has no such rank.
        Gone: it is over, or about to be: there is nothing to begin.
        Conflict: another sitter has it.
    """
    allocation = allocations.get(conn, request.allocation_id)
    group = runners.of_allocation(conn, request.allocation_id)
    runner = next((row for row in group if row.rank == request.rank), None)
    if runner is None:
        raise NotFound(f"allocation {request.allocation_id} has {len(group)} runners, none of rank {request.rank}")
    if allocation.ended_at is not None or allocation.kill_at is not None or runner.exited_at is not None:
        raise Gone(f"allocation {request.allocation_id} is over; there is nothing to begin")
    if runner.claimant not in (None, request.claimant):
        raise Conflict(
            f"rank {request.rank} of allocation {request.allocation_id} was begun before; it begins only once"
        )
    if runner.claimant is None:
        _write(conn, now, allocation, runner, request)
    return runners.get(conn, runner.resource_id)


def _write(conn: Connection, now: datetime, allocation: Allocation, runner: Runner, request: ClaimRequest) -> None:
    values: RunnerValues = {
        "claimant": request.claimant,
        "address": runner.address if request.address is None else request.address,
        "node_id": runner.node_id if request.node_id is None else request.node_id,
        "slot_ids": runner.slot_ids if request.slot_ids is None else request.slot_ids,
    }
    runners.update_row(conn, runner.resource_id, values)
    if request.node_id is not None:
        text = f"rank {request.rank} runs on {request.node_id} slots {values['slot_ids']}"
        append_master_line(conn, now, allocation.task_id, text, allocation_id=allocation.id)
