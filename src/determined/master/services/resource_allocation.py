"""Use of slots: who used how many for how long, every allocation of a span of time, and sums by day or month."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from itertools import pairwise

from determined.errors import InvalidArgument
from determined.master.context import MasterContext
from determined.master.db.queries import resource_allocation as queries
from determined.master.db.queries.resource_allocation import SlotUse
from determined.wire.resource_allocation import ResourceAllocationAggregatedEntry as Aggregated
from determined.wire.resource_allocation import ResourceAllocationAggregationPeriod as Period

_MOST_PERIODS = 5000


@dataclass(frozen=True, slots=True)
class Use:
    """Use by one allocation: the part of it that lies within the time asked for."""

    row: SlotUse
    start: datetime
    end: datetime

    @property
    def seconds(self) -> float:
        return (self.end - self.start).total_seconds()


async def uses(ctx: MasterContext, after: datetime | None, before: datetime | None) -> list[Use]:
    """Return every allocation that held slots between the two moments."""
    if after is None or before is None:
        raise InvalidArgument("the span of time is open; give both timestamp_after and timestamp_before")
    if before < after:
        raise InvalidArgument(f"timestamp_before={before.isoformat()} is earlier than timestamp_after; swap them")
    now = ctx.clock.now()
    rows = await ctx.db.read(lambda conn: queries.overlapping(conn, after, before))
    return [u for row in rows if (u := _cut(row, after, before, now)) is not None]


async def aggregate(ctx: MasterContext, start: str | None, end: str | None, period: Period) -> list[Aggregated]:
    """Slot-seconds of every day or month from `start` to `end`, both included; also of those without any."""
    kind = Period.DAILY if period == Period.UNSPECIFIED else period
    periods = _periods(_date(start, "start_date"), _date(end, "end_date"), kind)
    used = await uses(ctx, periods[0].start, periods[-1].end)
    starts = [p.start for p in periods]
    for use in used:
        touched = slice(bisect_right(starts, use.start) - 1, bisect_left(starts, use.end))
        _add(periods[touched], use)
    return [_entry(p, kind) for p in periods]


@dataclass(slots=True)
class _Sum:
    start: datetime
    end: datetime
    seconds: float = 0.0
    by_user: dict[str, float] = field(default_factory=dict)
    by_label: dict[str, float] = field(default_factory=dict)
    by_pool: dict[str, float] = field(default_factory=dict)
    by_project: dict[str, float] = field(default_factory=dict)


def _cut(row: SlotUse, after: datetime, before: datetime, now: datetime) -> Use | None:
    start, end = max(row.assigned_at, after), min(row.ended_at or now, before)
    return Use(row, start, end) if end > start else None


def _add(periods: Sequence[_Sum], use: Use) -> None:
    for one in periods:
        part = (min(use.end, one.end) - max(use.start, one.start)).total_seconds() * use.row.slots
        one.seconds += part
        _count(one.by_user, use.row.username, part)
        _count(one.by_pool, use.row.pool, part)
        _count(one.by_project, _project(use.row), part)
        for label in use.row.labels or ():
            _count(one.by_label, label, part)


def _project(row: SlotUse) -> str:
    names = (row.workspace_name, row.project_name)
    return "/".join(name for name in names if name is not None)


def _count(sums: dict[str, float], key: str, part: float) -> None:
    sums[key] = sums.get(key, 0.0) + part


def _entry(one: _Sum, period: Period) -> Aggregated:
    return Aggregated(
        period_start=one.start.strftime("%Y-%m" if period == Period.MONTHLY else "%Y-%m-%d"),
        period=period,
        seconds=one.seconds,
        by_username=one.by_user,
        by_experiment_label=one.by_label,
        by_resource_pool=one.by_pool,
        by_project=one.by_project,
    )


def _periods(first: date, last: date, period: Period) -> list[_Sum]:
    if last < first:
        raise InvalidArgument(f"end_date={last} is earlier than start_date={first}; swap them")
    if (last - first).days > _MOST_PERIODS:
        raise InvalidArgument(f"{first} to {last} is more than {_MOST_PERIODS} days; ask for less at a time")
    starts = list(_starts(first, last, period))
    return [_Sum(_midnight(a), _midnight(b)) for a, b in pairwise(starts)]


def _starts(first: date, last: date, period: Period) -> Iterator[date]:
    """Yield the first day of every period, and of the one after the last."""
    day = first.replace(day=1) if period == Period.MONTHLY else first
    while day <= last:
        yield day
        day = _next(day, period)
    yield day


def _next(day: date, period: Period) -> date:
    if period == Period.MONTHLY:
        return (day.replace(day=28) + timedelta(days=4)).replace(day=1)
    return day + timedelta(days=1)


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)


def _date(text: str | None, name: str) -> date:
    """`2026-11-15`, or `2026-11` for the whole month."""
    try:
        day = date.fromisoformat(f"{text}-01" if text and text.count("-") == 1 else text or "")
    except ValueError as e:
        raise InvalidArgument(f"{name}={text!r} is not a date; write it like 2026-11-15 (or 2026-11)") from e
    if not 1970 <= day.year < 9000:
        raise InvalidArgument(f"{name}={text!r} is not a date this cluster can have seen")
    return day
