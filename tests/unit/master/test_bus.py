"""Hints on the bus: whoever listens is woken once for any number of them, and nobody waits on a master that stops."""

import asyncio

import pytest

from determined.master.bus import Bus

LONG = 3600.0


async def test_hint_before_the_wait_is_not_lost() -> None:
    bus = Bus()
    async with bus.listen("a", "b") as listener:
        bus.publish("b")
        assert await listener.wait(LONG)


async def test_many_hints_are_one_and_are_forgotten_by_the_wait() -> None:
    bus = Bus()
    async with bus.listen("a") as listener:
        for _ in range(5):
            bus.publish("a", "a")
        assert await listener.wait(LONG)
        assert not await listener.wait(0)


async def test_other_topics_and_beginnings_of_a_topic_wake_nobody() -> None:
    bus = Bus()
    async with bus.listen("trial:1") as listener:
        bus.publish("trial:11", "trial:", "trial")
        assert not await listener.wait(0)


async def test_every_listener_of_a_topic_is_woken() -> None:
    bus = Bus()
    async with bus.listen("a") as first, bus.listen("a", "b") as second:
        bus.publish("a")
        assert [await first.wait(LONG), await second.wait(LONG)] == [True, True]


async def test_stop_ends_every_wait_and_later_ones_at_once() -> None:
    bus = Bus()
    async with bus.listen("a") as first, bus.listen("b") as second:
        waiting = [asyncio.create_task(one.wait(LONG)) for one in (first, second)]
        await asyncio.sleep(0)
        bus.close()
        assert await asyncio.gather(*waiting) == [False, False]
        async with asyncio.timeout(60):
            assert not await first.wait(LONG), "no hint will come any more"
    assert bus.closed


async def test_nothing_is_kept_of_listeners_that_left() -> None:
    bus = Bus()
    with pytest.raises(ZeroDivisionError):
        async with bus.listen("a", "b"), bus.listen("a"):
            raise ZeroDivisionError
    assert not bus._waiters
    bus.publish("a")
    bus.close()
