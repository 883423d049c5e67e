"""Task and trial logs as streams, with filters, head, tail and follow; and their retention."""

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import re2
from sqlalchemy import Connection

from determined._backoff import Backoff
from determined.errors import InvalidArgument
from determined.master.context import MasterContext
from determined.master.db import log_chunk
from determined.master.db.log_filter import LogFilter
from determined.master.db.queries import log as queries
from determined.master.db.queries import log_scope
from determined.master.db.queries.log import Page
from determined.master.db.queries.log_scope import LogScope
from determined.master.services.log_line_view import LineWriter, place_of
from determined.master.services.parse_time import parse_time
from determined.wire.base import OrderBy
from determined.wire.log import LogQuery

_CHUNKS_PER_DELETE = 500
_POLL = Backoff(first=1.0, limit=5.0, jitter=0.5)  # seconds; a lost hint costs at most this much delay
# A follower stays this long after the end when some runner never said that it has sent everything.
_GRACE = timedelta(seconds=5)


def log_filter(params: LogQuery) -> LogFilter:
    """Make a filter of what the wire says.

    Raises:
        InvalidArgument: a time that cannot be read, a pattern that RE2 refuses, or an id against the order.
    """
    if (params.after_id if params.order_by is OrderBy.DESC else params.before_id) is not None:
        raise InvalidArgument("afterId goes with orderBy=ORDER_BY_ASC, beforeId with orderBy=ORDER_BY_DESC")
    text, is_regex = params.search_text, params.enable_regex
    return LogFilter(
        allocation_ids=frozenset(params.allocation_ids or ()),
        agent_ids=frozenset(params.agent_ids or ()),
        container_ids=frozenset(params.container_ids or ()),
        rank_ids=frozenset(params.rank_ids or ()),
        levels=frozenset(log_chunk.LEVEL_CODES.get(lvl.removeprefix("LOG_LEVEL_"), 0) for lvl in params.levels or ()),
        stdtypes=frozenset(params.stdtypes or ()),
        sources=frozenset(params.sources or ()),
        before=parse_time(params.timestamp_before, "timestampBefore"),
        after=parse_time(params.timestamp_after, "timestampAfter"),
        text=None if is_regex else text or None,
        pattern=_pattern(text) if is_regex and text else None,
    )


async def task_logs(ctx: MasterContext, task_id: str, params: LogQuery) -> AsyncIterator[list[object]]:
    """Yield pages of TaskLogsResponse. Raises NotFound and InvalidArgument before the stream starts."""
    lines = log_filter(params)
    await ctx.db.read(lambda conn: log_scope.of_task(conn, task_id))
    return _stream(ctx, lambda conn: log_scope.of_task(conn, task_id), params, lines)


async def trial_logs(ctx: MasterContext, trial_id: int, params: LogQuery) -> AsyncIterator[list[object]]:
    """Yield pages of TrialLogsResponse: all tasks of the trial, one after the other."""
    lines = log_filter(params)
    await ctx.db.read(lambda conn: log_scope.of_trial(conn, trial_id))
    return _stream(ctx, lambda conn: log_scope.of_trial(conn, trial_id), params, lines)


async def sweep(ctx: MasterContext, now: datetime) -> int:
    """Drop the logs of tasks whose retention has passed; answers the number of lines.

    In pieces, so that reports find the writer free in between.
    """
    default = ctx.config.retention_policy.log_retention_days
    removed = 0
    for task_id in await ctx.db.read(lambda conn: log_scope.expired(conn, now, default)):
        removed += await _drop(ctx, task_id)
    return removed


async def _drop(ctx: MasterContext, task_id: str) -> int:
    removed, more = 0, True
    while more:
        lines, more = await ctx.db.write(lambda conn: queries.delete_logs(conn, task_id, _CHUNKS_PER_DELETE))
        removed += lines
    return removed


def _pattern(text: str) -> Any:
    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(text.encode(), options)
    except re2.error as e:
        reason = e.args[0].decode(errors="replace") if e.args and isinstance(e.args[0], bytes) else str(e)
        raise InvalidArgument(f"searchText={text!r} is not a valid RE2 pattern: {reason}") from e


