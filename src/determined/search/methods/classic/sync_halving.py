"""sync_halving: a fixed number of trials per rung, the best of each go on to the next."""

from collections.abc import Sequence

from determined._json import JsonObject
from determined.schema.node import Integer
from determined.schema.section import field
from determined.search.method import (
    WORST,
    Close,
    ExitReason,
    Operation,
    SearchContext,
    SearchMethod,
    Tally,
    ValidateAfter,
)
from determined.search.parameters import (
    MAX_RUNGS,
    Budget,
    Divisor,
    RequiredLength,
    Stragglers,
    budget_units,
    refusing_deep_rungs,
)
from determined.search.rungs import Rung
from determined.search.searcher_config import ClassicSearcher
from determined.search.stages import Stage, budget_stages, growth


class SyncHalving(RequiredLength, Stragglers, Divisor, Budget, ClassicSearcher):
    """Halves in rounds that wait for all of their trials; an older relative of ASHA.

    A trial is promoted as soon as no result still to come can push it out of its rung's places. So a rung fills only
    after all trials below it have reported: none is left to train below a full rung, and `train_stragglers` changes
    nothing.
    """

    name = "sync_halving"
    order = 10
    size = "`budget`"

    num_rungs: int = field(Integer(1, MAX_RUNGS), "Rounds of elimination.")

    def build(self, space: JsonObject, *, classic: bool) -> SearchMethod:
        return SyncHalvingSearch(self.stages())

    def first_trials(self) -> tuple[str, int]:
        return "budget", self.stages()[0].start

    def stages(self) -> list[Stage]:
        """Plan the stages from the budget."""
        with refusing_deep_rungs(self.divisor):
            budget = budget_units(self.budget, self.max_length)
            return budget_stages(self.num_rungs, self.max_length.value, self.divisor, budget)


class SyncHalvingSearch(SearchMethod):
    """Halving in step: every trial of the first rung starts at once. One that exits, for whatever reason, ranks worst.

    It is not replaced; where so many exit that one of them is promoted, it takes the place and ranks worst there too.
    """

    def __init__(self, stages: Sequence[Stage]) -> None:
        self._starts = [stage.start for stage in stages]
        self._rungs = [Rung(stage.units) for stage in stages]
        self._rung_of: dict[str, int] = {}  # every trial that has not been closed
        self._training: set[str] = set()  # those of them that owe the result of their rung
        self._gone: set[str] = set()  # those of them that have exited

    def initial(self, ctx: SearchContext) -> list[Operation]:
        return [op for _ in range(self._starts[0]) for op in self._open(ctx)]

    def validation_completed(
        self, ctx: SearchContext, request_id: str, metric: float, length: float
    ) -> list[Operation]:
        return self._completed(request_id, metric) if request_id in self._training else []

    def exited_early(self, ctx: SearchContext, request_id: str, reason: ExitReason) -> list[Operation]:
        return self._left(request_id)

    def exited(self, ctx: SearchContext, request_id: str) -> list[Operation]:
        return self._left(request_id)

    def progress(self, tally: Tally) -> float:
        """Return the progress in whole rungs: in a tournament the tally is not of these trials alone."""
        steps = growth([rung.length for rung in self._rungs])
        done = sum(step * len(rung) for step, rung in zip(steps, self._rungs, strict=True))
        return done / sum(step * start for step, start in zip(steps, self._starts, strict=True))

    def snapshot(self) -> JsonObject:
        return {
            "rungs": [rung.snapshot() for rung in self._rungs],
            "start_trials": list(self._starts),
            "trial_rungs": dict(self._rung_of),
            "training": sorted(self._training),
            "early_exit_trials": sorted(self._gone),
        }

    def restore(self, state: JsonObject) -> None:
        self._rungs = [Rung.restore(rung) for rung in state["rungs"]]
        self._starts = list(state["start_trials"])
        self._rung_of = dict(state["trial_rungs"])
        self._training = set(state["training"])
        self._gone = set(state["early_exit_trials"])

    def _open(self, ctx: SearchContext) -> list[Operation]:
        create = ctx.create()
        self._rung_of[create.request_id] = 0
        return [create, *self._train(create.request_id)]

    def _train(self, request_id: str) -> list[Operation]:
        self._training.add(request_id)
        return [ValidateAfter(request_id, self._rungs[self._rung_of[request_id]].length)]

    def _left(self, request_id: str) -> list[Operation]:
        if request_id in self._gone or request_id not in self._rung_of:
            return []
        self._gone.add(request_id)
        if request_id in self._training:
            return self._completed(request_id, WORST)
        # It waited here without a place. Last of all it takes one from nobody who could use it.
        rung = self._rungs[self._rung_of[request_id]]
        rung.remove(request_id)
        rung.insert_behind(request_id, WORST)
        return []

    def _completed(self, request_id: str, metric: float) -> list[Operation]:
        """Rank a result. A trial that it promotes but that is gone has its next result already, and so on upward."""
        operations: list[Operation] = []
        while True:
            at = self._rung_of[request_id]
            self._training.discard(request_id)
            promoted = self._promoted(at, request_id, self._rungs[at].insert_behind(request_id, metric))
            if promoted is not None:
                self._rung_of[promoted] = at + 1
                operations += [] if promoted in self._gone else self._train(promoted)
            operations += self._close_losers(at, request_id)
            if promoted is None or promoted not in self._gone:
                return operations
            request_id, metric = promoted, WORST

    def _promoted(self, at: int, newcomer: str, place: int) -> str | None:
        """Find who has become certain to go on: one trial at most, since each result makes one more place certain."""
        sure = len(self._rungs[at]) + self._places(at) - self._starts[at]
        if sure <= 0:
            return None
        return newcomer if place < sure else self._rungs[at].trial_at(sure - 1)

    def _places(self, at: int) -> int:
        """Count the trials that go on from this rung."""
        return self._starts[at + 1] if at + 1 < len(self._starts) else 0

    def _close_losers(self, at: int, newcomer: str) -> list[Operation]:
        """Close losers: at the top whoever arrives has finished; below, those without a place when the rung is full."""
        if at == len(self._rungs) - 1:
            return self._close(newcomer)
        if len(self._rungs[at]) < self._starts[at]:
            return []
        return [op for loser in self._rungs[at].trials()[self._places(at) :] for op in self._close(loser)]

    def _close(self, request_id: str) -> list[Operation]:
        del self._rung_of[request_id]
        if request_id not in self._gone:
            return [Close(request_id)]
        self._gone.remove(request_id)
        return []
