"""Searchers that run as many trials as the config says, each to its end: random points, or those of a sampler."""

from collections import Counter

from determined._json import JsonObject
from determined.schema.node import Integer
from determined.schema.section import field
from determined.search.method import SearchMethod
from determined.search.parameters import Concurrent
from determined.search.random_search import RandomSearch
from determined.search.searcher_config import Lengths, SearcherConfig


class CountedTrials(Concurrent, SearcherConfig):
    """Runs `max_trials` trials, `max_concurrent_trials` of them at a time."""

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
