"""One connection to `/stream`: what waits for it, and when it is too slow."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from determined.master.services import stream
from determined.master.services.stream import Subscriber
from determined.master.services.stream_rows import Message
from determined.master.services.stream_spec import Filter, Noun, Subscription
from determined.master.services.stream_sync import Known

LIMIT = 100


@pytest.fixture(autouse=True)
def low_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream, "MAX_BACKLOG", LIMIT)


def asked(wanted: Filter, *, extended: bool = False) -> Subscription:
    return Subscription("1", {Noun.EXPERIMENTS: wanted}, {}, {}, extended, "")


def subscribed(caught: list[bytes], *, extended: bool = False) -> Subscriber:
    client = Subscriber()
    client.begin(asked(Filter(everything=True), extended=extended), caught, {}, Known(10, 0, "c"))
    return client


def message(seq: int, parent: int = 1, size: int = LIMIT + 1) -> Message:
    return Message(Noun.EXPERIMENTS, "5", parent, seq, False, b"m" * size)


async def drain(client: Subscriber) -> list[bytes]:
    frames = []
    while (frame := await client.frame(0)) is not None:
        frames.append(frame)
    return frames


async def test_what_comes_while_a_long_history_is_read_is_no_sign_of_slowness() -> None:
    client = subscribed([b"x" * 1000] * 20)
    client.tell([message(11)])
    assert client.failure is None
    assert len(await drain(client)) == 23, "the history between its two marks, and the news"


async def test_a_client_that_has_read_its_history_may_not_fall_behind_afterwards() -> None:
    client = subscribed([b"x" * 1000])
    await drain(client)
    client.tell([message(11)])
    client.tell([message(12)])
    assert client.failure is not None and "bytes wait" in client.failure
    assert await client.frame(0) is None


async def test_a_new_subscription_drops_what_waits_for_the_old_one() -> None:
    client = subscribed([b"x" * 1000])
    for _ in range(50):
        client.unsubscribe()
        client.begin(asked(Filter(everything=True)), [b"y" * 1000], {}, Known(10, 0, "c"))
    frames = await drain(client)
    assert [frame for frame in frames if frame[:1] in b"xy"] == [b"y" * 1000]


async def test_a_frame_that_comes_as_the_time_runs_out_is_not_overtaken(monkeypatch: pytest.MonkeyPatch) -> None:
    client = subscribed([], extended=True)
    monkeypatch.setattr(asyncio, "timeout", _always_over)
    assert await client.frame(0) is not None, "else `alive` would tell a number whose news are still unsaid"


async def test_only_things_of_a_named_owner_are_followed_to_another_one() -> None:
    everything = subscribed([])
    everything.tell([message(11)])
    assert everything.held == {}
    owned = Subscriber()
    owned.begin(asked(Filter(everything=False, parents=frozenset({1}))), [], {}, Known(10, 0, "c"))
    owned.tell([message(11, size=1)])
    owned.tell([message(12, parent=2, size=1)])
    assert (await drain(owned))[-2:] == [b"m", b'{"experiments_deleted":"5"}']


@asynccontextmanager
async def _always_over(_seconds: float) -> AsyncIterator[None]:
    """What is waited for and the end of the time come in one moment."""
    yield
    raise TimeoutError
