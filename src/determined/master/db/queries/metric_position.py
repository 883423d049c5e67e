"""Position up to which the reports of a group were read, so that a reader who comes back is given only what is new."""

import hashlib
from dataclasses import dataclass

from sqlalchemy import Connection, func, select

from determined.master.db.queries.metric_live import Watermarks, live_chunks, watermarks
from determined.master.db.schema import metric_chunks


@dataclass(frozen=True, slots=True)
class Position:
    """`step`: no report that counts lies beyond it. `reports`: stored ones, archived ones too. `runs`: who reported."""

    step: int
    reports: int
    runs: str

    def __str__(self) -> str:
        return f"{self.step}.{self.reports}.{self.runs}"


def parse(token: str) -> Position | None:
    """Return the position of a token; None for what no `Position` has printed."""
    step, _, rest = token.partition(".")
    reports, _, runs = rest.partition(".")
    if not (step.removeprefix("-").isdecimal() and reports.isdecimal() and len(token) < 100):
        return None
    return Position(int(step), int(reports), runs)


def current(conn: Connection, trial_id: int, group: str) -> Position:
    marks = watermarks(conn, trial_id)
    table = metric_chunks.c
    query = (
        select(table.run_id, func.max(table.last_step), func.sum(table.n))
        .where(table.trial_id == trial_id, table.group == group)
        .group_by(table.run_id)
    )
    step, reports = -1, 0
    for run_id, last, number in conn.execute(query):
        cutoff = marks.cutoff(run_id, group)
        step = max(step, last if cutoff is None else min(last, cutoff - 1))
        reports += int(number)
    return Position(step, reports, _digest(marks))


def goes_on(conn: Connection, trial_id: int, group: str, known: Position, now: Position) -> bool:
    """Is everything that came since `known` beyond it? Not after a run that started over or a late report."""
    if known.runs != now.runs or known.reports > now.reports:
        return False
    beyond = (
        sum(step > known.step and (part.cutoff is None or step < part.cutoff) for step in part.chunk.steps)
        for part in live_chunks(conn, trial_id, group, first=known.step + 1)
    )
    return known.reports + sum(beyond) == now.reports


def _digest(marks: Watermarks) -> str:
    """Return a digest that changes when a run begins or starts earlier: reports of others may be archived then."""
    rows = sorted((mark.run_id, mark.group, mark.first_step) for mark in marks.rows)
    return hashlib.sha256(repr(rows).encode()).hexdigest()[:12]
