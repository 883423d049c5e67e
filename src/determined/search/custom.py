"""Custom search: the method is a program of the user's; here is its queue of events and the reading of its answers.

Events are numbered from 1 and kept until they are acknowledged (spec/search.md 13). Both are as the wire writes them.
"""

import json
from typing import Any, ClassVar

from determined.errors import InvalidArgument
from determined.search.method import (
    Close,
    Create,
    ExitReason,
    Operation,
    SearchContext,
    SearchMethod,
    Shutdown,
    Tally,
    ValidateAfter,
)

TRIAL_SEED = 42
# The wire's words for reasons; an error has none of its own.
_REASONS = {
    ExitReason.ERRORED: "EXITED_REASON_UNSPECIFIED",
    ExitReason.INIT_INVALID_HP: "EXITED_REASON_INVALID_HP",
}


class CustomSearch(SearchMethod):
    """`events` waits for the client; `posted` is its answer."""

    ends_by_itself: ClassVar[bool] = False

    def __init__(self) -> None:
        self._last_id = 0
        self._acknowledged = 0
        self._events: list[dict[str, Any]] = []
        self._trials: set[str] = set()
        self._progress = 0.0

    def events(self) -> list[dict[str, Any]]:
        """Everything not yet acknowledged, oldest first: `{"id": 1, "initialOperations": {}}`."""
        return list(self._events)

    def initial(self, ctx: SearchContext) -> list[Operation]:
        return self._push("initialOperations")

    def trial_created(self, ctx: SearchContext, request_id: str) -> list[Operation]:
        return self._push("trialCreated", requestId=request_id)

    def validated(self, request_id: str, metric: Any, length: float) -> list[Operation]:
        """The trial completed its operation; `metric` is whatever JSON it reported."""
        return self._push(
            "validationCompleted", requestId=request_id, metric=metric, validateAfterLength=str(int(length))
        )

    def progressed(self, request_id: str, units: float) -> None:
        """Only the newest progress of a trial is worth keeping; a client that is away must not fill the queue."""
        self._events = [
            event for event in self._events if event.get("trialProgress", {}).get("requestId") != request_id
        ]
        self._push("trialProgress", requestId=request_id, partialUnits=units)

    def exited_early(self, ctx: SearchContext, request_id: str, reason: ExitReason) -> list[Operation]:
        word = _REASONS.get(reason, f"EXITED_REASON_{reason}")
        return self._push("trialExitedEarly", requestId=request_id, exitedReason=word)

    def exited(self, ctx: SearchContext, request_id: str) -> list[Operation]:
        return self._push("trialClosed", requestId=request_id)

    def posted(self, triggered_by: int | None, operations: list[dict[str, Any]]) -> list[Operation]:
        """Acknowledge events up to `triggered_by` and read the client's operations; a repeated answer is ignored.

        Raises:
            InvalidArgument: the event was never sent, or an operation makes no sense. Nothing has changed then.
        """
        if triggered_by is not None and triggered_by > self._last_id:
            raise InvalidArgument(
                f"triggeredByEvent {triggered_by} was never sent (the last event is {self._last_id});"
                " fetch searcher_events again"
            )
        if triggered_by is not None and 0 < triggered_by <= self._acknowledged:
            return []
        read = [op for one in operations for op in self._read(one)]
        if triggered_by is not None and triggered_by > 0:
            self._acknowledged = triggered_by
            self._events = [event for event in self._events if event["id"] > triggered_by]
        self._trials.update(op.request_id for op in read if isinstance(op, Create))
        return read

    def progress(self, tally: Tally) -> float:
        return self._progress

    def snapshot(self) -> dict[str, Any]:
        return {
            "last_id": self._last_id,
            "acknowledged": self._acknowledged,
            "events": list(self._events),
            "trials": sorted(self._trials),
            "progress": self._progress,
        }

    def restore(self, state: dict[str, Any]) -> None:
        self._last_id = state["last_id"]
        self._acknowledged = state["acknowledged"]
        self._events = list(state["events"])
        self._trials = set(state["trials"])
        self._progress = state["progress"]

    def _push(self, kind: str, **fields: Any) -> list[Operation]:
        self._last_id += 1
        self._events.append({"id": self._last_id, kind: fields})
        return []

    def _read(self, operation: dict[str, Any]) -> list[Operation]:
        match operation:
            case {"createTrial": {"requestId": str(request_id), "hyperparams": hparams}}:
                return [self._create(request_id, hparams)]
            case {"trialOperation": {"validateAfter": {"requestId": str(request_id), "length": length}}}:
                return [ValidateAfter(request_id, int(length))]
            case {"closeTrial": {"requestId": str(request_id)}}:
                return [Close(request_id)]
            case {"setSearcherProgress": {"progress": progress}}:
                self._progress = min(max(float(progress), 0.0), 1.0)
                return []
            case {"shutDown": dict(how)}:
                return [Shutdown(cancel=bool(how.get("cancel")), failure=bool(how.get("failure")))]
        raise InvalidArgument(
            f"searcher operation {operation!r} is none of createTrial, trialOperation.validateAfter, closeTrial,"
            " setSearcherProgress, shutDown"
        )

    def _create(self, request_id: str, hyperparams: Any) -> Create:
        if request_id in self._trials:
            raise InvalidArgument(f"createTrial: request id {request_id} is already that of a trial; use a fresh one")
        hparams = json.loads(hyperparams) if isinstance(hyperparams, str) else hyperparams
        if not isinstance(hparams, dict):
            raise InvalidArgument(f"createTrial: hyperparams must be a JSON object, not {hyperparams!r}")
        return Create(request_id, hparams, seed=TRIAL_SEED)
