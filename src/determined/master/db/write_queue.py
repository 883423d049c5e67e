"""Writes that wait for the single writer, in one lane per user. Lanes take turns: nobody waits for another's thousand.

Inside a lane the order is that of arrival. Waiting is left to a SimpleQueue: a Condition costs ten times as much.
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
        self._lock = threading.Lock()
        self._tickets: queue.SimpleQueue[None] = queue.SimpleQueue()  # one for each item, and one for the end

    def put(self, item: T, lane: str) -> None:
        with self._lock:
            self._lanes.setdefault(lane, deque()).append(item)
        self._tickets.put(None)

    def close(self) -> None:
        """Close the queue: what waits is still handed out; then `get` answers None."""
        self._tickets.put(None)

    def get(self, timeout: float | None = None) -> T | None:
        """Return the next item; None once the queue is closed and empty. Raises queue.Empty after `timeout`."""
        self._tickets.get(timeout=timeout)
        with self._lock:
            if self._lanes:
                return self._pop()
        self.close()  # its ticket was taken; the next call needs it too
        return None

    def get_nowait(self) -> T | None:
        """Return the next item, or None where nothing waits."""
        try:
            return self.get(timeout=0)
        except queue.Empty:
            return None

    def _pop(self) -> T:
        lane, items = self._lanes.popitem(last=False)
        item = items.popleft()
        if items:
            self._lanes[lane] = items  # behind the others
        return item
