"""single: one trial."""

from collections import Counter

from determined._json import JsonObject
from determined.search.method import Operation, SearchContext, SearchMethod
from determined.search.parameters import OptionalLength
from determined.search.random_search import RandomSearch
from determined.search.searcher_config import Lengths, SearcherConfig


class Single(OptionalLength, SearcherConfig):
    """Runs one trial.

    Hyperparameters that vary are drawn once; an invalid draw is not replaced. Continued, the trial is trained on, also
    with a changed config.
    """

    name = "single"
    order = 1
    form_label = "One trial"
    is_multi_trial = False
    compares = False
    trains_to_end = True
    counts_trials = True
    replays_history = False

    def build(self, space: JsonObject, *, classic: bool) -> SearchMethod:
        return SingleSearch(length=self.classic_length() if classic else None)

    def plan(self, space: JsonObject, *, classic: bool) -> Counter[Lengths]:
        return Counter({self.full_length(classic=classic): 1})

    @classmethod
    def warnings(cls, leaves: JsonObject) -> list[str]:
        sampled = sorted(key for key, hparam in leaves.items() if hparam["type"] != "const")
        return [f"`hyperparameters.{key}` is sampled once: the searcher is `{cls.name}`" for key in sampled]


class SingleSearch(RandomSearch):
    replaces_invalid = False

    def __init__(self, *, length: int | None) -> None:
        super().__init__(max_trials=1, max_concurrent=1, length=length)

    def extend(self, ctx: SearchContext, trials: int) -> list[Operation]:
        return SearchMethod.extend(self, ctx, trials)
