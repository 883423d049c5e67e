"""How long a task has after it was asked to leave: who sets the limit, what cannot prolong it, what a kill changes."""

from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import Connection
from world import START, World, WorldFactory

from determined.errors import Gone, InvalidArgument
from determined.master.db.queries import allocation as allocations
from determined.master.lifecycle import allocation, allocation_state, experiment
from determined.wire.report import ExitCause


async def live(world: World) -> dict[str, Any]:
    found = await world.live_allocation()
    assert found is not None
    return found


async def deadline(world: World) -> Any:
    return (await live(world))["preempt_deadline"]


@pytest.fixture
async def stubborn(make_world: WorldFactory) -> World:
    """A trial that runs, has 60 s to leave, and does not heed kills."""
    world = await make_world().open()
    world.machine.obey_kill = None
    await world.submit(preemption_timeout=60)
    await world.running()
    return world


async def test_time_to_leave_is_the_experiments_own(stubborn: World) -> None:
    await stubborn.write(experiment.pause, 1)
    row = await live(stubborn)
    assert row["preempt_deadline"] - row["preempt_at"] == timedelta(seconds=60)
    [line] = [text for text in await stubborn.log((await stubborn.trial())["task_id"]) if "asked to save" in text]
    assert line.startswith("the experiment was paused: asked to save and exit")
    assert "has 60 s" in line


async def test_asking_again_does_not_prolong_the_time(stubborn: World) -> None:
    await stubborn.write(experiment.pause, 1)
    before = await deadline(stubborn)
    stubborn.clock.advance(50)
    await stubborn.write(experiment.activate, 1)
    await stubborn.write(experiment.cancel, 1)
    launch = next(iter(stubborn.machine.alive.values()))
    await stubborn.write(allocation.request_preemption, launch.allocation_id, "its slots are needed by another job")
    row = await live(stubborn)
    assert (row["preempt_deadline"], row["preempt_reason"]) == (before, "the experiment was paused")


async def test_acknowledgement_does_not_prolong_it_either(stubborn: World) -> None:
    await stubborn.write(experiment.pause, 1)
    launch = next(iter(stubborn.machine.alive.values()))
    await stubborn.write(allocation.preempt_acked, launch.allocation_id)
    first = (await live(stubborn))["preempt_acked_at"]
    await stubborn.write(allocation.preempt_acked, launch.allocation_id)
    assert (await live(stubborn))["preempt_acked_at"] == first
    stubborn.clock.advance(61)
    await stubborn.until(lambda: stubborn.machine.kills)
    assert (await live(stubborn))["kill_reason"] == "it did not exit in time after it was asked to"


async def test_task_that_says_it_is_about_to_exit_gets_the_shorter_of_two_times(stubborn: World) -> None:
    await stubborn.write(experiment.pause, 1)

    def limit(seconds: int) -> Any:
        def write(conn: Connection, now: Any) -> None:
            allocation_state.limit_stay(conn, now, allocations.get(conn, (launch.allocation_id)), seconds)

        return write

    launch = next(iter(stubborn.machine.alive.values()))
    before = await deadline(stubborn)
    await stubborn.write(limit(3600))
    assert await deadline(stubborn) == before
    await stubborn.write(limit(5))
    assert await deadline(stubborn) < before - timedelta(seconds=50)


async def test_time_runs_on_while_the_master_is_away(stubborn: World) -> None:
    await stubborn.write(experiment.pause, 1)
    await stubborn.close()
    stubborn.clock.advance(61)
    await stubborn.open()
    await stubborn.until(lambda: stubborn.machine.kills)
    assert (await live(stubborn))["kill_at"] > START + timedelta(seconds=61)


async def test_kill_is_repeated_by_force_until_the_runner_is_gone(stubborn: World) -> None:
    [launch] = stubborn.machine.alive.values()
    await stubborn.write(experiment.kill, 1)
    await stubborn.until(lambda: stubborn.machine.kills == [(launch.resource_id, False)])
    for count in (1, 2, 3):
        stubborn.clock.advance(31)
        await stubborn.until(lambda n=count: stubborn.machine.kills == [(launch.resource_id, False)]
                             + [(launch.resource_id, True)] * n)  # fmt: skip
    stubborn.engine.lose(launch.resource_id)
    await stubborn.until_state("CANCELED")


