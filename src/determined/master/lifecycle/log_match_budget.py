"""Time that searches of log lines may take. They run inside write transactions, for which everybody waits.

RE2 needs time that grows with text times pattern, and one user chooses both: `(a|b)*a(a|b){500}c` takes a minute for
2 MB. Each batch has some time of its own. What a batch needs beyond it is taken from an account that the owners of all
slow patterns share, and which fills slowly; while it is empty their lines are stored and not searched.
"""

import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

logger = logging.getLogger(__name__)

_FREE_S, _FREE_S_PER_BYTE = 0.02, 1e-7  # of a batch; searches that need no account are ten times as fast
_SHARE = 0.05  # of all time that goes to the account
_MOST_S = 0.5  # in the account
_MOST_OF_BATCH_S = 0.1  # from the account for one batch: everybody's writes wait meanwhile
_REMEMBERED = 1000  # owners; beyond this the oldest is forgotten
_SAY_EVERY_S = 60.0


class MatchBudget:
    """Account of all owners of slow patterns. `clock` counts all time, `work` that of the calling thread."""

    def __init__(
        self, clock: Callable[[], float] = time.monotonic, work: Callable[[], float] = time.thread_time
    ) -> None:
        self._clock, self._work = clock, work
        self._left, self._filled_at = _MOST_S, clock()
        self._limited_owners: OrderedDict[Hashable, None] = OrderedDict()  # who needed more than a batch's own time
        self._said_at: float | None = None
        self._lock = threading.Lock()

    def begin(self, owner: Hashable, size: int) -> "BatchMatching":
        """Begin to search a batch of `size` bytes. `owner`: whoever wrote the patterns."""
        with self._lock:
            own = 0.0 if owner in self._limited_owners else _FREE_S + size * _FREE_S_PER_BYTE
        return BatchMatching(self, owner, own)

    def _has_left(self, owner: Hashable, borrowed: float) -> bool:
        with self._lock:
            now = self._clock()
            self._left = min(_MOST_S, self._left + (now - self._filled_at) * _SHARE)
            self._filled_at = now
            has_left = self._left > 0 and borrowed < _MOST_OF_BATCH_S
            is_said = self._said_at is not None and now - self._said_at < _SAY_EVERY_S
            if not has_left and not is_said:
                self._said_at = now
        if not has_left and not is_said:
            logger.warning("lines of %s are not searched for now: its patterns are too slow for the text", owner)
        return has_left

    def _pay(self, owner: Hashable, seconds: float) -> None:
        with self._lock:
            self._left -= seconds
            self._limited_owners[owner] = None
            self._limited_owners.move_to_end(owner)
            if len(self._limited_owners) > _REMEMBERED:
                self._limited_owners.popitem(last=False)


@dataclass(slots=True)
class BatchMatching:
    """Searches of one batch. `own`: seconds that it has beside the account; `borrowed`: those taken from there."""

    _budget: MatchBudget
    _owner: Hashable
    own: float
    borrowed: float = 0.0

    def may_go_on(self) -> bool:
        return self.own > 0 or self._budget._has_left(self._owner, self.borrowed)

    @contextmanager
    def timed(self) -> Iterator[None]:
        """Count what is done inside."""
        begun = self._budget._work()
        try:
            yield
        finally:
            seconds = self._budget._work() - begun
            paid = seconds - max(0.0, self.own)
            self.own -= seconds
            if paid > 0:
                self.borrowed += paid
                self._budget._pay(self._owner, paid)


SHARED_BUDGET = MatchBudget()
