"""Log lines over HTTP, as older shippers and unmanaged trials send them. Our own runner reports through its journal."""

from collections.abc import Sequence
from datetime import datetime
from functools import partial

from sqlalchemy import Connection

from determined._json import JsonObject
from determined.errors import InvalidArgument
from determined.master.auth.identity import Caller
from determined.master.context import MasterContext
from determined.master.db.log_chunk import LEVELS, Origin
from determined.master.db.queries import log as queries
from determined.master.db.queries.batching import batches
from determined.master.lifecycle import webhooks
from determined.master.services.own_trial import check_task_writer
from determined.wire.log import LogLevel, TaskLog
from determined.wire.report import LogLine

_LINES_AT_ONCE = 5000  # in one transaction
_LEVEL_PREFIX = "LOG_LEVEL_"


async def post(ctx: MasterContext, caller: Caller, lines: Sequence[TaskLog]) -> None:
    """Store lines of one task. Raises Forbidden for the log of another's task."""
    task_id = _one_task(lines)
    now = ctx.clock.now()
    ready = [(_origin(line), _line(line, now)) for line in lines]

    def write(conn: Connection, some: Sequence[tuple[Origin, LogLine]]) -> None:
        check_task_writer(conn, caller, task_id)
        queries.append_mixed(conn, task_id, some)
        _tell_webhooks(conn, now, task_id, some)

    for some in batches(ready, _LINES_AT_ONCE):
        await ctx.db.write(partial(write, some=some))
    ctx.bus.publish(f"task_logs:{task_id}")


def _tell_webhooks(conn: Connection, now: datetime, task_id: str, some: Sequence[tuple[Origin, LogLine]]) -> None:
    """Search the lines for triggers, those of each node together: an event names the node of its line."""
    by_node: dict[str, list[LogLine]] = {}
    for origin, line in some:
        if origin.source == "task":
            by_node.setdefault(origin.agent_id or "", []).append(line)
    for node, lines in by_node.items():
        webhooks.logs_written(conn, now, task_id, node, lines)


def from_older(entries: Sequence[JsonObject]) -> list[TaskLog]:
    """`POST /task-logs`: a bare list with snake_case keys and levels without a prefix."""
    return [_from_older(entry) for entry in entries]


def _from_older(entry: JsonObject) -> TaskLog:
    rank = entry.get("rank_id", entry.get("rank"))
    if not isinstance(entry.get("task_id"), str) or not isinstance(entry.get("log"), str):
        raise InvalidArgument("each entry of /task-logs needs the texts `task_id` and `log`")
    if isinstance(rank, str) and rank.isdecimal() and len(rank) < 10:
        rank = int(rank)  # as upstream's detached mode writes it
    if rank is not None and (isinstance(rank, bool) or not isinstance(rank, int)):
        raise InvalidArgument(f"rank={rank!r} is not a number")
    return TaskLog(
        task_id=entry["task_id"],
        log=entry["log"],
        level=_level(entry.get("level")),
        rank_id=rank,
        timestamp=_text(entry, "timestamp"),
        stdtype=_text(entry, "stdtype"),
        source=_text(entry, "source"),
        agent_id=_text(entry, "agent_id"),
        container_id=_text(entry, "container_id"),
        allocation_id=_text(entry, "allocation_id"),
    )


def _text(entry: JsonObject, key: str) -> str | None:
    value = entry.get(key)
    return None if value is None else str(value)


def _level(value: object) -> LogLevel | None:
    name = str(value or "").upper().removeprefix(_LEVEL_PREFIX)
    return LogLevel(_LEVEL_PREFIX + name) if name in LEVELS[1:] else None


def _one_task(lines: Sequence[TaskLog]) -> str:
    if not lines:
        raise InvalidArgument("the batch has no log lines; send at least one")
    if any(line.id is not None for line in lines):
        raise InvalidArgument("log lines must not carry an id; the master gives them out")
    tasks = {line.task_id for line in lines}
    if len(tasks) > 1:
        raise InvalidArgument(f"the batch is for {len(tasks)} tasks; send one batch per task")
    task_id = tasks.pop()
    if not task_id:
        raise InvalidArgument("the log lines name no task; set taskId")
    return task_id


def _origin(line: TaskLog) -> Origin:
    return Origin(
        line.allocation_id,
        line.container_id,
        line.agent_id,
        line.rank_id,
        line.stdtype or "stdout",
        line.source or "task",
    )


def _line(line: TaskLog, now: datetime) -> LogLine:
    level = line.level.removeprefix(_LEVEL_PREFIX) if line.level else None
    return LogLine(line.log.removesuffix("\n"), _time(line.timestamp, now), level=level)


def _time(text: str | None, now: datetime) -> float:
    if not text:
        return now.timestamp()
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as e:
        raise InvalidArgument(f"timestamp={text!r} is not a time; write it like 2026-11-15T04:00:00Z") from e
    return (moment if moment.tzinfo else moment.replace(tzinfo=now.tzinfo)).timestamp()
