"""Tournament: several searches side by side in one experiment, each with trials of its own."""

from collections.abc import Callable, Sequence

from determined._json import JsonObject
from determined.search.method import Create, ExitReason, Operation, SearchContext, SearchMethod, Tally


class Tournament(SearchMethod):
    """Events go to the search whose trial they are about; operations pass through unchanged.

    `split` shares an extension out, one number per search; without it a tournament cannot be extended. The searches'
    own `progress` sees the tally of all trials together, so it must not depend on it.
    """

    def __init__(self, searches: Sequence[SearchMethod], split: Callable[[int], list[int]] | None = None) -> None:
        self._searches = list(searches)
        self._split = split
        self._table: dict[str, int] = {}  # request id -> the number of its search

    def initial(self, ctx: SearchContext) -> list[Operation]:
        return [op for number, search in enumerate(self._searches) for op in self._enter(number, search.initial(ctx))]

    def trial_created(self, ctx: SearchContext, request_id: str) -> list[Operation]:
        number = self._table[request_id]
        return self._enter(number, self._searches[number].trial_created(ctx, request_id))

    def validation_completed(
        self, ctx: SearchContext, request_id: str, metric: float, length: float
    ) -> list[Operation]:
        number = self._table[request_id]
        return self._enter(number, self._searches[number].validation_completed(ctx, request_id, metric, length))

    def exited_early(self, ctx: SearchContext, request_id: str, reason: ExitReason) -> list[Operation]:
        number = self._table[request_id]
        return self._enter(number, self._searches[number].exited_early(ctx, request_id, reason))

    def exited(self, ctx: SearchContext, request_id: str) -> list[Operation]:
        number = self._table[request_id]
        return self._enter(number, self._searches[number].exited(ctx, request_id))

    def extend(self, ctx: SearchContext, trials: int) -> list[Operation]:
        if self._split is None:
            return super().extend(ctx, trials)
        operations: list[Operation] = []
        for number, share in enumerate(self._split(trials)):
            if share:
                operations += self._enter(number, self._searches[number].extend(ctx, share))
        return operations

    def progress(self, tally: Tally) -> float:
        return sum(search.progress(tally) for search in self._searches) / len(self._searches)

    def snapshot(self) -> JsonObject:
        return {
            "search_method_type": "tournament",
            "trial_table": dict(self._table),
            "sub_search_states": [search.snapshot() for search in self._searches],
        }

    def restore(self, state: JsonObject) -> None:
        self._table = dict(state["trial_table"])
        for search, saved in zip(self._searches, state["sub_search_states"], strict=True):
            search.restore(saved)

    def _enter(self, number: int, operations: list[Operation]) -> list[Operation]:
        """Remember whose the new trials are."""
        for operation in operations:
            if isinstance(operation, Create):
                self._table[operation.request_id] = number
        return operations
