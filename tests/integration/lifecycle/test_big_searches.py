"""Searches of thousands of trials: no transaction holds the writer for seconds, no event costs them all."""

import time
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
from sqlalchemy import Connection, event, text
from world import World

from determined.master.lifecycle import experiment, operations, scheduling, search, search_batches
from determined.search.method import Create

N = 2000
SECONDS = 5  # of the processor, for each verb; some 0.1 on a machine of today
SPACE = {"x": {"type": "int", "minval": 0, "maxval": 10**9}}


def searcher(trials: int = N, concurrent: int = N) -> dict[str, Any]:
    return {"name": "random", "metric": "loss", "max_trials": trials, "max_concurrent_trials": concurrent}


async def cpu_seconds(world: World, run: Callable[..., Any], *args: Any) -> float:
    """Of the writer alone; other processes of this machine do not count."""

    def timed(conn: Connection) -> float:
        start = time.thread_time()
        run(conn, world.clock.now(), *args)
        return time.thread_time() - start

    return await world.db.write(timed)


async def statements(world: World, run: Callable[..., Any], *args: Any) -> int:
    """Return how many statements `run` needs; what others do on other connections at the time does not count."""
    seen: list[str] = []

    def note(_conn: Any, _cursor: Any, statement: str, *_rest: Any) -> None:
        seen.append(statement)

    def counted(conn: Connection) -> None:
        event.listen(conn, "before_cursor_execute", note)
        try:
            run(conn, world.clock.now(), *args)
        finally:
            event.remove(conn, "before_cursor_execute", note)

    await world.db.write(counted)
    return len(seen)


def act(world: World) -> Callable[..., Any]:
    seen = scheduling.SchedulingInput(nodes=world.reconciler._cluster.nodes(), pools=world.reconciler._pools)
    return lambda conn, now: scheduling.act(conn, now, seen)


async def test_every_verb_on_a_search_of_thousands_is_quick(world: World) -> None:
    await world.reconciler.close()
    start = time.thread_time()
    experiment_id = await world.submit(activate=False, searcher=searcher(), hyperparameters=SPACE)
    assert time.thread_time() - start < SECONDS
    await world.finish_pieces()
    assert len(await world.rows("trials")) == N
    assert await cpu_seconds(world, experiment.activate, experiment_id) < SECONDS
    await world.finish_pieces()
    assert await cpu_seconds(world, act(world)) < SECONDS
    assert await cpu_seconds(world, act(world)) < SECONDS
    assert await cpu_seconds(world, experiment.pause, experiment_id) < SECONDS
    await world.finish_pieces()
    assert {t["state"] for t in await world.rows("trials")} == {"PAUSED"}
    assert await cpu_seconds(world, experiment.activate, experiment_id) < SECONDS
    assert await cpu_seconds(world, experiment.kill, experiment_id) < SECONDS
    await world.finish_pieces()
    killed = [t for t in await world.rows("trials") if t["state"] == "CANCELED"]
    assert len(killed) == N - 4, "all but those that run"
    assert all(t["exit_reported"] and t["end_time"] for t in killed)
    ended = {t["trial_id"] for t in await world.rows("tasks") if t["end_time"]}
    assert ended == {t["id"] for t in killed}


async def test_a_large_search_is_created_in_pieces_and_nothing_is_lost_or_doubled(world: World) -> None:
    """The transaction of the submission makes the first trials; a master that dies finds the others in the rows."""
    await world.reconciler.close()
    submitted = await world.submit(activate=False, searcher=searcher(350, 0), hyperparameters=SPACE)
    assert len(await world.rows("trials")) == operations.AT_ONCE
    await world.write(search_batches.go_on, submitted)
    await world.restart()
    await world.until(lambda: _nothing_is_left(world))
    drawn = [t["request_id"] for t in await world.rows("trials")]
    whole = search.start((await world.experiment())["config"], "late", may_queue=False).operations
    assert drawn == [operation.request_id for operation in whole if isinstance(operation, Create)]


async def _nothing_is_left(world: World) -> bool:
    return not await world.rows("search_queue")


@pytest.mark.parametrize("classic", [False, True])
async def test_no_piece_costs_more_for_a_larger_search(world: World, classic: bool) -> None:
    await world.reconciler.close()
    length = {"max_length": {"batches": 10}} if classic else {}
    costs = []
    for trials in (250, 1000):
        made = await world.submit(activate=False, searcher={**searcher(trials, 0), **length}, hyperparameters=SPACE)
        costs.append(await statements(world, search_batches.go_on, made))
        await world.finish_pieces()
        costs.append(await statements(world, experiment.kill, made))
        await world.finish_pieces()
        assert await world.state(made) == "CANCELED"
    assert all(abs(small - large) < 5 for small, large in zip(costs[:2], costs[2:], strict=True)), costs
    assert max(costs) < 60


