"""Slowing down password guessing."""

import asyncio
import sys

import pytest

from determined.errors import TooManyRequests
from determined.master.auth import login_throttle as module
from determined.master.auth.login_throttle import LoginThrottle


def _fail(throttle: LoginThrottle, name: str, times: int, now: float = 0.0) -> None:
    for _ in range(times):
        throttle.failed(name, now)


def test_a_few_mistakes_cost_nothing() -> None:
    throttle = LoginThrottle()
    _fail(throttle, "ann", 4)
    assert throttle.wait("ann", 1.0) == 0.0


def test_many_mistakes_wait_longer_and_longer_up_to_a_limit() -> None:
    throttle = LoginThrottle()
    waits = []
    for _ in range(20):
        throttle.failed("ann", 0.0)
        waits.append(throttle.wait("ann", 0.0))
    assert waits == sorted(waits)
    assert waits[5] > 0
    assert waits[-1] == 3.0


def test_one_user_does_not_slow_another() -> None:
    throttle = LoginThrottle()
    _fail(throttle, "ann", 20)
    assert throttle.wait("bob", 0.0) == 0.0


def test_a_success_or_time_forgets_the_mistakes() -> None:
    throttle = LoginThrottle()
    _fail(throttle, "ann", 20)
    assert throttle.wait("ann", 301.0) == 0.0
    throttle.succeeded("ann")
    assert throttle.wait("ann", 0.0) == 0.0


def test_guessing_names_does_not_fill_the_memory() -> None:
    throttle = LoginThrottle()
    for n in range(10_500):
        throttle.failed(f"name{n}", 0.0)
    assert len(throttle._failures) == 10_000


def test_guesses_from_elsewhere_do_not_slow_the_owner() -> None:
    throttle = LoginThrottle()
    for _ in range(20):
        throttle.failed("ann", 0.0, "10.0.0.1")
    assert throttle.wait("ann", 0.0, "10.0.0.1") == 3.0
    assert throttle.wait("ann", 0.0, "10.0.0.2") == 0.0


def test_names_are_kept_as_digests_however_long_they_are() -> None:
    throttle = LoginThrottle()
    throttle.failed("x" * 1_000_000, 0.0)
    assert sum(map(sys.getsizeof, throttle._failures)) < 100


def test_attempts_at_one_name_come_one_after_the_other() -> None:
    async def run() -> int:
        throttle, inside, most = LoginThrottle(), 0, 0

        async def attempt() -> None:
            nonlocal inside, most
            async with throttle.one_at_a_time("ann", "peer"):
                inside += 1
                most = max(most, inside)
                await asyncio.sleep(0)
                inside -= 1

        await asyncio.gather(*(attempt() for _ in range(5)))
        assert not throttle._by_name._queues
        return most

    assert asyncio.run(run()) == 1


def test_a_login_does_not_wait_for_the_slow_hash_of_an_imported_user() -> None:
    async def run() -> None:
        throttle = LoginThrottle()
        async with asyncio.timeout(10), throttle.hashing("peer", slow=True), throttle.hashing("peer"):
            pass

    asyncio.run(run())


def test_hashing_is_bounded_over_all_names_and_peers() -> None:
    async def run() -> int:
        throttle, inside, most = LoginThrottle(), 0, 0

        async def attempt(peer: str) -> None:
            nonlocal inside, most
            async with throttle.hashing(peer):
                inside += 1
                most = max(most, inside)
                await asyncio.sleep(0)
                inside -= 1

        await asyncio.gather(*(attempt(str(n % 7)) for n in range(100)))
        return most

    assert asyncio.run(run()) == module._HASHES_AT_ONCE


@pytest.mark.parametrize("name", ["", "ann", "peer"])
def test_an_attempt_never_waits_for_itself(name: str) -> None:
    async def run() -> None:
        throttle = LoginThrottle()
        async with asyncio.timeout(10), throttle.one_at_a_time(name, "peer"), throttle.hashing("peer"):
            pass
        assert not throttle._by_name._queues and not throttle._by_peer._queues

    asyncio.run(run())


def test_a_full_queue_refuses_somebody_at_random_and_not_always_the_last() -> None:
    async def run() -> tuple[int, int]:
        throttle, gate = LoginThrottle(), asyncio.Event()

        async def attempt() -> None:
            async with throttle.one_at_a_time("ann", "peer"):
                await gate.wait()

        tasks = [asyncio.create_task(attempt()) for _ in range(100)]
        await asyncio.sleep(0.01)
        waiting = sum(not task.done() for task in tasks)
        gate.set()
        results = await asyncio.gather(*tasks, return_exceptions=True)
        assert not throttle._by_name._queues
        return waiting, sum(isinstance(result, TooManyRequests) for result in results)

    assert asyncio.run(run()) == (9, 91)


def test_whoever_leaves_the_queue_lets_the_next_one_in() -> None:
    async def run() -> None:
        throttle = LoginThrottle()
        async with throttle.one_at_a_time("ann", "peer"):
            second = asyncio.create_task(_enter(throttle))
            third = asyncio.create_task(_enter(throttle))
            await asyncio.sleep(0)
            second.cancel()
            await asyncio.gather(second, return_exceptions=True)
        await third
        assert not throttle._by_name._queues

    asyncio.run(run())


def test_an_attempt_that_fails_leaves_its_place() -> None:
    async def run() -> None:
        throttle = LoginThrottle()
        with pytest.raises(ZeroDivisionError):
            async with throttle.one_at_a_time("ann", "peer"):
                raise ZeroDivisionError
        await _enter(throttle)

    asyncio.run(run())


async def _enter(throttle: LoginThrottle) -> None:
    async with throttle.one_at_a_time("ann", "peer"):
        pass
