"""Slows down password guessing, per user name. Pure: time comes in as a number."""

from collections import OrderedDict

_FREE_TRIES = 5
_LONGEST_WAIT = 3.0  # seconds; a person who mistypes is bothered, not locked out
_FORGET_AFTER = 300.0
_REMEMBERED = 10_000  # names; beyond this the oldest is forgotten, so guessing names cannot fill the memory


class LoginThrottle:
    def __init__(self) -> None:
        self._failures: OrderedDict[str, tuple[int, float]] = OrderedDict()

    def wait(self, username: str, now: float) -> float:
        """Seconds to hold this attempt back."""
        count, last = self._failures.get(username, (0, now))
        if now - last > _FORGET_AFTER:
            return 0.0
        extra = count - _FREE_TRIES
        return 0.0 if extra < 0 else min(_LONGEST_WAIT, 0.25 * 2 ** min(extra, 10))

    def failed(self, username: str, now: float) -> None:
        count, last = self._failures.pop(username, (0, now))
        self._failures[username] = (1 if now - last > _FORGET_AFTER else count + 1, now)
        if len(self._failures) > _REMEMBERED:
            self._failures.popitem(last=False)

    def succeeded(self, username: str) -> None:
        self._failures.pop(username, None)
