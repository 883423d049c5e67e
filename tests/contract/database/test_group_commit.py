"""Writes that share a commit: what one of them, the commit itself or a lost connection does to the others."""

import asyncio
import contextlib
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import psycopg
import pytest
from database_world import NOW
from sqlalchemy import Connection, func, insert, select, text
from sqlalchemy.exc import DBAPIError

from determined.errors import AlreadyExists, DeterminedError, InvalidArgument, NotFound, Unavailable
from determined.master.db import database as database_module
from determined.master.db import prepared
from determined.master.db.database import Database
from determined.master.db.queries import cluster
from determined.master.db.schema import cluster as table
from determined.master.db.schema import workspaces
from determined.master.db.write_queue import write_lane


@pytest.fixture
async def db(db_url: str) -> AsyncIterator[Database]:
    database = Database(db_url)
    yield database
    await database.close()


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A group takes whatever waits, however slow the machine is."""
    monkeypatch.setattr(database_module, "_GROUP_SECONDS", 3600.0)


@contextlib.contextmanager
def held_writer(db: Database) -> Iterator[asyncio.Task[bool]]:
    """Within, the writer is busy with a first write: what is written meanwhile waits and joins it."""
    go = threading.Event()
    first = asyncio.ensure_future(db.write(lambda _conn: go.wait(60)))
    try:
        yield first
    finally:
        go.set()


def put(name: str) -> Callable[[Connection], str]:
    def write(conn: Connection) -> str:
        cluster.put(conn, name, 1)
        return name

    return write


def refuse(name: str) -> Callable[[Connection], None]:
    def write(conn: Connection) -> None:
        cluster.put(conn, name, 1)
        raise InvalidArgument(f"{name} is refused")

    return write


async def names(db: Database) -> set[str]:
    return set(await db.read(lambda conn: conn.execute(select(table.c.key)).scalars().all()))


async def together(db: Database, *writes: Callable[[Connection], Any]) -> list[Any]:
    """Results and errors of writes that wait for one commit."""
    with held_writer(db) as first:
        waiting = [asyncio.ensure_future(db.write(write)) for write in writes]
        await asyncio.sleep(0)
    return (await asyncio.gather(first, *waiting, return_exceptions=True))[1:]


async def test_each_of_many_hears_its_own_result_or_its_own_error(db: Database, patient: None) -> None:
    writes = [refuse(f"n{n}") if n % 7 == 0 else put(f"n{n}") for n in range(150)]
    results = await together(db, *writes)
    for n, result in enumerate(results):
        if n % 7:
            assert result == f"n{n}"
        else:
            assert isinstance(result, InvalidArgument) and result.message == f"n{n} is refused"
    assert await names(db) == {f"n{n}" for n in range(150) if n % 7}


async def test_a_write_sees_those_before_it_but_not_those_that_were_undone(db: Database, patient: None) -> None:
    def look(conn: Connection) -> set[str]:
        return set(conn.execute(select(table.c.key)).scalars())

    results = await together(db, put("a"), look, refuse("b"), look, put("c"), look)
    assert [results[n] for n in (1, 3, 5)] == [{"a"}, {"a"}, {"a", "c"}]


async def test_a_constraint_broken_in_the_middle_of_a_group_costs_its_own_write_alone(
    db: Database, patient: None
) -> None:
    def twice(conn: Connection) -> None:
        cluster.put(conn, "half", 1)
        for _ in range(2):
            conn.execute(table.insert().values(key="k", value=1))

    first, broken, last = await together(db, put("a"), twice, put("z"))
    assert (first, last) == ("a", "z")
    assert isinstance(broken, AlreadyExists)
    assert await names(db) == {"a", "z"}


async def test_an_error_that_is_not_ours_reaches_its_caller_as_it_is(db: Database, patient: None) -> None:
    def divide(_conn: Connection) -> float:
        return 1 / 0

    broken, fine = await together(db, divide, put("a"))
    assert isinstance(broken, ZeroDivisionError)
    assert fine == "a"


async def test_a_commit_that_fails_is_told_to_everyone_of_the_group_and_stores_nothing(
    sqlite_url: str, patient: None
) -> None:
    db = Database(sqlite_url)
    told: list[int] = []
    db.on_commit(lambda: told.append(1))

    def orphan(conn: Connection) -> None:
        """A row without its owner, which SQLite is asked to notice only when all is committed."""
        conn.exec_driver_sql("PRAGMA defer_foreign_keys=ON")
        conn.execute(insert(workspaces).values(name="w", user_id=99, created_at=NOW))

    results = await together(db, put("a"), orphan, put("b"))
    assert [type(result) for result in results] == [AlreadyExists] * 3
    assert await names(db) == set() and told == []
    assert await db.write(put("after")) == "after"
    await db.close()
    assert told == [1]


async def test_a_lost_connection_is_told_to_everyone_of_the_group_and_the_next_write_works(
    postgres_url: str, patient: None
) -> None:
    db = Database(postgres_url)

    def lose(conn: Connection) -> None:
        conn.exec_driver_sql("SELECT pg_terminate_backend(pg_backend_pid())")

    results = await together(db, put("a"), lose, put("b"))
    assert {type(result) for result in results[:2]} == {Unavailable}
    after = "b" if isinstance(results[2], str) else None  # it joined the group, or came after it
    assert after or isinstance(results[2], Unavailable)
    assert await names(db) == ({"b"} if after else set())
    assert await db.write(put("c")) == "c"
    await db.close()


async def test_connections_that_the_server_closed_are_replaced_without_an_error(postgres_url: str) -> None:
    db = Database(postgres_url)
    await asyncio.gather(*(db.read(lambda conn: cluster.get(conn, "x")) for _ in range(8)))
    await db.write(put("a"))
    with psycopg.connect(postgres_url, autocommit=True) as admin:
        admin.execute(
            "SELECT pg_terminate_backend(pid, 20000) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
    assert await db.write(put("b")) == "b"
    assert await names(db) == {"a", "b"}
    await db.close()


async def test_a_database_that_is_away_is_told_and_used_again_when_it_is_back(postgres_url: str) -> None:
    db = Database(postgres_url)
    await db.write(put("before"))
    server, _, name = postgres_url.rpartition("/")
    with psycopg.connect(f"{server}/postgres", autocommit=True) as admin:
        admin.execute(f"ALTER DATABASE {name} WITH ALLOW_CONNECTIONS false")
        admin.execute("SELECT pg_terminate_backend(pid, 20000) FROM pg_stat_activity WHERE datname = %s", [name])
        for call in (db.write(put("lost")), db.read(lambda conn: cluster.get(conn, "before"))):
            with pytest.raises(Unavailable):
                await call
        admin.execute(f"ALTER DATABASE {name} WITH ALLOW_CONNECTIONS true")
    assert await db.write(put("again")) == "again"
    assert await names(db) == {"before", "again"}
    await db.close()


def cut_at(monkeypatch: pytest.MonkeyPatch, command: str) -> None:
    """Lose the connection right before the second such command from now on."""
    real, seen = prepared.run_text, [0]

    def run_text(conn: Connection, text: str) -> None:
        seen[0] += text == command
        if text == command and seen[0] == 2:
            cut(conn)
        real(conn, text)

    monkeypatch.setattr(prepared, "run_text", run_text)


def cut(conn: Connection) -> None:
    driver: Any = conn.connection.driver_connection
    driver.close()


@pytest.mark.parametrize("command", ["SAVEPOINT part", "RELEASE SAVEPOINT part"])
async def test_a_connection_lost_between_two_statements_of_ours_is_told_to_the_whole_group(
    db: Database, patient: None, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    await db.write(put("before"))
    cut_at(monkeypatch, command)
    with held_writer(db) as first:
        rest = [asyncio.ensure_future(db.write(put(f"n{n}"))) for n in range(3)]
        await asyncio.sleep(0)
    answers = await asyncio.gather(first, *rest, return_exceptions=True)
    assert [type(answer) for answer in answers[:2]] == [Unavailable, Unavailable], answers
    assert answers[2:] == ["n1", "n2"], "these had not joined, and are stored in the next group"
    assert await names(db) == {"before", "n1", "n2"}


async def test_a_write_that_overlooks_the_lost_connection_is_told_so(db: Database) -> None:
    def overlook(conn: Connection) -> None:
        cut(conn)
        with contextlib.suppress(DBAPIError):
            cluster.get(conn, "a")

    with pytest.raises(Unavailable, match="connection to the database was lost"):
        await db.write(overlook)
    assert await db.write(put("again")) == "again"


async def test_a_commit_is_announced_once_for_a_group_of_bounded_size(db: Database, patient: None) -> None:
    told: list[int] = []
    db.on_commit(lambda: told.append(1))
    await together(db, *(put(f"n{n}") for n in range(149)))
    await db.close()
    assert len(told) == 3, "150 writes in groups of at most 64"


async def test_users_take_turns_and_each_ones_writes_keep_their_order(db: Database, patient: None) -> None:
    ran: list[str] = []

    async def write(user: str, n: int) -> None:
        write_lane.set(user)
        await db.write(lambda _conn: ran.append(f"{user}{n}"))

    with held_writer(db):
        tasks = [asyncio.create_task(write("ann", n)) for n in range(5)]
        tasks += [asyncio.create_task(write("bob", n)) for n in range(2)]
        await asyncio.sleep(0)
    await asyncio.gather(*tasks)
    assert ran == ["ann0", "bob0", "ann1", "bob1", "ann2", "ann3", "ann4"]


async def test_a_read_sees_one_moment_of_the_database_from_its_first_look_to_its_last(db: Database) -> None:
    await db.write(put("before"))
    looked, go = threading.Event(), threading.Event()

    def look_twice(conn: Connection) -> list[int]:
        count = select(func.count()).select_from(table)
        first = conn.execute(count).scalar_one()
        looked.set()
        assert go.wait(60)
        return [first, conn.execute(count).scalar_one()]

    reading = asyncio.create_task(db.read(look_twice))
    assert await asyncio.to_thread(looked.wait, 60)
    await db.write(put("meanwhile"))
    go.set()
    assert await reading == [1, 1]
    assert await names(db) == {"before", "meanwhile"}


async def test_a_read_leaves_nothing_in_the_database(db: Database) -> None:
    with contextlib.suppress(DeterminedError):
        await db.read(put("by reading"))
    assert await names(db) == set()


async def test_an_error_of_a_read_is_its_callers_and_the_reader_goes_on(db: Database) -> None:
    def missing(_conn: Connection) -> None:
        raise NotFound("nothing there")

    for _ in range(20):  # more often than there are readers
        with pytest.raises(NotFound, match="nothing there"):
            await db.read(missing)
    with pytest.raises(Unavailable):
        await db.read(lambda conn: conn.execute(text("SELECT nonsense")))
    assert await names(db) == set()


async def test_a_database_that_is_refused_says_why_and_what_waited_is_still_stored(db: Database) -> None:
    with held_writer(db):
        waiting = asyncio.ensure_future(db.write(put("waited")))
        await asyncio.sleep(0)
        db.refuse("another master took the database")
        for call in (db.write(put("late")), db.read(lambda _conn: None)):
            with pytest.raises(Unavailable, match="another master took the database"):
                await call
    assert await waiting == "waited"


async def test_closing_waits_for_what_was_accepted(db_url: str) -> None:
    db = Database(db_url)
    with held_writer(db):
        waiting = [asyncio.ensure_future(db.write(put(f"n{n}"))) for n in range(10)]
        await asyncio.sleep(0)
        closing = asyncio.create_task(db.close())
        await asyncio.sleep(0)
    await closing
    assert [await one for one in waiting] == [f"n{n}" for n in range(10)]
    again = Database(db_url)
    assert len(await names(again)) == 10
    await again.close()
