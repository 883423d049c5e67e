"""Counts of experiments, trials and allocations by state."""

from sqlalchemy import Connection, func, select

from determined.master.db.schema import allocations, experiments, trials


def by_state(conn: Connection) -> dict[tuple[str, str], int]:
    """{("experiment", "ACTIVE"): 3, ...}."""
    counts: dict[tuple[str, str], int] = {}
    for noun, table in (("experiment", experiments), ("trial", trials), ("allocation", allocations)):
        rows = conn.execute(select(table.c.state, func.count()).group_by(table.c.state))
        counts.update({(noun, state): number for state, number in rows})
    return counts
