"""Rows by long lists of ids."""

from database_world import World
from sqlalchemy import select

from determined.master.db.queries.batching import load_in_order
from determined.master.db.rows.experiments import Job
from determined.master.db.schema import jobs


def test_rows_come_in_the_order_of_ids_and_unknown_ids_are_left_out(world: World) -> None:
    first, second, third = (world.job({}) for _ in range(3))
    unknown = [f"unknown-{number}" for number in range(1200)]  # more than one statement takes
    rows = load_in_order(world.conn, select(jobs), Job, jobs.c.id, [third, *unknown, first, second])
    assert [row.id for row in rows] == [third, first, second]
