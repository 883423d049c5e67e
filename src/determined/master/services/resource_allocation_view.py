"""Uses of slots as clients get them: wire entries, and CSV for spreadsheets."""

import csv
import io
from collections.abc import Iterable, Sequence

from determined.config import task_kinds
from determined.master.services.resource_allocation import Use
from determined.wire.codec import rfc3339
from determined.wire.resource_allocation import ResourceAllocationAggregatedEntry, ResourceAllocationRawEntry

_RAW = ("experiment_id", "kind", "username", "labels", "slots", "start_time", "end_time", "seconds")
_ALLOCATIONS = (
    "allocation_id", "task_type", "username", "workspace_name", "resource_pool", "experiment_id", "slots",
    "start_time", "end_time", "starting_seconds",
)  # fmt: skip
_AGGREGATED = ("aggregation_type", "aggregation_key", "date", "seconds")
# What a spreadsheet would take for a formula.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def raw_entry(use: Use) -> ResourceAllocationRawEntry:
    row = use.row
    kind = task_kinds.KINDS[row.task_type].usage_word
    return ResourceAllocationRawEntry(
        kind=kind,
        start_time=rfc3339(use.start),
        end_time=rfc3339(use.end),
        seconds=use.seconds,
        slots=row.slots,
        user_id=row.user_id,
        username=row.username,
        labels=list(row.labels or ()),
        experiment_id=row.experiment_id,
    )


def raw_csv(uses: Iterable[Use]) -> str:
    entries = (raw_entry(use) for use in uses)
    rows = (
        (e.experiment_id, e.kind, e.username, ",".join(e.labels), e.slots, e.start_time, e.end_time, e.seconds)
        for e in entries
    )
    return _csv(_RAW, rows)


def allocations_csv(uses: Iterable[Use]) -> str:
    return _csv(_ALLOCATIONS, (_allocation(use) for use in uses))


def aggregated_csv(entries: Sequence[ResourceAllocationAggregatedEntry]) -> str:
    rows: list[Sequence[object]] = []
    for entry in entries:
        rows.append(("total", "total", entry.period_start, entry.seconds))
        groups = {
            "username": entry.by_username,
            "experiment_label": entry.by_experiment_label,
            "resource_pool": entry.by_resource_pool,
        }
        for name, sums in groups.items():
            rows += [(name, key, entry.period_start, seconds) for key, seconds in sorted(sums.items())]
    return _csv(_AGGREGATED, rows)


def _allocation(use: Use) -> Sequence[object]:
    row = use.row
    starting = (row.started_at - row.assigned_at).total_seconds() if row.started_at else None
    return (
        row.id, row.task_type, row.username, row.workspace_name, row.pool, row.experiment_id,
        row.slots, rfc3339(use.start), rfc3339(use.end) if row.ended_at else "", starting,
    )  # fmt: skip


def _csv(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows([_harmless(cell) for cell in row] for row in rows)
    return text.getvalue()


def _harmless(cell: object) -> object:
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(_FORMULA) else cell
