"""Ranks talking to one another: one hub, one spoke per other rank, over authenticated sockets of the standard library.

Plain sockets rather than ZeroMQ: no dependency beside user code, the end of a process is seen at once (a ZeroMQ peer
reconnects without end), and an allgather is one round trip. Nothing is unpickled that does not come from a rank that
has proved itself (_rank_handshake.py).
"""

import pickle
import select
from collections.abc import Sequence
from time import sleep
from typing import Any, NoReturn

from determined.core._rank_frames import (
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

_PATIENCE_SECONDS = 1.0
# A rank tells its peers that it failed before it has ended; who ends first is taken for the cause.
_GIVE_WAY_SECONDS = 0.5


class Fate:
    """Why the ranks of this job can no longer talk, once they cannot. Shared by a process's links: the first reason is
    the one to tell."""

    def __init__(self) -> None:
        self.reason: str | None = None


class Hub:
    """The lowest rank's end. `peers` are the others in the order of their ranks."""

    def __init__(self, peers: Sequence[Channel], fate: Fate) -> None:
        self._peers = list(peers)
        self._fate = fate
        self._serial = 0
        self._by_descriptor = {peer.peer.fileno(): peer for peer in peers}
        self._poller = select.poll()
        for descriptor in self._by_descriptor:
            self._poller.register(descriptor, select.POLLIN)

    def gather(self, value: Any) -> list[Any]:
        return [value, *(_loads(body) for body in self._collect(Kind.GATHER))]

    def allgather(self, value: Any) -> list[Any]:
        mine = _dumps(value)
        bodies = self._collect(Kind.ALLGATHER)
        self._spread(Kind.ALLGATHER, packed([mine, *bodies]))
        return [value, *(_loads(body) for body in bodies)]

    def broadcast(self, value: Any) -> Any:
        body = _dumps(value)
        self._serial = _next(self._serial, self._fate)
        for peer in self._peers:
            peer.forget_waiting()
        self._spread(Kind.BROADCAST, body)
        return value

    def close(self) -> None:
        if self._fate.reason is not None:
            self._tell(self._fate.reason)
        for peer in self._peers:
            peer.close()

    def _collect(self, kind: Kind) -> list[Body]:
        """Everybody's message, in whatever order they come: the end of one is seen while another is awaited."""
        self._serial = _next(self._serial, self._fate)
        bodies: dict[Channel, Body] = {}
        while missing := [peer for peer in self._peers if peer not in bodies]:
            arrived = [(peer, found) for peer in missing if (found := peer.take()) is not None]
            due = [(peer, found) for peer, found in arrived if not self._is_answered(found)]
            bodies |= {peer: self._checked(found, kind, peer) for peer, found in due}
            if not arrived:
                self._wait(missing, kind)
        return [bodies[peer] for peer in self._peers]

    def _wait(self, missing: list[Channel], kind: Kind) -> None:
        for descriptor, _ in self._poller.poll():
            peer = self._by_descriptor[descriptor]
            try:
                peer.fill()
            except PeerGone as err:
                # One that has given all it has to may leave; it is missed when it is needed again.
                self._poller.unregister(descriptor)
                if peer in missing or kind is not Kind.GATHER:
                    self._fail(_gone(peer, err))

    def _spread(self, kind: Kind, body: Body) -> None:
        message = frame(kind, self._serial, body)
        for peer in self._peers:
            try:
                peer.send(message)
            except Interrupted as err:
                told = err.frame.kind == Kind.FAILURE
                self._fail(_trouble(err.frame, kind, self._serial, peer), is_told=told)
            except PeerGone as err:
                words = _last_words(peer, kind, self._serial)
                self._fail(words or _gone(peer, err), is_told=words is not None)

    def _is_answered(self, found: Frame) -> bool:
        """Whether it waits for a broadcast that it has been sent meanwhile."""
        return found.kind == Kind.WAITING and found.serial < self._serial

    def _checked(self, found: Frame, kind: Kind, peer: Channel) -> Body:
        if (found.kind, found.serial) != (kind, self._serial):
            self._fail(_trouble(found, kind, self._serial, peer), is_told=found.kind == Kind.FAILURE)
        return found.body

    def _fail(self, reason: str, *, is_told: bool = False) -> NoReturn:
        self._fate.reason = self._fate.reason or reason
        self._tell(self._fate.reason)
        if is_told:
            sleep(_GIVE_WAY_SECONDS)
        raise RuntimeError(self._fate.reason) from None  # what the socket said is part of the reason

    def _tell(self, reason: str) -> None:
        message = failure(reason)
        for peer in self._peers:
            peer.offer(message)


class Spoke:
    """The end of every other rank."""

    def __init__(self, hub: Channel, fate: Fate) -> None:
        self._hub = hub
        self._fate = fate
        self._serial = 0

    def gather(self, value: Any) -> None:
        self._send(Kind.GATHER, _dumps(value))

    def allgather(self, value: Any) -> list[Any]:
        self._send(Kind.ALLGATHER, _dumps(value))
        return [_loads(body) for body in unpacked(self._receive(Kind.ALLGATHER))]

    def broadcast(self, _value: Any = None) -> Any:
        self._serial = _next(self._serial, self._fate)
        if not self._hub.is_heard_within(_PATIENCE_SECONDS):
            self._hub.offer(waiting(self._serial))
        return _loads(self._receive(Kind.BROADCAST))

    def close(self) -> None:
        if self._fate.reason is not None:
            self._hub.offer(failure(self._fate.reason))
        self._hub.close()

    def _send(self, kind: Kind, body: Body) -> None:
        self._serial = _next(self._serial, self._fate)
        try:
            self._hub.send(frame(kind, self._serial, body))
        except Interrupted as err:
            told = err.frame.kind == Kind.FAILURE
            self._fail(_trouble(err.frame, kind, self._serial, self._hub), is_told=told)
        except PeerGone as err:
            words = _last_words(self._hub, kind, self._serial)
            self._fail(words or _gone(self._hub, err), is_told=words is not None)

    def _receive(self, kind: Kind) -> Body:
        try:
            return self._checked(self._hub.receive(), kind)
        except PeerGone as err:
            self._fail(_gone(self._hub, err))

    def _checked(self, found: Frame, kind: Kind) -> Body:
        if (found.kind, found.serial) != (kind, self._serial):
            self._fail(_trouble(found, kind, self._serial, self._hub), is_told=found.kind == Kind.FAILURE)
        return found.body

    def _fail(self, reason: str, *, is_told: bool = False) -> NoReturn:
        self._fate.reason = self._fate.reason or reason
        if is_told:
            sleep(_GIVE_WAY_SECONDS)
        raise RuntimeError(self._fate.reason) from None


def _next(serial: int, fate: Fate) -> int:
    if fate.reason is not None:
        raise RuntimeError(fate.reason)
    return serial + 1


def _trouble(found: Frame, kind: Kind, serial: int, peer: Channel) -> str:
    """What it means that this message came in place of the expected one."""
    if found.kind == Kind.FAILURE:
        return bytes(found.body).decode()
    theirs = Kind.BROADCAST if found.kind == Kind.WAITING else Kind(found.kind)
    return (
        f"ranks are out of step: one is at {kind.name.lower()} {serial}, {peer.who} at "
        f"{theirs.name.lower()} {found.serial}; every rank must make the same calls in the same order"
    )


def _last_words(peer: Channel, kind: Kind, serial: int) -> str | None:
    """Why a peer left, if what it sent before says so."""
    peer.forget_waiting()
    try:
        return _trouble(peer.receive(), kind, serial, peer)
    except PeerGone:
        return None


def _gone(peer: Channel, err: PeerGone) -> str:
    return f"{peer.who} is gone ({err}); its log says why"


def _dumps(value: Any) -> bytes:
    return pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL)


def _loads(body: Body) -> Any:
    return pickle.loads(body)  # noqa: S301  the peer proved that it knows the secret
