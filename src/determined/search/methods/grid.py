"""grid: every point of the product of the hyperparameters' values."""

from collections import Counter
from collections.abc import Iterator

from determined._json import JsonObject
from determined.search.grid_points import GridPoints
from determined.search.hyperparameters import missing_counts
from determined.search.method import Operation, SearchContext, SearchMethod, Tally, mean_progress, open_trial
from determined.search.parameters import Concurrent, OptionalLength
from determined.search.searcher_config import Lengths, SearcherConfig


class Grid(OptionalLength, Concurrent, SearcherConfig):
    """Runs a trial for every point of a grid.

    The points are the product of all values, in the order of sorted names, run from the last to the first. None is
    replaced, however its trial ended.
    """

    name = "grid"
    order = 3
    size = "`count` on each hyperparameter"
    form_label = "Grid"
    compares = False
    trains_to_end = True
    counts_trials = True
    uses_counts = True

    def build(self, space: JsonObject, *, classic: bool) -> SearchMethod:
        length = self.classic_length() if classic else None
        return GridSearch(space, max_concurrent=self.max_concurrent_trials, length=length)

    def plan(self, space: JsonObject, *, classic: bool) -> Counter[Lengths]:
        return Counter({self.full_length(classic=classic): len(GridPoints(space))})

    @classmethod
    def space_problems(cls, space: JsonObject) -> Iterator[tuple[str, str]]:
        for name, hparam in space.items():
            yield from missing_counts(hparam, f"hyperparameters.{name}")


class GridSearch(SearchMethod):
    """`length` is the classic max_length in units, None in the late generation; max_concurrent 0 is no bound."""

    def __init__(self, space: JsonObject, *, max_concurrent: int, length: int | None) -> None:
        self._grid = GridPoints(space)
        self._max_concurrent = max_concurrent
        self._length = length
        self._remaining = len(self._grid)
        self._pending = 0

    def initial(self, ctx: SearchContext) -> list[Operation]:
        count = min(self._remaining, self._max_concurrent or self._remaining)
        return [op for _ in range(count) for op in self._open(ctx)]

    def exited(self, ctx: SearchContext, request_id: str) -> list[Operation]:
        self._pending -= 1
        return self._open(ctx) if self._remaining else []

    def progress(self, tally: Tally) -> float:
        if self._length is None:
            return mean_progress(tally)
        if not self._length:
            return 0.0
        units = tally.open_units + (len(self._grid) - self._remaining - self._pending) * self._length
        return min(units / (self._length * len(self._grid)), 1.0)

    def snapshot(self) -> JsonObject:
        return {"pending_trials": self._pending, "remaining_trials": self._remaining}

    def restore(self, state: JsonObject) -> None:
        self._pending = state["pending_trials"]
        self._remaining = state["remaining_trials"]

    def _open(self, ctx: SearchContext) -> list[Operation]:
        self._remaining -= 1
        self._pending += 1
        return open_trial(ctx, self._length, self._grid[self._remaining])
