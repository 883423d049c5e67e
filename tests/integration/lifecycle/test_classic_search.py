"""Classic searches: the master hands out lengths; a trial that waits for the next one holds no slot."""

from typing import Any

import pytest
from world import World

from determined.engines.model import Launch
from determined.errors import InvalidArgument
from determined.master.db.queries import trial as trials
from determined.master.lifecycle import allocation, checkpoint, experiment, search, spec, trial

SPACE = {"x": {"type": "double", "minval": 0, "maxval": 1}}
ASHA = {
    "searcher": {
        "name": "async_halving",
        "metric": "loss",
        "max_length": {"batches": 9},
        "num_rungs": 2,
        "divisor": 3,
        "max_trials": 3,
        "max_concurrent_trials": 3,
    },
    "hyperparameters": SPACE,
}


async def launch_of(world: World, trial_id: int) -> Launch:
    """Its live runner, once the engine has it: the row of its allocation is there before."""
    found: list[Launch] = []

    async def launched() -> bool:
        live = await world.live_allocation(trial_id)
        found[:] = [one for one in world.machine.alive.values() if live and one.allocation_id == live["id"]]
        return bool(found)

    await world.until(launched)
    return found[0]


async def operation(world: World, trial_id: int) -> tuple[int, bool] | None:
    return await world.db.read(lambda conn: search.current_operation(conn, trial_id))


async def log_of(world: World, trial_id: int) -> list[str]:
    return await world.log((await world.trial(trial_id))["task_id"])


async def out_of_operations(world: World, trial_id: int) -> None:
    """What `searcher.operations()` does at its end."""
    launch = await launch_of(world, trial_id)
    await world.write(allocation.preempt_acked, launch.allocation_id)
    await world.exit(launch.resource_id)


async def save(world: World, trial_id: int, uuid: str, steps: int) -> None:
    live = await world.live_allocation(trial_id)
    assert live is not None
    await world.write(
        checkpoint.report,
        trial_id=trial_id,
        allocation_id=live["id"],
        run_id=live["run_id"],
        uuid=uuid,
        steps=steps,
        metadata={"steps_completed": steps},
        resources={"a": 1},
        time=1.0,
        storage_id=None,
    )


async def test_trial_between_rungs_frees_its_slot_and_resumes_from_its_checkpoint_when_promoted(world: World) -> None:
    await world.submit(**ASHA)
    await world.running(3)
    uuid = "11111111-2222-3333-4444-555555555555"
    await save(world, 1, uuid, 3)
    await world.write(search.complete_operation, 1, 3, 0.1)
    assert await operation(world, 1) == (3, True)
    await out_of_operations(world, 1)
    await world.reconciler.step()
    assert (await world.trial(1))["state"] == "ACTIVE", "out of operations is not the end"
    assert await world.live_allocation(1) is None
    assert len(world.machine.alive) == 2
    for other, metric in ((2, 0.5), (3, 0.9)):
        await world.write(search.complete_operation, other, 3, metric)
    assert await operation(world, 1) == (9, False), "the best of three is promoted"
    await world.until(lambda: world.live_allocation(1))
    [launch] = [found for found in await world.running(3) if found.allocation_id.endswith(".2")]
    seen = spec.Cluster("cluster", "master", "token")
    task = await world.db.read(lambda conn: spec.build(conn, launch.resource_id, "u", seen))
    assert task.latest_checkpoint == uuid and task.steps_completed == 3
    assert (await world.trial(1))["restarts"] == 0


async def test_promotion_of_a_trial_that_still_runs_needs_no_new_allocation(world: World) -> None:
    await world.submit(**ASHA)
    await world.running(3)
    for other, metric in ((2, 0.5), (3, 0.9), (1, 0.1)):
        await world.write(search.complete_operation, other, 3, metric)
    assert await operation(world, 1) == (9, False)
    assert (await launch_of(world, 1)).allocation_id.endswith(".1")
    for other in (2, 3):
        assert (await world.trial(other))["state"] == "STOPPING_COMPLETED", "closed and complete"
        await out_of_operations(world, other)
    await world.write(search.complete_operation, 1, 9, 0.05)
    await out_of_operations(world, 1)
    await world.until_state("COMPLETED")
    assert len(world.machine.launched) == 3


async def test_trial_that_has_done_its_operations_is_not_called_preempted(world: World) -> None:
    await world.submit(**ASHA)
    await world.running(3)
    await world.write(search.complete_operation, 3, 3, 0.9)
    await out_of_operations(world, 3)
    for other, metric in ((1, 0.1), (2, 0.5)):
        await world.write(search.complete_operation, other, 3, metric)
    assert (await world.trial(2))["state"] == "STOPPING_COMPLETED"
    await out_of_operations(world, 2)
    ends = [line for trial_id in (2, 3) for line in await log_of(world, trial_id) if "allocation ended" in line]
    assert ends == [
        "allocation ended (completed): its last operation is complete",
        "allocation ended (completed): it has done the operations it was given",
    ]


async def test_trial_closed_while_it_waits_is_over_without_another_run(world: World) -> None:
    await world.submit(**ASHA)
    await world.running(3)
    await world.write(search.complete_operation, 2, 3, 0.5)
    await out_of_operations(world, 2)
    await world.write(search.complete_operation, 3, 3, 0.9)
    await world.write(search.complete_operation, 1, 3, 0.1)
    waited = await world.trial(2)
    assert waited["state"] == "COMPLETED" and waited["exit_reported"]
    assert len(world.machine.launched) == 3


