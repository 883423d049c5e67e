"""The log of a search: how often it is cut short by a snapshot, what is replayed, what is kept for good."""

from itertools import pairwise
from typing import Any

import pytest
from world import World

from determined.master.db.queries import search as rows
from determined.master.lifecycle import experiment, extension, search, searchers

SPACE = {"x": {"type": "double", "minval": 0, "maxval": 1}}


def random_search(trials: int) -> dict[str, Any]:
    searcher = {"name": "random", "metric": "loss", "max_trials": trials, "max_concurrent_trials": trials}
    return {"searcher": searcher, "hyperparameters": SPACE}


@pytest.mark.parametrize(("trials", "most"), [(8, 50), (400, 100)])
async def test_a_large_search_is_written_down_whole_less_often(
    world: World, monkeypatch: pytest.MonkeyPatch, trials: int, most: int
) -> None:
    await world.submit(activate=False, **random_search(trials))
    await world.finish_pieces()
    taken: list[int] = []
    put = rows.put_snapshot

    def note(conn: Any, experiment_id: int, seq: int, state: dict[str, Any]) -> None:
        taken.append(seq)
        put(conn, experiment_id, seq, state)

    monkeypatch.setattr(rows, "put_snapshot", note)
    for n in range(3 * most):
        await world.write(search.progress_reported, 1, n / (3 * most), True)
        assert len(await world.rows("search_events")) <= most + 1, "a replay is bounded"
    assert len(taken) == 3
    assert [later - earlier for earlier, later in pairwise(taken)] == [most, most]


async def test_searcher_rebuilt_at_any_event_goes_on_as_the_one_in_memory(world: World) -> None:
    await world.submit(activate=False, **random_search(60))
    for n in range(70):
        await world.write(search.progress_reported, 1 + n % 60, 0.5, True)
        copy = await world.db.read(lambda conn: searchers.peek(conn, 1))
        assert copy is not None and copy.progress() == pytest.approx((await world.experiment())["progress"])


async def test_history_holds_what_a_continued_search_must_know_and_nothing_else(world: World) -> None:
    await world.submit(activate=False, **random_search(2))
    await world.write(search.validation_reported, 1, {"loss": 0.5}, 10)
    await world.write(search.progress_reported, 1, 0.5, True)
    assert await world.rows("search_history") == [], "a late random search compares nothing"
    await world.write(search.early_exit_reported, 1, "INVALID_HP")
    kinds = [row["event"]["type"] for row in await world.rows("search_history")]
    assert kinds[-1] == "exited" and set(kinds[:-1]) == {"exited_early"}


@pytest.fixture
def cache(monkeypatch: pytest.MonkeyPatch) -> searchers._Cache:
    empty = searchers._Cache()
    monkeypatch.setattr(searchers, "_cache", empty)
    return empty


async def test_the_end_of_a_search_frees_its_memory_and_an_extension_reads_it_again(
    world: World, cache: searchers._Cache
) -> None:
    completed = await world.submit(**random_search(1))
    assert len(cache._held) == 1
    [launch] = await world.running(1)
    await world.exit(launch.resource_id)
    await world.until_state("COMPLETED", completed)
    assert not cache._held
    await world.write(extension.extend, completed, 2)
    assert len(await world.rows("trials")) == 2 and len(cache._held) == 1
    await world.write(experiment.kill, completed)
    await world.until_state("CANCELED", completed)
    assert not cache._held


async def test_searchers_in_memory_are_bounded_by_their_trials_and_the_newest_stays(
    world: World, cache: searchers._Cache, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(searchers, "_CACHED_TRIALS", 10)
    held = []
    for trials in (3, 5, 4, 20, 2):
        await world.submit(activate=False, **random_search(trials))
        held.append([searcher.trials_requested for searcher in cache._held.values()])
    assert held == [[3], [3, 5], [5, 4], [20], [2]]
    await world.write(search.progress_reported, 1, 0.5, True)
    assert [searcher.trials_requested for searcher in cache._held.values()] == [2, 3]


async def test_ended_search_keeps_its_state_only_where_it_can_be_extended(world: World) -> None:
    completed = await world.submit(**random_search(1))
    [launch] = await world.running(1)
    await world.exit(launch.resource_id)
    await world.until_state("COMPLETED", completed)
    canceled = await world.submit(activate=False, **random_search(1))
    await world.write(experiment.kill, canceled)
    assert [row["experiment_id"] for row in await world.rows("search_snapshots")] == [completed]
