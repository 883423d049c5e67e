"""Late searches: trials report as they like, and the search may stop them."""

from typing import Any

import pytest
from world import World

from determined.master.lifecycle import allocation, search

ASHA = {
    "searcher": {
        "name": "async_halving",
        "metric": "loss",
        "time_metric": "epochs",
        "max_time": 9,
        "num_rungs": 2,
        "divisor": 3,
        "max_trials": 4,
        "max_concurrent_trials": 2,
    },
    "hyperparameters": {"x": {"type": "double", "minval": 0, "maxval": 1}},
}

AUTO = {
    "name": "auto",
    "metric": "loss",
    "time_metric": "epochs",
    "max_time": 8,
    "budget": 99,
    "max_concurrent_trials": 2,
}


async def report(world: World, trial_id: int, loss: float, epochs: float) -> None:
    await world.write(search.validation_reported, trial_id, {"loss": loss, "epochs": epochs}, int(epochs) * 100)


async def test_stopped_trial_is_asked_to_leave_and_another_takes_its_place(world: World) -> None:
    await world.submit(**ASHA)
    await world.running(2)
    await report(world, 1, 0.1, 3)
    await report(world, 2, 0.9, 3)
    stopped = await world.trial(2)
    assert stopped["state"] == "STOPPING_COMPLETED" and stopped["early_stopped"]
    live = await world.live_allocation(2)
    assert live is not None and live["preempt_at"] is not None
    assert len(await world.rows("trials")) == 3
    [mine] = [found for found in world.machine.alive.values() if found.allocation_id == live["id"]]
    await world.write(allocation.preempt_acked, mine.allocation_id)
    await world.exit(mine.resource_id)
    assert (await world.trial(2))["state"] == "COMPLETED"
    assert await world.state() == "ACTIVE"
    await world.running(2)


async def test_reports_after_a_stop_change_nothing(world: World) -> None:
    await world.submit(**ASHA)
    await world.running(2)
    await report(world, 1, 0.1, 3)
    await report(world, 2, 0.9, 3)
    before = await world.rows("search_events")
    await report(world, 2, 0.01, 9)
    await world.write(search.validation_reported, 2, {"nothing": 1.0}, 900)
    assert await world.rows("search_events") == before
    assert len(await world.rows("trials")) == 3 and await world.state() == "ACTIVE"


@pytest.mark.parametrize(
    ("metrics", "named"),
    [
        ({"accuracy": 0.5, "epochs": 3}, "searcher.metric 'loss'"),
        ({"loss": 0.5, "batches": 3}, "searcher.time_metric 'epochs'"),
        ({"loss": "low", "epochs": 3}, "searcher.metric 'loss'"),
        ({"loss": True, "epochs": None}, "searcher.metric 'loss' and searcher.time_metric 'epochs'"),
    ],
)
async def test_report_without_what_the_search_compares_fails_the_experiment_and_names_the_field(
    world: World, metrics: dict[str, Any], named: str
) -> None:
    await world.submit(**ASHA)
    await world.running(2)
    await world.write(search.validation_reported, 1, metrics, 3)
    await world.until_state("ERROR")
    error = (await world.experiment())["error"]
    assert named in error and str(sorted(metrics)) in error
    assert "Report it with every validation" in error


@pytest.mark.parametrize("length", [float("inf"), float("-inf"), float("nan"), "Infinity", "NaN"])
@pytest.mark.parametrize("searcher", [ASHA["searcher"], AUTO], ids=["asha", "auto"])
async def test_length_that_is_not_finite_is_missing(world: World, searcher: dict[str, Any], length: object) -> None:
    """It never reaches the search: a sum of lengths would stay infinite, and its snapshot could not be read back."""
    await world.submit(searcher=searcher, hyperparameters=ASHA["hyperparameters"])
    await world.running(2)
    before = await world.rows("search_events")
    await world.write(search.validation_reported, 1, {"loss": 0.5, "epochs": length}, 3)
    validations = [row for row in await world.rows("search_events") if row not in before]
    assert "validation" not in {row["event"]["type"] for row in validations}
    await world.until_state("ERROR")
    assert "searcher.time_metric 'epochs', which must be finite" in (await world.experiment())["error"]


@pytest.mark.parametrize("name", ["single", "random"])
async def test_search_that_compares_nothing_takes_a_report_without_its_metric(world: World, name: str) -> None:
    trials = {"max_trials": 2} if name == "random" else {}
    await world.submit(searcher={"name": name, "metric": "loss", **trials})
    await world.write(search.validation_reported, 1, {"accuracy": 0.5}, 3)
    assert await world.state() == "ACTIVE"


async def test_nan_loses_against_infinity_which_may_come_as_text(world: World) -> None:
    await world.submit(**ASHA)
    await world.running(2)
    await report(world, 2, float("nan"), 3)
    await world.write(search.validation_reported, 1, {"loss": "-Infinity", "epochs": 3}, 3)
    assert await world.state() == "ACTIVE"
    await report(world, 2, float("nan"), 9)
    assert [t["early_stopped"] for t in await world.rows("trials")] == [False, True, False]


async def test_invalid_hyperparameters_are_replaced_and_the_process_has_ten_seconds_to_leave(world: World) -> None:
    await world.submit(**ASHA)
    await world.running(2)
    live = await world.live_allocation(1)
    assert live is not None
    await world.write(search.early_exit_reported, 1, "INVALID_HP")
    assert len(await world.rows("trials")) == 3, "another one takes its place"
    await world.reconciler.step()
    assert not world.machine.kills
    world.clock.advance(11)
    await world.until(lambda: all(one.allocation_id != live["id"] for one in world.machine.alive.values()))
    assert world.machine.kills
    assert (await world.trial(1))["state"] == "COMPLETED"
    assert await world.state() == "ACTIVE"
    await world.until(lambda: len(world.machine.alive) == 2)


async def test_search_of_several_metrics_hears_all_of_them(world: World) -> None:
    searcher = {
        "name": "optuna",
        "sampler": "random",
        "max_trials": 1,
        "metrics": [{"name": "loss"}, {"name": "accuracy", "smaller_is_better": False}],
    }
    await world.submit(searcher=searcher, hyperparameters=ASHA["hyperparameters"])
    await world.running(1)
    await world.write(search.validation_reported, 1, {"loss": 0.5, "accuracy": 0.9}, 7)
    [event] = [e["event"] for e in await world.rows("search_events") if e["event"]["type"] == "validation"]
    assert event["metric"] == {"loss": 0.5, "accuracy": 0.9} and event["length"] == 7
    await world.write(search.validation_reported, 1, {"loss": 0.5}, 8)
    await world.until_state("ERROR")
    assert "searcher.metrics 'accuracy'" in (await world.experiment())["error"]
