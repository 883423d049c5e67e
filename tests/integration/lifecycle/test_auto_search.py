"""Searches that need no choosing: why a trial was stopped is stored, in its row and in its log."""

from typing import Any

from world import World

from determined.master.lifecycle import proposals, search

SPACE = {"x": {"type": "double", "minval": 0, "maxval": 1}}
AUTO = {"name": "auto", "metric": "loss", "max_trials": 5, "max_concurrent_trials": 2}
LATE = {"searcher": {**AUTO, "time_metric": "epochs", "max_time": 8}, "hyperparameters": SPACE}
CLASSIC = {"searcher": {**AUTO, "max_length": {"batches": 8}}, "hyperparameters": SPACE}
NO_NUMBER = "stopped: its metric is no number, and other trials have one"


async def log_of(world: World, trial: dict[str, Any]) -> str:
    return "\n".join(await world.log(trial["task_id"]))


async def test_late_trial_that_is_stopped_says_why_in_its_row_and_its_log(world: World) -> None:
    await world.submit(**LATE)
    await world.running(2)
    await world.write(search.validation_reported, 1, {"loss": 0.5, "epochs": 1}, 100)
    await world.write(search.validation_reported, 2, {"loss": "NaN", "epochs": 1}, 100)
    going, stopped = await world.trial(1), await world.trial(2)
    assert (going["stop_reason"], stopped["stop_reason"]) == (None, NO_NUMBER)
    assert stopped["early_stopped"]
    assert f"{NO_NUMBER}: asked to save and exit" in await log_of(world, stopped)


async def test_classic_trial_that_is_closed_says_why_in_its_row_and_its_log(world: World) -> None:
    await world.submit(**CLASSIC)
    await world.running(2)
    await world.write(search.complete_operation, 1, 1, 0.5)
    await world.write(search.complete_operation, 2, 1, "NaN")
    going, closed = await world.trial(1), await world.trial(2)
    assert (going["op_length"], going["stop_reason"]) == (2, None)
    assert closed["op_closed"] and closed["stop_reason"] == NO_NUMBER
    assert NO_NUMBER in await log_of(world, closed)


async def test_trial_that_another_search_stops_has_no_reason(world: World) -> None:
    asha = {"name": "async_halving", "num_rungs": 2, "divisor": 3, "max_trials": 4, "max_concurrent_trials": 2}
    await world.submit(
        searcher={"metric": "loss", "time_metric": "epochs", "max_time": 9, **asha}, hyperparameters=SPACE
    )
    await world.running(2)
    await world.write(search.validation_reported, 1, {"loss": 0.1, "epochs": 3}, 100)
    await world.write(search.validation_reported, 2, {"loss": 0.9, "epochs": 3}, 100)
    stopped = await world.trial(2)
    assert (stopped["early_stopped"], stopped["stop_reason"]) == (True, None)
    assert "the searcher stopped this trial: asked to save and exit" in await log_of(world, stopped)


async def test_search_whose_first_points_are_given_asks_its_model_for_the_next(world: World) -> None:
    many = {**LATE, "searcher": {**LATE["searcher"], "max_trials": 9, "max_concurrent_trials": 9}}
    experiment_id = await world.submit(**many)
    assert len(await world.rows("trials")) == 6
    for _ in range(3):
        assert await world.db.read(proposals.waiting) == [experiment_id]
        question = await world.db.read(lambda conn: proposals.question(conn, experiment_id, None))
        assert question is not None
        await world.write(proposals.answer, experiment_id, question.request_id, question.think())
    assert await world.db.read(proposals.waiting) == []
    assert len(await world.rows("trials")) == 9
