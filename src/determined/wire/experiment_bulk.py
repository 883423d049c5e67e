"""What one request asks of many experiments, and how each of them fared."""

from determined.wire.codec import Wire
from determined.wire.experiment import ExperimentState


class BulkExperimentFilters(Wire):
    archived: bool | None = None
    description: str | None = None
    excluded_experiment_ids: list[int] | None = None
    labels: list[str] | None = None
    name: str | None = None
    project_id: int | None = None
    states: list[ExperimentState] | None = None
    user_ids: list[int] | None = None


class ActivateExperimentsRequest(Wire):
    experiment_ids: list[int] = []
    project_id: int | None = None
    filters: BulkExperimentFilters | None = None


class ExperimentActionResult(Wire):
    """`changed` (ours): its state, archiving or project did. `previous_project_id` (ours): where it was moved from."""

    error: str
    id: int
    changed: bool = False
    previous_project_id: int | None = None


class ActivateExperimentsResponse(Wire):
    results: list[ExperimentActionResult]


class PauseExperimentsRequest(Wire):
    experiment_ids: list[int] = []
    project_id: int | None = None
    filters: BulkExperimentFilters | None = None


class PauseExperimentsResponse(Wire):
    results: list[ExperimentActionResult]


class CancelExperimentsRequest(Wire):
    experiment_ids: list[int] = []
    project_id: int | None = None
    filters: BulkExperimentFilters | None = None


class CancelExperimentsResponse(Wire):
    results: list[ExperimentActionResult]


class KillExperimentsRequest(Wire):
    experiment_ids: list[int] = []
    project_id: int | None = None
    filters: BulkExperimentFilters | None = None


class KillExperimentsResponse(Wire):
    results: list[ExperimentActionResult]


class ArchiveExperimentsRequest(Wire):
    experiment_ids: list[int] = []
    project_id: int | None = None
    filters: BulkExperimentFilters | None = None


class ArchiveExperimentsResponse(Wire):
    results: list[ExperimentActionResult]


class UnarchiveExperimentsRequest(Wire):
    experiment_ids: list[int] = []
    project_id: int | None = None
    filters: BulkExperimentFilters | None = None


class UnarchiveExperimentsResponse(Wire):
    results: list[ExperimentActionResult]


class DeleteExperimentsRequest(Wire):
    experiment_ids: list[int] = []
    project_id: int | None = None
    filters: BulkExperimentFilters | None = None


class DeleteExperimentsResponse(Wire):
    results: list[ExperimentActionResult]


class MoveExperimentsRequest(Wire):
    destination_project_id: int
    experiment_ids: list[int] = []
    project_id: int | None = None
    filters: BulkExperimentFilters | None = None


class MoveExperimentsResponse(Wire):
    results: list[ExperimentActionResult]


class PutExperimentsRetainLogsRequest(Wire):
    num_days: int
    experiment_ids: list[int] = []
    project_id: int | None = None
    filters: BulkExperimentFilters | None = None


class PutExperimentsRetainLogsResponse(Wire):
    results: list[ExperimentActionResult]
