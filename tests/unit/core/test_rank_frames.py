"""Messages between ranks: whole or not yet there, however the network cuts them; reasons in any bytes."""

import socket
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from determined.core._rank_frames import Channel, Kind, PeerGone, failure, frame, packed, unpacked, waiting
from determined.core._rank_link import FailureCause, LinkFailure
from determined.errors import InvalidHP

Pair = tuple[Channel, Channel]


@pytest.fixture
def pair() -> Iterator[Pair]:
    ours, theirs = (Channel(end, f"rank {rank}") for rank, end in enumerate(socket.socketpair()))
    yield ours, theirs
    ours.close()
    theirs.close()


def test_a_message_cut_at_any_byte_is_there_only_when_it_is_whole(pair: Pair) -> None:
    ours, theirs = pair
    raw = frame(Kind.GATHER, 7, b"some body")
    for cut in range(1, len(raw)):
        ours.peer.sendall(raw[:cut])
        theirs.fill()
        assert theirs.take() is None
        ours.peer.sendall(raw[cut:])
        found = theirs.receive()
        assert (found.kind, found.serial, bytes(found.body)) == (Kind.GATHER, 7, b"some body")
    assert theirs.take() is None


def test_messages_that_arrive_together_are_taken_one_by_one(pair: Pair) -> None:
    ours, theirs = pair
    ours.peer.sendall(frame(Kind.GATHER, 1, b"") + frame(Kind.AGREE, 2, b"x") + frame(Kind.BROADCAST, 3, b"yy")[:5])
    assert [(theirs.receive().serial), (theirs.receive().serial)] == [1, 2]
    assert theirs.take() is None


def test_words_of_one_that_waits_are_forgotten_and_other_messages_are_not(pair: Pair) -> None:
    ours, theirs = pair
    ours.peer.sendall(waiting(1) + waiting(2) + frame(Kind.GATHER, 3, b"kept"))
    theirs.forget_waiting()
    assert bytes(theirs.receive().body) == b"kept"
    theirs.forget_waiting()
    assert not theirs.has_arrived_within(0)


def test_the_end_of_a_peer_is_told_after_its_last_message(pair: Pair) -> None:
    ours, theirs = pair
    ours.send(frame(Kind.FAILURE, 0, b"bye"))
    ours.close()
    assert bytes(theirs.receive().body) == b"bye"
    assert theirs.has_arrived_within(60)
    with pytest.raises(PeerGone, match="closed"):
        theirs.receive()
    theirs.offer(b"nobody hears it")
    with pytest.raises(PeerGone):
        theirs.send(b"x" * (1 << 22))


@given(st.lists(st.binary(max_size=300), max_size=8))
def test_bodies_packed_into_one_come_out_again(bodies: list[bytes]) -> None:
    assert [bytes(body) for body in unpacked(packed(bodies))] == bodies


@pytest.mark.parametrize(
    "reason", ["", "größe €", b"no file caf\xe9.pt".decode(errors="surrogateescape"), "x" * 10_000]
)
def test_a_reason_in_any_bytes_reaches_the_peers_as_text(pair: Pair, reason: str) -> None:
    ours, theirs = pair
    link_failure = LinkFailure()
    assert link_failure.message is None
    link_failure.seal(reason)
    link_failure.seal("what came after it")
    assert link_failure.message is not None
    ours.send(link_failure.message)
    found = theirs.receive()
    text = bytes(found.body).decode()
    assert found.kind == Kind.FAILURE
    assert text == reason or "caf\\udce9.pt" in text


def test_invalid_hyperparameters_are_told_from_a_failure() -> None:
    assert failure("bad lr", is_invalid=True)[0] == Kind.INVALID_HP
    assert failure("bad lr", serial=9)[0] == Kind.FAILURE
    sealed = LinkFailure()
    sealed.seal("bad lr", is_invalid=True)
    assert isinstance(sealed.error, InvalidHP) and isinstance(FailureCause("x", is_invalid=True).error, InvalidHP)
    assert isinstance(FailureCause("x").error, RuntimeError)
