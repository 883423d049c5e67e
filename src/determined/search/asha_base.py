"""Base of both forms of ASHA: rungs, the number of trials that may still be drawn, progress, extension.

asha_stopping.py stops trials at rungs; asha_promotion.py lets them wait there and promotes the best.
"""

import sys
from abc import abstractmethod
from dataclasses import dataclass

from determined._json import JsonObject
from determined.search.method import Operation, SearchContext, SearchMethod, Tally
from determined.search.rungs import Rung, rung_lengths

_OVERHEAD = 1.2  # a full first rung is not the end: what the rungs above will cost is a guess


@dataclass(frozen=True, slots=True)
class Halving:
    """Settings of ASHA: trials, their longest training, how sharply they are cut. max_concurrent 0: as rungs ask."""

    max_trials: int
    length: int
    rungs: int
    divisor: float
    max_concurrent: int

    def lengths(self) -> list[int]:
        """Return the lengths of the rungs, ascending; equal ones are merged (see `rung_lengths`)."""
        return rung_lengths(self.length, self.divisor, self.rungs)

    def concurrency(self) -> int:
        """Return how many trials may run at once: unless bounded, as many as give the top rung of `rungs` one trial."""
        if self.max_concurrent > 0:
            return self.max_concurrent
        try:
            return max(int(self.divisor ** (self.rungs - 1)), 1)
        except OverflowError:
            return sys.maxsize


class AshaSearch(SearchMethod):
    """Base of ASHA by stopping and by promotion. A trial is counted from its Create on, whether or not it exists."""

    def __init__(self, plan: Halving) -> None:
        self._divisor = plan.divisor
        self._concurrency = plan.concurrency()
        self._max_trials = plan.max_trials
        self._rungs = [Rung(length) for length in plan.lengths()]
        self._trial_rungs: dict[str, int] = {}
        self._early_exits: dict[str, None] = {}  # in order of exit, so that snapshots need no sorting
        self._completed = 0
        self._invalid = 0

    def initial(self, ctx: SearchContext) -> list[Operation]:
        return self._fill(ctx, self._concurrency)

    def extend(self, ctx: SearchContext, trials: int) -> list[Operation]:
        self._max_trials += trials
        return self._fill(ctx, self._concurrency - self._running())

    def progress(self, tally: Tally) -> float:
        ranked = len(self._rungs[0])
        done = ranked / (_OVERHEAD * self._max_trials)
        if ranked < self._max_trials:
            return done
        return min(max(done, (self._completed - self._invalid) / self._max_trials), 1.0)

    def snapshot(self) -> JsonObject:
        return {
            "max_trials": self._max_trials,
            "rungs": [rung.snapshot() for rung in self._rungs],
            "trial_rungs": dict(self._trial_rungs),
            "early_exit_trials": list(self._early_exits),
            "trials_completed": self._completed,
            "invalid_trials": self._invalid,
        }

    def restore(self, state: JsonObject) -> None:
        self._max_trials = state["max_trials"]
        self._rungs = [Rung.restore(rung) for rung in state["rungs"]]
        self._trial_rungs = dict(state["trial_rungs"])
        self._early_exits = dict.fromkeys(state["early_exit_trials"])
        self._completed = state["trials_completed"]
        self._invalid = state["invalid_trials"]

    @abstractmethod
    def _running(self) -> int:
        """Return how many trials train now, or wait for a slot to."""

    @abstractmethod
    def _open(self, ctx: SearchContext) -> list[Operation]:
        """Open one more trial, whatever the budget."""

    def _fill(self, ctx: SearchContext, room: int) -> list[Operation]:
        """Open as many new trials as there is room and budget for."""
        left = self._max_trials - (len(self._trial_rungs) - self._invalid)
        return [op for _ in range(min(left, room)) for op in self._open(ctx)]

    def _forget_results(self, request_id: str) -> None:
        """Forget an invalid trial's results, which must not judge others; its place in the budget goes to another."""
        self._invalid += 1
        for rung in self._rungs[: self._trial_rungs[request_id] + 1]:
            rung.remove(request_id)
