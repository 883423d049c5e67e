"""auto: a model chooses the points, and trials that have hardly a chance left are stopped."""

from collections import Counter
from collections.abc import Iterator

from determined._json import JsonObject
from determined.schema.node import Integer
from determined.schema.quantities import Length
from determined.schema.quantity_nodes import LengthNode
from determined.schema.section import field
from determined.search.auto_plan import AutoPlan, estimated_ends
from determined.search.auto_sampler import AutoSampler
from determined.search.auto_stopping import ClassicAuto, LateAuto
from determined.search.method import SearchMethod
from determined.search.parameters import Concurrent, OptionalLength, Timed, budget_units, needs_an_end
from determined.search.rungs import rung_lengths
from determined.search.sampler import Sampler
from determined.search.sampler_parameters import InitialPoints
from determined.search.searcher_config import Lengths, SearcherConfig

_DIVISOR = 2.0
_RUNGS = 7
_UNBOUNDED = 10_000  # trials at once that `max_concurrent_trials: 0` stands for without `max_trials`


def _has_an_end(value: JsonObject) -> Iterator[tuple[str, str]]:
    if value.get("max_trials") is None and value.get("budget") is None:
        yield "", "auto requires max_trials (how many), or budget (training of all of them together), or both"


class Auto(
    InitialPoints, OptionalLength, Timed, Concurrent, SearcherConfig, complete_rules=(needs_an_end, _has_an_end)
):
    """Needs no choosing: a model picks the points, and trials with hardly a chance left are stopped.

    Trials are compared at seven rungs, each twice as long as the one below (`auto_stopping.py`). A trial ends where its
    chance to be among the best tenth has become small; how much a rank tells is measured in this search. A Gaussian
    process proposes points and trusts the results of short trainings as far as they have proven right
    (`auto_sampler.py`). A few trials are never stopped. A failed trial counts as the worst; one with invalid
    hyperparameters is replaced. When `budget` is used, every trial ends at its next report.
    """

    name = "auto"
    order = 0
    size = "`max_trials` or `budget`"
    form_label = "Automatic: learns where to look, stops bad trials early"
    needs_length = True
    extendable = True
    has_model = True

    max_trials: int | None = field(Integer(low=1), "How many trials at most.", default=None)
    budget: Length | None = field(
        LengthNode(unitless=True),
        "Training of all trials together, in the unit of `max_length` or of `time_metric`.",
        default=None,
    )

    def build(self, space: JsonObject, *, classic: bool) -> SearchMethod:
        plan = self.auto_plan(classic=classic)
        if classic:
            return ClassicAuto(plan)
        return LateAuto(plan, metric=self.metric or "", time_metric=self.time_metric or "")

    def build_sampler(self, space: JsonObject) -> Sampler | None:
        return AutoSampler(space, self.levels())

    def plan(self, space: JsonObject, *, classic: bool) -> Counter[Lengths] | None:
        return estimated_ends(self.auto_plan(classic=classic))

    def levels(self) -> list[int]:
        late = self.time_metric is not None and self.max_time is not None
        return rung_lengths((self.max_time or 1) if late else self.classic_length(), _DIVISOR, _RUNGS)

    def first_trials(self) -> tuple[str, int]:
        return ("budget", 1) if self.max_trials is None else ("max_trials", self.max_trials)

    def auto_plan(self, *, classic: bool) -> AutoPlan:
        """Read the parameters for a generation.

        Raises:
            InvalidConfig: one that it needs is missing, or the budget is in another unit than the length.
        """
        if not classic:
            self.require("time_metric", "max_time")
        if self.max_trials is None:
            self.require("budget")
        budget = None if self.budget is None else self.budget.value
        max_length: Length | None = self.max_length
        if classic and self.budget is not None and max_length is not None:
            budget = budget_units(self.budget, max_length)
        at_once = self.max_concurrent_trials or self.max_trials or _UNBOUNDED
        return AutoPlan(self.levels(), self.max_trials, budget, at_once)
