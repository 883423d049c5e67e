"""Limit on the requests of one caller served at the same time: streams and long polls count until they end.

Without a limit one user could follow a log ten thousand times and keep the master busy with nothing else.
"""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from determined.errors import TooManyRequests
from determined.master.auth.identity import Caller

# A page, followers and scripts of one person stay far below this.
PER_USER = 500
# Every rank of a large training may poll for itself.
PER_ALLOCATION = 2000
COUNTED_AS = "counted_as"  # in the state of a request's scope


_MAX_REFUSED = 1000

Request = tuple[str, str, bytes]
"""Method, path and `Authorization` of a request."""


class RequestLimits:
    """Count the requests of each caller that are under way.

    A refused request is remembered, so that the same one is refused again before anything is parsed or looked up:
    thousands of them at once would otherwise hold up everybody else for half a second.
    """

    def __init__(self) -> None:
        self._under_way: Counter[str] = Counter()
        self._refused: dict[Request, Caller] = {}

    def enter(self, caller: Caller, request: Request | None = None) -> str:
        """Count a request; the key is to be given to `leave` when it has ended. Raises TooManyRequests."""
        key, _, _ = _lane(caller)
        refusal = self._refusal(caller)
        if refusal is not None:
            if request is not None and len(self._refused) < _MAX_REFUSED:
                self._refused[request] = caller
            raise refusal
        self._under_way[key] += 1
        return key

    def refuse_again(self, scope: Mapping[str, Any]) -> TooManyRequests | None:
        """Return the refusal of a request that was refused before and would be again."""
        if not self._refused:
            return None
        request = request_of(scope)
        caller = self._refused.get(request) if request is not None else None
        if caller is None or request is None:
            return None
        refusal = self._refusal(caller)
        if refusal is None:
            del self._refused[request]
        return refusal

    def _refusal(self, caller: Caller) -> TooManyRequests | None:
        key, limit, who = _lane(caller)
        if self._under_way[key] < limit:
            return None
        return TooManyRequests(
            f"{limit} requests of {who} are under way already; end some of them (streams, followed logs) first"
        )

    def leave(self, key: str) -> None:
        self._under_way[key] -= 1
        if not self._under_way[key]:
            del self._under_way[key]


def request_of(scope: Mapping[str, Any]) -> Request | None:
    """Return what tells a request with a token from others; None for one without."""
    for name, value in scope["headers"]:
        if name == b"authorization":
            return scope["method"], scope["path"], value
    return None


def _lane(caller: Caller) -> tuple[str, int, str]:
    if caller.kind == "task":
        return f"allocation {caller.allocation_id}", PER_ALLOCATION, f"allocation {caller.allocation_id}"
    return f"user {caller.user_id}", PER_USER, f"user '{caller.username}'"
