"""random: a fixed number of trials, a bounded number of them at a time."""

from collections import Counter

from determined._json import JsonObject
from determined.schema.node import Integer
from determined.schema.section import field
from determined.search.method import SearchMethod
from determined.search.parameters import Concurrent, OptionalLength
from determined.search.random_search import RandomSearch
from determined.search.sampler_parameters import OptionalSampler
from determined.search.searcher_config import Lengths, SearcherConfig


class Random(OptionalSampler, OptionalLength, Concurrent, SearcherConfig):
    """Draws points independently, or has a sampler choose them.

    Each exit opens the next trial. A failed trial uses up its place; one with invalid hyperparameters does not.
    """

    name = "random"
    order = 2
    size = "`max_trials`"
    form_label = "Random"
    compares = False
    trains_to_end = True
    counts_trials = True
    extendable = True

    max_trials: int = field(Integer(low=1), "How many trials.")

    def build(self, space: JsonObject, *, classic: bool) -> SearchMethod:
        length = self.classic_length() if classic else None
        return RandomSearch(max_trials=self.max_trials, max_concurrent=self.max_concurrent_trials, length=length)

    def plan(self, space: JsonObject, *, classic: bool) -> Counter[Lengths]:
        return Counter({self.full_length(classic=classic): self.max_trials})
