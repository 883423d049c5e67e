"""Base of the searchers of ASHA: parameters, rules, and the choice between stopping and promoting trials."""

from collections import Counter

from determined._json import JsonObject
from determined.schema.node import Integer
from determined.schema.quantities import Length
from determined.schema.section import field
from determined.search.asha_base import AshaSearch, Halving
from determined.search.asha_promotion import PromotionAsha
from determined.search.asha_stopping import ClassicStoppingAsha, LateAsha
from determined.search.objectives import Objectives
from determined.search.parameters import Concurrent, Divisor, StopOnce, Timed, needs_an_end
from determined.search.rungs import rung_lengths
from determined.search.sampler_parameters import OptionalSampler, one_metric
from determined.search.searcher_config import Lengths, SearcherConfig


class AshaSearcher(
    OptionalSampler, StopOnce, Timed, Concurrent, Divisor, SearcherConfig,
    rules=(one_metric,), complete_rules=(needs_an_end,),
):  # fmt: skip
    """Brackets of ASHA; a subclass says which."""

    size = "`max_trials`"
    needs_length = True
    counts_trials = True
    extendable = True

    max_trials: int = field(Integer(low=1), "How many trials.")

    def brackets(self, *, classic: bool) -> list[Halving]:
        """Plan the ASHAs that run side by side, deepest first.

        Raises:
            InvalidConfig: a parameter that this generation needs is missing, or they are deeper than numbers go.
        """
        raise NotImplementedError

    def most_rungs(self) -> int:
        """Count the rungs of the deepest bracket, before any are merged."""
        raise NotImplementedError

    def plan(self, space: JsonObject, *, classic: bool) -> Counter[Lengths] | None:
        return None if classic else _cut(self.brackets(classic=classic))

    def levels(self) -> list[int]:
        return rung_lengths(self._top_length(), self.divisor, self.most_rungs())

    def build_bracket(self, plan: Halving, *, classic: bool) -> AshaSearch:
        """Build one ASHA: trials are stopped, unless the classic generation may let them wait for a promotion."""
        if not classic:
            assert self.time_metric is not None  # or there would be no length to plan with
            return LateAsha(plan, metric=", ".join(Objectives.of(self.raw).names), time_metric=self.time_metric)
        return ClassicStoppingAsha(plan) if self.stop_once else PromotionAsha(plan)

    def halving(self, rungs: int, *, classic: bool) -> Halving:
        """Describe the whole search as one ASHA of so many rungs."""
        if not classic:
            self.require("time_metric", "max_time")
        length = self.classic_length() if classic else self.max_time or 0
        return Halving(self.max_trials, length, rungs, self.divisor, self.max_concurrent_trials)

    def _top_length(self) -> int:
        if self.time_metric is not None and self.max_time is not None:
            return self.max_time
        length: Length | None = getattr(self, "max_length", None)
        return 1 if length is None else length.value


def _cut(brackets: list[Halving]) -> Counter[Lengths]:
    """Count where trials end: each rung keeps its share of those that reach it; the others end there."""
    counts: Counter[Lengths] = Counter()
    for bracket in brackets:
        left = bracket.max_trials
        *cuts, top = bracket.lengths()
        for length in cuts:
            kept = max(int(left / bracket.divisor), 1)
            counts[(length,)] += left - kept
            left = kept
        counts[(top,)] += left
    return +counts  # without the rungs at which nobody ends
