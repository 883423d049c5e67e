"""Experiments from submit to end, with what people do to them on the way."""

import pytest
from world import World, WorldFactory

from determined.errors import FailedPrecondition
from determined.master.lifecycle import allocation, experiment, trial
from determined.wire.report import ExitCause


@pytest.mark.parametrize("searcher", [{"max_length": {"batches": 10}}, {}], ids=["classic", "late"])
async def test_plain_script_that_exits_0_completes_the_experiment(world: World, searcher: dict[str, object]) -> None:
    await world.submit(searcher={"name": "single", "metric": "loss", **searcher})
    [launch] = await world.running()
    assert (await world.trial())["state"] == "ACTIVE"
    await world.exit(launch.resource_id)
    await world.until_state("COMPLETED")
    done = await world.experiment()
    assert done["progress"] == 1.0 and done["end_time"] is not None
    assert (await world.trial())["state"] == "COMPLETED"
    assert await world.rows("search_snapshots") == [] == await world.rows("search_events")


async def test_created_experiment_waits_until_it_is_activated(world: World) -> None:
    await world.submit(activate=False)
    await world.reconciler.step()
    assert await world.rows("allocations") == []
    assert [t["state"] for t in await world.rows("trials")] == ["PAUSED"]
    await world.write(experiment.activate, 1)
    await world.running()


async def test_paused_experiment_releases_its_slots_and_resumes_the_same_trial(world: World) -> None:
    await world.submit()
    [launch] = await world.running()
    await world.write(experiment.pause, 1)
    live = await world.live_allocation()
    assert live is not None and live["preempt_at"] is not None and live["kill_at"] is None
    await world.write(allocation.preempt_acked, launch.allocation_id)
    await world.exit(launch.resource_id)
    assert await world.live_allocation() is None
    assert (await world.trial())["state"] == "PAUSED"
    await world.write(experiment.activate, 1)
    [again] = await world.running()
    assert again.allocation_id == launch.allocation_id.removesuffix(".1") + ".2"
    assert (await world.trial())["restarts"] == 0


async def test_pause_before_the_task_is_ready_kills_it_and_stays_paused(world: World) -> None:
    await world.submit()
    await world.until(lambda: world.machine.alive)
    await world.write(experiment.pause, 1)
    await world.until(lambda: not world.machine.alive)
    assert (await world.trial())["state"] == "PAUSED"
    assert [a["exit_kind"] for a in await world.rows("allocations")] == ["killed"]


async def test_pause_of_a_queued_trial_ends_its_request(make_world: WorldFactory) -> None:
    world = await make_world(slots=0).open()
    await world.submit(resources={"slots_per_trial": 2})
    await world.until(world.live_allocation)
    await world.write(experiment.pause, 1)
    assert await world.live_allocation() is None
    assert (await world.trial())["state"] == "PAUSED"


async def test_process_that_ignores_preemption_is_killed_at_the_deadline_and_stays_paused(world: World) -> None:
    await world.submit(preemption_timeout=60)
    await world.running()
    await world.write(experiment.pause, 1)
    await world.reconciler.step()
    assert world.machine.alive
    world.clock.advance(61)
    await world.until(lambda: not world.machine.alive)
    assert (await world.trial())["state"] == "PAUSED"
    assert (await world.trial())["restarts"] == 0


async def test_pause_then_exit_0_without_acknowledgement_completes(world: World) -> None:
    await world.submit()
    [launch] = await world.running()
    await world.write(experiment.pause, 1)
    await world.exit(launch.resource_id)
    assert await world.state() == "COMPLETED"


async def test_cancel_ends_canceled_when_the_process_obeys(world: World) -> None:
    await world.submit()
    [launch] = await world.running()
    await world.write(experiment.cancel, 1)
    assert await world.state() == "STOPPING_CANCELED"
    await world.write(allocation.preempt_acked, launch.allocation_id)
    await world.exit(launch.resource_id)
    assert await world.state() == "CANCELED"


async def test_crash_during_cancel_is_an_error(world: World) -> None:
    await world.submit()
    [launch] = await world.running()
    await world.write(experiment.cancel, 1)
    await world.exit(launch.resource_id, 1)
    assert (await world.trial())["state"] == "ERROR"


async def test_kill_escalates_a_pending_cancel(world: World) -> None:
    await world.submit()
    await world.running()
    await world.write(experiment.cancel, 1)
    await world.write(experiment.kill, 1)
    await world.until_state("CANCELED")
    assert world.machine.kills and not world.machine.kills[0][1]


async def test_stubborn_runner_is_killed_by_force_after_half_a_minute(world: World) -> None:
    world.machine.obey_kill = None
    await world.submit()
    [launch] = await world.running()
    await world.write(experiment.kill, 1)
    await world.until(lambda: world.machine.kills == [(launch.resource_id, False)])
    world.clock.advance(31)
    await world.until(lambda: world.machine.kills == [(launch.resource_id, False), (launch.resource_id, True)])
    world.engine.lose(launch.resource_id)
    await world.until_state("CANCELED")


