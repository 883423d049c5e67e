"""Verification of logs against the source: the lines of every task, and sampled rows value by value."""

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from determined.errors import NotFound
from determined.master.db.log_chunk import Origin
from determined.master.db.log_filter import LogFilter, LogRecord
from determined.master.db.queries import import_check, log
from determined.master.importing.sources.upstream.mapping.log import map_line
from determined.master.importing.sources.upstream.reading import logs
from determined.master.importing.sources.upstream.reading.logs import LogRow, LogTable
from determined.master.importing.sources.upstream.source import Source
from determined.master.importing.target import Target
from determined.wire.report import LogLine

_SAMPLES = 50  # rows
_COMPARED = 100  # lines of one row
_TRIALS = 500  # of one query
_MICRO = 1_000_000


@dataclass(frozen=True, slots=True)
class LogCheck:
    """`rows`: rows of each trial in the source, by table; empty where logs are not imported."""

    source: Source
    target: Target
    trials: Sequence[int]
    rows: dict[str, list[tuple[int, int]]]

    def counts(self) -> Iterator[str]:
        """Compare the physical lines of every task."""
        for start in range(0, len(self.trials), _TRIALS) if any(self.rows.values()) else ():
            part = self.trials[start : start + _TRIALS]
            expected = self._lines(logs.TABLES, part)
            stored = self.target.read(lambda conn, part=part: import_check.log_lines(conn, part))  # type: ignore[misc]
            for task in sorted(expected.keys() | stored.keys()):
                if expected[task] != stored.get(task, 0):
                    yield f"task {task}: {expected[task]} log lines, {stored.get(task, 0)} are here"

    def samples(self, sampler: random.Random) -> Iterator[str]:
        """Compare the lines of some rows."""
        places = [(table, trial, n) for table in logs.TABLES for trial, n in self.rows.get(table.name, ()) if n]
        chosen: dict[tuple[LogTable, int], set[int]] = {}
        weights = [n for _, _, n in places]
        for table, trial, n in sampler.choices(places, weights, k=_SAMPLES) if places else ():
            chosen.setdefault((table, trial), set()).add(sampler.randrange(n) + 1)
        for (table, trial), numbers in chosen.items():
            earlier = self._lines(logs.TABLES[: logs.TABLES.index(table)], [trial])
            for before, row in logs.sample(self.source, table, trial, sorted(numbers)):
                if row.task_id is not None:  # else it is counted as left out
                    yield from self._compare(row, row.task_id, before + earlier[row.task_id])

    def _lines(self, tables: Sequence[LogTable], trial_ids: Sequence[int]) -> Counter[str]:
        """Count the lines of each task in the source."""
        lines: Counter[str] = Counter()
        for table in tables:
            for task, n in logs.lines_of_tasks(self.source, table, trial_ids) if self.rows.get(table.name) else ():
                lines[task] += n
        return lines

    def _compare(self, row: LogRow, task_id: str, before: int) -> Iterator[str]:
        mapped, _ = map_line(row)
        expected = [_record(before + 1 + i, *one) for i, one in enumerate(mapped[:_COMPARED])]
        stored = self._stored(task_id, before + 1, len(expected))
        if stored != expected:
            place = next((i for i, (a, b) in enumerate(zip(expected, stored, strict=False)) if a != b), len(stored))
            actual = stored[place] if place < len(stored) else None
            yield f"task {task_id}, line {before + 1 + place}: {expected[place]} is stored as {actual}"

    def _stored(self, task_id: str, first: int, count: int) -> list[LogRecord]:
        try:
            return self.target.read(lambda conn: log.read_forward(conn, task_id, first, LogFilter(), count)).records
        except NotFound:
            return []


def _record(id_: int, origin: Origin, line: LogLine) -> LogRecord:
    return LogRecord(id_, max(0, int(line.time * _MICRO + 0.5)), line.level or "", origin, line.text)
