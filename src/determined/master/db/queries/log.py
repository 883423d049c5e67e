"""Log lines of tasks: appended in the caller's transaction, read page by page forwards and backwards."""

from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from math import isnan
from operator import attrgetter

import msgspec
from sqlalchemy import Connection, ScalarSelect, Select, bindparam, delete, func, select, update

from determined.errors import NotFound
from determined.master.db import fetch, log_chunk
from determined.master.db.dialects import upsert
from determined.master.db.log_chunk import Lines, Origin
from determined.master.db.log_filter import LogFilter, LogRecord
from determined.master.db.prepared import prepare
from determined.master.db.rows.logs import LogChunkValues
from determined.master.db.schema import log_chunks, tasks
from determined.wire.report import LogLine

_COALESCE_BELOW = 200  # lines: a last chunk smaller than this is rewritten instead of starting another row
_COALESCE_BYTES = 64 * 1024
_MICRO = 1_000_000
# Integers beyond what datetime can show would break every later read of the task's log.
_MAX_TIME = 253_402_300_799  # 9999-12-31T23:59:59Z
CHUNKS_PER_READ = 16
_HEAD_BYTES = 4096
_WRITER = attrgetter("rank", "stdtype", "source")

# Statements of the reporting path are built once: building one costs more than running it.
_NEXT_ID = prepare(select(tasks.c.next_log_id).where(tasks.c.id == bindparam("task")))
_UPDATE_TASK = prepare(update(tasks).where(tasks.c.id == bindparam("task")))
_SMALL_TAIL = prepare(
    select(log_chunks.c.first_id, log_chunks.c.data).where(
        log_chunks.c.task_id == bindparam("task"),
        log_chunks.c.first_id
        == select(func.max(log_chunks.c.first_id)).where(log_chunks.c.task_id == bindparam("task")).scalar_subquery(),
        log_chunks.c.n < _COALESCE_BELOW,
    )
)


class _Tail(msgspec.Struct, frozen=True):
    first_id: int
    data: bytes


class _StoredChunk(msgspec.Struct, frozen=True):
    first_id: int
    n: int
    data: bytes


@dataclass(frozen=True, slots=True)
class Page:
    """`cursor` is where the next page starts; `more` says that chunks were left."""

    records: list[LogRecord]
    cursor: int
    more: bool


def append_lines(
    conn: Connection,
    task_id: str,
    lines: Sequence[LogLine],
    *,
    allocation_id: str | None = None,
    container_id: str | None = None,
    agent_id: str | None = None,
) -> None:
    """Give the lines their ids and store them after everything the task has said so far."""
    if lines:
        _append(conn, task_id, _columns(lines, allocation_id, container_id, agent_id))


def append_mixed(conn: Connection, task_id: str, lines: Sequence[tuple[Origin, LogLine]]) -> None:
    """Store lines of several origins in one batch, as the older shipper sends them."""
    place: dict[Origin, int] = {}
    origin = [place.setdefault(o, len(place)) for o, _ in lines]
    if lines:
        _append(conn, task_id, _pack([line for _, line in lines], origin, list(place)))


def append_master_line(
    conn: Connection,
    now: datetime,
    task_id: str,
    text: str,
    level: str = "INFO",
    *,
    allocation_id: str | None = None,
) -> None:
    """Store a line that the master itself writes into a task's log."""
    line = LogLine(text, now.timestamp(), "stdout", level, None, "master")
    append_lines(conn, task_id, [line], allocation_id=allocation_id)


def read_forward(conn: Connection, task_id: str, start: int, wanted: LogFilter, limit: int | None = None) -> Page:
    """Read matching lines with ids from `start` on, of at most CHUNKS_PER_READ chunks."""
    end = _next_id(conn, task_id)
    if start >= end:
        return Page([], end, False)
    first = func.coalesce(_chunk_at(task_id, start), 0)
    query = _matching(task_id, wanted).where(log_chunks.c.first_id >= first)
    chunks = fetch.rows(conn, query.order_by(log_chunks.c.first_id).limit(CHUNKS_PER_READ), _StoredChunk)
    records: list[LogRecord] = []
    for chunk in chunks:
        records += [r for r in wanted.pick(chunk.first_id, chunk.data) if start <= r.id < end]
        if limit is not None and len(records) >= limit:
            return Page(records[:limit], records[limit - 1].id + 1, True)
    more = len(chunks) == CHUNKS_PER_READ
    return Page(records, min(end, chunks[-1].first_id + chunks[-1].n) if more else end, more)


def read_backward(
    conn: Connection, task_id: str, before: int | None, wanted: LogFilter, limit: int | None = None
) -> Page:
    """Read matching lines with ids below `before`, newest first; the cursor is the next `before`."""
    query = _matching(task_id, wanted)
    if before is not None:
        query = query.where(log_chunks.c.first_id < before)
    chunks = fetch.rows(conn, query.order_by(log_chunks.c.first_id.desc()).limit(CHUNKS_PER_READ), _StoredChunk)
    records: list[LogRecord] = []
    for chunk in chunks:
        earlier = [r for r in wanted.pick(chunk.first_id, chunk.data) if before is None or r.id < before]
        records += reversed(earlier)
        if limit is not None and len(records) >= limit:
            return Page(records[:limit], records[limit - 1].id, True)
    more = len(chunks) == CHUNKS_PER_READ
    return Page(records, chunks[-1].first_id if chunks else 0, more)


