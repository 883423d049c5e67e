"""Ranks talking to one another: one hub, one spoke per other rank, over authenticated sockets of the standard library.

Plain sockets rather than ZeroMQ: no dependency beside user code, the end of a process is seen at once (a ZeroMQ peer
reconnects without end), and an allgather is one round trip. Nothing is unpickled that does not come from a rank that
has proved itself (_rank_handshake.py).
"""

import pickle
import select
from collections.abc import Sequence
from dataclasses import dataclass
from time import sleep
from typing import Any, NoReturn

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

_PATIENCE_SECONDS = 1.0
# A rank tells its peers that it failed before it has ended; who ends first is taken for the cause.
_GIVE_WAY_SECONDS = 0.5


class Fate:
    """Why the ranks of this job can no longer talk, once they cannot. Shared by a process's links: the first reason is
    the one to tell."""

    def __init__(self) -> None:
        self.reason: str | None = None
        self.is_invalid = False  # the reason is that a rank found its hyperparameters invalid

    def seal(self, reason: str, *, is_invalid: bool = False) -> None:
        if self.reason is None:
            self.reason, self.is_invalid = reason, is_invalid

    @property
    def message(self) -> bytes | None:
        """What a rank that leaves has to tell the others."""
        return None if self.reason is None else failure(self.reason, is_invalid=self.is_invalid)

    @property
    def error(self) -> Exception:
        return InvalidHP(self.reason or "") if self.is_invalid else RuntimeError(self.reason)


@dataclass(frozen=True, slots=True)
class _Trouble:
    """Why a collective cannot go on. `is_told`: a peer said so itself, and is about to end."""

    reason: str
    is_told: bool = False
    is_invalid: bool = False


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
        self._tell()
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
                self._fail(_trouble(err.frame, kind, self._serial, peer))
            except PeerGone as err:
                self._fail(_last_words(peer, kind, self._serial) or _gone(peer, err))

    def _is_answered(self, found: Frame) -> bool:
        """Whether it waits for a broadcast that it has been sent meanwhile."""
        return found.kind == Kind.WAITING and found.serial < self._serial

    def _checked(self, found: Frame, kind: Kind, peer: Channel) -> Body:
        if (found.kind, found.serial) != (kind, self._serial):
            self._fail(_trouble(found, kind, self._serial, peer))
        return found.body

    def _fail(self, trouble: _Trouble) -> NoReturn:
        self._fate.seal(trouble.reason, is_invalid=trouble.is_invalid)
        self._tell()
        if trouble.is_told:
            sleep(_GIVE_WAY_SECONDS)
        raise self._fate.error from None  # what the socket said is part of the reason

    def _tell(self) -> None:
        message = self._fate.message
        if message is None:
            return
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
        message = self._fate.message
        if message is not None:
            self._hub.offer(message)
        self._hub.close()

    def _send(self, kind: Kind, body: Body) -> None:
        self._serial = _next(self._serial, self._fate)
        try:
            self._hub.send(frame(kind, self._serial, body))
        except Interrupted as err:
            self._fail(_trouble(err.frame, kind, self._serial, self._hub))
        except PeerGone as err:
            self._fail(_last_words(self._hub, kind, self._serial) or _gone(self._hub, err))

    def _receive(self, kind: Kind) -> Body:
        try:
            return self._checked(self._hub.receive(), kind)
        except PeerGone as err:
            self._fail(_gone(self._hub, err))

    def _checked(self, found: Frame, kind: Kind) -> Body:
        if (found.kind, found.serial) != (kind, self._serial):
            self._fail(_trouble(found, kind, self._serial, self._hub))
        return found.body

    def _fail(self, trouble: _Trouble) -> NoReturn:
        self._fate.seal(trouble.reason, is_invalid=trouble.is_invalid)
        if trouble.is_told:
            sleep(_GIVE_WAY_SECONDS)
        raise self._fate.error from None


def _next(serial: int, fate: Fate) -> int:
    if fate.reason is not None:
        raise fate.error
    return serial + 1


def _trouble(found: Frame, kind: Kind, serial: int, peer: Channel) -> _Trouble:
    """What it means that this message came in place of the expected one."""
    if found.kind in FAREWELLS:
        return _Trouble(bytes(found.body).decode(), is_told=True, is_invalid=found.kind == Kind.INVALID_HP)
    theirs = Kind.BROADCAST if found.kind == Kind.WAITING else Kind(found.kind)
    return _Trouble(
        f"ranks are out of step: one is at {kind.name.lower()} {serial}, {peer.who} at "
        f"{theirs.name.lower()} {found.serial}; every rank must make the same calls in the same order"
    )


def _last_words(peer: Channel, kind: Kind, serial: int) -> _Trouble | None:
    """Why a peer left, if what it sent before says so."""
    peer.forget_waiting()
    try:
        return _trouble(peer.receive(), kind, serial, peer)
    except PeerGone:
        return None


def _gone(peer: Channel, err: PeerGone) -> _Trouble:
    return _Trouble(f"{peer.who} is gone ({err}); its log says why")


def _dumps(value: Any) -> bytes:
    return pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL)


def _loads(body: Body) -> Any:
    return pickle.loads(body)  # noqa: S301  the peer proved that it knows the secret
