"""Logs written in batches of any size and read in pages of any size: every line once, in order, as the filter says."""

import random
import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pytest
import re2
from database_world import World
from sqlalchemy import Connection

from determined.master.db import log_chunk
from determined.master.db.log_chunk import Origin
from determined.master.db.log_filter import NO_RANK, LogFilter
from determined.master.db.queries import log, trial
from determined.wire.report import LogLine

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
WORDS = ["", "start", "Epoch 3", "GRÖSSE größe", "50% done", "a.b*c", "🚀", "Traceback (most recent call last):"]
LEVELS = [None, "DEBUG", "INFO", "WARNING", "ERROR"]
ORIGINS = [
    Origin("a.1", "c1", "node-1", 0, "stdout", "task"),
    Origin("a.1", "c1", "node-1", 1, "stderr", "task"),
    Origin("a.2", "c2", "node-2", None, "stdout", "master"),
    Origin(None, None, None, None, "stdout", "agent"),
]


@dataclass(frozen=True)
class Said:
    id: int
    origin: Origin
    level: str | None
    seconds: int
    text: str


@pytest.fixture
def task_id(conn: Connection, world: World) -> str:
    return trial.get(conn, world.trial(world.experiment({}), {})).task_id


def write(conn: Connection, task_id: str, rng: random.Random, batches: int, largest: int) -> list[Said]:
    """Batches whose times go back and forth, as lines of several processes do."""
    said: list[Said] = []
    for _ in range(batches):
        origins = rng.sample(ORIGINS, rng.randint(1, 2))
        new = [
            Said(n + 1, rng.choice(origins), rng.choice(LEVELS), rng.randrange(1000), f"{rng.choice(WORDS)} {n}")
            for n in range(len(said), len(said) + rng.randint(1, largest))
        ]
        lines = [(one.origin, LogLine(one.text, float(one.seconds), level=one.level)) for one in new]
        log.append_mixed(conn, task_id, lines)
        said += new
    return said


def forward(conn: Connection, task_id: str, wanted: LogFilter, limit: int | None) -> list[int]:
    found: list[int] = []
    cursor, pages = 1, 0
    while True:
        page = log.read_forward(conn, task_id, cursor, wanted, limit)
        assert limit is None or len(page.records) <= limit
        assert page.cursor >= cursor
        found += [record.id for record in page.records]
        cursor, pages = page.cursor, pages + 1
        assert pages < 10_000
        if not page.more:
            return found


def backward(conn: Connection, task_id: str, wanted: LogFilter, limit: int | None) -> list[int]:
    found: list[int] = []
    before: int | None = None
    for _ in range(10_000):
        page = log.read_backward(conn, task_id, before, wanted, limit)
        found += [record.id for record in page.records]
        before = page.cursor
        if not page.more:
            return found
    raise AssertionError("the log never ended")


def random_filter(rng: random.Random) -> LogFilter:
    def some(values: list[str]) -> frozenset[str]:
        return frozenset(rng.sample(values, rng.randint(1, len(values)))) if rng.random() < 0.25 else frozenset()

    text = rng.choice(WORDS) if rng.random() < 0.3 else None
    return LogFilter(
        allocation_ids=some(["a.1", "a.2"]),
        agent_ids=some(["node-1", "node-2", "none"]),
        container_ids=some(["c1", "c2"]),
        rank_ids=frozenset(rng.sample([NO_RANK, 0, 1, 7], 2)) if rng.random() < 0.3 else frozenset(),
        stdtypes=some(["stdout", "stderr"]),
        sources=some(["task", "master", "agent"]),
        levels=frozenset(rng.sample(range(len(log_chunk.LEVELS)), 2)) if rng.random() < 0.3 else frozenset(),
        after=EPOCH + timedelta(seconds=rng.randrange(1000)) if rng.random() < 0.3 else None,
        before=EPOCH + timedelta(seconds=rng.randrange(1000)) if rng.random() < 0.3 else None,
        text=text,
        pattern=re2.compile(rb"\d*[02468]$") if text is None and rng.random() < 0.3 else None,
    )


def fits(wanted: LogFilter, one: Said) -> bool:
    """The filter, said once more and line by line."""
    moment = EPOCH + timedelta(seconds=one.seconds)
    origin = one.origin
    rank = NO_RANK if origin.rank is None else origin.rank
    conditions = [
        not wanted.allocation_ids or origin.allocation_id in wanted.allocation_ids,
        not wanted.agent_ids or origin.agent_id in wanted.agent_ids,
        not wanted.container_ids or origin.container_id in wanted.container_ids,
        not wanted.rank_ids or rank in wanted.rank_ids,
        not wanted.stdtypes or origin.stdtype in wanted.stdtypes,
        not wanted.sources or origin.source in wanted.sources,
        not wanted.levels or log_chunk.LEVELS.index(one.level or "") in wanted.levels,
        wanted.after is None or moment > wanted.after,
        wanted.before is None or moment <= wanted.before,
        (wanted.text or "").lower() in one.text.lower(),
        wanted.pattern is None or re.search(r"\d*[02468]$", one.text) is not None,
    ]
    return all(conditions)


