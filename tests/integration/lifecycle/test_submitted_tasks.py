"""Submitted tasks in the rows: a restart of the master takes them up again, idleness and a missing pool end them."""

from datetime import timedelta
from typing import Any

import pytest
from world import World, WorldFactory

from determined.config.job import prepare_generic_task, prepare_job
from determined.config.task_kinds import COMMAND, GENERIC, NOTEBOOK, SHELL, TENSORBOARD, TaskKind
from determined.engines.model import GoneReason, Launch
from determined.master.background.idle import IdleWatch
from determined.master.config import load_master_config
from determined.master.db.queries import submitted_task as queries
from determined.master.lifecycle import allocation, claiming, submitted_task
from determined.wire.claim import ClaimRequest
from determined.wire.report import ExitCause


def new_task(kind: TaskKind, pool: str = "default", **config: Any) -> submitted_task.NewTask:
    raw = {"entrypoint": ["true"], **config}
    options: dict[str, Any] = {"container_defaults": {}, "default_priority": 42, "has_context": False}
    full = prepare_generic_task(raw, **options) if kind is GENERIC else prepare_job(raw, template=None, **options)
    return submitted_task.NewTask(
        kind=kind,
        owner_id=1,
        workspace_id=1,
        pool=pool,
        slots=1,
        priority=42,
        weight=1.0,
        max_slots=None,
        single_node=True,
        description="a task",
        config=full.raw,
        submitted_config=raw,
        context=None,
    )


async def create(world: World, kind: TaskKind, **config: Any) -> str:
    return await world.write(submitted_task.create, new_task(kind, **config))


async def serve(world: World, kind: TaskKind, **config: Any) -> str:
    """A task whose service answers."""
    task_id = await create(world, kind, **config)
    [launch] = await world.running()
    await world.write(allocation.runner_phase, launch.resource_id, "READY")
    return task_id


async def handed_over(world: World) -> Launch:
    """The only runner, which its engine has and which has reported nothing yet."""
    await world.until(lambda: len(world.machine.launched) == 1)
    return world.machine.launched[0]


async def row(world: World, task_id: str) -> Any:
    return await world.db.read(lambda conn: queries.detail(conn, task_id))


async def ended(world: World, task_id: str) -> bool:
    return (await row(world, task_id)).end_time is not None


@pytest.mark.parametrize("kind", [COMMAND, NOTEBOOK, SHELL, TENSORBOARD, GENERIC], ids=lambda kind: kind.noun)
async def test_a_task_lives_through_a_restart_of_the_master(world: World, kind: TaskKind) -> None:
    task_id = await create(world, kind)
    [launch] = await world.running()
    await world.restart()
    await world.until(lambda: launch.resource_id in world.engine.starts)  # handed over again, and found running
    assert (await row(world, task_id)).allocation_state == "RUNNING"
    await world.exit(launch.resource_id, 3)
    await world.restart()
    end = await row(world, task_id)
    assert (end.allocation_state, end.exit_reason) == (
        "TERMINATED",
        "resources failed with non-zero exit code: exit 3 (exit code 3)",
    )
    assert (end.state, len(world.machine.launched)) == ("ERROR" if kind is GENERIC else None, 1)


async def test_a_task_that_was_queued_when_the_master_died_starts_once(world: World) -> None:
    held = [await create(world, COMMAND) for _ in range(5)]
    running = await world.running(4)
    await world.restart()
    await world.exit(running[0].resource_id)
    await world.until(lambda: len(world.machine.launched) == 5)
    assert {launch.allocation_id for launch in world.machine.launched} == {f"{task_id}.1" for task_id in held}


async def test_a_kill_that_the_master_did_not_live_to_carry_out_is_carried_out_later(world: World) -> None:
    world.machine.obey_kill = None
    task_id = await create(world, COMMAND)
    [launch] = await world.running()
    await world.write(submitted_task.kill, task_id)
    await world.close()
    world.machine.obey_kill = world._obey_kill
    await world.open()
    await world.until(lambda: ended(world, task_id))
    assert (launch.resource_id, False) in world.machine.kills


async def test_a_command_whose_node_is_lost_has_failed_and_is_not_started_again(world: World) -> None:
    task_id = await create(world, COMMAND)
    [launch] = await world.running()
    world.engine.lose(launch.resource_id, GoneReason.LOST)
    await world.until(lambda: ended(world, task_id))
    assert (await row(world, task_id)).exit_kind == "transient"
    await world.reconciler.step()
    assert len(world.machine.launched) == 1


