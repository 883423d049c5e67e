"""Upstream's allocations of the tasks of trials."""

from collections.abc import Sequence
from datetime import datetime

import msgspec

from determined.master.importing.sources.upstream.source import Source


class AllocationRow(msgspec.Struct, frozen=True):
    trial_id: int
    id: str
    task_id: str
    run_id: int  # counted back from the last one, which is the trial's current run
    pool: str | None
    slots: int | None
    start_time: datetime | None
    end_time: datetime | None
    trial_start: datetime
    trial_end: datetime | None
    exit_reason: str | None
    exit_error: str | None
    status_code: int | None


_OF_TRIALS = "FROM run_id_task_id x JOIN tasks t ON t.task_id = x.task_id JOIN allocations a ON a.task_id = x.task_id"
_ALLOCATIONS = f"""
SELECT x.run_id, a.allocation_id, a.task_id,
       (GREATEST(r.restart_id, count(*) OVER (PARTITION BY x.run_id)) - count(*) OVER (PARTITION BY x.run_id)
        + row_number() OVER (PARTITION BY x.run_id ORDER BY a.start_time NULLS FIRST, a.allocation_id))::int,
       a.resource_pool, a.slots, a.start_time AT TIME ZONE 'UTC', a.end_time AT TIME ZONE 'UTC', r.start_time,
       r.end_time, a.exit_reason, a.exit_error, a.status_code
{_OF_TRIALS} JOIN runs r ON r.id = x.run_id WHERE x.run_id = ANY(%(ids)s) ORDER BY 1, 4
"""


def trials(source: Source) -> list[tuple[int, int]]:
    """List (trial, allocations) of the trials that have some."""
    query = f"SELECT x.run_id, count(*) {_OF_TRIALS} GROUP BY 1 ORDER BY 1"
    return [(trial, n) for trial, n in source.tuples(query)]


def read(source: Source, trial_ids: Sequence[int]) -> list[AllocationRow]:
    return source.rows(_ALLOCATIONS, AllocationRow, {"ids": list(trial_ids)})
