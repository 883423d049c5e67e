"""Progress of an import: rows per second and the time that is left, from what was stored so far."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from determined._json import JsonObject

Emit = Callable[[JsonObject], None]
_EVERY_SECONDS = 0.5


@dataclass(slots=True)
class Progress:
    """Counter of the rows of each step. `totals`: rows of the source by step, `done`: those of earlier runs."""

    emit: Emit
    totals: dict[str, int]
    done: dict[str, int]
    clock: Callable[[], float] = time.monotonic
    _step: str = ""
    _started: float = 0.0
    _rows: int = 0  # of this step, in this run
    _told: float = 0.0

    def stored(self, step: str, rows: int) -> None:
        """Count the rows of a unit; tell of them twice a second, and when a step ends."""
        now = self.clock()
        if step != self._step:
            self._step, self._started, self._rows = step, self._told or now, 0
        self._rows += rows
        self.done[step] = self.done.get(step, 0) + rows
        if now - self._told >= _EVERY_SECONDS or self.done[step] >= self.totals.get(step, 0):
            self._told = now
            self.emit(self._event(step, now))

    def _event(self, step: str, now: float) -> JsonObject:
        total = max(self.totals.get(step, 0), self.done[step])
        elapsed = now - self._started
        rate = self._rows / elapsed if elapsed > 0 else None  # nothing to divide by after the first unit of a run
        return {
            "event": "progress",
            "step": step,
            "rows": self.done[step],
            "total": total,
            "rows_per_second": None if rate is None else round(rate, 1),
            "seconds_left": round((total - self.done[step]) / rate, 1) if rate else None,
        }
