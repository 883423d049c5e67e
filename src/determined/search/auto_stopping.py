"""The stopping rule of `auto`: a trial ends where it has hardly a chance left to be among the best.

The chance follows from its rank and from how well ranks at this rung have predicted ranks at the end, in this search
(rank_correlation.py). Where they predict nothing, nobody is stopped; where they predict well, most are.
"""

from abc import abstractmethod
from dataclasses import dataclass

from determined._json import JsonObject
from determined.errors import FailedPrecondition
from determined.search.asha_stopping import check_operation
from determined.search.auto_plan import BEST, HOPELESS, AutoPlan, expected_correlation, share_searched
from determined.search.method import (
    INVALID_HPARAMS,
    WORST,
    Close,
    ExitReason,
    Operation,
    SearchContext,
    SearchMethod,
    Stop,
    Tally,
    ValidateAfter,
)
from determined.search.rank_correlation import NEIGHBORS, certainty, chance_of_best, correlation, normal_score
from determined.search.rungs import Rung

_PAIRS = 100  # of trials from which a correlation is taken
_FIRST_INSURED, _NEXT_INSURED = 3, 3.5


@dataclass(slots=True)
class _Open:
    """A trial that trains: the rung ahead of it, its best result, how far it is."""

    rung: int = 0
    best: float = WORST
    length: float = 0
    insured: bool = False
    reported: bool = False


@dataclass(slots=True)
class _Trust:
    """Correlation of the ranks at a rung with those at the end; `seen`: results above it when it was worked out."""

    correlation: float
    seen: int = 0


