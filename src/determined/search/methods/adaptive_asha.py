"""adaptive_asha: brackets of ASHA with different numbers of rungs, side by side."""

from determined._json import JsonObject
from determined.search.asha_base import Halving
from determined.search.asha_searcher import AshaSearcher
from determined.search.brackets import plan_brackets, split_trials
from determined.search.method import SearchMethod
from determined.search.parameters import BracketMode, BracketRungs, OptionalLength, Rungs
from determined.search.searcher_config import invalid
from determined.search.tournament import Tournament


class AdaptiveAsha(OptionalLength, BracketRungs, Rungs, BracketMode, AshaSearcher):
    """Starts many trials short and trains only the promising ones long; upstream's usual choice.

    A deep bracket cuts early and tries many points; a shallow one gives fewer points longer to show what they are
    worth. Each bracket is an `async_halving` of its own; an extension is shared out among them as their trials are.
    """

    name = "adaptive_asha"
    order = 4
    form_label = "Adaptive (ASHA): stops bad trials early"

    def build(self, space: JsonObject, *, classic: bool) -> SearchMethod:
        brackets = self.brackets(classic=classic)
        rungs = [bracket.rungs for bracket in brackets]
        searches = [self.build_bracket(bracket, classic=classic) for bracket in brackets]
        return Tournament(searches, lambda trials: split_trials(trials, self.divisor, rungs))

    def brackets(self, *, classic: bool) -> list[Halving]:
        whole = self.halving(self.max_rungs, classic=classic)
        try:
            return plan_brackets(whole, self.mode, self.bracket_rungs)
        except OverflowError:
            deepest = max(self.bracket_rungs)
            raise invalid("bracket_rungs", f"{deepest} rungs are too many for divisor {whole.divisor:g}") from None

    def most_rungs(self) -> int:
        return max(self.bracket_rungs, default=self.max_rungs)
