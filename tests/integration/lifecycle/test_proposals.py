"""Points that a sampler thinks up: outside of transactions, one at a time, again after a crash."""

import asyncio
import threading
from collections.abc import AsyncIterator, Sequence
from typing import Any

import pytest
from world import World

from determined.master import supervise
from determined.master.background import proposer as proposer_module
from determined.master.background.proposer import Proposer
from determined.master.db.queries import trial as trials
from determined.master.lifecycle import experiment, proposals, search, searchers
from determined.search import searcher as searcher_module
from determined.search.method import ExitReason
from determined.search.sampler import Sampler
from determined.search.searcher_config import SearcherConfig

SPACE = {"x": {"type": "double", "minval": 0, "maxval": 1}}


class CountingSampler(Sampler):
    """Its points say how much it knew: trials that exist, observations, ends."""

    gate = threading.Event()  # thinking waits for it
    thoughts: list[int] = []
    fails = False

    def __init__(self) -> None:
        self._known = [0, 0, 0]

    def propose(self, seed: int) -> dict[str, Any]:
        CountingSampler.thoughts.append(seed)
        assert CountingSampler.gate.wait(60)
        if CountingSampler.fails:
            raise RuntimeError("the matrix is singular")
        created, observed, ended = self._known
        return {"x": created + observed / 10 + ended / 100}

    def created(self, request_id: str, hparams: dict[str, Any]) -> None:
        self._known[0] += 1

    def observed(self, request_id: str, values: Sequence[float], length: float) -> None:
        self._known[1] += 1

    def ended(self, request_id: str, reason: ExitReason | None) -> None:
        self._known[2] += 1

    def snapshot(self) -> dict[str, Any]:
        return {"known": list(self._known)}

    def restore(self, state: dict[str, Any]) -> None:
        self._known = list(state["known"])


@pytest.fixture
def sampler(monkeypatch: pytest.MonkeyPatch) -> type[CountingSampler]:
    def build(searcher: SearcherConfig, _space: dict[str, Any]) -> Sampler | None:
        return CountingSampler() if searcher.name == "optuna" else None

    monkeypatch.setattr(searcher_module, "build_sampler", build)
    monkeypatch.setattr(CountingSampler, "thoughts", [])
    monkeypatch.setattr(CountingSampler, "fails", False)
    monkeypatch.setattr(CountingSampler, "gate", threading.Event())
    CountingSampler.gate.set()
    return CountingSampler


@pytest.fixture
async def proposer(world: World) -> AsyncIterator[None]:
    """The loop as the master runs it; it follows the world through restarts."""
    task = supervise.spawn(Proposer(world.ctx).run(), name="proposer under test")
    yield
    CountingSampler.gate.set()
    await supervise.stop(task)


async def submit(world: World, trials: int = 3, concurrent: int = 2, **options: Any) -> int:
    searcher = {"name": "optuna", "sampler": "tpe", "metric": "loss", "max_trials": trials}
    searcher["max_concurrent_trials"] = concurrent
    return await world.submit(searcher=searcher, hyperparameters=SPACE, **options)


async def points(world: World) -> list[float]:
    return [trial["hparams"]["x"] for trial in await world.rows("trials")]


@pytest.mark.usefixtures("proposer")
async def test_trials_get_points_that_know_of_all_before_them(world: World, sampler: type[CountingSampler]) -> None:
    await submit(world)
    await world.running(2)
    assert await points(world) == [0, 1]
    await world.exit(next(iter(world.machine.alive)))
    await world.running(2)
    assert await points(world) == [0, 1, 2.01]
    [last] = [row["id"] for row in await world.rows("trials") if row["hparams"]["x"] == 2.01]
    await world.write(search.validation_reported, last, {"loss": 1.0}, 1)
    for resource_id in list(world.machine.alive):
        await world.exit(resource_id)
    await world.until_state("COMPLETED")
    assert len(sampler.thoughts) == 3


@pytest.mark.usefixtures("proposer")
async def test_thinking_holds_up_nobody_else(world: World, sampler: type[CountingSampler]) -> None:
    sampler.gate.clear()
    slow = await submit(world)
    await world.until(lambda: sampler.thoughts)
    other = await world.submit()
    [launch] = await world.running(1)
    await world.exit(launch.resource_id)
    await world.until_state("COMPLETED", other)
    assert await world.state(slow) == "ACTIVE"
    assert [t["experiment_id"] for t in await world.rows("trials")] == [other]
    sampler.gate.set()
    await world.running(2)


