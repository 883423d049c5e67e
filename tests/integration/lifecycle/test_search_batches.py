"""Large clean-ups leave the writer free for others: they go in pieces, and one cut short is taken up again."""

from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import Connection, Table, event
from world import World

from determined.errors import FailedPrecondition
from determined.master.background import deletion
from determined.master.background.deletion import ExperimentDeleter
from determined.master.db import schema
from determined.master.db.queries import log, metric, metric_trial
from determined.master.lifecycle import experiment
from determined.master.services import log as log_service
from determined.wire.report import LogLine, MetricReport

FULL = 300  # lines that fill a chunk


class Writes:
    """Rows deleted by each statement on a table."""

    def __init__(self, world: World, table: str) -> None:
        self._engine, self._table = world.db.engine, table
        self.deleted: list[int] = []

    def __enter__(self) -> "Writes":
        event.listen(self._engine, "after_cursor_execute", self._note)
        return self

    def __exit__(self, *_: object) -> None:
        event.remove(self._engine, "after_cursor_execute", self._note)

    def _note(self, _conn: Any, cursor: Any, statement: str, *_rest: Any) -> None:
        if statement.startswith(f"DELETE FROM {self._table}") and cursor.rowcount > 0:
            self.deleted.append(cursor.rowcount)


async def fill(world: World, chunks: int) -> None:
    """Logs and metrics of the first trial."""
    task = (await world.trial())["task_id"]

    def write(conn: Connection) -> None:
        for _ in range(chunks):
            log.append_lines(conn, task, [LogLine("x", 1.0)] * FULL)
        who = metric_trial.reporter(conn, 1)
        names = {f"m{i}": 1.0 for i in range(chunks)}
        metric.append_reports(conn, who, [MetricReport("training", 1, names, 1.0)])

    await world.db.write(write)


async def count(world: World, table: str) -> int:
    return len(await world.rows(table))


@pytest.fixture
def in_threes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_service, "_CHUNKS_PER_DELETE", 3)
    monkeypatch.setattr(deletion, "_ROWS_AT_A_TIME", 3)


@pytest.mark.usefixtures("in_threes")
async def test_expired_logs_go_in_pieces(world: World) -> None:
    first = await world.submit(activate=False)
    await fill(world, 8)
    await world.write(experiment.kill, first)
    later = world.clock.now() + timedelta(days=400)
    await world.db.write(lambda c: c.execute(schema.tasks.update().values(log_retention_days=1)))
    before = await count(world, "log_chunks")
    with Writes(world, "log_chunks") as writes:
        removed = await log_service.sweep(world.ctx, later)
    assert removed == 8 * FULL
    assert sum(writes.deleted) == before
    assert max(writes.deleted) == 3
    assert await count(world, "log_chunks") == 0
    assert await log_service.sweep(world.ctx, later) == 0


@pytest.mark.usefixtures("in_threes")
@pytest.mark.parametrize("table", ["log_chunks", "metric_ranges", "metric_summaries", "trials"])
async def test_an_experiment_is_deleted_in_pieces(world: World, table: str) -> None:
    first = await world.submit(
        activate=False,
        searcher={"name": "random", "metric": "loss", "max_trials": 5, "max_concurrent_trials": 5},
        hyperparameters={"x": {"type": "int", "minval": 0, "maxval": 100}},
    )
    other = await world.submit(activate=False)
    await fill(world, 8)
    await world.write(experiment.kill, first)
    await world.write(experiment.begin_delete, first)
    before = await count(world, table)
    with Writes(world, table) as writes:
        await ExperimentDeleter(world.ctx).step()
    assert sum(writes.deleted) == before - (table == "trials")
    assert max(writes.deleted) <= 3
    assert [e["id"] for e in await world.rows("experiments")] == [other]
    assert [t["experiment_id"] for t in await world.rows("trials")] == [other]


@pytest.mark.usefixtures("in_threes")
@pytest.mark.parametrize("table", [schema.search_history, schema.search_events])
async def test_what_a_deleted_search_knew_goes_in_pieces(world: World, table: Table) -> None:
    first = await world.submit(activate=False)
    await world.submit(activate=False)
    await world.write(experiment.kill, first)
    number, extra = list(table.primary_key.columns)[1].name, {"request_id": "r"} if "request_id" in table.c else {}
    rows = [{"experiment_id": first, number: 100 + n, "event": {"tag": "t"}, **extra} for n in range(8)]
    await world.db.write(lambda c: c.execute(table.insert(), rows))
    others = [row for row in await world.rows(table.name) if row["experiment_id"] != first]
    await world.write(experiment.begin_delete, first)
    with Writes(world, table.name) as writes:
        await ExperimentDeleter(world.ctx).step()
    assert sum(writes.deleted) >= 8 and max(writes.deleted) == 3
    assert await world.rows(table.name) == others


async def test_only_an_experiment_that_is_being_deleted_loses_rows(world: World) -> None:
    first = await world.submit(activate=False)
    with pytest.raises(FailedPrecondition):
        await world.db.write(lambda c: experiment.delete_some(c, first, 10))
    assert await count(world, "trials") == 1


async def test_a_deletion_cut_short_is_taken_up_again(world: World) -> None:
    first = await world.submit(activate=False)
    await fill(world, 2)
    await world.write(experiment.kill, first)
    await world.write(experiment.begin_delete, first)
    assert await world.db.write(lambda c: experiment.delete_some(c, first, 1))
    await world.restart()
    await ExperimentDeleter(world.ctx).step()
    assert await count(world, "experiments") == 0
