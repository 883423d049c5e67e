"""A search whose trials are called 1, 2, 3, ... in the order of their creation, so that a test reads like a trace."""

import json
from typing import Any

from determined.search.method import Close, Create, ExitReason, Operation, Shutdown, Stop, ValidateAfter
from determined.search.searcher import Searcher


class NumberedSearch:
    """Every event returns what follows as words: "create 3", "3 to 1000" (ValidateAfter), "close 3", "stop 3"."""

    def __init__(self, *, classic: bool = False, seed: int = 7, space: dict[str, Any] | None = None, **config: Any):
        self.search = Searcher.create({"metric": "loss", **config}, space or {}, seed=seed, classic=classic)
        self.ids: list[str] = []
        self.lengths: dict[int, list[int]] = {}

    def start(self) -> list[str]:
        return self._words(self.search.start())

    def report(self, trial: int, metric: float, length: float) -> list[str]:
        return self._words(self.search.validation(self.ids[trial - 1], metric, length))

    def complete(self, trial: int, metric: float) -> list[str]:
        """Classic: the trial's current operation."""
        return self.report(trial, metric, self.lengths[trial][-1])

    def leave(self, trial: int, reason: ExitReason) -> list[str]:
        return self._words(self.search.exited_early(self.ids[trial - 1], reason))

    def exit(self, trial: int) -> list[str]:
        return self._words(self.search.exited(self.ids[trial - 1]))

    def extend(self, trials: int) -> list[str]:
        return self._words(self.search.extend(trials))

    def state(self) -> dict[str, Any]:
        return self.search.snapshot()["search_method_state"]  # type: ignore[no-any-return]

    def restart(self) -> None:
        """Go on with a searcher restored from this one's snapshot."""
        self.search = Searcher.restore(json.loads(json.dumps(self.search.snapshot(), allow_nan=False)))

    def _words(self, operations: list[Operation]) -> list[str]:
        words = [self._word(operation) for operation in operations]
        for operation in operations:
            if isinstance(operation, Create):
                assert self.search.trial_created(operation.request_id) == []
        return words

    def _word(self, operation: Operation) -> str:
        match operation:
            case Create(request_id=request_id):
                self.ids.append(request_id)
                self.lengths[len(self.ids)] = []
                return f"create {len(self.ids)}"
            case ValidateAfter(request_id=request_id, length=length):
                trial = self._number(request_id)
                assert length > max(self.lengths[trial], default=0), f"trial {trial} was sent to {length} before"
                self.lengths[trial].append(length)
                return f"{trial} to {length}"
            case Close(request_id=request_id):
                return f"close {self._number(request_id)}"
            case Stop(request_id=request_id):
                return f"stop {self._number(request_id)}"
            case Shutdown(cancel=cancel, failure=failure):
                return "shutdown" + " canceled" * cancel + " failed" * failure

    def _number(self, request_id: str) -> int:
        return self.ids.index(request_id) + 1
