"""Writes that wait for the single writer, in one lane per user. Lanes take turns: nobody waits for another's thousand.

Inside a lane the order is that of arrival.
"""

import queue
import threading
from collections import OrderedDict, deque
from contextvars import ContextVar
from typing import Generic, TypeVar

T = TypeVar("T")

# Whose write it is: set once per request (auth/guard.py). Background loops share the lane without a name.
write_lane: ContextVar[str] = ContextVar("write_lane", default="")


class WriteQueue(Generic[T]):
    def __init__(self) -> None:
        self._lanes: OrderedDict[str, deque[T]] = OrderedDict()  # none of them empty; the first is next
        self._changed = threading.Condition()
        self._closed = False

    def put(self, item: T, lane: str) -> None:
        with self._changed:
            self._lanes.setdefault(lane, deque()).append(item)
            self._changed.notify()

    def close(self) -> None:
        """Close the queue: what waits is still handed out; then `get` answers None."""
        with self._changed:
            self._closed = True
            self._changed.notify()

    def get(self, timeout: float | None = None) -> T | None:
        """Return the next item; None once the queue is closed and empty. Raises queue.Empty after `timeout`."""
        with self._changed:
            if not self._changed.wait_for(lambda: self._lanes or self._closed, timeout):
                raise queue.Empty
            return self._pop() if self._lanes else None

    def get_nowait(self) -> T | None:
        """Return the next item, or None where nothing waits."""
        with self._changed:
            return self._pop() if self._lanes else None

    def _pop(self) -> T:
        lane, items = self._lanes.popitem(last=False)
        item = items.popleft()
        if items:
            self._lanes[lane] = items  # behind the others
        return item
