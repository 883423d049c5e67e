"""A master that dies anywhere and is started again over the same rows: nothing is lost, nothing is doubled."""

import asyncio
import random
from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import Connection
from world import World

from determined.master.db.database import Database
from determined.master.lifecycle import allocation, experiment
from determined.wire.report import ExitCause


class DyingDatabase:
    """Hands calls on until the `at`-th, which kills its caller: before the database has it, or after the commit."""

    def __init__(self, db: Database, at: int, *, after: bool) -> None:
        self._db, self._left, self._after = db, at, after
        self.died = False

    @property
    def commits(self) -> int:
        return self._db.commits

    async def write(self, run: Callable[[Connection], Any]) -> Any:
        return await self._through(self._db.write, run)

    async def read(self, run: Callable[[Connection], Any]) -> Any:
        return await self._through(self._db.read, run)

    async def _through(self, call: Callable[..., Any], run: Callable[[Connection], Any]) -> Any:
        self._left -= 1
        if self._left <= 0 and not self._after:
            self._die()
        result = await call(run)
        if self._left <= 0:
            self._die()
        return result

    def _die(self) -> None:
        self.died = True
        raise asyncio.CancelledError


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
async def test_death_at_any_await_of_the_reconciler_loses_and_doubles_nothing(world: World, after: bool) -> None:
    deaths = 0
    for at in range(1, 9):
        await world.restart()
        experiment_id = await world.submit(activate=False)
        await world.close()
        dying = _arm(world, at, after=after)
        await _open_dying(world)
        await world.db.write(lambda conn, n=experiment_id: experiment.activate(conn, world.clock.now(), n))
        world.ctx.bus.publish("schedule")
        await _until_dead_or_started(world, dying)
        deaths += dying[-1].died
        world.guard_db = lambda db: db
        await world.restart()
        [launch] = await world.running()
        assert launch.allocation_id.endswith(".1"), "the first allocation was the only one"
        await world.exit(launch.resource_id)
        await world.until_state("COMPLETED", experiment_id)
        assert len(world.machine.launched) == at
        assert len(await world.rows("allocations")) == at
    assert deaths >= 5, "the later deaths may come after the start, the earlier ones must not"


async def test_search_survives_masters_that_die_at_random_moments(world: World) -> None:
    rng = random.Random(20261115)
    await world.submit(
        searcher={"name": "random", "metric": "loss", "max_trials": 12, "max_concurrent_trials": 4},
        hyperparameters={"x": {"type": "double", "minval": 0, "maxval": 1}},
    )
    while await world.state() == "ACTIVE":
        world.guard_db = lambda db: DyingDatabase(db, rng.randrange(1, 12), after=rng.random() < 0.5)
        await world.close()
        await _open_dying(world)
        await asyncio.sleep(rng.random() * 0.05)
        for resource_id in list(world.machine.alive):
            if rng.random() < 0.5:
                await world.exit(resource_id)
    world.guard_db = lambda db: db
    await world.restart()
    await world.until_state("COMPLETED")
    trials, allocations = await world.rows("trials"), await world.rows("allocations")
    assert [t["state"] for t in trials] == ["COMPLETED"] * 12
    assert [a["exit_kind"] for a in allocations] == ["completed"] * 12
    assert len(world.machine.launched) == 12


async def test_running_task_is_adopted_and_not_started_again(world: World) -> None:
    await world.submit()
    [launch] = await world.running()
    await world.restart()
    await world.until(lambda: world.engine.starts == [launch.resource_id])
    assert len(world.machine.launched) == 1
    await world.exit(launch.resource_id)
    await world.until_state("COMPLETED")
    assert (await world.trial())["run_id"] == 1


async def test_task_that_vanished_while_the_master_was_down_is_retried_for_free(world: World) -> None:
    await world.submit()
    [launch] = await world.running()
    await world.close()
    world.machine.alive.clear()
    await world.open()
    [again] = await world.running()
    assert again.resource_id != launch.resource_id
    assert (await world.trial())["restarts"] == 0


async def test_runner_without_a_row_is_disowned_and_one_with_a_row_in_any_state_is_not(world: World) -> None:
    await world.submit()
    [ended] = await world.running()
    await world.exit(ended.resource_id)
    await world.submit()
    [alive] = await world.running()
    world.machine.left = ["stranger", ended.resource_id, alive.resource_id]
    await world.restart()
    assert world.engine.disowned == ["stranger"]
    assert list(world.machine.alive) == [alive.resource_id]


async def test_pause_acknowledged_just_before_a_crash_still_counts(world: World) -> None:
    await world.submit()
    [launch] = await world.running()
    await world.write(experiment.pause, 1)
    await world.write(allocation.preempt_acked, launch.allocation_id)
    await world.restart()
    await world.exit(launch.resource_id)
    assert (await world.trial())["state"] == "PAUSED"


async def test_preemption_deadline_passes_while_the_master_is_down(world: World) -> None:
    await world.submit(preemption_timeout=60)
    await world.running()
    await world.write(experiment.pause, 1)
    await world.close()
    world.clock.advance(61)
    await world.open()
    await world.until(lambda: not world.machine.alive)
    assert (await world.trial())["state"] == "PAUSED"


async def test_kill_asked_for_before_a_crash_is_carried_out_after_it(world: World) -> None:
    world.machine.obey_kill = None
    await world.submit()
    [launch] = await world.running()
    await world.write(experiment.kill, 1)
    await world.close()
    world.machine.kills.clear()
    world.machine.obey_kill = lambda rid, force: world.exit(rid, 137, ExitCause.KILLED)
    await world.open()
    await world.until_state("CANCELED")
    assert world.machine.kills[0][0] == launch.resource_id


async def test_queue_positions_and_priorities_survive(world: World) -> None:
    await world.submit(activate=False)
    await world.write(experiment.set_resources, 1, {"priority": 7, "weight": 2.5})
    before = await world.rows("jobs")
    await world.restart()
    assert await world.rows("jobs") == before
    assert (before[0]["priority"], before[0]["weight"]) == (7, 2.5)


async def test_heartbeat_is_written(world: World) -> None:
    async def beating() -> bool:
        return any(row["key"] == "heartbeat" for row in await world.rows("cluster"))

    await world.until(beating)


def _arm(world: World, at: int, *, after: bool) -> list[DyingDatabase]:
    made: list[DyingDatabase] = []

    def guard(db: Database) -> DyingDatabase:
        made.append(DyingDatabase(db, at, after=after))
        return made[-1]

    world.guard_db = guard
    return made


async def _open_dying(world: World) -> None:
    """A master may die while it starts, too."""
    try:
        await world.open()
    except asyncio.CancelledError:
        return


async def _until_dead_or_started(world: World, dying: list[DyingDatabase]) -> None:
    await world.until(lambda: dying[-1].died or world.machine.alive)
