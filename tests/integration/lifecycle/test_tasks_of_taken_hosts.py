"""Submitted tasks whose host is taken away by its own scheduler: none of them passes for one that succeeded."""

from typing import Any

from test_submitted_tasks import create, row
from world import World

from determined.config.task_kinds import COMMAND, GENERIC
from determined.engines.model import GoneReason, Launch
from determined.master.lifecycle import allocation
from determined.wire.report import ExitCause


async def taken(world: World, launch: Launch) -> None:
    """Its sitter has been warned, and has asked the master."""
    await world.write(allocation.request_preemption, launch.allocation_id, allocation.HOST_WISH)


async def is_state(world: World, task_id: str, state: str) -> bool:
    return bool((await row(world, task_id)).state == state)


async def test_a_command_whose_host_is_taken_away_has_failed(world: World) -> None:
    task_id = await create(world, COMMAND)
    [launch] = await world.running()
    await taken(world, launch)
    end = await until_ended(world, task_id)
    assert (end.exit_kind, end.exit_reason) == ("transient", allocation.TAKEN_AWAY)
    await world.reconciler.step()
    assert len(world.machine.launched) == 1


async def test_a_generic_task_whose_host_is_taken_away_goes_on_elsewhere(world: World) -> None:
    task_id = await create(world, GENERIC)
    [launch] = await world.running()
    await taken(world, launch)
    await world.exit(launch.resource_id, 143, ExitCause.PREEMPTED)
    await world.until(lambda: len(world.machine.launched) == 2)
    assert await is_state(world, task_id, "ACTIVE")


async def test_a_generic_task_that_cannot_hear_its_host_goes_on_elsewhere(world: World) -> None:
    task_id = await create(world, GENERIC)
    await world.until(lambda: len(world.machine.launched) == 1)  # handed over; it has not begun
    [launch] = world.machine.launched
    await taken(world, launch)
    await world.until(lambda: len(world.machine.launched) == 2)
    assert await is_state(world, task_id, "ACTIVE")


async def test_a_generic_task_whose_job_somebody_cancels_is_not_started_again(world: World) -> None:
    task_id = await create(world, GENERIC)
    [launch] = await world.running()
    await taken(world, launch)
    await world.exit(launch.resource_id, 143, ExitCause.PREEMPTED)
    world.engine.lose(launch.resource_id, GoneReason.CANCELED)
    await world.until(lambda: is_state(world, task_id, "CANCELED"))
    assert any("the machine burnt down" in line for line in await world.log(task_id))


async def until_ended(world: World, task_id: str) -> Any:
    async def has_ended() -> bool:
        return (await row(world, task_id)).end_time is not None

    await world.until(has_ended)
    return await row(world, task_id)