@pytest.mark.parametrize("kind", [COMMAND, NOTEBOOK, SHELL, TENSORBOARD, GENERIC], ids=lambda kind: kind.noun)
async def test_a_task_whose_runner_never_started_is_started_again(world: World, kind: TaskKind) -> None:
    task_id = await create(world, kind)
    launch = await handed_over(world)
    world.engine.lose(launch.resource_id, GoneReason.NOT_STARTED)
    [again] = await world.running()
    assert again.allocation_id == f"{task_id}.2"
    assert (await row(world, task_id)).state == ("ACTIVE" if kind is GENERIC else None)
    assert "nothing of the task has begun: it is started again (start 2 of 5)" in await world.log(task_id)
    await world.exit(again.resource_id)
    await world.until(lambda: ended(world, task_id))
    assert len(world.machine.launched) == 2


@pytest.mark.parametrize("kind", [COMMAND, GENERIC], ids=lambda kind: kind.noun)
async def test_a_task_that_no_engine_can_start_ends_after_five_tries(world: World, kind: TaskKind) -> None:
    world.machine.refuse = "the machine has no room"
    task_id = await create(world, kind)
    await world.until(lambda: ended(world, task_id))
    end = await row(world, task_id)
    assert (end.exit_kind, end.state) == ("transient", "ERROR" if kind is GENERIC else None)
    assert "could not start: the machine has no room" in end.exit_reason
    assert [one["id"] for one in await world.rows("allocations")] == [f"{task_id}.{n}" for n in range(1, 6)]


@pytest.mark.parametrize("sign", ["claimed", "begun", "killed"])
async def test_a_task_that_may_have_begun_or_is_killed_is_not_started_again(world: World, sign: str) -> None:
    world.machine.obey_kill = None
    task_id = await create(world, COMMAND)
    launch = await handed_over(world)
    if sign == "claimed":
        await world.write(
            claiming.claim, ClaimRequest(allocation_id=launch.allocation_id, rank=0, claimant="a", proof="")
        )
    if sign == "begun":
        await world.write(allocation.runner_phase, launch.resource_id, "STARTING")
    if sign == "killed":
        await world.write(submitted_task.kill, task_id)
    world.engine.lose(launch.resource_id, GoneReason.NOT_STARTED)
    await world.until(lambda: ended(world, task_id))
    await world.reconciler.step()
    assert len(world.machine.launched) == 1


async def test_a_paused_generic_task_stays_paused_over_a_restart_and_goes_on(world: World) -> None:
    task_id = await create(world, GENERIC)
    [launch] = await world.running()
    await world.write(submitted_task.pause, task_id)
    await world.exit(launch.resource_id, 143, ExitCause.PREEMPTED)
    await world.restart()
    assert (await row(world, task_id)).state == "PAUSED"
    await world.write(submitted_task.unpause, task_id)
    await world.restart()
    [again] = await world.running()
    assert again.allocation_id == f"{task_id}.2"


async def test_a_generic_task_that_does_not_leave_in_time_is_killed_and_paused(world: World) -> None:
    task_id = await create(world, GENERIC, preemption_timeout=20)
    await world.running()
    await world.write(submitted_task.pause, task_id)
    world.clock.advance(19)
    await world.reconciler.step()
    assert (await row(world, task_id)).state == "STOPPING_PAUSED"
    world.clock.advance(2)
    await world.reconciler.step()

    async def is_paused() -> bool:
        return bool((await row(world, task_id)).state == "PAUSED")

    await world.until(is_paused)


async def test_tasks_of_a_pool_that_is_gone_are_ended_with_the_reason(make_world: WorldFactory) -> None:
    world = make_world(pools={"gone": 1}, resource_pools=[{"pool_name": "default"}, {"pool_name": "gone"}])
    await world.open()
    doomed = await world.write(submitted_task.create, new_task(COMMAND, pool="gone"))
    kept = await create(world, COMMAND)
    await world.running(2)
    await world.close()
    world.config = load_master_config({"data_dir": "unused"}, {}, {})
    await world.open()
    await world.until(lambda: ended(world, doomed))
    assert "resource pool 'gone' is not in the master's config any more" in (await row(world, doomed)).exit_reason
    assert not await ended(world, kept)


