"""The one writer: group commit, savepoints, order, and what a failing write does to its neighbours."""

import asyncio
import time
from collections.abc import AsyncIterator
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import Connection, func, select, text

from determined.errors import AlreadyExists, DeterminedError, InvalidArgument, Unavailable
from determined.master.db import database as database_module
from determined.master.db import dialects, migrate
from determined.master.db.database import Database
from determined.master.db.dialects import upsert
from determined.master.db.queries import cluster
from determined.master.db.schema import cluster as table


@pytest.fixture
async def db(db_url: str) -> AsyncIterator[Database]:
    database = Database(db_url)
    yield database
    await database.close()


async def test_a_write_is_visible_once_it_is_acknowledged(db: Database) -> None:
    await db.write(lambda conn: cluster.put(conn, "a", {"x": [1, None, "é"]}))
    assert await db.read(lambda conn: cluster.get(conn, "a")) == {"x": [1, None, "é"]}


async def test_writes_that_arrive_together_all_commit_in_order(db: Database) -> None:
    async def one(n: int) -> None:
        def write(conn: Connection) -> None:
            seen = cluster.get(conn, "list") or []
            cluster.put(conn, "list", [*seen, n])

        await db.write(write)

    await asyncio.gather(*(one(n) for n in range(100)))
    assert await db.read(lambda conn: cluster.get(conn, "list")) == list(range(100))


async def test_a_write_that_raises_rolls_back_alone(db: Database) -> None:
    def good(name: str) -> asyncio.Task[None]:
        return asyncio.create_task(db.write(lambda conn: cluster.put(conn, name, 1)))

    def bad(conn: Connection) -> None:
        cluster.put(conn, "half", 1)
        raise InvalidArgument("no")

    before = good("before")
    failing = asyncio.create_task(db.write(bad))
    after = good("after")
    with pytest.raises(InvalidArgument):
        await failing
    await asyncio.gather(before, after)
    assert await db.read(lambda conn: cluster.get(conn, "half")) is None
    assert await db.read(lambda conn: cluster.get(conn, "after")) == 1


async def test_a_broken_constraint_is_our_error_and_spares_the_others(db: Database) -> None:
    def twice(conn: Connection) -> None:
        for _ in range(2):
            conn.execute(table.insert().values(key="k", value=1))

    failing = asyncio.create_task(db.write(twice))
    fine = asyncio.create_task(db.write(lambda conn: cluster.put(conn, "fine", 1)))
    with pytest.raises(AlreadyExists):
        await failing
    await fine
    assert await db.read(lambda conn: conn.execute(select(func.count()).select_from(table)).scalar_one()) == 1


async def test_a_driver_error_is_never_raised_bare(db: Database) -> None:
    with pytest.raises(DeterminedError):
        await db.read(lambda conn: conn.execute(text("SELECT * FROM nowhere")))
    with pytest.raises(DeterminedError):
        await db.write(lambda conn: conn.execute(text("SELECT * FROM nowhere")))
    await db.write(lambda conn: cluster.put(conn, "still", "works"))


async def test_a_cancelled_waiter_does_not_undo_its_write(db: Database) -> None:
    task = asyncio.create_task(db.write(lambda conn: cluster.put(conn, "a", 1)))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await db.write(lambda conn: None)
    assert await db.read(lambda conn: cluster.get(conn, "a")) == 1


async def test_an_upsert_replaces_and_an_empty_one_does_nothing(db: Database) -> None:
    def write(conn: Connection) -> None:
        upsert(conn, table, {"key": "a", "value": 1}, ["key"])
        upsert(conn, table, [{"key": "a", "value": 2}, {"key": "b", "value": 3}], ["key"])
        upsert(conn, table, [], ["key"])

    await db.write(write)
    assert await db.read(lambda conn: cluster.get(conn, "a")) == 2


async def test_a_closed_database_refuses_work(db: Database) -> None:
    await db.close()
    with pytest.raises(Unavailable):
        await db.read(lambda conn: None)
    with pytest.raises(Unavailable):
        await db.write(lambda conn: None)


async def test_commits_reach_the_disk_in_quiet_and_in_noise_about_once_a_second(
    sqlite_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[float] = []
    monkeypatch.setattr(dialects, "sync", lambda engine: synced.append(time.monotonic()))
    database = Database(sqlite_url)
    started = time.monotonic()
    await database.write(lambda conn: cluster.put(conn, "a", 1))
    while not synced:  # nothing else is written: the writer must wake up by itself
        assert time.monotonic() < started + 60
        await asyncio.sleep(0.01)
    noisy = time.monotonic()
    while len(synced) < 2:  # the writer is never idle
        assert time.monotonic() < noisy + 60
        await database.write(lambda conn: cluster.put(conn, "a", 2))
    assert synced[1] - synced[0] > 0.9
    monkeypatch.setattr(database_module, "_SYNC_SECONDS", 3600.0)  # from here on only the end syncs
    await database.write(lambda conn: cluster.put(conn, "a", 3))
    before = len(synced)
    await database.close()
    assert len(synced) == before + 1, "what was written last is synced at the end"


def test_a_sync_forces_the_write_ahead_log(sqlite_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    forced: list[str] = []
    monkeypatch.setattr(dialects.os, "fsync", lambda fd: forced.append(str(Path(f"/proc/self/fd/{fd}").readlink())))
    engine = dialects.create_engine(sqlite_url)
    with engine.connect() as conn:
        dialects.begin_write(conn)
        cluster.put(conn, "a", 1)
        conn.commit()
        dialects.sync(engine)
    engine.dispose()
    assert [name.endswith("-wal") for name in forced] == [True]


def test_a_postgresql_without_an_encoding_gives_text(postgres_server: str) -> None:
    """`initdb` makes such a database under LC_ALL=C."""
    with psycopg.connect(f"{postgres_server}/postgres", autocommit=True) as admin:
        admin.execute("CREATE DATABASE plain_bytes ENCODING 'SQL_ASCII' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0")
    engine = dialects.create_engine(f"{postgres_server}/plain_bytes")
    migrate.upgrade(engine)
    with engine.connect() as conn:
        assert conn.exec_driver_sql("SELECT 'Größe'").scalar_one() == "Größe"
    engine.dispose()
    with psycopg.connect(f"{postgres_server}/postgres", autocommit=True) as admin:
        admin.execute("DROP DATABASE plain_bytes")
