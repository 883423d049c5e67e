"""How many requests of one caller are served at the same time: streams and long polls count until they end.

Without a limit one user could follow a log ten thousand times and keep the master busy with nothing else.
"""

from collections import Counter

from determined.errors import TooManyRequests
from determined.master.auth.identity import Caller

# A page, followers and scripts of one person stay far below this.
PER_USER = 500
# Every rank of a large training may poll for itself.
PER_ALLOCATION = 2000
COUNTED_AS = "counted_as"  # in the state of a request's scope


class RequestLimits:
    def __init__(self) -> None:
        self._under_way: Counter[str] = Counter()

    def enter(self, caller: Caller) -> str:
        """Count a request; the key is to be given to `leave` when it has ended. Raises TooManyRequests."""
        key, limit, who = _lane(caller)
        if self._under_way[key] >= limit:
            raise TooManyRequests(
                f"{limit} requests of {who} are under way already; end some of them (streams, followed logs) first"
            )
        self._under_way[key] += 1
        return key

    def leave(self, key: str) -> None:
        self._under_way[key] -= 1
        if not self._under_way[key]:
            del self._under_way[key]


def _lane(caller: Caller) -> tuple[str, int, str]:
    if caller.kind == "task":
        return f"allocation {caller.allocation_id}", PER_ALLOCATION, f"allocation {caller.allocation_id}"
    return f"user {caller.user_id}", PER_USER, f"user '{caller.username}'"
