"""Upstream's log lines of trials: of tasks, and in the older form of trials."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

import msgspec

from determined.master.importing.sources.upstream.source import Source


class LogRow(msgspec.Struct, frozen=True):
    trial_id: int
    id: int
    task_id: str | None
    allocation_id: str | None
    agent_id: str | None
    container_id: str | None
    rank_id: int | None
    source: str | None
    stdtype: str | None
    level: str | None
    time: datetime | None
    log: bytes | None
    message: bytes | None  # of the older form: a formatted line


@dataclass(frozen=True, slots=True)
class LogTable:
    name: str
    query: str
    counting: str


TASK_LOGS = LogTable(
    "task_logs",
    """
SELECT x.run_id, l.id, l.task_id, l.allocation_id, l.agent_id, l.container_id, l.rank_id, l.source, l.stdtype::text,
       l.level::text, l.timestamp AT TIME ZONE 'UTC', l.log, NULL::bytea
FROM run_id_task_id x JOIN task_logs l ON l.task_id = x.task_id
WHERE x.run_id = ANY(%(ids)s) AND (x.run_id, l.id) > (%(trial)s, %(id)s) ORDER BY x.run_id, l.id
""",
    """
SELECT x.run_id, count(*) FROM run_id_task_id x JOIN task_logs l ON l.task_id = x.task_id GROUP BY 1 ORDER BY 1
""",
)
# Tasks of that time kept their lines by trial (log_version 0).
TRIAL_LOGS = LogTable(
    "trial_logs",
    """
SELECT l.trial_id, l.id, t.task_id, NULL, l.agent_id, l.container_id, l.rank_id, l.source, l.stdtype::text,
       l.level::text, l.timestamp AT TIME ZONE 'UTC', l.log, l.message
FROM trial_logs l LEFT JOIN LATERAL (
  SELECT k.task_id FROM run_id_task_id x JOIN tasks k ON k.task_id = x.task_id
  WHERE x.run_id = l.trial_id ORDER BY k.log_version, k.start_time, k.task_id LIMIT 1) t ON true
WHERE l.trial_id = ANY(%(ids)s) AND (l.trial_id, l.id) > (%(trial)s, %(id)s) ORDER BY l.trial_id, l.id
""",
    "SELECT trial_id, count(*) FROM trial_logs GROUP BY 1 ORDER BY 1",
)
TABLES = (TASK_LOGS, TRIAL_LOGS)


def counts(source: Source, table: LogTable) -> list[tuple[int, int]]:
    """List (trial, lines)."""
    if not source.has_table(table.name):
        return []
    return [(trial, lines) for trial, lines in source.tuples(table.counting)]


def read(source: Source, table: LogTable, trial_ids: Sequence[int], after: tuple[int, int]) -> Iterator[LogRow]:
    """Stream the lines of trials beyond a place (trial, id of a line), in the order of both."""
    parameters = {"ids": list(trial_ids), "trial": after[0], "id": after[1]}
    return (LogRow(*row) for row in source.stream(table.query, parameters, size=2000))