async def test_searches_take_turns_where_places_are_few(
    world: World, sampler: type[CountingSampler], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(proposer_module, "_AT_ONCE", 1)
    for _ in range(3):
        await submit(world, trials=3, concurrent=3)

    async def all_there() -> bool:
        return len(await world.rows("trials")) == 9

    task = supervise.spawn(Proposer(world.ctx).run(), name="proposer of few places")
    try:
        await world.until(all_there)
    finally:
        await supervise.stop(task)
    assert [trial["experiment_id"] for trial in await world.rows("trials")] == [1, 2, 3] * 3
    assert len(sampler.thoughts) == 9


async def test_an_answer_looks_up_none_of_the_trials_that_waited_before(
    world: World, sampler: type[CountingSampler], monkeypatch: pytest.MonkeyPatch
) -> None:
    await submit(world, trials=60, concurrent=60)
    looked_up: list[str] = []
    by_requests = trials.by_requests

    def note(conn: Any, experiment_id: int, request_ids: Sequence[str]) -> Any:
        looked_up.extend(request_ids)
        return by_requests(conn, experiment_id, request_ids)

    monkeypatch.setattr(trials, "by_requests", note)
    question = await world.db.read(lambda conn: proposals.question(conn, 1, None))
    assert question is not None
    searchers._cache._held.clear()
    await world.write(proposals.answer, 1, question.request_id, question.think())
    assert set(looked_up) == {question.request_id}


async def test_paused_search_waits(world: World, sampler: type[CountingSampler]) -> None:
    await submit(world, activate=False)
    assert await world.db.read(proposals.waiting) == []
    assert await world.db.read(lambda conn: proposals.question(conn, 1, None)) is None
    await world.write(experiment.activate, 1)
    assert await world.db.read(proposals.waiting) == [1]
    assert not sampler.thoughts


@pytest.mark.usefixtures("proposer")
async def test_sampler_that_fails_ends_the_experiment_with_its_message(
    world: World, sampler: type[CountingSampler]
) -> None:
    sampler.fails = True
    await submit(world)
    await world.until_state("ERROR")
    assert (await world.experiment())["error"] == "the sampler failed: the matrix is singular"


async def test_answer_that_a_crash_swallowed_is_thought_up_again_and_a_second_one_is_ignored(
    world: World, sampler: type[CountingSampler]
) -> None:
    await submit(world)
    lost = await world.db.read(lambda conn: proposals.question(conn, 1, None))
    assert lost is not None
    point = await asyncio.to_thread(lost.think)
    await world.restart()
    searchers._cache._held.clear()
    again = await world.db.read(lambda conn: proposals.question(conn, 1, None))
    assert again is not None and again.request_id == lost.request_id
    assert await asyncio.to_thread(again.think) == point
    await world.write(proposals.answer, 1, again.request_id, point)
    await world.write(proposals.answer, 1, again.request_id, {"x": 77})
    assert await points(world) == [0]
    following = await world.db.read(lambda conn: proposals.question(conn, 1, again.mirror))
    assert following is not None and following.request_id != lost.request_id
    assert following.think() == {"x": 1}


async def test_answer_that_comes_after_the_end_changes_nothing(world: World, sampler: type[CountingSampler]) -> None:
    await submit(world)
    question = await world.db.read(lambda conn: proposals.question(conn, 1, None))
    assert question is not None
    await world.write(experiment.kill, 1)
    await world.write(proposals.answer, 1, question.request_id, question.think())
    assert await world.state() == "CANCELED"
    assert await world.rows("trials") == []
    assert await world.db.read(proposals.waiting) == []


async def test_copy_of_the_asker_follows_the_log_across_a_snapshot_and_a_new_search(
    world: World, sampler: type[CountingSampler], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(searchers, "SNAPSHOT_EVERY", 3)
    await submit(world, trials=8)
    mirror = None
    for n in range(2):
        question = await world.db.read(lambda conn, m=mirror: proposals.question(conn, 1, m))
        assert question is not None and question.think() == {"x": n}
        mirror = question.mirror
        await world.write(proposals.answer, 1, question.request_id, question.think())
    assert await world.db.read(lambda conn: proposals.question(conn, 1, mirror)) is None
    await world.write(experiment.kill, 1)
    await world.until_state("CANCELED")
    await world.write(experiment.continue_experiment, 1, None, None)
    assert await points(world) == [0, 1], "trials keep the points that they have"
    assert await world.db.read(lambda conn: proposals.question(conn, 1, mirror)) is None
    await world.running(2)
    await world.exit(next(iter(world.machine.alive)))
    question = await world.db.read(lambda conn: proposals.question(conn, 1, mirror))
    assert question is not None and question.think() == {"x": 2.01}
