"""Random search: a fixed number of trials, a bounded number of them at a time."""

from determined._json import JsonObject
from determined.search.method import (
    INVALID_HPARAMS,
    ExitReason,
    Operation,
    SearchContext,
    SearchMethod,
    Tally,
    mean_progress,
    open_trial,
)


class RandomSearch(SearchMethod):
    """`length` is the classic max_length in units, None in the late generation; max_concurrent 0 is no bound."""

    replaces_invalid = True

    def __init__(self, *, max_trials: int, max_concurrent: int, length: int | None) -> None:
        self._max_trials = max_trials
        self._max_concurrent = max_concurrent
        self._length = length
        self._created = 0
        self._pending = 0

    def initial(self, ctx: SearchContext) -> list[Operation]:
        bound = self._max_concurrent or self._max_trials
        return [op for _ in range(min(self._max_trials, bound)) for op in self._open(ctx)]

    def exited_early(self, ctx: SearchContext, request_id: str, reason: ExitReason) -> list[Operation]:
        if self.replaces_invalid and reason in INVALID_HPARAMS:
            # Gives the budget back; the exit that follows creates the replacement.
            self._created -= 1
        return []

    def exited(self, ctx: SearchContext, request_id: str) -> list[Operation]:
        self._pending -= 1
        return self._open(ctx) if self._created < self._max_trials else []

    def progress(self, tally: Tally) -> float:
        if self._length is None:
            return mean_progress(tally)
        if not self._length:
            return 0.0
        units = tally.open_units + tally.closed_trials * self._length
        return min(units / (self._length * self._max_trials), 1.0)

    def extend(self, ctx: SearchContext, trials: int) -> list[Operation]:
        self._max_trials += trials
        room = max((self._max_concurrent or self._max_trials) - self._pending, 0)
        return [op for _ in range(min(trials, room)) for op in self._open(ctx)]

    def snapshot(self) -> JsonObject:
        return {
            "created_trials": self._created,
            "pending_trials": self._pending,
            "max_trials": self._max_trials,
        }

    def restore(self, state: JsonObject) -> None:
        self._created = state["created_trials"]
        self._pending = state["pending_trials"]
        self._max_trials = state.get("max_trials", self._max_trials)

    def _open(self, ctx: SearchContext) -> list[Operation]:
        self._created += 1
        self._pending += 1
        return open_trial(ctx, self._length)
