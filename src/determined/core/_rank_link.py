"""Ranks talking to one another: one hub, one spoke per other rank, over authenticated sockets of the standard library.

Plain sockets rather than ZeroMQ: no dependency beside user code, the end of a process is seen at once (a ZeroMQ peer
reconnects without end), and an allgather is one round trip. Nothing is unpickled that does not come from a rank that
has proved itself (_rank_handshake.py).
"""

import pickle
import select
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from time import monotonic, sleep
from typing import Any, NoReturn, TypeVar

from determined.core._rank_frames import (
    FAREWELLS,
    Body,
    Channel,
    Frame,
    Interrupted,
    Kind,
    PeerGone,
    failure,
    frame,
    packed,
    unpacked,
    waiting,
)
from determined.errors import InvalidHP

T = TypeVar("T")

_PATIENCE_SECONDS = 1.0
# A rank tells its peers that it failed before it has ended; who ends first is taken for the cause.
_GIVE_WAY_SECONDS = 0.5
# A rank that fails in a block lets the others come out of it too; but they may wait for it in there by other means.
_LEAVE_SECONDS = 5.0


class LinkFailure:
    """Reason why the ranks of this job can no longer talk, once they cannot. Shared by a process's links: the first
    reason is the one to tell."""

    def __init__(self) -> None:
        self.reason: str | None = None
        self.is_invalid = False  # the reason is that a rank found its hyperparameters invalid

    def seal(self, reason: str, *, is_invalid: bool = False) -> None:
        if self.reason is None:
            self.reason, self.is_invalid = reason, is_invalid

    @property
    def message(self) -> bytes | None:
        """Return what a rank that leaves has to tell the others."""
        return None if self.reason is None else failure(self.reason, is_invalid=self.is_invalid)

    @property
    def error(self) -> Exception:
        return InvalidHP(self.reason or "") if self.is_invalid else RuntimeError(self.reason)


@dataclass(frozen=True, slots=True)
class FailureCause:
    """Reason why a collective cannot go on. `is_reported`: a peer said so itself, and is about to end."""

    reason: str
    is_reported: bool = False
    is_invalid: bool = False

    @property
    def error(self) -> Exception:
        return InvalidHP(self.reason) if self.is_invalid else RuntimeError(self.reason)


class UnreportedFailure(Exception):
    """Failure of this rank in a block in which others still are; they hear of it when they come out."""


