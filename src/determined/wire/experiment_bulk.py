"""Requests that change many experiments, and the result of each experiment."""

from determined.wire.codec import Wire
from determined.wire.experiment import ExperimentState
from determined.wire.operation import Nothing, Operation
from determined.wire.upstream import Ours, UpstreamRequired


class BulkExperimentFilters(Wire):
    archived: bool | None = None
    description: str | None = None
    excluded_experiment_ids: list[int] | None = None
    labels: list[str] | None = None
    name: str | None = None
    project_id: int | None = None
    states: list[ExperimentState] | None = None
    user_ids: list[int] | None = None


class ExperimentSelection(Wire):
    """Experiments that a request changes: those with these ids, or all that match the filters."""

    experiment_ids: UpstreamRequired[list[int]] = []
    project_id: UpstreamRequired[int | None] = None
    filters: BulkExperimentFilters | None = None


class ExperimentActionResult(Wire):
    """`changed` (ours): its state, archiving or project did. `previous_project_id` (ours): where it was moved from."""

    error: str
    id: int
    changed: Ours[bool] = False
    previous_project_id: Ours[int | None] = None


class ExperimentActionResults(Wire):
    """Answer of a request that changes many experiments."""

    results: list[ExperimentActionResult]


class ActivateExperimentsRequest(ExperimentSelection):
    pass


class ActivateExperimentsResponse(ExperimentActionResults):
    pass


class PauseExperimentsRequest(ExperimentSelection):
    pass


class PauseExperimentsResponse(ExperimentActionResults):
    pass


class CancelExperimentsRequest(ExperimentSelection):
    pass


class CancelExperimentsResponse(ExperimentActionResults):
    pass


class KillExperimentsRequest(ExperimentSelection):
    pass


class KillExperimentsResponse(ExperimentActionResults):
    pass


class ArchiveExperimentsRequest(ExperimentSelection):
    pass


class ArchiveExperimentsResponse(ExperimentActionResults):
    pass


class UnarchiveExperimentsRequest(ExperimentSelection):
    pass


class UnarchiveExperimentsResponse(ExperimentActionResults):
    pass


class DeleteExperimentsRequest(ExperimentSelection):
    pass


class DeleteExperimentsResponse(ExperimentActionResults):
    pass


class MoveExperimentsRequest(ExperimentSelection, kw_only=True):
    destination_project_id: int


class MoveExperimentsResponse(ExperimentActionResults):
    pass


class PutExperimentsRetainLogsRequest(ExperimentSelection, kw_only=True):
    num_days: int


class PutExperimentsRetainLogsResponse(ExperimentActionResults):
    pass


ACTIVATE_EXPERIMENT = Operation(
    "POST", "/api/v1/experiments/{experiment_id:int}/activate", Nothing, Nothing, id_names=("id",)
)
PAUSE_EXPERIMENT = Operation(
    "POST", "/api/v1/experiments/{experiment_id:int}/pause", Nothing, Nothing, id_names=("id",)
)
CANCEL_EXPERIMENT = Operation(
    "POST", "/api/v1/experiments/{experiment_id:int}/cancel", Nothing, Nothing, id_names=("id",)
)
KILL_EXPERIMENT = Operation("POST", "/api/v1/experiments/{experiment_id:int}/kill", Nothing, Nothing, id_names=("id",))
ARCHIVE_EXPERIMENT = Operation(
    "POST", "/api/v1/experiments/{experiment_id:int}/archive", Nothing, Nothing, id_names=("id",)
)
UNARCHIVE_EXPERIMENT = Operation(
    "POST", "/api/v1/experiments/{experiment_id:int}/unarchive", Nothing, Nothing, id_names=("id",)
)
ACTIVATE_EXPERIMENTS = Operation(
    "POST",
    "/api/v1/projects/{project_id:int}/experiments/activate",
    ActivateExperimentsRequest,
    ActivateExperimentsResponse,
)
PAUSE_EXPERIMENTS = Operation(
    "POST", "/api/v1/projects/{project_id:int}/experiments/pause", PauseExperimentsRequest, PauseExperimentsResponse
)
CANCEL_EXPERIMENTS = Operation(
    "POST", "/api/v1/projects/{project_id:int}/experiments/cancel", CancelExperimentsRequest, CancelExperimentsResponse
)
KILL_EXPERIMENTS = Operation(
    "POST", "/api/v1/projects/{project_id:int}/experiments/kill", KillExperimentsRequest, KillExperimentsResponse
)
ARCHIVE_EXPERIMENTS = Operation(
    "POST",
    "/api/v1/projects/{project_id:int}/experiments/archive",
    ArchiveExperimentsRequest,
    ArchiveExperimentsResponse,
)
UNARCHIVE_EXPERIMENTS = Operation(
    "POST",
    "/api/v1/projects/{project_id:int}/experiments/unarchive",
    UnarchiveExperimentsRequest,
    UnarchiveExperimentsResponse,
)
DELETE_EXPERIMENTS = Operation(
    "DELETE",
    "/api/v1/projects/{project_id:int}/experiments/delete",
    DeleteExperimentsRequest,
    DeleteExperimentsResponse,
)
MOVE_EXPERIMENTS = Operation(
    "POST", "/api/v1/projects/{project_id:int}/experiments/move", MoveExperimentsRequest, MoveExperimentsResponse
)
RETAIN_EXPERIMENTS_LOGS = Operation(
    "PUT",
    "/api/v1/projects/{project_id:int}/experiments/retain_logs",
    PutExperimentsRetainLogsRequest,
    PutExperimentsRetainLogsResponse,
)
