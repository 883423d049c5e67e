"""Exponential back-off: how long to wait before the next attempt. No clock and no sleeping: callers bring both."""

import math
import random
from collections.abc import Iterator
from dataclasses import dataclass

_random = random.SystemRandom()  # the global generator is the user's: a seeded training must not notice a retry
_HIGHEST_EXPONENT = 64  # a float overflows at 2.0 ** 1024; every limit is reached long before


@dataclass(frozen=True, slots=True)
class Backoff:
    """Delays that grow from `first` seconds by `factor` with each failure, up to `limit`.

    Each delay gets up to `jitter` seconds at random, so that many callers do not all come back at the same moment.
    """

    first: float
    limit: float = math.inf
    factor: float = 2.0
    jitter: float = 0.0

    def delay(self, earlier_failures: int) -> float:
        """Return the seconds to wait after a failure that follows `earlier_failures` others."""
        seconds = self.first * self.factor ** min(earlier_failures, _HIGHEST_EXPONENT)
        if self.jitter:
            seconds += _random.uniform(0, self.jitter)
        return min(self.limit, seconds)

    def delays(self) -> Iterator[float]:
        """Yield the delay after the first failure, the second, and so on without end."""
        earlier_failures = 0
        while True:
            yield self.delay(earlier_failures)
            earlier_failures += 1
