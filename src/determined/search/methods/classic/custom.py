"""custom: the method is a program of the user's; here is its queue of events and the reading of its answers."""

from collections import Counter
from dataclasses import asdict
from typing import ClassVar

from determined._json import JsonObject, JsonValue
from determined.errors import InvalidArgument
from determined.schema.node import Text
from determined.schema.section import field
from determined.search.custom_operations import Steered, read_operations
from determined.search.method import ExitReason, Operation, SearchContext, SearchMethod, Tally
from determined.search.searcher_config import ClassicSearcher, Lengths

# The wire's words for reasons; an error has none of its own.
_REASONS = {
    ExitReason.ERRORED: "EXITED_REASON_UNSPECIFIED",
    ExitReason.INIT_INVALID_HP: "EXITED_REASON_INVALID_HP",
}


class Custom(ClassicSearcher, extra=True):
    """Leaves every decision to a program of yours; more keys are that program's.

    Events are numbered from 1 and kept until the program acknowledges them; it answers with operations. Both are as the
    wire writes them.
    """

    name = "custom"
    order = 8
    guide = "custom-search.md"
    continuable = False
    replays_history = False
    driven_by_user = True

    unit: str | None = field(Text(choices=("batches", "records", "epochs")), "What lengths count.", default=None)

    def build(self, space: JsonObject, *, classic: bool) -> SearchMethod:
        return CustomSearch()

    def plan(self, space: JsonObject, *, classic: bool) -> Counter[Lengths] | None:
        raise InvalidArgument(
            "searcher 'custom' cannot be previewed: its own program decides on trials as it runs; start it and watch"
        )


class CustomSearch(SearchMethod):
    """`events` waits for the client; `posted` is its answer."""

    ends_by_itself: ClassVar[bool] = False

    def __init__(self) -> None:
        self._last_id = 0
        self._acknowledged = 0
        self._events: list[JsonObject] = []
        self._trials: dict[str, Steered] = {}
        self._progress = 0.0

    def events(self) -> list[JsonObject]:
        """Return everything not yet acknowledged, oldest first: `{"id": 1, "initialOperations": {}}`."""
        return list(self._events)

    def initial(self, ctx: SearchContext) -> list[Operation]:
        return self._push("initialOperations")

    def trial_created(self, ctx: SearchContext, request_id: str) -> list[Operation]:
        return self._push("trialCreated", requestId=request_id)

    def validated(self, request_id: str, metric: JsonValue, length: float) -> list[Operation]:
        """Record that the trial completed its operation; `metric` is whatever JSON it reported."""
        return self._push(
            "validationCompleted", requestId=request_id, metric=metric, validateAfterLength=str(int(length))
        )

    def progressed(self, request_id: str, units: float) -> None:
        """Keep only the newest progress of a trial; a client that is away must not fill the queue."""
        self._events = [
            event for event in self._events if event.get("trialProgress", {}).get("requestId") != request_id
        ]
        self._push("trialProgress", requestId=request_id, partialUnits=units)

    def exited_early(self, ctx: SearchContext, request_id: str, reason: ExitReason) -> list[Operation]:
        word = _REASONS.get(reason, f"EXITED_REASON_{reason}")
        return self._push("trialExitedEarly", requestId=request_id, exitedReason=word)

    def exited(self, ctx: SearchContext, request_id: str) -> list[Operation]:
        return self._push("trialClosed", requestId=request_id)

    def posted(self, triggered_by: int | None, operations: list[JsonObject]) -> list[Operation]:
        """Acknowledge events up to `triggered_by` and read the client's operations; a repeated answer is ignored.

        Raises:
            InvalidArgument: the event was never sent, or an operation makes no sense. Nothing has changed then.
        """
        if triggered_by is not None and not 0 < triggered_by <= self._last_id:
            raise InvalidArgument(
                f"triggeredByEvent {triggered_by} was never sent (the last event is {self._last_id});"
                " fetch searcher_events again"
            )
        if triggered_by is not None and triggered_by <= self._acknowledged:
            return []
        answer = read_operations(operations, self._trials)
        self._trials.update(answer.steered)
        self._progress = self._progress if answer.progress is None else answer.progress
        if triggered_by is not None:
            self._acknowledged = triggered_by
            self._events = [event for event in self._events if event["id"] > triggered_by]
        return answer.operations

    def progress(self, tally: Tally) -> float:
        return self._progress

    def snapshot(self) -> JsonObject:
        return {
            "last_id": self._last_id,
            "acknowledged": self._acknowledged,
            "events": list(self._events),
            "trials": {request_id: asdict(trial) for request_id, trial in self._trials.items()},
            "progress": self._progress,
        }

    def restore(self, state: JsonObject) -> None:
        self._last_id = state["last_id"]
        self._acknowledged = state["acknowledged"]
        self._events = list(state["events"])
        self._trials = {request_id: Steered(**trial) for request_id, trial in state["trials"].items()}
        self._progress = state["progress"]

    def _push(self, kind: str, **fields: JsonValue) -> list[Operation]:
        self._last_id += 1
        self._events.append({"id": self._last_id, kind: fields})
        return []