class AutoSearch(SearchMethod):
    """Trials are opened as places are free, judged at each rung, and ended there or at the top."""

    def __init__(self, plan: AutoPlan) -> None:
        self._plan = plan
        self._max_trials = plan.max_trials
        self._rungs = [Rung(length) for length in plan.lengths]
        rungs = len(self._rungs)
        self._trust = [_Trust(expected_correlation(rungs, number)) for number in range(rungs - 1)]
        self._open: dict[str, _Open] = {}
        self._opened = 0
        self._invalid = 0
        self._closed = 0
        self._spent = 0.0
        self._next_insured = _FIRST_INSURED

    def initial(self, ctx: SearchContext) -> list[Operation]:
        return self._fill(ctx)

    def extend(self, ctx: SearchContext, trials: int) -> list[Operation]:
        if self._max_trials is None:
            raise FailedPrecondition(
                f"this search cannot be extended by {trials} trials: its budget alone ends it; fork the experiment with"
                " a larger searcher.budget instead"
            )
        self._max_trials += trials
        return self._fill(ctx)

    def validation_completed(
        self, ctx: SearchContext, request_id: str, metric: float, length: float
    ) -> list[Operation]:
        trial = self._open.get(request_id)
        if trial is None:
            return []
        trial.reported = True
        trial.best = min(trial.best, metric)
        if length > trial.length:
            self._spent += length - trial.length
            trial.length = length
        why = self._judge(request_id, trial, metric)
        if why is None and self._budget_is_used():
            why = "the budget of the search is used"
        if why is None:
            return self._go_on(request_id, trial.rung)
        del self._open[request_id]
        return [self._end(request_id, why), *self._fill(ctx)]

    def exited_early(self, ctx: SearchContext, request_id: str, reason: ExitReason) -> list[Operation]:
        trial = self._open.pop(request_id, None)
        if reason in INVALID_HPARAMS:
            self._invalid += 1
            for rung in self._rungs:
                rung.remove(request_id)
            return [*([] if trial is None else [self._end(request_id, None)]), *self._fill(ctx)]
        if trial is None:
            return []
        self._rungs[trial.rung].insert_behind(request_id, WORST)
        return self._fill(ctx)

    def exited(self, ctx: SearchContext, request_id: str) -> list[Operation]:
        self._closed += 1
        trial = self._open.pop(request_id, None)
        if trial is None:
            return []
        for rung in self._rungs[trial.rung :]:  # it has trained as long as it will: what it has reached is its result
            rung.insert_behind(request_id, trial.best)
        return self._fill(ctx)

    def progress(self, tally: Tally) -> float:
        parts = []
        if self._max_trials is not None:
            parts.append(max(self._closed - self._invalid, 0) / self._max_trials)
        if self._plan.budget:
            parts.append(self._spent / self._plan.budget)
        return min(max(parts, default=0.0), 1.0)

    def snapshot(self) -> JsonObject:
        return {
            "search_method_type": "auto",
            "max_trials": self._max_trials,
            "rungs": [rung.snapshot() for rung in self._rungs],
            "trust": [[trust.correlation, trust.seen] for trust in self._trust],
            "open": {
                request_id: [trial.rung, trial.best, trial.length, trial.insured, trial.reported]
                for request_id, trial in self._open.items()
            },
            "opened": self._opened,
            "invalid": self._invalid,
            "closed": self._closed,
            "spent": self._spent,
            "next_insured": self._next_insured,
        }

    def restore(self, state: JsonObject) -> None:
        self._max_trials = state["max_trials"]
        self._rungs = [Rung.restore(rung) for rung in state["rungs"]]
        self._trust = [_Trust(*trust) for trust in state["trust"]]
        self._open = {request_id: _Open(*trial) for request_id, trial in state["open"].items()}
        self._opened = state["opened"]
        self._invalid = state["invalid"]
        self._closed = state["closed"]
        self._spent = state["spent"]
        self._next_insured = state["next_insured"]

    def _fill(self, ctx: SearchContext) -> list[Operation]:
        """Open as many trials as there are places, and trials and budget left."""
        room = self._plan.max_concurrent - len(self._open)
        if self._max_trials is not None:
            room = min(room, self._max_trials - (self._opened - self._invalid))
        if self._budget_is_used():
            room = 0
        return [operation for _ in range(room) for operation in self._begin(ctx)]

    def _begin(self, ctx: SearchContext) -> list[Operation]:
        create = ctx.create()
        insured = self._opened == self._next_insured
        if insured:
            self._next_insured = int(self._next_insured * _NEXT_INSURED)
        self._opened += 1
        self._open[create.request_id] = _Open(insured=insured)
        return [create, *self._go_on(create.request_id, 0)]

    def _budget_is_used(self) -> bool:
        return self._plan.budget is not None and self._spent >= self._plan.budget

    def _judge(self, request_id: str, trial: _Open, metric: float) -> str | None:
        """Rank a trial at each rung that it has reached; return why it ends there, None where it goes on."""
        result = WORST if metric == WORST else trial.best
        while trial.length >= self._rungs[trial.rung].length:
            rung = self._rungs[trial.rung]
            rung.insert_behind(request_id, result)
            if trial.rung == len(self._rungs) - 1:
                return "trained to its full length"
            why = self._hopeless(trial, result)
            if why is not None:
                return why
            trial.rung += 1
        return None

    def _hopeless(self, trial: _Open, result: float) -> str | None:
        rung = self._rungs[trial.rung]
        if result == WORST and rung.best() < WORST:
            return "stopped: its metric is no number, and other trials have one"
        place = rung.middle_place(result)
        if trial.insured or place == 0:
            return None
        share = share_searched(len(self._rungs[0]), len(rung))
        trust = self._correlation(trial.rung) * certainty(len(rung))
        chance = chance_of_best(normal_score(place, len(rung)), trust, share)
        return None if chance >= HOPELESS else f"stopped: {chance:.1%} chance to reach the best {BEST:.0%}"

    def _correlation(self, number: int) -> float:
        """Return how ranks at a rung correlate with those at the end; it is worked out anew as results come in."""
        trust = self._trust[number]
        seen = sum(len(rung) for rung in self._rungs[number + 1 :])
        if seen > trust.seen * 1.1:
            self._trust[number] = trust = _Trust(self._worked_out(number), seen)
        return trust.correlation

    def _worked_out(self, number: int) -> float:
        chained = 1.0
        for low in range(number, len(self._rungs) - 1):
            chained *= correlation(self._pairs(low, low + 1), NEIGHBORS)
        return min(correlation(self._pairs(number, len(self._rungs) - 1), chained), 0.98)

    def _pairs(self, low: int, high: int) -> list[tuple[float, float]]:
        below, above = self._rungs[low], self._rungs[high]
        step = max(len(above) // _PAIRS, 1)
        return [
            (
                normal_score(below.middle_place(below.metric_of(above.trial_at(place))), len(below)),
                normal_score(above.middle_place(above.metric_of(above.trial_at(place))), len(above)),
            )
            for place in range(0, len(above), step)
        ]

    @abstractmethod
    def _go_on(self, request_id: str, rung: int) -> list[Operation]:
        """Let the trial train up to `rung`."""

    @abstractmethod
    def _end(self, request_id: str, why: str | None) -> Operation: ...


class LateAuto(AutoSearch):
    """Late: trials report as they like, and are told to stop."""

    def __init__(self, plan: AutoPlan, *, metric: str, time_metric: str) -> None:
        super().__init__(plan)
        self._metric = metric
        self._time_metric = time_metric

    def exited(self, ctx: SearchContext, request_id: str) -> list[Operation]:
        """Fail a search whose trial finished without a usable validation report.

        Raises:
            FailedPrecondition: the trial finished without one usable validation report.
        """
        trial = self._open.get(request_id)
        if trial is not None and not trial.reported:
            raise FailedPrecondition(
                f"trial {request_id} finished without ever reporting searcher.metric {self._metric!r} together with"
                f" searcher.time_metric {self._time_metric!r}; report both as numbers with every validation, or name"
                " the metrics that it does report"
            )
        return super().exited(ctx, request_id)

    def _go_on(self, request_id: str, rung: int) -> list[Operation]:
        return []

    def _end(self, request_id: str, why: str | None) -> Operation:
        return Stop(request_id, why)


class ClassicAuto(AutoSearch):
    """Classic: every completed operation is followed by the length of the next rung, or by the end."""

    def validation_completed(
        self, ctx: SearchContext, request_id: str, metric: float, length: float
    ) -> list[Operation]:
        trial = self._open.get(request_id)
        if trial is not None:
            check_operation(request_id, length, self._rungs[trial.rung].length)
        return super().validation_completed(ctx, request_id, metric, length)

    def _go_on(self, request_id: str, rung: int) -> list[Operation]:
        return [ValidateAfter(request_id, self._rungs[rung].length)]

    def _end(self, request_id: str, why: str | None) -> Operation:
        return Close(request_id, why)