def _stream(
    ctx: MasterContext, find: Callable[[Connection], LogScope], params: LogQuery, lines: LogFilter
) -> AsyncIterator[list[object]]:
    read = _backward if params.order_by is OrderBy.DESC else _forward
    return read(ctx, find, params, lines)


async def _forward(
    ctx: MasterContext, find: Callable[[Connection], LogScope], params: LogQuery, lines: LogFilter
) -> AsyncIterator[list[object]]:
    place = _first_place(params)
    scope = await ctx.db.read(find)
    looks_in_vain = 0
    async with AsyncExitStack() as listening:
        listener = await listening.enter_async_context(ctx.bus.listen(*scope.topics))
        while True:
            step = await ctx.db.read(_reader(find, place, lines))
            if step.lines:
                yield step.lines
            place = step.place
            if place.left == 0:
                return
            if step.more:
                continue
            if not params.follow or step.scope.over(ctx.clock.now(), _GRACE) or ctx.bus.closed:
                return
            if step.scope.topics != scope.topics:  # a continued trial has a task more
                scope = step.scope
                await listening.aclose()
                listener = await listening.enter_async_context(ctx.bus.listen(*scope.topics))
                continue
            hinted = await listener.wait(_poll_seconds(step.scope, looks_in_vain))
            looks_in_vain = 0 if hinted or step.lines else looks_in_vain + 1


def _poll_seconds(scope: LogScope, looks_in_vain: int) -> float:
    """Return how long to wait for a hint: hundreds may follow logs to which nothing is added."""
    return _POLL.delay(0 if scope.ended_at is not None else looks_in_vain)


def _first_place(params: LogQuery) -> "_Place":
    if params.after_id is None:
        return _Place(0, 1, params.limit or None)
    task, line = place_of(params.after_id)
    return _Place(task, line + 1, params.limit or None)


@dataclass(frozen=True, slots=True)
class _Place:
    """Position of a forward reader: which task, which line of it, and how many lines it may still give."""

    task: int
    line: int
    left: int | None


@dataclass(frozen=True, slots=True)
class _Step:
    lines: list[object]
    place: _Place
    more: bool
    scope: LogScope


def _reader(find: Callable[[Connection], LogScope], place: _Place, lines: LogFilter) -> Callable[[Connection], _Step]:
    """Read one page and render it, in the reader thread; scope and lines come from one snapshot."""

    def run(conn: Connection) -> _Step:
        scope = find(conn)
        if place.task >= len(scope.task_ids):
            return _Step([], place, False, scope)
        page = queries.read_forward(conn, scope.task_ids[place.task], place.line, lines, place.left)
        shown = LineWriter(scope, place.task).render(page.records)
        left = None if place.left is None else place.left - len(shown)
        if page.more or place.task == len(scope.task_ids) - 1:
            return _Step(shown, _Place(place.task, page.cursor, left), page.more, scope)
        return _Step(shown, _Place(place.task + 1, 1, left), True, scope)

    return run


async def _backward(
    ctx: MasterContext, find: Callable[[Connection], LogScope], params: LogQuery, lines: LogFilter
) -> AsyncIterator[list[object]]:
    scope = await ctx.db.read(find)
    left = params.limit or None
    newest, before = _last_place(params, len(scope.task_ids))
    for task in reversed(range(min(newest + 1, len(scope.task_ids)))):
        before = before if task == newest else None
        while left != 0:
            page = await ctx.db.read(_backward_reader(scope.task_ids[task], before, lines, left))
            if page.records:
                yield LineWriter(scope, task).render(page.records)
            left = None if left is None else left - len(page.records)
            before = page.cursor
            if not page.more:
                break


def _last_place(params: LogQuery, tasks: int) -> tuple[int, int | None]:
    return (tasks, None) if params.before_id is None else place_of(params.before_id)


def _backward_reader(
    task_id: str, before: int | None, lines: LogFilter, left: int | None
) -> Callable[[Connection], Page]:
    return lambda conn: queries.read_backward(conn, task_id, before, lines, left)