@pytest.mark.parametrize("kind", [NOTEBOOK, SHELL, TENSORBOARD], ids=lambda kind: kind.noun)
async def test_an_idle_task_is_ended_with_the_reason_in_its_log(world: World, kind: TaskKind) -> None:
    watch = IdleWatch(world.ctx)
    task_id = await serve(world, kind, idle_timeout="30m")
    world.clock.advance(30 * 60 - 5)
    await watch.step()
    assert not await ended(world, task_id)
    world.clock.advance(10)
    await watch.step()
    await world.until(lambda: ended(world, task_id))
    assert any("idle for more than 30m0s: service is inactive" in line for line in await world.log(task_id))


async def test_a_task_is_not_idle_before_its_service_has_answered(world: World) -> None:
    watch = IdleWatch(world.ctx)
    task_id = await create(world, TENSORBOARD, idle_timeout="1m")
    [launch] = await world.running()
    world.clock.advance(600)
    await watch.step()
    await world.write(allocation.runner_phase, launch.resource_id, "READY")
    await watch.step()
    assert not await ended(world, task_id), await world.log(task_id)
    world.clock.advance(61)
    await watch.step()
    await world.until(lambda: ended(world, task_id))


async def test_use_through_the_proxy_and_reports_keep_a_task_alive(world: World) -> None:
    watch = IdleWatch(world.ctx)
    task_id = await serve(world, NOTEBOOK, idle_timeout="10m")
    world.clock.advance(540)
    world.ctx.activity.note(task_id, world.clock.now())
    await watch.step()
    used = (await row(world, task_id)).last_active
    assert used is not None, "what the proxy saw is written down"
    world.clock.advance(540)
    await watch.step()
    assert not await ended(world, task_id)
    await world.write(lambda conn, now: queries.update_row(conn, task_id, {"last_active": now}))
    world.clock.advance(540)
    await watch.step()
    assert not await ended(world, task_id)


async def test_the_time_without_a_master_is_not_counted_as_idle(world: World) -> None:
    task_id = await serve(world, NOTEBOOK, idle_timeout="10m")
    await world.close()
    world.clock.advance(3600)
    await world.open()
    watch = IdleWatch(world.ctx)
    await watch.step()
    assert not await ended(world, task_id)
    world.clock.advance(601)
    await watch.step()
    await world.until(lambda: ended(world, task_id))


async def test_uses_are_written_down_at_most_each_half_minute(world: World) -> None:
    watch = IdleWatch(world.ctx)
    task_id = await serve(world, NOTEBOOK, idle_timeout="10m")
    first = world.clock.now()
    world.ctx.activity.note(task_id, first)
    await watch.step()
    world.ctx.activity.note(task_id, first + timedelta(seconds=29))
    await watch.step()
    assert (await row(world, task_id)).last_active == first
    world.ctx.activity.note(task_id, first + timedelta(seconds=30))
    await watch.step()
    assert (await row(world, task_id)).last_active == first + timedelta(seconds=30)


async def test_uses_of_tasks_that_have_ended_are_forgotten(world: World) -> None:
    watch = IdleWatch(world.ctx)
    task_id = await serve(world, NOTEBOOK)
    for one in (task_id, "of a trial"):
        world.ctx.activity.note(one, world.clock.now())
    await watch.step()
    assert world.ctx.activity.last(task_id) is not None
    assert world.ctx.activity.last("of a trial") is None
    await world.exit(next(iter(world.machine.alive)))
    await watch.step()
    assert world.ctx.activity.last(task_id) is None


async def test_commands_and_tasks_without_a_timeout_are_never_idle(make_world: WorldFactory) -> None:
    world = make_world(tensorboard_timeout=0)
    await world.open()
    watch = IdleWatch(world.ctx)
    made = [await create(world, kind) for kind in (COMMAND, NOTEBOOK, TENSORBOARD)]
    for launch in await world.running(3):
        await world.write(allocation.runner_phase, launch.resource_id, "READY")
    world.clock.advance(10**7)
    await watch.step()
    assert [await ended(world, one) for one in made] == [False] * 3


async def test_defaults_of_the_cluster_end_notebooks_and_tensorboards(make_world: WorldFactory) -> None:
    world = make_world(notebook_timeout=600)
    await world.open()
    watch = IdleWatch(world.ctx)
    notebook, board = await create(world, NOTEBOOK), await create(world, TENSORBOARD)
    for launch in await world.running(2):
        await world.write(allocation.runner_phase, launch.resource_id, "READY")
    world.clock.advance(301)
    await watch.step()
    await world.until(lambda: ended(world, board))
    assert not await ended(world, notebook)
    world.clock.advance(300)
    await watch.step()
    await world.until(lambda: ended(world, notebook))
