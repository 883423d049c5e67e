"""Reports and logs under bad luck: a poisonous record, lines that arrive while a page is read, names beyond bounds."""

import asyncio
import secrets

import pytest
from sqlalchemy import Connection
from world import World

from determined.engines.model import Launch
from determined.errors import InvalidArgument
from determined.master.db.database import Database
from determined.master.db.log_filter import LogFilter
from determined.master.db.queries import cluster, log
from determined.master.services import report
from determined.wire.report import CheckpointReport, LogLine, MetricReport, Progress, Record, ReportBatch, Segment


async def test_a_read_sees_one_snapshot_whatever_commits_meanwhile(world: World) -> None:
    await world.submit()
    task = (await world.trial())["task_id"]
    loop = asyncio.get_running_loop()

    def counts(conn: Connection) -> tuple[int, int]:
        before = log.read_backward(conn, task, None, LogFilter()).records
        append = world.db.write(lambda c: log.append_lines(c, task, [LogLine("late", 1.0)]))
        asyncio.run_coroutine_threadsafe(append, loop).result(60)
        after = log.read_backward(conn, task, None, LogFilter()).records
        return len(before), len(after)

    before, after = await world.db.read(counts)
    assert before == after


async def test_a_followed_log_repeats_no_line(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Even where the end of the log and its chunks come from two moments."""
    await world.submit(activate=False)
    task = (await world.trial())["task_id"]
    await world.db.write(lambda c: log.append_lines(c, task, [LogLine(f"a{i}", 1.0) for i in range(300)]))
    end = await world.db.read(lambda c: log.read_forward(c, task, 1, LogFilter()).cursor)
    await world.db.write(lambda c: log.append_lines(c, task, [LogLine(f"b{i}", 1.0) for i in range(50)]))
    with monkeypatch.context() as earlier:
        earlier.setattr(log, "_next_id", lambda conn, task_id: end)
        first = await world.db.read(lambda c: log.read_forward(c, task, 1, LogFilter()))
    second = await world.db.read(lambda c: log.read_forward(c, task, first.cursor, LogFilter()))
    ids = [r.id for r in first.records] + [r.id for r in second.records]
    assert ids == list(range(1, end + 50))


_POISON: dict[str, Record] = {
    "a metric name": MetricReport("training", 1, {secrets.token_hex(20_000): 1.0}, 1.0),
    "progress": Progress(float("nan"), raw=False),
    "a group": MetricReport(secrets.token_hex(20_000), 1, {"a": 1.0}, 1.0),
}


@pytest.mark.parametrize("what", sorted(_POISON))
async def test_a_record_that_cannot_be_stored_is_named_in_the_log_and_passed_over(world: World, what: str) -> None:
    await world.submit()
    [launch] = await world.running()
    good = MetricReport("training", 2, {"loss": 1.0}, 1.0)
    answer = await _send(world, launch, [_POISON[what], good])
    assert answer.positions == {"user-1": 2}
    names = {row["name"] for row in await world.rows("metric_summaries")}
    assert names == {"loss"}
    task = (await world.trial())["task_id"]
    page = await world.db.read(lambda c: log.read_forward(c, task, 1, LogFilter()))
    assert any("was dropped" in r.text or "were dropped" in r.text for r in page.records)


async def test_a_checkpoint_id_too_long_for_an_index_holds_up_nothing(world: World) -> None:
    await world.submit()
    [launch] = await world.running()
    good = MetricReport("training", 2, {"loss": 1.0}, 1.0)
    answer = await _send(world, launch, [CheckpointReport(secrets.token_hex(20_000), 1, {}, {}, 1.0), good])
    assert answer.positions == {"user-1": 2}
    assert [row["name"] for row in await world.rows("metric_summaries")] == ["loss"]


async def test_a_value_past_a_limit_of_the_database_is_the_senders_fault(postgres_url: str) -> None:
    """SQLite takes an index entry of any length."""
    db = Database(postgres_url)
    try:
        with pytest.raises(InvalidArgument, match="does not fit"):
            await db.write(lambda conn: cluster.put(conn, secrets.token_hex(20_000), 1))
    finally:
        await db.close()


async def _send(world: World, launch: Launch, records: list[Record]) -> report.ReportAnswer:
    batch = ReportBatch([Segment("user-1", 1, records)])
    outcome = await world.db.write(
        lambda c: report.write(c, world.clock.now(), launch.allocation_id, launch.resource_id, batch)
    )
    return outcome.answer
