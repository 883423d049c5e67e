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
    """Table of log rows. `rows` joins it as `l` with the task of each row; the others are expressions of SQL.

    `raw`: the bytes that a row's lines are made of; `body`: these as text, without the head of a formatted line.
    """

    name: str
    rows: str
    trial: str
    task: str
    allocation: str
    raw: str
    body: str
    message: str
    counting: str

    @property
    def columns(self) -> str:
        """Columns in the order of LogRow."""
        return (
            f"{self.trial}, l.id, {self.task}, {self.allocation}, l.agent_id, l.container_id, l.rank_id, l.source,"
            f" l.stdtype::text, l.level::text, l.timestamp AT TIME ZONE 'UTC', l.log, {self.message}"
        )

    @property
    def lines(self) -> str:
        """Number of physical lines of a row, as the mapping counts them; most rows have one."""
        return (
            f"CASE WHEN position('\\x0a'::bytea IN {self.raw}) IN (0, octet_length({self.raw})) THEN 1"
            f" ELSE octet_length({self.body}) - octet_length(replace({self.body}, chr(10), '')) + 1"
            f" - (right({self.body}, 1) = chr(10))::int END"
        )


_TASK_RAW, _TRIAL_RAW = "COALESCE(l.log, ''::bytea)", "COALESCE(l.log, l.message, ''::bytea)"
TASK_LOGS = LogTable(
    "task_logs",
    rows="run_id_task_id x JOIN task_logs l ON l.task_id = x.task_id",
    trial="x.run_id",
    task="l.task_id",
    allocation="l.allocation_id",
    raw=_TASK_RAW,
    body=f"encode({_TASK_RAW}, 'escape')",  # keeps line feeds; what is no ASCII becomes digits
    message="NULL::bytea",
    counting="""
SELECT x.run_id, count(*) FROM run_id_task_id x JOIN task_logs l ON l.task_id = x.task_id GROUP BY 1 ORDER BY 1
""",
)
# Tasks of that time kept their lines by trial (log_version 0).
TRIAL_LOGS = LogTable(
    "trial_logs",
    rows="""trial_logs l LEFT JOIN LATERAL (
  SELECT k.task_id FROM run_id_task_id x JOIN tasks k ON k.task_id = x.task_id
  WHERE x.run_id = l.trial_id ORDER BY k.log_version, k.start_time, k.task_id LIMIT 1) t ON true""",
    trial="l.trial_id",
    task="t.task_id",
    allocation="NULL",
    raw=_TRIAL_RAW,
    body=(
        rf"CASE WHEN l.log IS NULL THEN regexp_replace(encode({_TRIAL_RAW}, 'escape'), "
        rf"'^\[[^]]*\] \S* ?(\[rank=[0-9]+\] )?\|\| ', '') ELSE encode({_TRIAL_RAW}, 'escape') END"
    ),
    message="l.message",
    counting="SELECT trial_id, count(*) FROM trial_logs GROUP BY 1 ORDER BY 1",
)
TABLES = (TASK_LOGS, TRIAL_LOGS)


def counts(source: Source, table: LogTable) -> list[tuple[int, int]]:
    """List (trial, rows)."""
    if not source.has_table(table.name):
        return []
    return [(trial, rows) for trial, rows in source.tuples(table.counting)]


def read(source: Source, table: LogTable, trial_ids: Sequence[int], after: tuple[int, int]) -> Iterator[LogRow]:
    """Stream the rows of trials beyond a place (trial, id of a row), in the order of both."""
    query = f"""
    SELECT {table.columns} FROM {table.rows}
    WHERE {table.trial} = ANY(%(ids)s) AND ({table.trial}, l.id) > (%(trial)s, %(id)s) ORDER BY {table.trial}, l.id
    """
    parameters = {"ids": list(trial_ids), "trial": after[0], "id": after[1]}
    return (LogRow(*row) for row in source.stream(query, parameters, size=2000))


def lines_of_tasks(source: Source, table: LogTable, trial_ids: Sequence[int]) -> list[tuple[str, int]]:
    """List (task, physical lines) of trials."""
    query = f"""
    SELECT {table.task}, sum({table.lines})::bigint FROM {table.rows}
    WHERE {table.trial} = ANY(%(ids)s) AND {table.task} IS NOT NULL GROUP BY 1
    """
    return [(str(task), n) for task, n in source.tuples(query, {"ids": list(trial_ids)})]


def sample(source: Source, table: LogTable, trial_id: int, numbers: Sequence[int]) -> list[tuple[int, LogRow]]:
    """List (physical lines of its task before it, row) of the rows of a trial with these numbers, from 1 on by id."""
    query = f"""
    WITH numbered AS (
      SELECT l.id, row_number() OVER (ORDER BY l.id) AS number,
             sum({table.lines}) OVER (PARTITION BY {table.task} ORDER BY l.id) - ({table.lines}) AS before
      FROM {table.rows} WHERE {table.trial} = %(trial)s)
    SELECT n.before::bigint, {table.columns} FROM {table.rows} JOIN numbered n ON n.id = l.id
    WHERE {table.trial} = %(trial)s AND n.number = ANY(%(numbers)s) ORDER BY l.id
    """
    rows = source.tuples(query, {"trial": trial_id, "numbers": list(numbers)})
    return [(before, LogRow(*row)) for before, *row in rows]
