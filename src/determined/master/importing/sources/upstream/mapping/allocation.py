"""Allocations of trials' tasks: all are over, and nothing is waited for."""

from determined.master.db.rows.allocations import AllocationValues
from determined.master.importing import shared_rules
from determined.master.importing.notes import Note
from determined.master.importing.sources.upstream.mapping.mapped import Mapped, MappingContext
from determined.master.importing.sources.upstream.reading.allocations import AllocationRow
from determined.master.lifecycle.states import AllocationState, ExitKind


def map_allocation(row: AllocationRow, context: MappingContext) -> Mapped:
    start = row.start_time or row.trial_start
    values: AllocationValues = {
        "id": row.id,
        "task_id": row.task_id,
        "trial_id": row.trial_id,
        "run_id": row.run_id,
        "state": AllocationState.TERMINATED,
        "slots": row.slots or 0,
        "pool": row.pool or context.default_pool,
        "preemptible": True,
        "requested_at": start,
        "started_at": start,
        "ended_at": row.end_time or max(start, row.trial_end or context.now),
        "exit_kind": _kind(row),
        "exit_reason": row.exit_error or row.exit_reason,
        "exit_code": row.status_code,
        "drained": True,
    }
    live = [Note(shared_rules.ALLOCATION_LIVE, row.id)] if row.end_time is None else []
    return Mapped([("allocations", values)], live)


def _kind(row: AllocationRow) -> ExitKind:
    if row.exit_error or row.status_code:
        return ExitKind.ERRORED
    return ExitKind.KILLED if row.end_time is None else ExitKind.COMPLETED
