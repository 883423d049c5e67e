"""adaptive: brackets of synchronous halving with different numbers of rungs, side by side."""

from collections.abc import Sequence

from determined._json import JsonObject
from determined.search.brackets import Mode, mode_rungs
from determined.search.method import SearchMethod
from determined.search.methods.classic.sync_halving import SyncHalvingSearch
from determined.search.parameters import (
    BracketMode,
    BracketRungs,
    Budget,
    Divisor,
    RequiredLength,
    Rungs,
    Stragglers,
    budget_units,
    refusing_deep_rungs,
)
from determined.search.searcher_config import ClassicSearcher
from determined.search.stages import Stage, budget_stages
from determined.search.tournament import Tournament


class Adaptive(RequiredLength, Stragglers, Rungs, Divisor, BracketMode, BracketRungs, Budget, ClassicSearcher):
    """Runs several synchronous halvings side by side; an older relative of ASHA.

    The budget of training units is shared out evenly; `max_rungs` is taken as given, whatever the budget can fill. It
    cannot be extended: its budget is spent by plan.
    """

    name = "adaptive"
    order = 10
    size = "`budget`"

    def build(self, space: JsonObject, *, classic: bool) -> SearchMethod:
        return Tournament([SyncHalvingSearch(stages) for stages in self.brackets()])

    def first_trials(self) -> tuple[str, int]:
        return "budget", sum(stages[0].start for stages in self.brackets())

    def brackets(self) -> list[list[Stage]]:
        """Plan the stages of each bracket, deepest first."""
        with refusing_deep_rungs(self.divisor):
            budget = budget_units(self.budget, self.max_length)
            return budget_brackets(
                budget, self.max_length.value, self.divisor, self.max_rungs, self.mode, self.bracket_rungs
            )


def budget_brackets(
    budget: int, length: int, divisor: float, max_rungs: int, mode: Mode, bracket_rungs: Sequence[int] = ()
) -> list[list[Stage]]:
    """Plan the stages of each bracket, deepest first; `bracket_rungs` are the numbers of rungs instead of a mode's."""
    rungs = sorted(bracket_rungs, reverse=True) or mode_rungs(mode, max_rungs)
    return [budget_stages(count, length, divisor, budget // len(rungs)) for count in rungs]
