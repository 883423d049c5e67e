"""Pace at which one caller's requests are started while others are served.

The event loop serves first come, first served: five hundred requests that arrive together would each take their turn
before the one of another user that arrives next. So a caller starts BURST requests at once, and beyond that one in each
INTERVAL. Nobody waits while nobody else asks.
"""

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

BURST = 32
INTERVAL = 0.004  # seconds; to begin a stream takes the event loop about as long
MAX_WAITING = 2000  # requests of one caller: every rank of a large training may ask at the same moment
_RECENT = 1.0  # seconds after which another caller counts as silent
_MAX_CALLERS = 10_000
_ROUNDING = 1e-6  # seconds; less is an error of sums of floats


@dataclass(slots=True)
class _Caller:
    seen_at: float
    paid_until: float  # the requests it has started use up its share of time until then


class StartPace:
    """Start times of the callers' requests. A caller is told by what it shows (`caller_of`), before that is checked."""

    def __init__(self) -> None:
        self._callers: OrderedDict[bytes, _Caller] = OrderedDict()  # the one seen last is at the end

    def delay(self, key: bytes, now: float) -> float | None:
        """Return the seconds to wait before this request is started; None where too many wait already."""
        caller = self._callers.get(key)
        if caller is None:
            self._forget(now)
            caller = self._callers[key] = _Caller(now, now)
        caller.seen_at = now
        self._callers.move_to_end(key)
        if not self._is_another_recent(now):
            caller.paid_until = now
            return 0.0
        paid = max(caller.paid_until, now) + INTERVAL
        wait = paid - now - BURST * INTERVAL
        if wait > MAX_WAITING * INTERVAL + _ROUNDING:
            return None
        caller.paid_until = paid
        return wait if wait > _ROUNDING else 0.0

    def _is_another_recent(self, now: float) -> bool:
        order = reversed(self._callers.values())
        next(order)  # the caller itself
        other = next(order, None)
        return other is not None and now - other.seen_at <= _RECENT

    def _forget(self, now: float) -> None:
        while self._callers:
            oldest = next(iter(self._callers.values()))
            silent = now - oldest.seen_at > _RECENT and oldest.paid_until <= now
            if not silent and len(self._callers) < _MAX_CALLERS:
                return
            self._callers.popitem(last=False)


def caller_of(scope: Mapping[str, Any]) -> bytes:
    """Return what tells callers apart before anything is checked: their token, else the address they come from."""
    cookie = b""
    for name, value in scope["headers"]:
        if name in (b"authorization", b"grpc-metadata-x-allocation-token"):
            return bytes(value)
        if name == b"cookie":
            cookie = bytes(value)
    client = scope.get("client") or ("",)
    return cookie or str(client[0]).encode()
