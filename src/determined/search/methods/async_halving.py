"""async_halving: ASHA, rungs at which trials are compared as they arrive."""

from determined._json import JsonObject
from determined.schema.node import Integer
from determined.schema.section import field
from determined.search.asha_base import Halving
from determined.search.asha_searcher import AshaSearcher
from determined.search.method import SearchMethod
from determined.search.parameters import MAX_RUNGS, OptionalUnitLength


class AsyncHalving(OptionalUnitLength, AshaSearcher):
    """Runs one bracket of `adaptive_asha`, with `num_rungs` of your choice.

    With n results at a rung, n / `divisor` of them, at least one, may go on. The late generation stops the others
    (`asha_stopping.py`), and so does the classic one with `stop_once`; else they wait there and may be promoted later
    (`asha_promotion.py`). A failed trial counts as the worst; one with invalid hyperparameters is replaced.
    """

    name = "async_halving"
    order = 5

    num_rungs: int = field(Integer(1, MAX_RUNGS), "Rounds of elimination.")

    def build(self, space: JsonObject, *, classic: bool) -> SearchMethod:
        return self.build_bracket(self.brackets(classic=classic)[0], classic=classic)

    def brackets(self, *, classic: bool) -> list[Halving]:
        return [self.halving(self.num_rungs, classic=classic)]

    def most_rungs(self) -> int:
        return self.num_rungs