async def test_kill_of_a_paused_experiment_ends_it_at_once(world: World) -> None:
    await world.submit(activate=False)
    await world.write(experiment.kill, 1)
    assert await world.state() == "CANCELED"


async def test_repeating_a_verb_changes_nothing_and_illegal_ones_are_refused(world: World) -> None:
    await world.submit(activate=False)
    await world.write(experiment.pause, 1)
    await world.write(experiment.kill, 1)
    await world.write(experiment.kill, 1)
    await world.write(experiment.cancel, 1)
    with pytest.raises(FailedPrecondition, match="incompatible state CANCELED"):
        await world.write(experiment.activate, 1)
    assert await world.state() == "CANCELED"


async def test_only_ended_experiments_are_archived(world: World) -> None:
    await world.submit(activate=False)
    with pytest.raises(FailedPrecondition, match="PAUSED"):
        await world.write(experiment.archive, 1)
    await world.write(experiment.kill, 1)
    await world.write(experiment.archive, 1)
    assert (await world.experiment())["archived"]
    await world.write(experiment.unarchive, 1)
    assert not (await world.experiment())["archived"]


async def test_failing_trial_is_restarted_until_max_restarts_is_spent(world: World) -> None:
    await world.submit(max_restarts=2)
    for attempt in range(3):
        [launch] = await world.running()
        assert launch.allocation_id.endswith(f".{attempt + 1}")
        await world.exit(launch.resource_id, 1)
    await world.until_state("ERROR")
    ended = await world.trial()
    assert (ended["state"], ended["restarts"]) == ("ERROR", 2)  # the last failure is no restart
    assert len(world.machine.launched) == 3


async def test_killed_trial_of_a_search_leaves_the_others_alone(world: World) -> None:
    await world.submit(
        searcher={"name": "random", "metric": "loss", "max_trials": 2, "max_concurrent_trials": 2},
        hyperparameters={"x": {"type": "int", "minval": 1, "maxval": 9}},
    )
    await world.running(2)
    await world.write(trial.kill, 1)
    await world.until(lambda: len(world.machine.alive) == 1)
    assert await world.state() == "ACTIVE"
    assert (await world.trial(1))["state"] == "CANCELED"
    [launch] = world.machine.alive.values()
    await world.exit(launch.resource_id)
    await world.until_state("COMPLETED")


async def test_deletion_removes_every_row_and_can_fail_and_be_repeated(world: World) -> None:
    await world.submit(activate=False)
    with pytest.raises(FailedPrecondition):
        await world.write(experiment.begin_delete, 1)
    await world.write(experiment.kill, 1)
    await world.write(experiment.begin_delete, 1)
    await world.write(lambda conn, now: experiment.fail_delete(conn, now, 1, "disk on fire"))
    assert await world.state() == "DELETE_FAILED"
    await world.write(experiment.begin_delete, 1)
    await world.write(lambda conn, now: experiment.finish_delete(conn, 1))
    for table in ("experiments", "trials", "tasks", "jobs", "model_definitions", "allocations"):
        assert await world.rows(table) == [], table


async def test_continue_resumes_the_same_trial_under_a_new_task(world: World) -> None:
    await world.submit()
    [launch] = await world.running()
    with pytest.raises(FailedPrecondition, match="try again later"):
        await world.write(experiment.continue_experiment, 1, None, None)
    await world.exit(launch.resource_id, 1)
    await world.until_state("ERROR")
    await world.write(experiment.continue_experiment, 1, None, None)
    [again] = await world.running()
    resumed = await world.trial()
    assert resumed["task_id"] == launch.allocation_id.removesuffix(".1") + "-1"
    assert (resumed["restarts"], resumed["run_id"], resumed["end_time"]) == (0, 2, None)
    await world.exit(again.resource_id)
    await world.until_state("COMPLETED")
    assert [t["id"] for t in await world.rows("trials")] == [1]


async def test_continued_grid_skips_completed_trials(world: World) -> None:
    await world.submit(
        searcher={"name": "grid", "metric": "loss", "max_concurrent_trials": 2},
        hyperparameters={"x": {"type": "categorical", "vals": [1, 2]}},
    )
    first, second = await world.running(2)
    await world.exit(first.resource_id)
    await world.exit(second.resource_id, 1)
    await world.until_state("COMPLETED")
    await world.write(experiment.continue_experiment, 1, None, None)
    [again] = await world.running(1)
    assert again.allocation_id.split(".")[1].startswith(second.allocation_id.split(".")[1])
    await world.exit(again.resource_id)
    await world.until_state("COMPLETED")
    assert {t["state"] for t in await world.rows("trials")} == {"COMPLETED"}
    with pytest.raises(FailedPrecondition, match="nothing to continue"):
        await world.write(experiment.continue_experiment, 1, None, None)


async def test_script_stopped_by_the_runner_for_a_pause_stays_paused(world: World) -> None:
    await world.submit()
    [launch] = await world.running()
    await world.write(experiment.pause, 1)
    await world.exit(launch.resource_id, 143, ExitCause.PREEMPTED)
    assert (await world.trial())["state"] == "PAUSED"
