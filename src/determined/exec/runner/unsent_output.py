"""Limit on the output that the master has not got yet: a task that prints faster than that is slowed down.

Else a task that prints for ever fills the node's disk, and after its end minutes pass until its log is sent.
"""

import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Protocol

MOST_BYTES = 4 * 1024 * 1024
# While the master is away a training goes on, which prints less than this: only a task that would fill the disk waits.
BYTES_A_SECOND_ALONE = 1024 * 1024
MOST_BYTES_ALONE = 1024 * 1024 * 1024
_RECORD_BYTES = 16  # of a record besides its payload
_LOOK_SECONDS = 0.005


class Acknowledging(Protocol):
    @property
    def committed(self) -> int: ...
    @property
    def acknowledged(self) -> int: ...


class UnsentOutput:
    """Bytes of a journal that wait for the master."""

    def __init__(self, journal: Acknowledging, clock: Callable[[], float] = time.monotonic) -> None:
        self._journal, self._clock = journal, clock
        self._appended: deque[tuple[int, int]] = deque()  # last record of each append, its bytes
        self._bytes = 0
        self._limit = float(MOST_BYTES)
        self._away_at: float | None = None  # the last look, if the master was away then
        self._is_over = threading.Event()

    def add(self, records: list[bytes]) -> None:
        """Count records that have just been appended."""
        size = sum(map(len, records)) + _RECORD_BYTES * len(records)
        self._appended.append((self._journal.committed, size))
        self._bytes += size

    def wait(self, is_master_away: Callable[[], bool]) -> None:
        """Wait while too much is unsent, until `lift`.

        What has gathered while the master was away need not be sent first: it must only not grow any more.
        """
        while not self._is_over.is_set():
            unsent = self._count()
            self._set_limit(unsent, is_away=is_master_away())
            if unsent <= self._limit:
                return
            self._is_over.wait(_LOOK_SECONDS)

    def lift(self) -> None:
        """Let everything pass from now on: nobody writes any more, and what is left is read."""
        self._is_over.set()

    def _set_limit(self, unsent: int, *, is_away: bool) -> None:
        """Let the limit grow with the time that the master is away, and shrink with what it gets afterwards."""
        if not is_away:
            self._limit, self._away_at = max(MOST_BYTES, min(self._limit, unsent)), None
            return
        now = self._clock()
        elapsed, self._away_at = now - (self._away_at or now), now
        self._limit = min(self._limit + BYTES_A_SECOND_ALONE * elapsed, MOST_BYTES_ALONE)

    def _count(self) -> int:
        acknowledged = self._journal.acknowledged
        while self._appended and self._appended[0][0] <= acknowledged:
            self._bytes -= self._appended.popleft()[1]
        return self._bytes