async def test_a_search_that_is_killed_while_it_is_created_creates_no_more(world: World) -> None:
    await world.reconciler.close()
    experiment_id = await world.submit(searcher=searcher(1000, 0), hyperparameters=SPACE)
    await world.write(experiment.kill, experiment_id)
    await world.finish_pieces()
    assert await world.state(experiment_id) == "CANCELED"
    assert len(await world.rows("trials")) == operations.AT_ONCE


async def test_reports_of_the_first_trials_are_heard_while_others_are_still_created(world: World) -> None:
    await world.reconciler.close()
    halving = {"name": "async_halving", "metric": "loss", "max_trials": 300, "num_rungs": 2, "divisor": 2}
    late = {"time_metric": "epochs", "max_time": 4, "max_concurrent_trials": 300}
    experiment_id = await world.submit(searcher={**halving, **late}, hyperparameters=SPACE)
    for trial_id in range(1, 5):
        await world.write(search.validation_reported, trial_id, {"loss": float(trial_id), "epochs": 2}, 2)
    stopped = [t["id"] for t in await world.rows("trials") if t["early_stopped"]]
    assert stopped, "a trial that exists is steered at once"
    await world.finish_pieces()
    requests = [t["request_id"] for t in await world.rows("trials") if t["experiment_id"] == experiment_id]
    assert len(requests) == len(set(requests)) >= 300


async def test_verbs_cost_no_statement_per_trial_without_an_allocation(world: World) -> None:
    await world.reconciler.close()
    few = await world.submit(activate=False, searcher=searcher(10, 10), hyperparameters=SPACE)
    many = await world.submit(activate=False, searcher=searcher(400, 400), hyperparameters=SPACE)
    await world.finish_pieces()
    for verb in (experiment.activate, experiment.pause, experiment.kill):
        small = await statements(world, verb, few)
        assert await statements(world, verb, many) <= small + 5
        await world.finish_pieces()
    assert await world.state(many) == "CANCELED"


async def test_creating_a_search_without_limit_of_concurrency_costs_no_statement_per_trial(world: World) -> None:
    await world.reconciler.close()
    one = await world.submit(activate=False, searcher=searcher(3, 0), hyperparameters=SPACE)
    small = await statements(world, search.begin, one)
    many = await world.submit(activate=False, searcher=searcher(N, 0), hyperparameters=SPACE)
    await world.finish_pieces()
    assert sum(t["experiment_id"] == many for t in await world.rows("trials")) == N
    assert small < 40


async def test_settling_costs_the_same_whatever_number_of_trials_has_ended(world: World) -> None:
    await world.reconciler.close()
    few = await world.submit(searcher=searcher(5, 5), hyperparameters=SPACE)
    many = await world.submit(searcher=searcher(N, N), hyperparameters=SPACE)
    await world.finish_pieces()

    def end_all_but_one(conn: Connection) -> None:
        kept = "SELECT max(id) FROM trials GROUP BY experiment_id"
        over = "UPDATE trials SET state = 'COMPLETED', exit_reported = true"
        conn.execute(text(f"{over} WHERE id NOT IN ({kept})"))

    await world.db.write(end_all_but_one)
    assert await statements(world, search.settle, few) == await statements(world, search.settle, many)
    plain = min([await cpu_seconds(world, search.settle, few) for _ in range(10)])
    big = min([await cpu_seconds(world, search.settle, many) for _ in range(10)])
    assert big < 5 * plain + 0.002


async def test_a_pass_queues_a_bounded_number_and_the_next_ones_go_on_when_there_is_room(world: World) -> None:
    await world.reconciler.close()
    await world.submit(searcher=searcher(450, 450), hyperparameters=SPACE)
    await world.finish_pieces()
    await world.submit()
    waiting = []
    for _ in range(7):
        await cpu_seconds(world, act(world))
        waiting.append(sum(a["state"] == "PENDING" for a in await world.rows("allocations")))
    assert max(b - a for a, b in pairwise(waiting)) <= 25, "one pass does not hold the writer for long"
    assert waiting[-2:] == [101, 101], "one experiment has no more than 100 in the queue"
    assert any(a["trial_id"] == 451 for a in await world.rows("allocations")), "the other experiment is not held up"


async def test_the_searcher_of_a_big_search_survives_a_restart_of_the_master(world: World) -> None:
    experiment_id = await world.submit(activate=False, searcher=searcher(120, 40), hyperparameters=SPACE)
    await world.restart()
    assert len(await world.rows("trials")) == 40
    ids = {t["request_id"] for t in await world.rows("trials")}
    assert len(ids) == 40
    await world.write(experiment.kill, experiment_id)
    await world.until_state("CANCELED", experiment_id)
