"""Extending a search: more trials while it runs and after its end, going on from all that it knows."""

from typing import Any

import pytest
from world import World

from determined.errors import FailedPrecondition, InvalidArgument
from determined.master.lifecycle import experiment, extension, search

SPACE = {"x": {"type": "double", "minval": 0, "maxval": 1}}
RANDOM = {
    "searcher": {"name": "random", "metric": "loss", "max_trials": 2, "max_concurrent_trials": 2},
    "hyperparameters": SPACE,
}
ASHA = {
    "searcher": {
        "name": "async_halving",
        "metric": "loss",
        "time_metric": "epochs",
        "max_time": 9,
        "num_rungs": 2,
        "divisor": 3,
        "max_trials": 2,
        "max_concurrent_trials": 1,
    },
    "hyperparameters": SPACE,
}


async def finish(world: World, trials: int) -> None:
    """Let so many trials run to their end."""
    for _ in range(trials):
        await world.until(lambda: world.machine.alive)
        await world.exit(next(iter(world.machine.alive)))


async def test_completed_search_runs_the_added_trials_and_completes_again(world: World) -> None:
    await world.submit(**RANDOM)
    await finish(world, 2)
    await world.until_state("COMPLETED")
    first = await world.experiment()
    await world.write(extension.extend, 1, 3)
    extended = await world.experiment()
    assert extended["state"] == "ACTIVE" and extended["end_time"] is None
    assert extended["config"]["searcher"]["max_trials"] == 5
    assert 0 < extended["progress"] < 1
    assert len(await world.rows("trials")) == 4, "two at a time"
    await finish(world, 3)
    await world.until_state("COMPLETED")
    done = await world.experiment()
    assert done["end_time"] > first["end_time"] and done["progress"] == 1.0
    trials = await world.rows("trials")
    assert len(trials) == 5 == len({t["hparams"]["x"] for t in trials})
    assert [t["run_id"] for t in trials] == [1] * 5, "those that were over were left alone"


async def test_extended_trials_are_those_of_a_search_that_was_that_long_from_the_start(world: World) -> None:
    await world.submit(**RANDOM)
    await finish(world, 2)
    await world.until_state("COMPLETED")
    await world.restart()
    await world.write(extension.extend, 1, 2)
    longer = {**RANDOM, "searcher": {**RANDOM["searcher"], "max_trials": 4, "max_concurrent_trials": 4}}
    other = await world.submit(activate=False, **longer)
    points: dict[int, list[Any]] = {1: [], other: []}
    for trial in await world.rows("trials"):
        points[trial["experiment_id"]].append(trial["hparams"])
    assert points[1] == points[other]


async def test_running_search_is_extended_where_it_stands(world: World) -> None:
    await world.submit(**RANDOM)
    await world.running(2)
    await world.write(extension.extend, 1, 1)
    assert len(await world.rows("trials")) == 2, "the places are taken"
    await finish(world, 3)
    await world.until_state("COMPLETED")


async def test_paused_search_stays_paused_when_it_is_extended(world: World) -> None:
    await world.submit(activate=False, **RANDOM)
    await world.write(extension.extend, 1, 1)
    assert await world.state() == "PAUSED"
    await world.write(experiment.activate, 1)
    await finish(world, 3)
    await world.until_state("COMPLETED")


async def test_extended_asha_remembers_its_rungs(world: World) -> None:
    await world.submit(**ASHA)
    for trial_id, loss in ((1, 0.1), (2, 0.9)):
        await world.running(1)
        for epochs in (3, 9):
            await world.write(search.validation_reported, trial_id, {"loss": loss, "epochs": epochs}, epochs)
        await world.exit(next(iter(world.machine.alive)))
    await world.until_state("COMPLETED")
    await world.write(extension.extend, 1, 1)
    await world.running(1)
    await world.write(search.validation_reported, 3, {"loss": 0.5, "epochs": 3}, 3)
    assert (await world.trial(3))["early_stopped"], "worse than the first trial at this rung"


@pytest.mark.parametrize("trials", [0, -1, 100_001])
async def test_number_that_makes_no_sense_is_refused(world: World, trials: int) -> None:
    await world.submit(activate=False, **RANDOM)
    with pytest.raises(InvalidArgument, match=f"trials={trials}"):
        await world.write(extension.extend, 1, trials)


async def test_canceled_search_is_refused_with_the_command_to_use_instead(world: World) -> None:
    await world.submit(activate=False, **RANDOM)
    await world.write(experiment.kill, 1)
    with pytest.raises(FailedPrecondition, match="det experiment continue 1"):
        await world.write(extension.extend, 1, 1)


async def test_archived_search_is_refused(world: World) -> None:
    await world.submit(**RANDOM)
    await finish(world, 2)
    await world.until_state("COMPLETED")
    await world.write(experiment.archive, 1)
    with pytest.raises(FailedPrecondition, match="unarchive 1"):
        await world.write(extension.extend, 1, 1)


async def test_search_with_nothing_more_to_draw_is_refused_and_goes_on(world: World) -> None:
    grid = {"name": "grid", "metric": "loss"}
    await world.submit(searcher=grid, hyperparameters={"x": {"type": "categorical", "vals": [1, 2]}})
    with pytest.raises(FailedPrecondition, match="cannot be extended"):
        await world.write(extension.extend, 1, 1)
    assert await world.state() == "ACTIVE"
    await finish(world, 2)
    await world.until_state("COMPLETED")
    with pytest.raises(FailedPrecondition, match="left nothing to extend"):
        await world.write(extension.extend, 1, 1)
