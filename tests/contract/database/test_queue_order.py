"""Moves in the job queue: whatever is moved however often, the order is that of a list in which it is moved."""

import random
from datetime import datetime, timedelta

import pytest
from database_world import NOW, World
from sqlalchemy import Connection

from determined._json import JsonObject
from determined.errors import InvalidArgument, NotFound
from determined.master.db.queries import experiment, job
from determined.master.lifecycle import queue
from determined.master.lifecycle.queue_position import queue_position

CONFIG: JsonObject = {"searcher": {"name": "single"}, "resources": {}}


def queue_of(world: World, n: int, apart: timedelta, *, priority: int = 42, pool: str = "default") -> list[str]:
    """Jobs that were submitted one after the other."""
    return [enqueue(world, NOW + place * apart, priority, pool) for place in range(n)]


def enqueue(world: World, submitted: datetime, priority: int = 42, pool: str = "default") -> str:
    position = queue_position(submitted)
    job_id = world.job({"submitted_at": submitted, "position": position, "priority": priority, "pool": pool})
    world.experiment({"job_id": job_id, "config": CONFIG})
    return job_id


def order(conn: Connection, pool: str = "default") -> list[str]:
    return [row.id for row in job.live_in_pool(conn, pool, ["ACTIVE"])]


@pytest.mark.parametrize("apart", [timedelta(microseconds=n) for n in (0, 1, 5000, 3_600_000_000)])
def test_sixty_moves_leave_the_order_of_a_list(conn: Connection, world: World, apart: timedelta) -> None:
    rng = random.Random(12)
    queue_of(world, 6, apart)
    model = order(conn)
    for _ in range(60):
        moved, anchor = rng.sample(model, 2)
        ahead = rng.random() < 0.5
        queue.move(conn, NOW, moved, anchor, ahead=ahead)
        model.remove(moved)
        model.insert(model.index(anchor) + (0 if ahead else 1), moved)
        assert order(conn) == model


def test_two_jobs_change_places_before_a_third_as_often_as_one_likes(conn: Connection, world: World) -> None:
    a, b, c = queue_of(world, 3, timedelta(milliseconds=1))
    for _ in range(40):
        queue.move(conn, NOW, a, c, ahead=True)
        assert order(conn) == [b, a, c]
        queue.move(conn, NOW, b, c, ahead=True)
        assert order(conn) == [a, b, c]


def test_who_comes_later_stands_behind_those_that_were_numbered_anew(conn: Connection, world: World) -> None:
    jobs = queue_of(world, 4, timedelta(0))
    for _ in range(30):
        queue.move(conn, NOW, order(conn)[0], order(conn)[2], ahead=True)
    newest = enqueue(world, NOW + timedelta(seconds=10))
    assert order(conn)[-1] == newest and set(order(conn)) == {*jobs, newest}


def test_a_job_adopts_the_priority_of_the_one_it_is_moved_to(conn: Connection, world: World) -> None:
    urgent = queue_of(world, 2, timedelta(seconds=1), priority=1)
    [plain] = queue_of(world, 1, timedelta(0))
    queue.move(conn, NOW, plain, urgent[0], ahead=False)
    assert order(conn) == [urgent[0], plain, urgent[1]]
    assert job.get(conn, plain).priority == 1
    owner = job.experiment_of(conn, plain)
    assert owner is not None and experiment.get(conn, owner).config["resources"]["priority"] == 1


def test_jobs_of_other_priorities_and_pools_keep_their_places(conn: Connection, world: World) -> None:
    low = queue_of(world, 2, timedelta(0), priority=99)
    other = queue_of(world, 2, timedelta(0), pool="other")
    a, b = queue_of(world, 2, timedelta(0))
    first, second = order(conn)[:2]
    assert {first, second} == {a, b}
    before = order(conn, "other")
    for _ in range(60):
        queue.move(conn, NOW, order(conn)[1], order(conn)[0], ahead=True)
    assert set(order(conn)[2:]) == set(low)
    assert order(conn, "other") == before and set(before) == set(other)


def test_a_move_that_makes_no_sense_is_told(conn: Connection, world: World) -> None:
    a, b = queue_of(world, 2, timedelta(seconds=1))
    [elsewhere] = queue_of(world, 1, timedelta(0), pool="other")
    with pytest.raises(InvalidArgument, match="cannot be moved relative to itself"):
        queue.move(conn, NOW, a, a, ahead=True)
    with pytest.raises(InvalidArgument, match="is in another pool, 'other' and not 'default'; move it there first"):
        queue.move(conn, NOW, a, elsewhere, ahead=True)
    with pytest.raises(NotFound, match="job nobody not found"):
        queue.move(conn, NOW, a, "nobody", ahead=True)
    ended = job.experiment_of(conn, b)
    assert ended is not None
    experiment.update_row(conn, ended, {"state": "COMPLETED"})
    with pytest.raises(NotFound, match="is not in the queue of pool 'default'"):
        queue.move(conn, NOW, a, b, ahead=True)
