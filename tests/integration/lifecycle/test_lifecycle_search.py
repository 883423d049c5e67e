"""Searches inside the lifecycle: operations, early exits, progress, failures of methods, replay."""

from datetime import datetime

import pytest
from sqlalchemy import Connection
from world import World

from determined.errors import FailedPrecondition, InvalidArgument
from determined.master.lifecycle import allocation, search, searchers
from determined.search.searcher import Searcher

CLASSIC = {"name": "single", "metric": "loss", "max_length": {"batches": 100}}
RANDOM = {
    "searcher": {"name": "random", "metric": "loss", "max_trials": 4, "max_concurrent_trials": 2},
    "hyperparameters": {"x": {"type": "double", "minval": 0, "maxval": 1}},
}


async def test_classic_trial_gets_its_operation_and_completes_after_reporting_it(world: World) -> None:
    await world.submit(searcher=CLASSIC)
    [launch] = await world.running()
    assert await world.db.read(lambda c: search.current_operation(c, 1)) == (100, False)
    with pytest.raises(FailedPrecondition, match="expected op of length 100, received 50"):
        await world.write(search.complete_operation, 1, 50, 0.5)
    await world.write(search.complete_operation, 1, 100, 0.5)
    await world.write(search.complete_operation, 1, 100, 0.5)
    assert await world.db.read(lambda c: search.current_operation(c, 1)) == (100, True)
    live = await world.live_allocation()
    assert live is not None and live["preempt_at"] is not None, "a finished trial is asked to leave"
    await world.write(allocation.preempt_acked, launch.allocation_id)
    await world.exit(launch.resource_id)
    assert await world.state() == "COMPLETED"
    assert len(world.machine.launched) == 1


async def test_late_trial_has_no_operation(world: World) -> None:
    await world.submit()
    assert await world.db.read(lambda c: search.current_operation(c, 1)) is None


async def test_classic_progress_is_a_share_of_the_operation(world: World) -> None:
    await world.submit(searcher=CLASSIC)
    await world.running()
    await world.write(search.progress_reported, 1, 25, False)
    assert (await world.trial())["progress"] == 0.25
    assert (await world.experiment())["progress"] == pytest.approx(0.25)


async def test_late_progress_must_lie_between_0_and_1(world: World) -> None:
    await world.submit()
    await world.write(search.progress_reported, 1, 0.5, True)
    assert (await world.experiment())["progress"] == pytest.approx(0.5)
    with pytest.raises(InvalidArgument, match="progress=1"):
        await world.write(search.progress_reported, 1, 1.5, True)


async def test_random_search_replaces_trials_that_end_until_all_have_run(world: World) -> None:
    await world.submit(**RANDOM)
    for _ in range(4):
        await world.until(lambda: world.machine.alive)
        [*_, launch] = world.machine.alive.values()
        await world.exit(launch.resource_id)
    await world.until_state("COMPLETED")
    trials = await world.rows("trials")
    assert len(trials) == 4 and {t["state"] for t in trials} == {"COMPLETED"}
    assert len({t["hparams"]["x"] for t in trials}) == 4


async def test_search_whose_every_trial_fails_is_an_error(world: World) -> None:
    await world.submit(**RANDOM)
    for _ in range(4):
        await world.until(lambda: world.machine.alive)
        [*_, launch] = world.machine.alive.values()
        await world.exit(launch.resource_id, 1)
    await world.until_state("ERROR")


async def test_invalid_hyperparameters_end_the_trial_completed_and_bring_another(world: World) -> None:
    await world.submit(**RANDOM)
    launches = {launch.allocation_id: launch for launch in await world.running(2)}
    await world.write(search.early_exit_reported, 1, "EXITED_REASON_INVALID_HP")
    await world.write(search.early_exit_reported, 1, "EXITED_REASON_INVALID_HP")
    [mine] = [a for a in await world.rows("allocations") if a["trial_id"] == 1]
    await world.exit(launches[mine["id"]].resource_id)
    assert (await world.trial(1))["state"] == "COMPLETED"
    assert await world.state() == "ACTIVE"
    assert len(await world.rows("trials")) == 3


async def test_process_that_stays_after_invalid_hyperparameters_is_killed_after_ten_seconds(world: World) -> None:
    await world.submit()
    await world.running()
    await world.write(search.early_exit_reported, 1, "INVALID_HP")
    await world.reconciler.step()
    assert world.machine.alive
    world.clock.advance(11)
    await world.until_state("COMPLETED")
    assert (await world.trial())["restarts"] == 0


async def test_other_early_exit_reasons_are_refused(world: World) -> None:
    await world.submit()
    with pytest.raises(InvalidArgument, match="USER_CANCELED"):
        await world.write(search.early_exit_reported, 1, "EXITED_REASON_USER_CANCELED")


async def test_method_that_fails_ends_the_experiment_but_keeps_the_report(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    await world.submit()
    await world.running()

    def explode(self: Searcher, request_id: str, metric: float, length: float) -> None:
        raise RuntimeError("division by zero trials")

    monkeypatch.setattr(Searcher, "validation", explode)
    await world.write(search.validation_reported, 1, {"loss": 0.1}, 10)
    await world.until_state("ERROR")
    assert "division by zero trials" in (await world.experiment())["error"]
    await world.until(lambda: not world.machine.alive)


async def test_rolled_back_event_leaves_no_trace_in_the_searcher(world: World) -> None:
    await world.submit(**RANDOM, activate=False)

    def feed_and_fail(conn: Connection, now: datetime) -> None:
        search.progress_reported(conn, now, 1, 0.9, True)
        raise InvalidArgument("rolled back")

    with pytest.raises(InvalidArgument):
        await world.write(feed_and_fail)
    await world.write(search.progress_reported, 2, 0.5, True)
    cached = (await world.experiment())["progress"]
    searchers._cache._held.clear()
    await world.write(search.progress_reported, 2, 0.5, True)
    assert (await world.experiment())["progress"] == cached


async def test_replay_from_rows_gives_the_same_searcher_as_the_cache(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(searchers, "SNAPSHOT_EVERY", 3)
    await world.submit(**RANDOM)
    for n in range(4):
        await world.until(lambda: world.machine.alive)
        if n % 2:
            searchers._cache._held.clear()
        [*_, launch] = world.machine.alive.values()
        await world.exit(launch.resource_id)
    await world.until_state("COMPLETED")
    assert len(await world.rows("trials")) == 4


async def test_nan_metric_survives_the_event_log(world: World) -> None:
    await world.submit()
    await world.running()
    await world.write(search.validation_reported, 1, {"loss": float("nan")}, 10)
    searchers._cache._held.clear()
    await world.write(search.validation_reported, 1, {"loss": float("inf")}, 20)
    assert [e["event"]["metric"] for e in await world.rows("search_events") if e["event"]["type"] == "validation"] == [
        "NaN",
        "Infinity",
    ]
