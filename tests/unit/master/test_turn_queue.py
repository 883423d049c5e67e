"""Turns at expensive work: order, limits, and clients that leave at the worst moment."""

import asyncio
import random
from collections import Counter

import pytest

from determined.errors import TooManyRequests
from determined.master.turn_queue import TurnQueue


class Work:
    """Holds turns of a queue until it is told to let go."""

    def __init__(self, turns: TurnQueue) -> None:
        self._turns = turns
        self.inside: list[str] = []
        self.most: Counter[str] = Counter()

    async def hold(self, name: str, gate: asyncio.Event, key: str = "user") -> None:
        async with self._turns.take(key):
            self.inside.append(name)
            self.most[key] = max(self.most[key], len(self.inside))
            try:
                await gate.wait()
            finally:
                self.inside.remove(name)


async def settle() -> None:
    """Let every task run until it waits."""
    for _ in range(20):
        await asyncio.sleep(0)


async def test_turns_come_in_the_order_of_asking() -> None:
    turns, order = TurnQueue(1, 10, "things"), []

    async def work(n: int) -> None:
        async with turns.take("user"):
            order.append(n)
            await asyncio.sleep(0)

    await asyncio.gather(*(work(n) for n in range(8)))
    assert order == list(range(8))


async def test_keys_do_not_wait_for_one_another() -> None:
    turns, gate = TurnQueue(1, 10, "things"), asyncio.Event()
    work = Work(turns)
    tasks = [asyncio.create_task(work.hold(key, gate, key)) for key in ("a", "b", "c")]
    await settle()
    assert work.inside == ["a", "b", "c"]
    gate.set()
    await asyncio.gather(*tasks)


async def test_as_many_as_allowed_are_let_in_and_no_more() -> None:
    turns, gate = TurnQueue(3, 10, "things"), asyncio.Event()
    work = Work(turns)
    tasks = [asyncio.create_task(work.hold(str(n), gate)) for n in range(8)]
    await settle()
    assert work.inside == ["0", "1", "2"]
    gate.set()
    await asyncio.gather(*tasks)
    assert work.most["user"] == 3


async def test_refusal_says_what_waits_and_to_come_back() -> None:
    turns, gate = TurnQueue(1, 1, "configs of yours are being read"), asyncio.Event()
    work = Work(turns)
    tasks = [asyncio.create_task(work.hold(str(n), gate)) for n in range(3)]
    await settle()
    gate.set()
    results = await asyncio.gather(*tasks, return_exceptions=True)
    (refused,) = [r for r in results if r is not None]
    assert isinstance(refused, TooManyRequests)
    assert refused.message == "too many configs of yours are being read at once; try again in some seconds"


async def test_client_that_leaves_while_waiting_gives_its_place_to_nobody() -> None:
    turns, gate = TurnQueue(1, 10, "things"), asyncio.Event()
    work = Work(turns)
    first, second, third = [asyncio.create_task(work.hold(str(n), gate)) for n in range(3)]
    await settle()
    second.cancel()
    await settle()
    assert work.inside == ["0"]
    first.cancel()
    await settle()
    assert work.inside == ["2"]
    gate.set()
    await third


async def test_clients_that_left_do_not_count_among_those_that_wait() -> None:
    for _ in range(20):  # who is refused is chosen at random
        turns, gate = TurnQueue(1, 2, "things"), asyncio.Event()
        work = Work(turns)
        tasks = [asyncio.create_task(work.hold(str(n), gate)) for n in range(2)]
        await settle()
        tasks.pop().cancel()
        await settle()
        tasks += [asyncio.create_task(work.hold(str(n), gate)) for n in range(2)]
        await settle()
        gate.set()
        assert await asyncio.gather(*tasks, return_exceptions=True) == [None] * 3


async def test_client_that_leaves_just_when_its_turn_comes_passes_it_on() -> None:
    """The turn is given in the same instant in which its client is cancelled: it must not be lost."""
    turns, gate = TurnQueue(1, 10, "things"), asyncio.Event()
    work = Work(turns)
    first, second, third = [asyncio.create_task(work.hold(str(n), gate)) for n in range(3)]
    await settle()
    turn = turns._queues["user"]
    turn.leave()  # as the first would: the second has it now, but has not run yet
    second.cancel()
    await settle()
    assert work.inside == ["0", "2"]
    turn._free -= 1  # the first leaves once more at its end
    gate.set()
    await asyncio.gather(first, third)


async def test_client_that_is_refused_and_leaves_at_once_takes_no_turn_with_it() -> None:
    turns, gate = TurnQueue(1, 1, "things"), asyncio.Event()
    work = Work(turns)
    first, second = [asyncio.create_task(work.hold(str(n), gate)) for n in range(2)]
    await settle()
    third = asyncio.create_task(work.hold("2", gate))
    await asyncio.sleep(0)  # the second is refused now, and has not run since
    second.cancel()
    await settle()
    assert work.inside == ["0"]
    gate.set()
    await asyncio.gather(first, third)
    assert isinstance((await asyncio.gather(second, return_exceptions=True))[0], asyncio.CancelledError)


@pytest.mark.parametrize("seed", range(30))
async def test_nothing_is_left_behind_whoever_comes_fails_or_leaves(seed: int) -> None:
    """At the end everybody can get in again: no turn was lost, and none was given twice."""
    rng = random.Random(seed)
    at_once, keys = rng.randint(1, 3), ("a", "b")
    turns, inside = TurnQueue(at_once, 4, "things"), Counter[str]()

    async def work(key: str, steps: int, *, fails: bool) -> None:
        async with turns.take(key):
            inside[key] += 1
            try:
                assert inside[key] <= at_once
                for _ in range(steps):
                    await asyncio.sleep(0)
                if fails:
                    raise ZeroDivisionError
            finally:
                inside[key] -= 1

    tasks = []
    for _ in range(60):
        tasks.append(asyncio.create_task(work(rng.choice(keys), rng.randint(0, 4), fails=rng.random() < 0.2)))
        if rng.random() < 0.4:
            rng.choice(tasks).cancel()
        for _ in range(rng.randint(0, 2)):
            await asyncio.sleep(0)
    results = await asyncio.gather(*tasks, return_exceptions=True)
    expected = (type(None), TooManyRequests, asyncio.CancelledError, ZeroDivisionError)
    assert all(isinstance(result, expected) for result in results), results
    assert not turns._queues, "an empty queue is dropped"
    async with asyncio.timeout(10):
        await asyncio.gather(*(work(key, 1, fails=False) for key in keys for _ in range(at_once)))
