"""All-gather: every peer of an allocation posts its data and gets everyone's. In memory: peers retry."""

import asyncio
from dataclasses import dataclass, field
from weakref import WeakKeyDictionary

from determined._json import JsonObject
from determined.errors import Conflict, InvalidArgument
from determined.master.bus import Bus

Data = JsonObject

_REMEMBERED = 256  # finished rounds; a lost answer is asked for again within seconds


@dataclass(slots=True)
class _Round:
    """Exchange between peers. `waiting` holds each peer's newest call; an earlier call of the same peer is evicted."""

    peers: int
    data: dict[str, Data] = field(default_factory=dict)
    waiting: dict[str, asyncio.Future[list[Data]]] = field(default_factory=dict)


class Gatherings:
    """Exchanges of one master. Rounds are kept by allocation and by what is exchanged."""

    def __init__(self) -> None:
        self._open: dict[tuple[str, str], _Round] = {}
        self._done: dict[tuple[str, str], _Round] = {}

    def join(self, allocation_id: str, what: str, peer: str, *, peers: int, data: Data) -> asyncio.Future[list[Data]]:
        """Comes true with everyone's data, unordered, once `peers` different peers have joined."""
        if peers < 1:
            raise InvalidArgument(f"numPeers={peers} must be at least 1")
        key = (allocation_id, what)
        finished = self._done.get(key)
        if finished is not None and peer in finished.data:
            return _resolved(finished)
        current = self._open.setdefault(key, _Round(peers))
        if current.peers != peers:
            raise InvalidArgument(f"numPeers={peers} differs from what another peer said: {current.peers}")
        call = self._add(current, peer, data)
        if len(current.data) >= current.peers:
            self._finish(key, current)
        return call

    def forget(self, allocation_id: str) -> None:
        """Forget an allocation that is over."""
        for rounds in (self._open, self._done):
            for key in [k for k in rounds if k[0] == allocation_id]:
                del rounds[key]

    def _add(self, current: _Round, peer: str, data: Data) -> asyncio.Future[list[Data]]:
        earlier = current.waiting.pop(peer, None)
        if earlier is not None and not earlier.done():
            earlier.set_exception(Conflict(f"peer {peer} called again; this call is void"))
        call: asyncio.Future[list[Data]] = asyncio.get_running_loop().create_future()
        current.data[peer] = data
        current.waiting[peer] = call
        return call

    def _finish(self, key: tuple[str, str], current: _Round) -> None:
        del self._open[key]
        self._done[key] = current  # a peer whose answer got lost asks again and gets it
        while len(self._done) > _REMEMBERED:
            del self._done[next(iter(self._done))]
        for call in current.waiting.values():
            if not call.done():
                call.set_result(list(current.data.values()))
        current.waiting.clear()


def of(bus: Bus) -> Gatherings:
    return _gatherings.setdefault(bus, Gatherings())


_gatherings: WeakKeyDictionary[Bus, Gatherings] = WeakKeyDictionary()


def _resolved(finished: _Round) -> asyncio.Future[list[Data]]:
    call: asyncio.Future[list[Data]] = asyncio.get_running_loop().create_future()
    call.set_result(list(finished.data.values()))
    return call
