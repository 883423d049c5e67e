"""Transactions: errors that callers see, roll-back, ids that are not reused, a queue that many take from."""

import asyncio

import pytest
from database_world import World
from sqlalchemy import Connection

from determined.errors import AlreadyExists, InvalidArgument, NotFound
from determined.master.db.database import Database
from determined.master.db.queries import experiment, search_queue, user


async def test_a_taken_name_is_refused_as_already_existing(db_url: str) -> None:
    database = Database(db_url)
    await database.write(lambda conn: World(conn).user({"username": "ada"}))
    with pytest.raises(AlreadyExists):
        await database.write(lambda conn: World(conn).user({"username": "ada"}))
    await database.close()


async def test_a_transaction_that_fails_leaves_nothing(db_url: str) -> None:
    database = Database(db_url)

    def fail(conn: Connection) -> None:
        World(conn).user({"username": "half"})
        raise InvalidArgument("no")

    with pytest.raises(InvalidArgument):
        await database.write(fail)
    assert await database.read(lambda conn: user.by_name(conn, "half")) is None
    await database.close()


async def test_an_id_is_not_given_out_again_after_its_row_is_gone(db_url: str) -> None:
    database = Database(db_url)
    first = await database.write(lambda conn: World(conn).experiment({}))
    await database.write(lambda conn: experiment.delete_row(conn, first))
    with pytest.raises(NotFound):
        await database.read(lambda conn: experiment.get(conn, first))
    second = await database.write(lambda conn: World(conn, "second").experiment({}))
    assert second > first
    await database.close()


async def test_pieces_that_many_take_at_once_are_each_taken_once(db_url: str) -> None:
    database = Database(db_url)
    experiment_id = await database.write(lambda conn: World(conn).experiment({}))
    await database.write(lambda conn: search_queue.put(conn, experiment_id, [[{"n": n}] for n in range(20)]))
    takes = [database.write(lambda conn: search_queue.take(conn, experiment_id)) for _ in range(25)]
    taken = [piece[0]["n"] for piece in await asyncio.gather(*takes) if piece]
    assert taken == list(range(20))
    await database.close()
