"""Messages of upstream's API that this master takes or answers in a looser shape than a wire type.

Only the bindings use them: handlers read such bodies as plain JSON, or ignore them.
"""

from enum import StrEnum
from typing import Any

from msgspec import field

from determined.wire.agent import Container
from determined.wire.checkpoint import (
    Checkpoint,
    Metrics,
    PostCheckpointMetadataRequest,
)
from determined.wire.codec import Wire
from determined.wire.command import Command, LaunchCommandRequest
from determined.wire.log import LogQuery
from determined.wire.metric import CompareTrialsResponse, TrialIds
from determined.wire.metric_query import CompareTrials
from determined.wire.notebook import Notebook
from determined.wire.shell import LaunchShellRequest, Shell
from determined.wire.submitted_task import SetPriorityRequest
from determined.wire.template import Template
from determined.wire.tensorboard import Tensorboard
from determined.wire.trial import ListTrialWorkloads
from determined.wire.upstream import Ours, UpstreamOptional
from determined.wire.user import ListUsers
from determined.wire.workspace import WorkspaceNamespaceBinding

__all__ = ["ALWAYS", "REPLACED", "REQUESTS", "RESPONSES"]


class AckAllocationPreemptionSignalRequest(Wire):
    allocation_id: str


class AllocationPendingPreemptionSignalRequest(Wire):
    allocation_id: str


class AllocationReadyRequest(Wire):
    allocation_id: str | None = None


class AllocationWaitingRequest(Wire):
    allocation_id: str | None = None


class MarkAllocationResourcesDaemonRequest(Wire):
    allocation_id: str
    resources_id: str | None = None


class TrialMetrics(Wire):
    metrics: Metrics
    trial_id: int
    trial_run_id: int
    report_time: str | None = None
    steps_completed: int | None = None


class ReportTrialMetricsRequest(Wire):
    group: str
    metrics: TrialMetrics


class ReportTrialProgressRequest(Wire):
    progress: float
    trial_id: int
    is_raw: bool | None = None


class TrialEarlyExitExitedReason(StrEnum):
    UNSPECIFIED = "EXITED_REASON_UNSPECIFIED"
    INVALID_HP = "EXITED_REASON_INVALID_HP"
    INIT_INVALID_HP = "EXITED_REASON_INIT_INVALID_HP"


class TrialEarlyExit(Wire):
    reason: TrialEarlyExitExitedReason


class SetCommandPriorityRequest(SetPriorityRequest):
    command_id: str | None = None


class SetNotebookPriorityRequest(SetPriorityRequest):
    notebook_id: str | None = None


class SetShellPriorityRequest(SetPriorityRequest):
    shell_id: str | None = None


class SetTensorboardPriorityRequest(SetPriorityRequest):
    tensorboard_id: str | None = None


class TrialLogQuery(LogQuery):
    allocation_ids: Ours[list[str] | None] = None


class PutTemplateResponse(Wire):
    template: Template | None = None


class GetKubernetesResourceQuotasResponse(Wire):
    resource_quotas: dict[str, float]


class ListWorkspaceNamespaceBindingsResponse(Wire):
    namespace_bindings: dict[str, WorkspaceNamespaceBinding]


class ScopeTypeMask(Wire):
    cluster: bool | None = None
    workspace: bool | None = None


class Permission(Wire):
    id: str  # upstream's is an enum; roles are not implemented, so nothing answers one
    name: str | None = None
    scope_type_mask: ScopeTypeMask | None = None


class Role(Wire):
    role_id: int
    name: str | None = None
    permissions: list[Permission] | None = None
    scope_type_mask: ScopeTypeMask | None = None


class RoleAssignmentSummary(Wire):
    role_id: int
    scope_cluster: bool | None = None
    scope_workspace_ids: list[int] | None = None


class GetPermissionsSummaryResponse(Wire):
    assignments: list[RoleAssignmentSummary]
    roles: list[Role]


class HealthStatus(StrEnum):
    __upstream__ = "HealthStatus"

    UP = "up"
    DOWN = "down"


class ResourceManagerHealth(Wire, rename=None):
    __upstream__ = "ResourceManagerHealth"

    cluster_name: str | None = None
    status: HealthStatus | None = None


class HealthCheck(Wire, rename=None):
    __upstream__ = "HealthCheck"

    database: HealthStatus | None = None
    resource_managers: list[ResourceManagerHealth] | None = None
    status: HealthStatus | None = None


class ProtobufAny(Wire):
    __upstream__ = "protobufAny"

    type_url: str | None = None
    value: str | None = None


class RuntimeError_(Wire):
    __upstream__ = "runtimeError"

    code: int | None = None
    details: list[ProtobufAny] | None = None
    error: str | None = None
    message: str | None = None


class RuntimeStreamError(Wire):
    __upstream__ = "runtimeStreamError"

    details: list[ProtobufAny] | None = None
    grpc_code: int | None = None
    http_code: int | None = None
    http_status: str | None = None
    message: str | None = None


class CommandInContainer(Command):
    container: Container | None = None


