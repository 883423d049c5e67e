"""Custom searches: what their clients are told and what they ask for. Exactly one of an event's kinds is given."""

from enum import StrEnum
from typing import Annotated, Any

from msgspec import Meta

from determined.wire.codec import Wire
from determined.wire.experiment import ExperimentState
from determined.wire.operation import Operation, Query

INACTIVE_EVENT_ID = -1
DRIVEN_PREFIX = "custom-search-of-trial-"


def driven_experiment(trial_id: int) -> str:
    """Return the external id of the experiment whose search a trial drives: the only one that its task may submit."""
    return f"{DRIVEN_PREFIX}{trial_id}"


class InitialOperations(Wire):
    """The search begins."""


class TrialCreated(Wire):
    request_id: str


class ValidationCompleted(Wire):
    request_id: str
    metric: Any
    validate_after_length: str  # an int64


class TrialProgress(Wire):
    request_id: str
    partial_units: float


class TrialClosed(Wire):
    request_id: str


class ExitedReason(StrEnum):
    UNSPECIFIED = "EXITED_REASON_UNSPECIFIED"  # it failed
    INVALID_HP = "EXITED_REASON_INVALID_HP"
    USER_REQUESTED_STOP = "EXITED_REASON_USER_REQUESTED_STOP"
    USER_CANCELED = "EXITED_REASON_USER_CANCELED"


class TrialExitedEarly(Wire):
    request_id: str
    exited_reason: ExitedReason


class ExperimentInactive(Wire):
    experiment_state: ExperimentState


class SearcherEvent(Wire, omit_defaults=True):
    id: int
    initial_operations: InitialOperations | None = None
    trial_created: TrialCreated | None = None
    validation_completed: ValidationCompleted | None = None
    trial_progress: TrialProgress | None = None
    trial_closed: TrialClosed | None = None
    trial_exited_early: TrialExitedEarly | None = None
    experiment_inactive: ExperimentInactive | None = None


class GetSearcherEventsResponse(Wire):
    searcher_events: list[SearcherEvent]


class CreateTrialOperation(Wire):
    request_id: str
    hyperparams: str  # a JSON object as text


class TrialValidateAfter(Wire):
    request_id: str
    length: int


class TrialOperation(Wire):
    validate_after: TrialValidateAfter


class CloseTrialOperation(Wire):
    request_id: str


class SetSearcherProgressOperation(Wire):
    progress: float


class ShutDownOperation(Wire):
    cancel: bool = False
    failure: bool = False


class SearcherOperation(Wire, omit_defaults=True):
    create_trial: CreateTrialOperation | None = None
    trial_operation: TrialOperation | None = None
    close_trial: CloseTrialOperation | None = None
    set_searcher_progress: SetSearcherProgressOperation | None = None
    shut_down: ShutDownOperation | None = None


class TriggeringEvent(Wire):
    """The event that was handled; its id is all that counts."""

    id: int


class PostSearcherOperationsRequest(Wire):
    searcher_operations: list[SearcherOperation] = []
    triggered_by_event: TriggeringEvent | int | None = None
    experiment_id: int | None = None


class PostSearcherOperationsResponse(Wire):
    pass


class GetSearcherEvents(Query):
    timeout_seconds: Annotated[
        Annotated[float, Meta(ge=0, le=1e6)] | None, Meta(description="Seconds to wait for an event; 60 by default.")
    ] = None


GET_SEARCHER_EVENTS = Operation(
    "GET",
    "/api/v1/experiments/{experiment_id:int}/searcher_events",
    GetSearcherEvents,
    GetSearcherEventsResponse,
    ours=True,
)
POST_SEARCHER_OPERATIONS = Operation(
    "POST",
    "/api/v1/experiments/{experiment_id:int}/searcher_operations",
    PostSearcherOperationsRequest,
    PostSearcherOperationsResponse,
    ours=True,
)
