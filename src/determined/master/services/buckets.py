"""Long series made short without a lie: buckets with their last value, extremes and counts. Pure.

A bucket holds a power of two of points, counted from the first one. So the same series always gives the same buckets
however it was stored, and a point that is added changes the last bucket only (until all are merged in pairs).
"""

import math
from collections.abc import Sequence
from operator import add
from typing import Any


class Buckets:
    """`add` points in the order of x, then read the columns. Uses memory for `points` buckets, not for the series."""

    def __init__(self, points: int) -> None:
        self._points = max(points, 1)
        self._size = 1
        self.x: list[Any] = []  # of a bucket's last point
        self.last: list[float] = []
        self.count: list[int] = []
        self.not_finite: list[int] = []  # how many of a bucket's points are NaN or infinite
        self._low: list[float] = []  # +inf: no finite value
        self._high: list[float] = []

    @property
    def exact(self) -> bool:
        """Is every bucket a point?"""
        return self._size == 1

    @property
    def min(self) -> list[float]:
        """Minima of the finite values; the last value where there is none."""
        return [last if low > high else low for last, low, high in zip(self.last, self._low, self._high, strict=True)]

    @property
    def max(self) -> list[float]:
        return [last if low > high else high for last, low, high in zip(self.last, self._low, self._high, strict=True)]

    def add(self, x: Sequence[Any], y: Sequence[float]) -> None:
        """`x` goes on where the last call ended."""
        start = 0
        while start < len(y):
            if self._size == 1:
                end = min(len(y), start + self._points)
                self._extend(x[start:end], y[start:end])
            else:
                room = self._size - self.count[-1] if self.count[-1] < self._size else self._size
                end = min(len(y), start + room)
                self._fill(x[end - 1], y[start:end])
            start = end
            while len(self.x) > self._points:
                self._merge_pairs()

    def _extend(self, x: Sequence[Any], y: Sequence[float]) -> None:
        self.x.extend(x)
        self.last.extend(y)
        self.count.extend([1] * len(y))
        if math.isfinite(_sum(y)):
            self._low.extend(y)
            self._high.extend(y)
            self.not_finite.extend([0] * len(y))
            return
        self.not_finite.extend(int(not math.isfinite(v)) for v in y)
        self._low.extend(v if math.isfinite(v) else math.inf for v in y)
        self._high.extend(v if math.isfinite(v) else -math.inf for v in y)

    def _fill(self, x: Any, part: Sequence[float]) -> None:
        """Into the last bucket, or a new one behind it."""
        finite = part if math.isfinite(_sum(part)) else [v for v in part if math.isfinite(v)]
        low, high = min(finite, default=math.inf), max(finite, default=-math.inf)
        if self.count[-1] < self._size:
            self.x[-1], self.last[-1] = x, part[-1]
            self.count[-1] += len(part)
            self.not_finite[-1] += len(part) - len(finite)
            self._low[-1], self._high[-1] = min(self._low[-1], low), max(self._high[-1], high)
            return
        self.x.append(x)
        self.last.append(part[-1])
        self.count.append(len(part))
        self.not_finite.append(len(part) - len(finite))
        self._low.append(low)
        self._high.append(high)

    def _merge_pairs(self) -> None:
        self._size *= 2
        self.x = _seconds(self.x)
        self.last = _seconds(self.last)
        self.count = _pairs(add, self.count)
        self.not_finite = _pairs(add, self.not_finite)
        self._low = _pairs(min, self._low)
        self._high = _pairs(max, self._high)


def _seconds(values: list[Any]) -> list[Any]:
    """Return the second of each pair; of a single value at the end, itself."""
    return values[1::2] + (values[-1:] if len(values) % 2 else [])


def _pairs(join: Any, values: list[Any]) -> list[Any]:
    return list(map(join, values[::2], values[1::2])) + (values[-1:] if len(values) % 2 else [])


def _sum(values: Sequence[float]) -> float:
    """Add up. Not finite when one value is not; finite values whose sum is not are looked at one by one."""
    return sum(values)
