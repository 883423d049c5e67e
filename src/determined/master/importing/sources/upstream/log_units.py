"""Units of log lines: some ten thousand rows in the order of trials."""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field

from sqlalchemy import Connection

from determined.master.db.log_chunk import Origin
from determined.master.db.queries import log
from determined.master.importing.journal import Journal, Unit
from determined.master.importing.notes import Tally
from determined.master.importing.sources.upstream import rules
from determined.master.importing.sources.upstream.mapping.log import map_line
from determined.master.importing.sources.upstream.reading import logs
from determined.master.importing.sources.upstream.reading.logs import LogRow, LogTable
from determined.master.importing.sources.upstream.source import Source
from determined.wire.report import LogLine

_ROWS = 10_000
_TRIALS = 500  # of one query
_CHUNK = 1000  # lines
_START = (0, 0)


def step_name(table: str) -> str:
    return f"lines of {table}"


@dataclass(slots=True)
class _Collected:
    rows: int = 0
    upto: tuple[int, int] = _START
    tally: Tally = field(default_factory=Tally)
    lines: dict[str, list[tuple[Origin, LogLine]]] = field(default_factory=dict)

    def add(self, row: LogRow) -> None:
        self.rows += 1
        self.upto = (row.trial_id, row.id)
        if row.task_id is None:
            self.tally.add_many(rules.LOST_LOGS, 1, f"trial {row.trial_id}, line {row.id}")
            return
        records, is_bad = map_line(row)
        self.lines.setdefault(row.task_id, []).extend(records)
        if is_bad:
            self.tally.add_many(rules.LOG_BYTES, 1, f"task {row.task_id}, line {row.id}")

    def write(self, conn: Connection) -> None:
        for task_id, lines in self.lines.items():
            for start in range(0, len(lines), _CHUNK):
                log.append_mixed(conn, task_id, lines[start : start + _CHUNK])


def store(source: Source, journal: Journal, table: LogTable, trial_ids: Sequence[int]) -> None:
    """Store the lines of trials from where an earlier run has ended."""
    step = step_name(table.name)
    done = journal.upto(step)
    after = (done[0], done[1]) if done else _START
    for start in range(bisect_left(trial_ids, after[0]), len(trial_ids), _TRIALS):
        collected = _Collected()
        for row in logs.read(source, table, trial_ids[start : start + _TRIALS], after):
            collected.add(row)
            if collected.rows >= _ROWS:
                _store(journal, step, collected)
                collected = _Collected()
        if collected.rows:
            _store(journal, step, collected)


def _store(journal: Journal, step: str, collected: _Collected) -> None:
    unit = Unit(step, collected.rows, "", [*collected.upto], collected.tally)
    journal.store(unit, collected.write)