class Hub:
    """The lowest rank's end. `peers` are the others in the order of their ranks."""

    def __init__(self, peers: Sequence[Channel], link_failure: LinkFailure) -> None:
        self._peers = list(peers)
        self._link_failure = link_failure
        self._serial = 0
        self._by_descriptor = {peer.peer.fileno(): peer for peer in peers}
        self._left: dict[Channel, PeerGone] = {}
        self._poller = select.poll()
        for descriptor in self._by_descriptor:
            self._poller.register(descriptor, select.POLLIN)

    def gather(self, value: T) -> list[T]:
        return [value, *(_loads(part.body) for part in self._collect(Kind.GATHER))]

    def allgather(self, value: T) -> list[T]:
        mine = _dumps(value)
        bodies = [part.body for part in self._collect(Kind.ALLGATHER)]
        self._spread(Kind.ALLGATHER, packed([mine, *bodies]))
        return [value, *(_loads(body) for body in bodies)]

    def broadcast(self, value: Any) -> Any:
        body = _dumps(value)
        self._serial = _next(self._serial, self._link_failure)
        for peer in self._peers:
            peer.forget_waiting()
        self._spread(Kind.BROADCAST, body)
        return value

    def agree(self, mine: FailureCause | None) -> FailureCause | None:
        """Return the first failure that a rank leaves a block with, on all of them; None when all have left it well.

        Raises:
            UnreportedFailure: not all have left it by the time that one with a failure waits for the others.
        """
        theirs = self._collect(Kind.AGREE, mine)
        cause = mine or _first_cause(theirs)
        if cause is None:
            self._spread(Kind.AGREE, b"")
            return None
        answer = failure(cause.reason, is_invalid=cause.is_invalid, serial=self._serial)
        for peer in self._peers:
            peer.offer(answer)  # one that failed may be gone
        return cause

    def close(self) -> None:
        self.tell()
        for peer in self._peers:
            peer.close()

    def tell(self) -> None:
        """Tell everybody who waits for a call why there will be no more, if there is a reason."""
        message = self._link_failure.message
        if message is None:
            return
        for peer in self._peers:
            peer.offer(message)

    def _collect(self, kind: Kind, mine: FailureCause | None = None) -> list[Frame]:
        """Everybody's message, in whatever order they come: the end of one is seen while another is awaited."""
        self._serial = _next(self._serial, self._link_failure)
        until = None if mine is None else monotonic() + _LEAVE_SECONDS
        frames: dict[Channel, Frame] = {}
        while missing := [peer for peer in self._peers if peer not in frames]:
            arrived = [(peer, arrival) for peer in missing if (arrival := peer.take()) is not None]
            due = {peer: arrival for peer, arrival in arrived if not self._is_answered(arrival)}
            cause = mine or _first_cause([*frames.values(), *due.values()])
            frames |= {peer: self._checked(arrival, kind, peer, cause) for peer, arrival in due.items()}
            if not arrived:
                self._wait(missing, kind, cause, until)
        return [frames[peer] for peer in self._peers]

    def _wait(self, missing: list[Channel], kind: Kind, cause: FailureCause | None, until: float | None) -> None:
        for peer in missing:
            if peer in self._left:
                self._fail(cause or _gone(peer, self._left[peer]))
        ready = self._poller.poll(None if until is None else max(0.0, until - monotonic()) * 1000)
        if not ready and cause is not None:
            self._link_failure.seal(cause.reason, is_invalid=cause.is_invalid)
            self.tell()
            raise UnreportedFailure
        for descriptor, _ in ready:
            peer = self._by_descriptor[descriptor]
            try:
                peer.fill()
            except PeerGone as err:
                # One that has given all it has to may leave; it is missed when it is needed again.
                self._poller.unregister(descriptor)
                self._left[peer] = err
                if peer in missing or kind not in (Kind.GATHER, Kind.AGREE):
                    self._fail(cause or _gone(peer, err))

    def _spread(self, kind: Kind, body: Body) -> None:
        message = frame(kind, self._serial, body)
        for peer in self._peers:
            try:
                peer.send(message)
            except Interrupted as err:
                self._fail(_failure_cause(err.frame, kind, self._serial, peer))
            except PeerGone as err:
                self._fail(_leaving_cause(peer, kind, self._serial) or _gone(peer, err))

    def _is_answered(self, arrival: Frame) -> bool:
        """Return whether it waits for a broadcast that it has been sent meanwhile."""
        return arrival.kind == Kind.WAITING and arrival.serial < self._serial

    def _checked(self, arrival: Frame, kind: Kind, peer: Channel, cause: FailureCause | None) -> Frame:
        """`known`: why others may be elsewhere."""
        if not _is_part(arrival, kind, self._serial):
            self._fail(cause or _failure_cause(arrival, kind, self._serial, peer))
        return arrival

    def _fail(self, cause: FailureCause) -> NoReturn:
        self._link_failure.seal(cause.reason, is_invalid=cause.is_invalid)
        self.tell()
        if cause.is_reported:
            sleep(_GIVE_WAY_SECONDS)
        raise self._link_failure.error from None  # what the socket said is part of the reason