def origins(conn: Connection, task_id: str, start: int) -> tuple[set[Origin], int]:
    """Return who wrote lines from id `start` on, and the id to go on from. Only the heads of chunks are fetched."""
    table = log_chunks.c
    query = select(func.substr(table.data, 1, _HEAD_BYTES), table.first_id).where(
        table.task_id == task_id, table.first_id >= func.coalesce(_chunk_at(task_id, start), 0)
    )
    writers: set[Origin] = set()
    for head, first_id in conn.execute(query).all():
        whole = bytes(head)
        if not log_chunk.has_origins(whole):
            key = (table.task_id == task_id, table.first_id == first_id)
            whole = conn.execute(select(table.data).where(*key)).scalar_one()
        writers.update(log_chunk.origins(whole))
    return writers, _next_id(conn, task_id)


def delete_logs(conn: Connection, task_id: str, limit: int) -> tuple[int, bool]:
    """Drop the oldest chunks of a task, at most `limit`: how many lines went, and whether there may be more."""
    table = log_chunks.c
    query = select(table.first_id, table.n).where(table.task_id == task_id).order_by(table.first_id).limit(limit)
    chunks = conn.execute(query).all()
    if not chunks:
        return 0, False
    last, _ = chunks[-1]
    conn.execute(delete(log_chunks).where(table.task_id == task_id, table.first_id <= last))
    return sum(lines for _, lines in chunks), len(chunks) == limit


def _columns(
    lines: Sequence[LogLine], allocation_id: str | None, container_id: str | None, agent_id: str | None
) -> Lines:
    writers = list(map(_WRITER, lines))
    place = {writer: i for i, writer in enumerate(dict.fromkeys(writers))}
    origins = [Origin(allocation_id, container_id, agent_id, *writer) for writer in place]
    return _pack(lines, list(map(place.__getitem__, writers)), origins)


def _pack(lines: Sequence[LogLine], origin: list[int], origins: list[Origin]) -> Lines:
    levels = [x.level for x in lines]
    codes = {level: log_chunk.LEVEL_CODES.get(level, 0) for level in set(levels)}
    return Lines(
        [x.text for x in lines],
        array("q", _micros([x.time for x in lines])),
        bytes(map(codes.__getitem__, levels)),  # an unknown level counts as none rather than losing the line
        origin,
        origins,
    )


def _micros(times: list[float]) -> list[int]:
    if min(times) >= 0 and max(times) <= _MAX_TIME and not isnan(sum(times)):
        return [int(t * _MICRO + 0.5) for t in times]
    # a broken clock must not cost the line
    return [int(t * _MICRO + 0.5) if 0 <= t <= _MAX_TIME else 0 for t in times]


def _append(conn: Connection, task_id: str, lines: Lines) -> None:
    first_id = _next_id(conn, task_id)
    end = first_id + len(lines.texts)
    tail = _small_tail(conn, task_id)
    if tail is not None and len(tail.data) < _COALESCE_BYTES:
        first_id = tail.first_id
        lines = log_chunk.decode(tail.data) + lines
    row: LogChunkValues = {
        "task_id": task_id,
        "first_id": first_id,
        "n": len(lines.texts),
        "min_time": log_chunk.to_datetime(min(lines.times)),
        "max_time": log_chunk.to_datetime(max(lines.times)),
        "levels": lines.level_mask,
        "data": log_chunk.encode(lines),
    }
    upsert(conn, log_chunks, row, ["task_id", "first_id"])
    fetch.change(conn, _UPDATE_TASK, {"task": task_id, "next_log_id": end})


def _next_id(conn: Connection, task_id: str) -> int:
    next_id = fetch.scalar(conn, _NEXT_ID, {"task": task_id})
    if next_id is None:
        raise NotFound(f"task {task_id} does not exist")
    return next_id


def _small_tail(conn: Connection, task_id: str) -> _Tail | None:
    return fetch.row(conn, _SMALL_TAIL, _Tail, {"task": task_id})


def _chunk_at(task_id: str, line: int) -> ScalarSelect[int]:
    """Select the first id of the chunk in which a line lies: a follower starts there and never looks at older ones."""
    table = log_chunks.c
    return select(func.max(table.first_id)).where(table.task_id == task_id, table.first_id <= line).scalar_subquery()


def _matching(task_id: str, wanted: LogFilter) -> Select[int, int, bytes]:
    query = select(log_chunks.c.first_id, log_chunks.c.n, log_chunks.c.data).where(log_chunks.c.task_id == task_id)
    if wanted.levels:
        mask = sum(1 << code for code in wanted.levels)
        query = query.where(log_chunks.c.levels.bitwise_and(mask) != 0)
    if wanted.after is not None:
        query = query.where(log_chunks.c.max_time > wanted.after)
    if wanted.before is not None:
        query = query.where(log_chunks.c.min_time <= wanted.before)
    return query
