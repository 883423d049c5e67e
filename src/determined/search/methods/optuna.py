"""optuna: a sampler proposes each point."""

from collections import Counter

from determined._json import JsonObject
from determined.schema.node import Integer
from determined.schema.section import field
from determined.search.method import SearchMethod
from determined.search.parameters import Concurrent, OptionalLength, Timed
from determined.search.random_search import RandomSearch
from determined.search.sampler_parameters import ChosenSampler
from determined.search.searcher_config import Lengths, SearcherConfig


class Optuna(ChosenSampler, OptionalLength, Timed, Concurrent, SearcherConfig):
    """Has a model of the results so far propose each point.

    Trials come and go as in `random`; `sampler` chooses the model.
    """

    name = "optuna"
    order = 6
    size = "`max_trials`"
    trains_to_end = True
    counts_trials = True
    extendable = True

    max_trials: int = field(Integer(low=1), "How many trials.")

    def build(self, space: JsonObject, *, classic: bool) -> SearchMethod:
        length = self.classic_length() if classic else None
        return RandomSearch(max_trials=self.max_trials, max_concurrent=self.max_concurrent_trials, length=length)

    def plan(self, space: JsonObject, *, classic: bool) -> Counter[Lengths]:
        return Counter({self.full_length(classic=classic): self.max_trials})