class NotebookInContainer(Notebook):
    container: Container | None = None


class ShellInContainer(Shell):
    container: Container | None = None


class TensorboardInContainer(Tensorboard):
    container: Container | None = None


class LaunchCommandWithData(LaunchCommandRequest):
    data: str | None = None


class LaunchShellWithData(LaunchShellRequest):
    data: str | None = None


class PostWholeCheckpointRequest(Wire):
    checkpoint: Checkpoint | None = None


class OptionalTrialIds(TrialIds):
    trial_ids: UpstreamOptional[list[int]]


class CompareTrialsInRanges(CompareTrials):
    """`time_series_filter...`: ranges of upstream's page; this master takes `startBatches` and `endBatches`."""

    trial_ids: UpstreamOptional[list[int]]
    double_gt: float | None = field(name="timeSeriesFilter.doubleRange.gt", default=None)
    double_gte: float | None = field(name="timeSeriesFilter.doubleRange.gte", default=None)
    double_lt: float | None = field(name="timeSeriesFilter.doubleRange.lt", default=None)
    double_lte: float | None = field(name="timeSeriesFilter.doubleRange.lte", default=None)
    integer_gt: int | None = field(name="timeSeriesFilter.integerRange.gt", default=None)
    integer_gte: int | None = field(name="timeSeriesFilter.integerRange.gte", default=None)
    integer_incl: list[int] | None = field(name="timeSeriesFilter.integerRange.incl", default=None)
    integer_lt: int | None = field(name="timeSeriesFilter.integerRange.lt", default=None)
    integer_lte: int | None = field(name="timeSeriesFilter.integerRange.lte", default=None)
    integer_not_in: list[int] | None = field(name="timeSeriesFilter.integerRange.notIn", default=None)
    name: str | None = field(name="timeSeriesFilter.name", default=None)
    time_gt: str | None = field(name="timeSeriesFilter.timeRange.gt", default=None)
    time_gte: str | None = field(name="timeSeriesFilter.timeRange.gte", default=None)
    time_lt: str | None = field(name="timeSeriesFilter.timeRange.lt", default=None)
    time_lte: str | None = field(name="timeSeriesFilter.timeRange.lte", default=None)


class ListWorkloadsWithBatches(ListTrialWorkloads):
    include_batch_metrics: bool | None = None


class ListUsersOfRoles(ListUsers):
    role_id_assigned_directly_to_user: list[int] | None = None


REQUESTS: dict[str, Any] = {
    "AckAllocationPreemptionSignal": AckAllocationPreemptionSignalRequest,
    "AllocationPendingPreemptionSignal": AllocationPendingPreemptionSignalRequest,
    "AllocationReady": AllocationReadyRequest,
    "AllocationWaiting": AllocationWaitingRequest,
    "MarkAllocationResourcesDaemon": MarkAllocationResourcesDaemonRequest,
    "PostTemplate": Template,
    "PutTemplate": Template,
    "ReportCheckpoint": Checkpoint,
    "ReportTrialMetrics": ReportTrialMetricsRequest,
    "ReportTrialProgress": ReportTrialProgressRequest,
    "ReportTrialSearcherEarlyExit": TrialEarlyExit,
    "ReportTrialTrainingMetrics": TrialMetrics,
    "ReportTrialValidationMetrics": TrialMetrics,
    "SetCommandPriority": SetCommandPriorityRequest,
    "SetNotebookPriority": SetNotebookPriorityRequest,
    "SetShellPriority": SetShellPriorityRequest,
    "SetTensorboardPriority": SetTensorboardPriorityRequest,
    "TrialLogs": TrialLogQuery,
}
"""Requests of upstream's clients, by the name of the operation."""

RESPONSES: dict[str, Any] = {
    "CompareTrials": CompareTrialsResponse,
    "GetKubernetesResourceQuotas": GetKubernetesResourceQuotasResponse,
    "GetPermissionsSummary": GetPermissionsSummaryResponse,
    "ListWorkspaceNamespaceBindings": ListWorkspaceNamespaceBindingsResponse,
    "PutTemplate": PutTemplateResponse,
    "health": HealthCheck,
}
"""Responses that they read, by the name of the operation."""

REPLACED: dict[type, type] = {
    Command: CommandInContainer,
    CompareTrials: CompareTrialsInRanges,
    LaunchCommandRequest: LaunchCommandWithData,
    LaunchShellRequest: LaunchShellWithData,
    ListTrialWorkloads: ListWorkloadsWithBatches,
    ListUsers: ListUsersOfRoles,
    Notebook: NotebookInContainer,
    PostCheckpointMetadataRequest: PostWholeCheckpointRequest,
    Shell: ShellInContainer,
    Tensorboard: TensorboardInContainer,
    TrialIds: OptionalTrialIds,
}
"""Wire types and the same with upstream's fields, of which this master makes nothing."""

ALWAYS: tuple[type, ...] = (ProtobufAny, RuntimeError_, RuntimeStreamError)
"""Messages of no operation."""
