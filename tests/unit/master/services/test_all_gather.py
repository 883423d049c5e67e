"""All-gather rounds: everyone's data, evictions, lost answers, ends."""

import pytest

from determined.errors import Conflict, InvalidArgument
from determined.master.services.all_gather import Gatherings


async def test_round_completes_with_the_last_peer() -> None:
    rounds = Gatherings()
    first = rounds.join("a", "x", "p1", peers=2, data={"n": 1})
    assert not first.done()
    second = rounds.join("a", "x", "p2", peers=2, data={"n": 2})
    assert await first == await second == [{"n": 1}, {"n": 2}]


async def test_reconnecting_peer_evicts_its_earlier_call() -> None:
    rounds = Gatherings()
    stale = rounds.join("a", "x", "p1", peers=2, data={"n": 1})
    fresh = rounds.join("a", "x", "p1", peers=2, data={"n": 10})
    with pytest.raises(Conflict, match="p1"):
        await stale
    rounds.join("a", "x", "p2", peers=2, data={"n": 2})
    assert await fresh == [{"n": 10}, {"n": 2}]


async def test_lost_answer_can_be_asked_for_again_and_a_new_round_starts_with_new_peers() -> None:
    rounds = Gatherings()
    await rounds.join("a", "x", "p1", peers=1, data={"n": 1})
    assert await rounds.join("a", "x", "p1", peers=1, data={"n": 9}) == [{"n": 1}]
    assert await rounds.join("a", "x", "p2", peers=1, data={"n": 2}) == [{"n": 2}]


async def test_peers_must_agree_on_their_number() -> None:
    rounds = Gatherings()
    rounds.join("a", "x", "p1", peers=3, data={})
    with pytest.raises(InvalidArgument, match="numPeers=2"):
        rounds.join("a", "x", "p2", peers=2, data={})
    with pytest.raises(InvalidArgument, match="numPeers=0"):
        rounds.join("b", "x", "p1", peers=0, data={})


async def test_ended_allocation_is_forgotten() -> None:
    rounds = Gatherings()
    waiting = rounds.join("a", "x", "p1", peers=2, data={})
    rounds.forget("a")
    assert await rounds.join("a", "x", "p9", peers=1, data={"n": 9}) == [{"n": 9}]
    assert not waiting.done()