@pytest.mark.parametrize(("seed", "batches", "largest"), [(1, 40, 8), (2, 20, 260), (3, 200, 2)])
def test_combined_filters_pick_the_same_lines_forwards_and_backwards(
    conn: Connection, task_id: str, seed: int, batches: int, largest: int
) -> None:
    rng = random.Random(seed)
    said = write(conn, task_id, rng, batches, largest)
    for _ in range(12):
        wanted = random_filter(rng)
        expected = [one.id for one in said if fits(wanted, one)]
        limit = rng.choice([None, 7, 100])
        assert forward(conn, task_id, wanted, limit) == expected, wanted
        assert backward(conn, task_id, wanted, limit) == expected[::-1], wanted


@pytest.mark.parametrize("size", [1, 199, 200, 201])
def test_lines_on_both_sides_of_a_chunks_border_are_read_once(conn: Connection, task_id: str, size: int) -> None:
    for start in range(0, 3 * size, size):
        log.append_lines(conn, task_id, [LogLine(f"{start + n}", 1.0) for n in range(size)])
    texts = [str(n) for n in range(3 * size)]
    for start in sorted({1, size, size + 1, 2 * size, 3 * size}):
        page = log.read_forward(conn, task_id, start, LogFilter())
        assert [record.text for record in page.records] == texts[start - 1 :]
        back = log.read_backward(conn, task_id, start, LogFilter())
        assert [record.text for record in back.records] == texts[: start - 1][::-1]
    assert log.read_forward(conn, task_id, 3 * size + 1, LogFilter()).records == []


def test_a_follower_who_reads_while_lines_come_sees_each_once(conn: Connection, task_id: str) -> None:
    rng = random.Random(9)
    cursor, seen, written = 1, [], 0
    for _ in range(60):
        batch = rng.randint(1, 90)
        log.append_lines(conn, task_id, [LogLine(str(written + n), 1.0) for n in range(batch)])
        written += batch
        page = log.read_forward(conn, task_id, cursor, LogFilter(), rng.choice([None, 20, 50]))
        seen += [record.text for record in page.records]
        cursor = page.cursor
    seen += [record.text for record in log.read_forward(conn, task_id, cursor, LogFilter()).records]
    assert seen == [str(n) for n in range(written)]


def test_a_filter_that_fits_nothing_still_moves_a_follower_to_the_end(conn: Connection, task_id: str) -> None:
    for start in range(20):
        log.append_lines(conn, task_id, [LogLine(f"{start}", 1.0)] * 300)
    wanted = LogFilter(text="absent")
    assert forward(conn, task_id, wanted, None) == []
    nothing = LogFilter(levels=frozenset({6}))
    assert log.read_forward(conn, task_id, 1, nothing).cursor == 20 * 300 + 1


def test_what_retention_drops_leaves_the_ids_of_the_rest(conn: Connection, task_id: str) -> None:
    for start in range(5):
        log.append_lines(conn, task_id, [LogLine(f"{start}", 1.0)] * 250)
    assert log.delete_logs(conn, task_id, 2) == (500, True)
    assert [r.id for r in log.read_forward(conn, task_id, 1, LogFilter()).records] == list(range(501, 1251))
    assert log.read_forward(conn, task_id, 100, LogFilter(), 1).records[0].id == 501
    assert log.delete_logs(conn, task_id, 3) == (750, True)
    assert log.delete_logs(conn, task_id, 3) == (0, False)
    log.append_lines(conn, task_id, [LogLine("again", 1.0)])
    assert [r.id for r in log.read_forward(conn, task_id, 1, LogFilter()).records] == [1251]


def test_the_logs_of_two_tasks_do_not_mix(conn: Connection, world: World, task_id: str) -> None:
    other = trial.get(conn, world.trial(world.experiment({}), {})).task_id
    for n in range(30):
        log.append_lines(conn, task_id if n % 3 else other, [LogLine(f"{n}", 1.0)])
    texts = [r.text for r in log.read_forward(conn, other, 1, LogFilter()).records]
    assert texts == [str(n) for n in range(0, 30, 3)]
    log.delete_logs(conn, other, 100)
    assert len(log.read_forward(conn, task_id, 1, LogFilter()).records) == 20


@pytest.mark.parametrize("time", [float("nan"), float("inf"), -1.0, 1e300, 253_402_300_800.0])
def test_a_time_that_no_clock_shows_becomes_the_epoch_and_spares_its_neighbours(
    conn: Connection, task_id: str, time: float
) -> None:
    log.append_lines(conn, task_id, [LogLine("a", 5.0), LogLine("b", time), LogLine("c", 253_402_300_799.0)])
    found = log.read_forward(conn, task_id, 1, LogFilter()).records
    assert [record.time for record in found] == [5_000_000, 0, 253_402_300_799_000_000]
    recent = LogFilter(after=EPOCH + timedelta(seconds=4))
    assert [r.text for r in log.read_forward(conn, task_id, 1, recent).records] == ["a", "c"]


def test_an_unknown_level_is_no_level_and_the_line_is_kept(conn: Connection, task_id: str) -> None:
    log.append_lines(conn, task_id, [LogLine("x", 1.0, level="LOUD"), LogLine("y", 1.0, level="ERROR")])
    found = log.read_forward(conn, task_id, 1, LogFilter()).records
    assert [record.level for record in found] == ["", "ERROR"]
    assert [r.text for r in log.read_forward(conn, task_id, 1, LogFilter(levels=frozenset({0}))).records] == ["x"]