async def test_trial_that_exits_0_before_its_operation_is_complete_counts_as_the_worst(world: World) -> None:
    await world.submit(**ASHA)
    await world.running(3)
    await world.exit((await launch_of(world, 1)).resource_id)
    assert (await world.trial(1))["state"] == "COMPLETED"
    told = [e["event"] for e in await world.rows("search_events") if e["event"]["type"] == "exited_early"]
    assert [e["reason"] for e in told] == ["USER_REQUESTED_STOP"]
    for other, metric in ((2, 0.5), (3, 0.9)):
        await world.write(search.complete_operation, other, 3, metric)
    assert await operation(world, 2) == (9, False), "the better of those that reported goes on"


async def test_waiting_trial_that_is_never_acknowledged_does_not_hang_the_search(world: World) -> None:
    """A script that does one operation and exits 0, as if that were all."""
    await world.submit(**ASHA)
    for trial_id, metric in ((1, 0.1), (2, 0.5), (3, 0.9)):
        launch = await launch_of(world, trial_id)
        await world.running(len(world.machine.alive))
        await world.write(search.complete_operation, trial_id, 3, metric)
        await world.exit(launch.resource_id)
    await world.until_state("COMPLETED")
    assert {t["state"] for t in await world.rows("trials")} == {"COMPLETED"}


async def test_killed_trial_that_waits_between_rungs_does_not_hang_the_search(world: World) -> None:
    await world.submit(**ASHA)
    await world.running(3)
    await world.write(search.complete_operation, 1, 3, 0.1)
    await out_of_operations(world, 1)
    await world.write(trial.kill, 1)
    assert (await world.trial(1))["state"] == "CANCELED"
    for other, metric in ((2, 0.5), (3, 0.9)):
        await world.write(search.complete_operation, other, 3, metric)
        await out_of_operations(world, other)
    await world.until_state("COMPLETED")


async def test_paused_search_gives_no_slot_to_a_promoted_trial_until_it_is_activated(world: World) -> None:
    await world.submit(**ASHA)
    await world.running(3)
    await world.write(search.complete_operation, 1, 3, 0.1)
    await out_of_operations(world, 1)
    await world.write(search.complete_operation, 2, 3, 0.5)
    await world.write(experiment.pause, 1)
    await world.write(search.complete_operation, 3, 3, 0.9)
    for other in (2, 3):
        await out_of_operations(world, other)
    await world.reconciler.step()
    assert not world.machine.alive and await operation(world, 1) == (9, False)
    await world.write(experiment.activate, 1)
    [launch] = await world.running(1)
    assert launch.allocation_id.endswith(".2")


async def test_progress_of_a_classic_search_counts_units(world: World) -> None:
    searcher = {"name": "random", "metric": "loss", "max_trials": 2, "max_concurrent_trials": 2}
    await world.submit(searcher={**searcher, "max_length": {"batches": 10}}, hyperparameters=SPACE)
    await world.running(2)
    await world.write(search.progress_reported, 1, 5, False)
    assert (await world.experiment())["progress"] == pytest.approx(0.25)
    await world.write(search.complete_operation, 1, 10, 0.5)
    await out_of_operations(world, 1)
    assert (await world.experiment())["progress"] == pytest.approx(0.5)


@pytest.mark.parametrize(("units", "share"), [(1e9, 0.5), (-7, 0.0)])
async def test_progress_beyond_the_operation_counts_as_its_end(world: World, units: float, share: float) -> None:
    searcher = {"name": "random", "metric": "loss", "max_trials": 2, "max_concurrent_trials": 2}
    await world.submit(activate=False, searcher={**searcher, "max_length": {"batches": 10}}, hyperparameters=SPACE)
    await world.write(search.progress_reported, 1, units, False)
    assert (await world.experiment())["progress"] == pytest.approx(share)
    newest = (await world.rows("search_events"))[-1]["event"]
    assert newest["type"] == "progress" and newest["value"] == 20 * share


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
async def test_progress_that_is_no_number_is_refused_and_never_logged(world: World, value: float) -> None:
    await world.submit(activate=False, **ASHA)
    before = await world.rows("search_events")
    with pytest.raises(InvalidArgument, match="must be a finite number"):
        await world.write(search.progress_reported, 1, value, False)
    assert await world.rows("search_events") == before


@pytest.mark.parametrize("metric", [None, "good", [], True])
async def test_metric_that_cannot_be_compared_is_refused_and_the_trial_may_try_again(world: World, metric: Any) -> None:
    await world.submit(**ASHA)
    await world.running(3)
    with pytest.raises(InvalidArgument, match="loss"):
        await world.write(search.complete_operation, 1, 3, metric)
    assert await operation(world, 1) == (3, False)
    assert await world.state() == "ACTIVE"
    await world.write(search.complete_operation, 1, 3, float("nan"))
    assert await operation(world, 1) == (3, True)


async def test_custom_search_hands_any_json_metric_to_its_client(world: World) -> None:
    await world.submit(searcher={"name": "custom", "metric": "loss", "unit": "batches"})
    created = {"createTrial": {"requestId": "7b6ed9fe-3d5c-4bd5-9f71-9a4c4a2b4e5d", "hyperparams": "{}"}}
    length = {"validateAfter": {"requestId": created["createTrial"]["requestId"], "length": "5"}}
    await world.write(search.operations_posted, 1, 1, [created, {"trialOperation": length}])
    await world.running(1)
    await world.write(search.complete_operation, 1, 5, {"a": [1, None, float("inf")]})
    events = [e["event"] for e in await world.rows("search_events") if e["event"]["type"] == "validation"]
    assert events[0]["metric"] == {"a": [1, None, "Infinity"]}
    assert not await world.db.read(lambda conn: trials.wanting_allocation(conn, 100))
