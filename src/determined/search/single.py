"""One trial. Hyperparameters that vary are drawn once; an invalid draw is not replaced."""

from determined.search.method import Operation, SearchContext, SearchMethod
from determined.search.random import RandomSearch


class SingleSearch(RandomSearch):
    replaces_invalid = False

    def __init__(self, *, length: int | None) -> None:
        super().__init__(max_trials=1, max_concurrent=1, length=length)

    def extend(self, ctx: SearchContext, trials: int) -> list[Operation]:
        return SearchMethod.extend(self, ctx, trials)