class Spoke:
    """The end of every other rank."""

    def __init__(self, hub: Channel, link_failure: LinkFailure) -> None:
        self._hub = hub
        self._link_failure = link_failure
        self._serial = 0

    def gather(self, value: object) -> None:
        self._send(Kind.GATHER, _dumps(value))

    def allgather(self, value: T) -> list[T]:
        self._send(Kind.ALLGATHER, _dumps(value))
        return [_loads(body) for body in unpacked(self._receive(Kind.ALLGATHER).body)]

    def broadcast(self, _value: Any = None) -> Any:
        self._serial = _next(self._serial, self._link_failure)
        if not self._hub.has_arrived_within(_PATIENCE_SECONDS):
            self._hub.offer(waiting(self._serial))
        return _loads(self._receive(Kind.BROADCAST).body)

    def agree(self, mine: FailureCause | None) -> FailureCause | None:
        """Do as the hub's method of this name."""
        if mine is None:
            self._send(Kind.AGREE, b"")
            return _first_cause([self._receive(Kind.AGREE)])
        self._send(Kind.INVALID_HP if mine.is_invalid else Kind.FAILURE, mine.reason.encode())
        if self._hub.has_arrived_within(_LEAVE_SECONDS):
            arrival = self._next_frame()
            if arrival.kind in FAREWELLS:
                return _first_cause([self._checked(arrival, Kind.AGREE)])
        # The hub is elsewhere, and comes upon our words there.
        self._link_failure.seal(mine.reason, is_invalid=mine.is_invalid)
        raise UnreportedFailure

    def close(self) -> None:
        self.tell()
        self._hub.close()

    def tell(self) -> None:
        """Do as the hub's method of this name."""
        message = self._link_failure.message
        if message is not None:
            self._hub.offer(message)

    def _send(self, kind: Kind, body: Body) -> None:
        self._serial = _next(self._serial, self._link_failure)
        try:
            self._hub.send(frame(kind, self._serial, body))
        except Interrupted as err:
            self._fail(_failure_cause(err.frame, kind, self._serial, self._hub))
        except PeerGone as err:
            self._fail(_leaving_cause(self._hub, kind, self._serial) or _gone(self._hub, err))

    def _receive(self, kind: Kind) -> Frame:
        return self._checked(self._next_frame(), kind)

    def _next_frame(self) -> Frame:
        try:
            return self._hub.receive()
        except PeerGone as err:
            self._fail(_gone(self._hub, err))

    def _checked(self, arrival: Frame, kind: Kind) -> Frame:
        if not _is_part(arrival, kind, self._serial):
            self._fail(_failure_cause(arrival, kind, self._serial, self._hub))
        return arrival

    def _fail(self, cause: FailureCause) -> NoReturn:
        self._link_failure.seal(cause.reason, is_invalid=cause.is_invalid)
        if cause.is_reported:
            sleep(_GIVE_WAY_SECONDS)
        raise self._link_failure.error from None


def _next(serial: int, link_failure: LinkFailure) -> int:
    if link_failure.reason is not None:
        raise link_failure.error
    return serial + 1


def _is_part(arrival: Frame, kind: Kind, serial: int) -> bool:
    """Return whether a message belongs to this exchange. To an agreement a rank may bring a failure."""
    return arrival.serial == serial and (arrival.kind == kind or (kind is Kind.AGREE and arrival.kind in FAREWELLS))


def _first_cause(frames: Iterable[Frame]) -> FailureCause | None:
    """The first failure among them."""
    for arrival in frames:
        if arrival.kind in FAREWELLS:
            return _cause_of(arrival)
    return None


def _failure_cause(arrival: Frame, kind: Kind, serial: int, peer: Channel) -> FailureCause:
    """Return what it means that this message came in place of the expected one."""
    if arrival.kind in FAREWELLS:
        return _cause_of(arrival)
    theirs = Kind.BROADCAST if arrival.kind == Kind.WAITING else Kind(arrival.kind)
    return FailureCause(
        f"ranks are out of step: one is at {kind.name.lower()} {serial}, {peer.who} at "
        f"{theirs.name.lower()} {arrival.serial}; every rank must make the same calls in the same order"
    )


def _cause_of(farewell: Frame) -> FailureCause:
    return FailureCause(bytes(farewell.body).decode(), is_reported=True, is_invalid=farewell.kind == Kind.INVALID_HP)


def _leaving_cause(peer: Channel, kind: Kind, serial: int) -> FailureCause | None:
    """Return why a peer left, if what it sent before says so."""
    peer.forget_waiting()
    try:
        return _failure_cause(peer.receive(), kind, serial, peer)
    except PeerGone:
        return None


def _gone(peer: Channel, err: PeerGone) -> FailureCause:
    return FailureCause(f"{peer.who} is gone ({err}); its log says why")


def _dumps(value: object) -> bytes:
    return pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL)


def _loads(body: Body) -> Any:
    return pickle.loads(body)  # noqa: S301  the peer proved that it knows the secret
