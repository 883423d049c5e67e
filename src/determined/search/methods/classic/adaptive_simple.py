"""adaptive_simple: `adaptive` for a number of trials instead of a budget."""

from determined._json import JsonObject
from determined.schema.node import Integer
from determined.schema.section import field
from determined.search.brackets import Mode, mode_rungs
from determined.search.method import SearchMethod
from determined.search.methods.classic.sync_halving import SyncHalvingSearch
from determined.search.parameters import BracketMode, Divisor, RequiredLength, Rungs, refusing_deep_rungs
from determined.search.searcher_config import ClassicSearcher
from determined.search.stages import Stage, trial_stages
from determined.search.tournament import Tournament


class AdaptiveSimple(RequiredLength, Rungs, Divisor, BracketMode, ClassicSearcher):
    """Runs several synchronous halvings side by side, planned from a number of trials; an older relative of ASHA.

    Trials are shared out evenly and the rest goes to the deepest bracket; every bracket has one, so that fewer trials
    than brackets become more.
    """

    name = "adaptive_simple"
    order = 10
    size = "`max_trials`"

    max_trials: int = field(Integer(1, 2000), "How many trials.")

    def build(self, space: JsonObject, *, classic: bool) -> SearchMethod:
        return Tournament([SyncHalvingSearch(stages) for stages in self.brackets()])

    def brackets(self) -> list[list[Stage]]:
        """Plan the stages of each bracket, deepest first."""
        with refusing_deep_rungs(self.divisor):
            return trial_brackets(self.max_trials, self.max_length.value, self.divisor, self.max_rungs, self.mode)


def trial_brackets(max_trials: int, length: int, divisor: float, max_rungs: int, mode: Mode) -> list[list[Stage]]:
    """Plan the stages of each bracket, deepest first."""
    rungs = mode_rungs(mode, max_rungs)
    each, rest = divmod(max_trials, len(rungs))
    return [trial_stages(count, length, divisor, max(each + (number < rest), 1)) for number, count in enumerate(rungs)]