async def test_kill_before_anything_exited_decides_whatever_the_runner_says_later(stubborn: World) -> None:
    [launch] = stubborn.machine.alive.values()
    await stubborn.write(experiment.kill, 1)
    await stubborn.exit(launch.resource_id, 0, ExitCause.EXITED)
    await stubborn.until_state("CANCELED")
    [row] = await stubborn.rows("allocations")
    assert (row["exit_kind"], row["exit_reason"], row["drained"]) == ("killed", "the experiment was killed", True)


async def test_ended_allocation_hears_nothing_any_more(stubborn: World) -> None:
    [launch] = stubborn.machine.alive.values()
    await stubborn.exit(launch.resource_id)
    before = await stubborn.rows("allocations")
    for call in (allocation.request_kill, allocation.request_preemption):
        await stubborn.write(call, launch.allocation_id, "too late")
    await stubborn.write(allocation.preempt_acked, launch.allocation_id)
    await stubborn.write(allocation.ready, launch.allocation_id)
    await stubborn.write(allocation.reject, launch.allocation_id, "too late")
    await stubborn.write(allocation.runner_phase, launch.resource_id, "STARTING")
    await stubborn.write(allocation.confirm_kill, launch.resource_id)
    assert await stubborn.rows("allocations") == before
    with pytest.raises(Gone, match="task terminated"):
        await stubborn.write(allocation.joined, launch.resource_id)


async def test_exit_is_written_once_however_often_it_is_told(stubborn: World) -> None:
    [launch] = stubborn.machine.alive.values()
    await stubborn.exit(launch.resource_id, 3)
    before = await stubborn.rows("runners")
    await stubborn.exit(launch.resource_id, 0)
    stubborn.engine.lose(launch.resource_id)
    await stubborn.until(lambda: stubborn.engine.forgotten == [launch.resource_id])
    assert await stubborn.rows("runners") == before
    assert [a["exit_code"] for a in await stubborn.rows("allocations")] == [3]


async def test_phases_never_go_back_and_unknown_ones_are_refused(world: World) -> None:
    await world.submit()
    await world.until(lambda: world.machine.alive)
    [launch] = world.machine.alive.values()
    for told, state in [
        ("STARTING", "STARTING"),
        ("PULLING", "STARTING"),
        ("RUNNING", "RUNNING"),
        ("PULLING", "RUNNING"),
    ]:
        await world.write(allocation.runner_phase, launch.resource_id, told)
        assert (await live(world))["state"] == state
    with pytest.raises(
        InvalidArgument, match="phase 'TERMINATED' is unknown; report one of PULLING, STARTING, RUNNING"
    ):
        await world.write(allocation.runner_phase, launch.resource_id, "TERMINATED")


async def test_repeated_failures_of_the_system_are_tried_ever_more_slowly_and_cost_no_restart(world: World) -> None:
    world.machine.refuse = "the node is on fire"
    await world.submit(max_restarts=0)

    async def have_ended(n: int) -> bool:
        rows = await world.rows("allocations")
        return len(rows) == n and all(row["ended_at"] is not None for row in rows)

    for n, seconds in [(2, 1), (3, 2), (4, 4), (5, 8)]:
        await world.until(lambda n=n: have_ended(n))
        world.clock.advance(seconds - 0.5)
        await world.reconciler.step()
        assert await have_ended(n), f"tried again before {seconds} s had passed"
        world.clock.advance(0.6)
        world.ctx.bus.publish("schedule")
    await world.until(lambda: have_ended(6))
    world.machine.refuse = None
    world.clock.advance(60)
    await world.running()
    assert ((await world.trial())["restarts"], await world.state()) == (0, "ACTIVE")
