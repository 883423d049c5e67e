"""Log lines in the database: ids, row counts, paging."""

from collections.abc import Callable

import pytest
from sqlalchemy import Connection, event, func, select

from determined.errors import NotFound
from determined.master.db.log_filter import LogFilter
from determined.master.db.queries import log
from determined.master.db.queries.metric_trial import Reporter
from determined.master.db.schema import log_chunks
from determined.wire.report import LogLine

MakeTrial = Callable[..., Reporter]
ALL = LogFilter()


def lines(start: int, n: int) -> list[LogLine]:
    return [LogLine(f"line {start + i}", float(start + i)) for i in range(n)]


def rows(conn: Connection) -> int:
    return conn.execute(select(func.count()).select_from(log_chunks)).scalar_one()


def test_small_batches_are_put_together_and_large_ones_are_not_rewritten(
    conn: Connection, make_trial: MakeTrial
) -> None:
    make_trial()
    for i in range(150):
        log.append_lines(conn, "1.r", lines(i, 1))
    assert rows(conn) == 1
    log.append_lines(conn, "1.r", lines(150, 1000))
    log.append_lines(conn, "1.r", lines(1150, 1000))
    assert rows(conn) == 2
    page = log.read_forward(conn, "1.r", 1, ALL)
    assert [r.text for r in page.records] == [f"line {i}" for i in range(2150)]
    assert [r.id for r in page.records] == list(range(1, 2151))


def test_pages_go_on_where_they_ended(conn: Connection, make_trial: MakeTrial) -> None:
    make_trial()
    for start in range(0, 40_000, 1000):
        log.append_lines(conn, "1.r", lines(start, 1000))
    seen, cursor, pages = 0, 1, 0
    while True:
        page = log.read_forward(conn, "1.r", cursor, ALL)
        assert [r.id for r in page.records] == list(range(cursor, cursor + len(page.records)))
        seen, cursor, pages = seen + len(page.records), page.cursor, pages + 1
        if not page.more:
            break
    assert (seen, pages, cursor) == (40_000, 3, 40_001)


def test_a_limit_ends_a_page_inside_a_chunk(conn: Connection, make_trial: MakeTrial) -> None:
    make_trial()
    log.append_lines(conn, "1.r", lines(0, 1000))
    page = log.read_forward(conn, "1.r", 10, ALL, 5)
    assert ([r.id for r in page.records], page.cursor) == ([10, 11, 12, 13, 14], 15)
    back = log.read_backward(conn, "1.r", None, ALL, 3)
    assert ([r.id for r in back.records], back.cursor) == ([1000, 999, 998], 998)
    assert [r.id for r in log.read_backward(conn, "1.r", back.cursor, ALL, 2).records] == [997, 996]


def test_a_follower_of_a_long_log_reads_only_its_end(conn: Connection, make_trial: MakeTrial) -> None:
    make_trial()
    for start in range(0, 20_000, 1000):
        log.append_lines(conn, "1.r", lines(start, 1000))
    cursor = log.read_forward(conn, "1.r", 19_999, ALL).cursor
    log.append_lines(conn, "1.r", lines(20_000, 1))
    fetched: list[int] = []
    with_data = log.LogFilter.pick

    class Counting(LogFilter):
        def pick(self, first_id: int, data: bytes) -> list[log.LogRecord]:
            fetched.append(first_id)
            return with_data(self, first_id, data)

    page = log.read_forward(conn, "1.r", cursor, Counting())
    assert [r.text for r in page.records] == ["line 20000"]
    assert fetched == [20_001]


def test_levels_and_times_skip_chunks_in_the_database(conn: Connection, make_trial: MakeTrial) -> None:
    make_trial()
    for start in range(0, 3000, 1000):
        log.append_lines(conn, "1.r", lines(start, 1000))
    log.append_lines(conn, "1.r", [LogLine(f"error {i}", 5000.0, level="ERROR") for i in range(300)])
    statements: list[str] = []
    event.listen(conn, "before_cursor_execute", lambda *args: statements.append(args[2]))
    page = log.read_forward(conn, "1.r", 1, LogFilter(levels=frozenset({5})))
    assert len(page.records) == 300
    assert any("levels" in s and "&" in s for s in statements)


def test_lines_of_an_unknown_task_are_refused(conn: Connection, make_trial: MakeTrial) -> None:
    with pytest.raises(NotFound, match=r"task no\.such"):
        log.append_lines(conn, "no.such", lines(0, 1))


def test_origins_are_read_from_where_the_reader_stands(conn: Connection, make_trial: MakeTrial) -> None:
    make_trial()
    log.append_lines(conn, "1.r", lines(0, 500), agent_id="old")
    found, cursor = log.origins(conn, "1.r", 1)
    assert {o.agent_id for o in found} == {"old"}
    log.append_lines(conn, "1.r", lines(500, 500), agent_id="new")
    found, _ = log.origins(conn, "1.r", cursor)
    assert {o.agent_id for o in found} == {"new"}


def test_many_origins_do_not_hide_behind_the_head_of_a_chunk(conn: Connection, make_trial: MakeTrial) -> None:
    make_trial()
    log.append_lines(conn, "1.r", [LogLine("x", 1.0, rank=i, source="s" * 50) for i in range(500)])
    found, _ = log.origins(conn, "1.r", 1)
    assert {o.rank for o in found} == set(range(500))


def test_deleting_answers_the_number_of_lines(conn: Connection, make_trial: MakeTrial) -> None:
    make_trial()
    log.append_lines(conn, "1.r", lines(0, 1234))
    assert log.delete_logs(conn, "1.r", 10) == (1234, False)
    assert log.delete_logs(conn, "1.r", 10) == (0, False)
    log.append_lines(conn, "1.r", lines(0, 1))
    assert [r.id for r in log.read_forward(conn, "1.r", 1, ALL).records] == [1235]
