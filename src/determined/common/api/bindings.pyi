"""Written by scripts/make_bindings_stub.py from the wire types; do not edit. A test keeps it true."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from determined.api.session import Session
from determined.common.api._functions import APIHttpError as APIHttpError
from determined.common.api._functions import APIHttpStreamError as APIHttpStreamError
from determined.common.api._messages import DetEnum as DetEnum
from determined.common.api._messages import Message
from determined.common.api._messages import Printable as Printable
from determined.common.api._messages import Unset as Unset
from determined.common.api._messages import dump_float as dump_float

Json = Any


class GetMasterResponseProduct(DetEnum):
    UNSPECIFIED = "PRODUCT_UNSPECIFIED"
    COMMUNITY = "PRODUCT_COMMUNITY"

class GetTrialWorkloadsRequestFilterOption(DetEnum):
    UNSPECIFIED = "FILTER_OPTION_UNSPECIFIED"
    CHECKPOINT = "FILTER_OPTION_CHECKPOINT"
    VALIDATION = "FILTER_OPTION_VALIDATION"
    CHECKPOINT_OR_VALIDATION = "FILTER_OPTION_CHECKPOINT_OR_VALIDATION"

class HealthCheck(Message):
    database: HealthStatus | None
    resource_managers: list[ResourceManagerHealth] | None
    status: HealthStatus | None
    def __init__(
        self,
        *,
        database: HealthStatus | Unset | None = ...,
        resource_managers: Sequence[ResourceManagerHealth] | Unset | None = ...,
        status: HealthStatus | Unset | None = ...,
    ) -> None: ...

class HealthStatus(DetEnum):
    up = "up"
    down = "down"

class PatchCheckpointOptionalResources(Message):
    resources: dict[str, str] | None
    def __init__(
        self,
        *,
        resources: Mapping[str, str] | Unset | None = ...,
    ) -> None: ...

class PatchExperimentPatchCheckpointStorage(Message):
    saveExperimentBest: int | None
    saveTrialBest: int | None
    saveTrialLatest: int | None
    def __init__(
        self,
        *,
        saveExperimentBest: int | Unset | None = ...,
        saveTrialBest: int | Unset | None = ...,
        saveTrialLatest: int | Unset | None = ...,
    ) -> None: ...

class PatchExperimentPatchResources(Message):
    maxSlots: int | None
    priority: int | None
    weight: float | None
    def __init__(
        self,
        *,
        maxSlots: int | Unset | None = ...,
        priority: int | Unset | None = ...,
        weight: float | Unset | None = ...,
    ) -> None: ...

class ResourceManagerHealth(Message):
    cluster_name: str | None
    status: HealthStatus | None
    def __init__(
        self,
        *,
        cluster_name: str | Unset | None = ...,
        status: HealthStatus | Unset | None = ...,
    ) -> None: ...

class ResourcesSummaryDevices(Message):
    devices: list[v1Device] | None
    def __init__(
        self,
        *,
        devices: Sequence[v1Device] | Unset | None = ...,
    ) -> None: ...

class TrialProfilerMetricLabelsProfilerMetricType(DetEnum):
    UNSPECIFIED = "PROFILER_METRIC_TYPE_UNSPECIFIED"
    SYSTEM = "PROFILER_METRIC_TYPE_SYSTEM"
    TIMING = "PROFILER_METRIC_TYPE_TIMING"
    MISC = "PROFILER_METRIC_TYPE_MISC"

class checkpointv1SortBy(DetEnum):
    UNSPECIFIED = "SORT_BY_UNSPECIFIED"
    UUID = "SORT_BY_UUID"
    TRIAL_ID = "SORT_BY_TRIAL_ID"
    BATCH_NUMBER = "SORT_BY_BATCH_NUMBER"
    END_TIME = "SORT_BY_END_TIME"
    STATE = "SORT_BY_STATE"
    SEARCHER_METRIC = "SORT_BY_SEARCHER_METRIC"

class checkpointv1State(DetEnum):
    UNSPECIFIED = "STATE_UNSPECIFIED"
    ACTIVE = "STATE_ACTIVE"
    COMPLETED = "STATE_COMPLETED"
    ERROR = "STATE_ERROR"
    DELETED = "STATE_DELETED"
    PARTIALLY_DELETED = "STATE_PARTIALLY_DELETED"

class containerv1State(DetEnum):
    UNSPECIFIED = "STATE_UNSPECIFIED"
    ASSIGNED = "STATE_ASSIGNED"
    PULLING = "STATE_PULLING"
    STARTING = "STATE_STARTING"
    RUNNING = "STATE_RUNNING"
    TERMINATED = "STATE_TERMINATED"

class devicev1Type(DetEnum):
    UNSPECIFIED = "TYPE_UNSPECIFIED"
    CPU = "TYPE_CPU"
    CUDA = "TYPE_CUDA"
    ROCM = "TYPE_ROCM"

class experimentv1State(DetEnum):
    UNSPECIFIED = "STATE_UNSPECIFIED"
    ACTIVE = "STATE_ACTIVE"
    PAUSED = "STATE_PAUSED"
    STOPPING_COMPLETED = "STATE_STOPPING_COMPLETED"
    STOPPING_CANCELED = "STATE_STOPPING_CANCELED"
    STOPPING_ERROR = "STATE_STOPPING_ERROR"
    COMPLETED = "STATE_COMPLETED"
    CANCELED = "STATE_CANCELED"
    ERROR = "STATE_ERROR"
    DELETED = "STATE_DELETED"
    DELETING = "STATE_DELETING"
    DELETE_FAILED = "STATE_DELETE_FAILED"
    STOPPING_KILLED = "STATE_STOPPING_KILLED"
    QUEUED = "STATE_QUEUED"
    PULLING = "STATE_PULLING"
    STARTING = "STATE_STARTING"
    RUNNING = "STATE_RUNNING"

class jobv1State(DetEnum):
    UNSPECIFIED = "STATE_UNSPECIFIED"
    QUEUED = "STATE_QUEUED"
    SCHEDULED = "STATE_SCHEDULED"
    SCHEDULED_BACKFILLED = "STATE_SCHEDULED_BACKFILLED"

class jobv1Type(DetEnum):
    UNSPECIFIED = "TYPE_UNSPECIFIED"
    EXPERIMENT = "TYPE_EXPERIMENT"
    NOTEBOOK = "TYPE_NOTEBOOK"
    TENSORBOARD = "TYPE_TENSORBOARD"
    SHELL = "TYPE_SHELL"
    COMMAND = "TYPE_COMMAND"
    CHECKPOINT_GC = "TYPE_CHECKPOINT_GC"
    EXTERNAL = "TYPE_EXTERNAL"
    GENERIC = "TYPE_GENERIC"

class protobufAny(Message):
    typeUrl: str | None
    value: str | None
    def __init__(
        self,
        *,
        typeUrl: str | Unset | None = ...,
        value: str | Unset | None = ...,
    ) -> None: ...

class protobufFieldMask(Message):
    paths: list[str] | None
    def __init__(
        self,
        *,
        paths: Sequence[str] | Unset | None = ...,
    ) -> None: ...

class runtimeError(Message):
    code: int | None
    details: list[protobufAny] | None
    error: str | None
    message: str | None
    def __init__(
        self,
        *,
        code: int | Unset | None = ...,
        details: Sequence[protobufAny] | Unset | None = ...,
        error: str | Unset | None = ...,
        message: str | Unset | None = ...,
    ) -> None: ...

class runtimeStreamError(Message):
    details: list[protobufAny] | None
    grpcCode: int | None
    httpCode: int | None
    httpStatus: str | None
    message: str | None
    def __init__(
        self,
        *,
        details: Sequence[protobufAny] | Unset | None = ...,
        grpcCode: int | Unset | None = ...,
        httpCode: int | Unset | None = ...,
        httpStatus: str | Unset | None = ...,
        message: str | Unset | None = ...,
    ) -> None: ...

class taskv1State(DetEnum):
    UNSPECIFIED = "STATE_UNSPECIFIED"
    PULLING = "STATE_PULLING"
    STARTING = "STATE_STARTING"
    RUNNING = "STATE_RUNNING"
    TERMINATED = "STATE_TERMINATED"
    TERMINATING = "STATE_TERMINATING"
    WAITING = "STATE_WAITING"
    QUEUED = "STATE_QUEUED"

class trialv1State(DetEnum):
    UNSPECIFIED = "STATE_UNSPECIFIED"
    ACTIVE = "STATE_ACTIVE"
    PAUSED = "STATE_PAUSED"
    STOPPING_CANCELED = "STATE_STOPPING_CANCELED"
    STOPPING_KILLED = "STATE_STOPPING_KILLED"
    STOPPING_COMPLETED = "STATE_STOPPING_COMPLETED"
    STOPPING_ERROR = "STATE_STOPPING_ERROR"
    CANCELED = "STATE_CANCELED"
    COMPLETED = "STATE_COMPLETED"
    ERROR = "STATE_ERROR"
    QUEUED = "STATE_QUEUED"
    PULLING = "STATE_PULLING"
    STARTING = "STATE_STARTING"
    RUNNING = "STATE_RUNNING"

class trialv1Trial(Message):
    experimentId: int
    hparams: dict[str, Any]
    id: int
    restarts: int
    startTime: str
    state: trialv1State
    totalBatchesProcessed: int
    bestCheckpoint: v1CheckpointWorkload | None
    bestValidation: v1MetricsWorkload | None
    checkpointCount: int | None
    endTime: str | None
    latestValidation: v1MetricsWorkload | None
    logPolicyMatched: str | None
    logRetentionDays: int | None
    metadata: dict[str, Any] | None
    runnerState: str | None
    searcherMetricValue: float | None
    summaryMetrics: dict[str, Any] | None
    taskId: str | None
    taskIds: list[str] | None
    totalCheckpointSize: str | None
    wallClockTime: float | None
    warmStartCheckpointUuid: str | None
    def __init__(
        self,
        *,
        experimentId: int,
        hparams: Mapping[str, Any],
        id: int,
        restarts: int,
        startTime: str,
        state: trialv1State,
        totalBatchesProcessed: int,
        bestCheckpoint: v1CheckpointWorkload | Unset | None = ...,
        bestValidation: v1MetricsWorkload | Unset | None = ...,
        checkpointCount: int | Unset | None = ...,
        endTime: str | Unset | None = ...,
        latestValidation: v1MetricsWorkload | Unset | None = ...,
        logPolicyMatched: str | Unset | None = ...,
        logRetentionDays: int | Unset | None = ...,
        metadata: Mapping[str, Any] | Unset | None = ...,
        runnerState: str | Unset | None = ...,
        searcherMetricValue: float | Unset | None = ...,
        summaryMetrics: Mapping[str, Any] | Unset | None = ...,
        taskId: str | Unset | None = ...,
        taskIds: Sequence[str] | Unset | None = ...,
        totalCheckpointSize: str | Unset | None = ...,
        wallClockTime: float | Unset | None = ...,
        warmStartCheckpointUuid: str | Unset | None = ...,
    ) -> None: ...

class v1AcceleratorData(Message):
    acceleratorType: str | None
    acceleratorUuids: list[str] | None
    allocationId: str | None
    containerId: str | None
    nodeName: str | None
    resourcePool: str | None
    taskId: str | None
    def __init__(
        self,
        *,
        acceleratorType: str | Unset | None = ...,
        acceleratorUuids: Sequence[str] | Unset | None = ...,
        allocationId: str | Unset | None = ...,
        containerId: str | Unset | None = ...,
        nodeName: str | Unset | None = ...,
        resourcePool: str | Unset | None = ...,
        taskId: str | Unset | None = ...,
    ) -> None: ...

class v1AckAllocationPreemptionSignalRequest(Message):
    allocationId: str
    def __init__(
        self,
        *,
        allocationId: str,
    ) -> None: ...

class v1ActivateExperimentsRequest(Message):
    experimentIds: list[int]
    projectId: int
    filters: v1BulkExperimentFilters | None
    def __init__(
        self,
        *,
        experimentIds: Sequence[int],
        projectId: int,
        filters: v1BulkExperimentFilters | Unset | None = ...,
    ) -> None: ...

class v1ActivateExperimentsResponse(Message):
    results: list[v1ExperimentActionResult]
    def __init__(
        self,
        *,
        results: Sequence[v1ExperimentActionResult],
    ) -> None: ...

class v1ActivityType(DetEnum):
    UNSPECIFIED = "ACTIVITY_TYPE_UNSPECIFIED"
    GET = "ACTIVITY_TYPE_GET"

class v1AddProjectNoteResponse(Message):
    notes: list[v1Note]
    def __init__(
        self,
        *,
        notes: Sequence[v1Note],
    ) -> None: ...

class v1Address(Message):
    containerIp: str | None
    containerPort: int | None
    hostIp: str | None
    hostPort: int | None
    def __init__(
        self,
        *,
        containerIp: str | Unset | None = ...,
        containerPort: int | Unset | None = ...,
        hostIp: str | Unset | None = ...,
        hostPort: int | Unset | None = ...,
    ) -> None: ...

class v1Agent(Message):
    id: str
    slotStats: v1SlotStats
    addresses: list[str] | None
    containers: dict[str, v1Container] | None
    draining: bool | None
    enabled: bool | None
    registeredTime: str | None
    resourcePools: list[str] | None
    slots: dict[str, v1Slot] | None
    version: str | None
    def __init__(
        self,
        *,
        id: str,
        slotStats: v1SlotStats,
        addresses: Sequence[str] | Unset | None = ...,
        containers: Mapping[str, v1Container] | Unset | None = ...,
        draining: bool | Unset | None = ...,
        enabled: bool | Unset | None = ...,
        registeredTime: str | Unset | None = ...,
        resourcePools: Sequence[str] | Unset | None = ...,
        slots: Mapping[str, v1Slot] | Unset | None = ...,
        version: str | Unset | None = ...,
    ) -> None: ...

class v1AgentUserGroup(Message):
    agentGid: int | None
    agentGroup: str | None
    agentUid: int | None
    agentUser: str | None
    def __init__(
        self,
        *,
        agentGid: int | Unset | None = ...,
        agentGroup: str | Unset | None = ...,
        agentUid: int | Unset | None = ...,
        agentUser: str | Unset | None = ...,
    ) -> None: ...

class v1AggregateQueueStats(Message):
    periodStart: str
    seconds: float
    def __init__(
        self,
        *,
        periodStart: str,
        seconds: float,
    ) -> None: ...

class v1Allocation(Message):
    allocationId: str
    slots: int
    state: taskv1State
    taskId: str
    endTime: str | None
    exitReason: str | None
    isReady: bool | None
    startTime: str | None
    statusCode: int | None
    def __init__(
        self,
        *,
        allocationId: str,
        slots: int,
        state: taskv1State,
        taskId: str,
        endTime: str | Unset | None = ...,
        exitReason: str | Unset | None = ...,
        isReady: bool | Unset | None = ...,
        startTime: str | Unset | None = ...,
        statusCode: int | Unset | None = ...,
    ) -> None: ...

class v1AllocationAllGatherRequest(Message):
    allocationId: str
    data: dict[str, Any]
    numPeers: int | None
    requestUuid: str | None
    def __init__(
        self,
        *,
        allocationId: str,
        data: Mapping[str, Any],
        numPeers: int | Unset | None = ...,
        requestUuid: str | Unset | None = ...,
    ) -> None: ...

class v1AllocationAllGatherResponse(Message):
    data: list[dict[str, Any]]
    def __init__(
        self,
        *,
        data: Sequence[Mapping[str, Any]],
    ) -> None: ...

class v1AllocationPendingPreemptionSignalRequest(Message):
    allocationId: str
    def __init__(
        self,
        *,
        allocationId: str,
    ) -> None: ...

class v1AllocationPreemptionSignalResponse(Message):
    preempt: bool | None
    def __init__(
        self,
        *,
        preempt: bool | Unset | None = ...,
    ) -> None: ...

class v1AllocationReadyRequest(Message):
    allocationId: str | None
    def __init__(
        self,
        *,
        allocationId: str | Unset | None = ...,
    ) -> None: ...

class v1AllocationRendezvousInfoResponse(Message):
    rendezvousInfo: v1RendezvousInfo
    def __init__(
        self,
        *,
        rendezvousInfo: v1RendezvousInfo,
    ) -> None: ...

class v1AllocationSummary(Message):
    allocationId: str | None
    name: str | None
    priority: int | None
    proxyPorts: list[v1ProxyPortConfig] | None
    registeredTime: str | None
    resourcePool: str | None
    resources: list[v1ResourcesSummary] | None
    schedulerType: str | None
    slotsNeeded: int | None
    taskId: str | None
    def __init__(
        self,
        *,
        allocationId: str | Unset | None = ...,
        name: str | Unset | None = ...,
        priority: int | Unset | None = ...,
        proxyPorts: Sequence[v1ProxyPortConfig] | Unset | None = ...,
        registeredTime: str | Unset | None = ...,
        resourcePool: str | Unset | None = ...,
        resources: Sequence[v1ResourcesSummary] | Unset | None = ...,
        schedulerType: str | Unset | None = ...,
        slotsNeeded: int | Unset | None = ...,
        taskId: str | Unset | None = ...,
    ) -> None: ...

class v1AllocationWaitingRequest(Message):
    allocationId: str | None
    def __init__(
        self,
        *,
        allocationId: str | Unset | None = ...,
    ) -> None: ...

class v1ArchiveExperimentsRequest(Message):
    experimentIds: list[int]
    projectId: int
    filters: v1BulkExperimentFilters | None
    def __init__(
        self,
        *,
        experimentIds: Sequence[int],
        projectId: int,
        filters: v1BulkExperimentFilters | Unset | None = ...,
    ) -> None: ...

class v1ArchiveExperimentsResponse(Message):
    results: list[v1ExperimentActionResult]
    def __init__(
        self,
        *,
        results: Sequence[v1ExperimentActionResult],
    ) -> None: ...

class v1ArchiveRunsRequest(Message):
    projectId: int
    runIds: list[int]
    filter: str | None
    def __init__(
        self,
        *,
        projectId: int,
        runIds: Sequence[int],
        filter: str | Unset | None = ...,
    ) -> None: ...

class v1ArchiveRunsResponse(Message):
    results: list[v1RunActionResult]
    def __init__(
        self,
        *,
        results: Sequence[v1RunActionResult],
    ) -> None: ...

class v1AwsCustomTag(Message):
    key: str
    value: str
    def __init__(
        self,
        *,
        key: str,
        value: str,
    ) -> None: ...

class v1BindRPToWorkspaceRequest(Message):
    resourcePoolName: str
    workspaceIds: list[int] | None
    workspaceNames: list[str] | None
    def __init__(
        self,
        *,
        resourcePoolName: str,
        workspaceIds: Sequence[int] | Unset | None = ...,
        workspaceNames: Sequence[str] | Unset | None = ...,
    ) -> None: ...

class v1BulkExperimentFilters(Message):
    archived: bool | None
    description: str | None
    excludedExperimentIds: list[int] | None
    labels: list[str] | None
    name: str | None
    projectId: int | None
    states: list[experimentv1State] | None
    userIds: list[int] | None
    def __init__(
        self,
        *,
        archived: bool | Unset | None = ...,
        description: str | Unset | None = ...,
        excludedExperimentIds: Sequence[int] | Unset | None = ...,
        labels: Sequence[str] | Unset | None = ...,
        name: str | Unset | None = ...,
        projectId: int | Unset | None = ...,
        states: Sequence[experimentv1State] | Unset | None = ...,
        userIds: Sequence[int] | Unset | None = ...,
    ) -> None: ...

class v1CancelExperimentsRequest(Message):
    experimentIds: list[int]
    projectId: int
    filters: v1BulkExperimentFilters | None
    def __init__(
        self,
        *,
        experimentIds: Sequence[int],
        projectId: int,
        filters: v1BulkExperimentFilters | Unset | None = ...,
    ) -> None: ...

class v1CancelExperimentsResponse(Message):
    results: list[v1ExperimentActionResult]
    def __init__(
        self,
        *,
        results: Sequence[v1ExperimentActionResult],
    ) -> None: ...

class v1Checkpoint(Message):
    metadata: dict[str, Any]
    resources: dict[str, str]
    state: checkpointv1State
    training: v1CheckpointTrainingMetadata
    uuid: str
    allocationId: str | None
    reportTime: str | None
    storageId: int | None
    taskId: str | None
    def __init__(
        self,
        *,
        metadata: Mapping[str, Any],
        resources: Mapping[str, str],
        state: checkpointv1State,
        training: v1CheckpointTrainingMetadata,
        uuid: str,
        allocationId: str | Unset | None = ...,
        reportTime: str | Unset | None = ...,
        storageId: int | Unset | None = ...,
        taskId: str | Unset | None = ...,
    ) -> None: ...

class v1CheckpointTrainingMetadata(Message):
    experimentConfig: dict[str, Any] | None
    experimentId: int | None
    hparams: dict[str, Any] | None
    searcherMetric: float | None
    trainingMetrics: v1Metrics | None
    trialId: int | None
    validationMetrics: v1Metrics | None
    def __init__(
        self,
        *,
        experimentConfig: Mapping[str, Any] | Unset | None = ...,
        experimentId: int | Unset | None = ...,
        hparams: Mapping[str, Any] | Unset | None = ...,
        searcherMetric: float | Unset | None = ...,
        trainingMetrics: v1Metrics | Unset | None = ...,
        trialId: int | Unset | None = ...,
        validationMetrics: v1Metrics | Unset | None = ...,
    ) -> None: ...

class v1CheckpointWorkload(Message):
    state: checkpointv1State
    totalBatches: int
    endTime: str | None
    metadata: dict[str, Any] | None
    resources: dict[str, str] | None
    uuid: str | None
    def __init__(
        self,
        *,
        state: checkpointv1State,
        totalBatches: int,
        endTime: str | Unset | None = ...,
        metadata: Mapping[str, Any] | Unset | None = ...,
        resources: Mapping[str, str] | Unset | None = ...,
        uuid: str | Unset | None = ...,
    ) -> None: ...

class v1CheckpointsRemoveFilesRequest(Message):
    checkpointGlobs: list[str]
    checkpointUuids: list[str]
    def __init__(
        self,
        *,
        checkpointGlobs: Sequence[str],
        checkpointUuids: Sequence[str],
    ) -> None: ...

class v1CleanupLogsResponse(Message):
    removedCount: str
    def __init__(
        self,
        *,
        removedCount: str,
    ) -> None: ...

class v1ClusterMessage(Message):
    message: str
    startTime: str
    createdTime: str | None
    endTime: str | None
    def __init__(
        self,
        *,
        message: str,
        startTime: str,
        createdTime: str | Unset | None = ...,
        endTime: str | Unset | None = ...,
    ) -> None: ...

class v1ColumnType(DetEnum):
    UNSPECIFIED = "COLUMN_TYPE_UNSPECIFIED"
    TEXT = "COLUMN_TYPE_TEXT"
    NUMBER = "COLUMN_TYPE_NUMBER"
    DATE = "COLUMN_TYPE_DATE"
    ARRAY = "COLUMN_TYPE_ARRAY"

class v1Command(Message):
    description: str
    id: str
    jobId: str
    resourcePool: str
    startTime: str
    state: taskv1State
    username: str
    workspaceId: int
    container: v1Container | None
    displayName: str | None
    exitStatus: str | None
    userId: int | None
    def __init__(
        self,
        *,
        description: str,
        id: str,
        jobId: str,
        resourcePool: str,
        startTime: str,
        state: taskv1State,
        username: str,
        workspaceId: int,
        container: v1Container | Unset | None = ...,
        displayName: str | Unset | None = ...,
        exitStatus: str | Unset | None = ...,
        userId: int | Unset | None = ...,
    ) -> None: ...

class v1ComparableTrial(Message):
    metrics: list[v1DownsampledMetrics]
    trial: trialv1Trial
    def __init__(
        self,
        *,
        metrics: Sequence[v1DownsampledMetrics],
        trial: trialv1Trial,
    ) -> None: ...

class v1CompareTrialsResponse(Message):
    trials: list[v1ComparableTrial]
    def __init__(
        self,
        *,
        trials: Sequence[v1ComparableTrial],
    ) -> None: ...

class v1Config(Message):
    log: v1LogConfig | None
    def __init__(
        self,
        *,
        log: v1LogConfig | Unset | None = ...,
    ) -> None: ...

class v1Container(Message):
    id: str
    state: containerv1State
    devices: list[v1Device] | None
    parent: str | None
    permissionDenied: bool | None
    def __init__(
        self,
        *,
        id: str,
        state: containerv1State,
        devices: Sequence[v1Device] | Unset | None = ...,
        parent: str | Unset | None = ...,
        permissionDenied: bool | Unset | None = ...,
    ) -> None: ...

class v1ContinueExperimentRequest(Message):
    id: int
    overrideConfig: str | None
    def __init__(
        self,
        *,
        id: int,
        overrideConfig: str | Unset | None = ...,
    ) -> None: ...

class v1ContinueExperimentResponse(Message):
    experiment: v1Experiment
    warnings: list[v1LaunchWarning] | None
    def __init__(
        self,
        *,
        experiment: v1Experiment,
        warnings: Sequence[v1LaunchWarning] | Unset | None = ...,
    ) -> None: ...

class v1CreateExperimentRequest(Message):
    activate: bool | None
    config: str | None
    modelDefinition: list[v1File] | None
    parentId: int | None
    projectId: int | None
    template: str | None
    unmanaged: bool | None
    validateOnly: bool | None
    def __init__(
        self,
        *,
        activate: bool | Unset | None = ...,
        config: str | Unset | None = ...,
        modelDefinition: Sequence[v1File] | Unset | None = ...,
        parentId: int | Unset | None = ...,
        projectId: int | Unset | None = ...,
        template: str | Unset | None = ...,
        unmanaged: bool | Unset | None = ...,
        validateOnly: bool | Unset | None = ...,
    ) -> None: ...

class v1CreateExperimentResponse(Message):
    config: dict[str, Any]
    experiment: v1Experiment
    warnings: list[v1LaunchWarning] | None
    def __init__(
        self,
        *,
        config: Mapping[str, Any],
        experiment: v1Experiment,
        warnings: Sequence[v1LaunchWarning] | Unset | None = ...,
    ) -> None: ...

class v1CreateGenericTaskRequest(Message):
    config: str
    contextDirectory: list[v1File]
    forkedFrom: str | None
    inheritContext: bool | None
    noPause: bool | None
    parentId: str | None
    projectId: int | None
    def __init__(
        self,
        *,
        config: str,
        contextDirectory: Sequence[v1File],
        forkedFrom: str | Unset | None = ...,
        inheritContext: bool | Unset | None = ...,
        noPause: bool | Unset | None = ...,
        parentId: str | Unset | None = ...,
        projectId: int | Unset | None = ...,
    ) -> None: ...

class v1CreateGenericTaskResponse(Message):
    taskId: str
    warnings: list[v1LaunchWarning] | None
    def __init__(
        self,
        *,
        taskId: str,
        warnings: Sequence[v1LaunchWarning] | Unset | None = ...,
    ) -> None: ...

class v1CreateTrialRequest(Message):
    experimentId: int | None
    hparams: dict[str, Any] | None
    unmanaged: bool | None
    def __init__(
        self,
        *,
        experimentId: int | Unset | None = ...,
        hparams: Mapping[str, Any] | Unset | None = ...,
        unmanaged: bool | Unset | None = ...,
    ) -> None: ...

class v1CreateTrialResponse(Message):
    trial: trialv1Trial
    def __init__(
        self,
        *,
        trial: trialv1Trial,
    ) -> None: ...

class v1CurrentUserResponse(Message):
    user: v1User
    def __init__(
        self,
        *,
        user: v1User,
    ) -> None: ...

class v1CustomWebhookEventData(Message):
    description: str | None
    level: v1LogLevel | None
    title: str | None
    def __init__(
        self,
        *,
        description: str | Unset | None = ...,
        level: v1LogLevel | Unset | None = ...,
        title: str | Unset | None = ...,
    ) -> None: ...

class v1DataPoint(Message):
    batches: int
    time: str
    epoch: float | None
    values: dict[str, Any] | None
    def __init__(
        self,
        *,
        batches: int,
        time: str,
        epoch: float | Unset | None = ...,
        values: Mapping[str, Any] | Unset | None = ...,
    ) -> None: ...

class v1DeleteCheckpointsRequest(Message):
    checkpointUuids: list[str]
    def __init__(
        self,
        *,
        checkpointUuids: Sequence[str],
    ) -> None: ...

class v1DeleteExperimentLabelResponse(Message):
    labels: list[str]
    def __init__(
        self,
        *,
        labels: Sequence[str],
    ) -> None: ...

class v1DeleteExperimentsRequest(Message):
    experimentIds: list[int]
    projectId: int
    filters: v1BulkExperimentFilters | None
    def __init__(
        self,
        *,
        experimentIds: Sequence[int],
        projectId: int,
        filters: v1BulkExperimentFilters | Unset | None = ...,
    ) -> None: ...

class v1DeleteExperimentsResponse(Message):
    results: list[v1ExperimentActionResult]
    def __init__(
        self,
        *,
        results: Sequence[v1ExperimentActionResult],
    ) -> None: ...

class v1DeleteProjectResponse(Message):
    completed: bool
    def __init__(
        self,
        *,
        completed: bool,
    ) -> None: ...

class v1DeleteRunsRequest(Message):
    runIds: list[int]
    filter: str | None
    projectId: int | None
    def __init__(
        self,
        *,
        runIds: Sequence[int],
        filter: str | Unset | None = ...,
        projectId: int | Unset | None = ...,
    ) -> None: ...

class v1DeleteRunsResponse(Message):
    results: list[v1RunActionResult]
    def __init__(
        self,
        *,
        results: Sequence[v1RunActionResult],
    ) -> None: ...

class v1DeleteWorkspaceResponse(Message):
    completed: bool
    def __init__(
        self,
        *,
        completed: bool,
    ) -> None: ...

class v1Device(Message):
    brand: str | None
    id: int | None
    type: devicev1Type | None
    uuid: str | None
    def __init__(
        self,
        *,
        brand: str | Unset | None = ...,
        id: int | Unset | None = ...,
        type: devicev1Type | Unset | None = ...,
        uuid: str | Unset | None = ...,
    ) -> None: ...

class v1DeviceStats(Message):
    disabled: int
    draining: int
    total: int
    states: dict[str, int] | None
    def __init__(
        self,
        *,
        disabled: int,
        draining: int,
        total: int,
        states: Mapping[str, int] | Unset | None = ...,
    ) -> None: ...

class v1DisableAgentRequest(Message):
    agentId: str | None
    drain: bool | None
    def __init__(
        self,
        *,
        agentId: str | Unset | None = ...,
        drain: bool | Unset | None = ...,
    ) -> None: ...

class v1DisableAgentResponse(Message):
    agent: v1Agent | None
    def __init__(
        self,
        *,
        agent: v1Agent | Unset | None = ...,
    ) -> None: ...

class v1DisableSlotRequest(Message):
    agentId: str | None
    drain: bool | None
    slotId: str | None
    def __init__(
        self,
        *,
        agentId: str | Unset | None = ...,
        drain: bool | Unset | None = ...,
        slotId: str | Unset | None = ...,
    ) -> None: ...

class v1DisableSlotResponse(Message):
    slot: v1Slot | None
    def __init__(
        self,
        *,
        slot: v1Slot | Unset | None = ...,
    ) -> None: ...

class v1DownsampledMetrics(Message):
    data: list[v1DataPoint]
    group: str
    type: v1MetricType
    def __init__(
        self,
        *,
        data: Sequence[v1DataPoint],
        group: str,
        type: v1MetricType,
    ) -> None: ...

class v1EnableAgentResponse(Message):
    agent: v1Agent | None
    def __init__(
        self,
        *,
        agent: v1Agent | Unset | None = ...,
    ) -> None: ...

class v1EnableSlotResponse(Message):
    slot: v1Slot | None
    def __init__(
        self,
        *,
        slot: v1Slot | Unset | None = ...,
    ) -> None: ...

class v1EntityType(DetEnum):
    UNSPECIFIED = "ENTITY_TYPE_UNSPECIFIED"
    PROJECT = "ENTITY_TYPE_PROJECT"

class v1ExpMetricNamesResponse(Message):
    metricNames: list[v1MetricIdentifier] | None
    searcherMetrics: list[str] | None
    trainingMetrics: list[str] | None
    validationMetrics: list[str] | None
    def __init__(
        self,
        *,
        metricNames: Sequence[v1MetricIdentifier] | Unset | None = ...,
        searcherMetrics: Sequence[str] | Unset | None = ...,
        trainingMetrics: Sequence[str] | Unset | None = ...,
        validationMetrics: Sequence[str] | Unset | None = ...,
    ) -> None: ...

class v1Experiment(Message):
    archived: bool
    config: dict[str, Any]
    id: int
    jobId: str
    name: str
    numTrials: int
    originalConfig: str
    projectId: int
    projectOwnerId: int
    searcherType: str
    startTime: str
    state: experimentv1State
    username: str
    bestTrialId: int | None
    bestTrialSearcherMetric: float | None
    checkpointCount: int | None
    checkpointSize: str | None
    description: str | None
    displayName: str | None
    duration: int | None
    endTime: str | None
    externalExperimentId: str | None
    externalTrialId: str | None
    forkedFrom: int | None
    hyperparameters: dict[str, Any] | None
    labels: list[str] | None
    modelDefinitionSize: int | None
    notes: str | None
    pachydermIntegration: dict[str, Any] | None
    parentArchived: bool | None
    progress: float | None
    projectName: str | None
    resourcePool: str | None
    searcherMetric: str | None
    trialIds: list[int] | None
    unmanaged: bool | None
    userId: int | None
    workspaceId: int | None
    workspaceName: str | None
    def __init__(
        self,
        *,
        archived: bool,
        config: Mapping[str, Any],
        id: int,
        jobId: str,
        name: str,
        numTrials: int,
        originalConfig: str,
        projectId: int,
        projectOwnerId: int,
        searcherType: str,
        startTime: str,
        state: experimentv1State,
        username: str,
        bestTrialId: int | Unset | None = ...,
        bestTrialSearcherMetric: float | Unset | None = ...,
        checkpointCount: int | Unset | None = ...,
        checkpointSize: str | Unset | None = ...,
        description: str | Unset | None = ...,
        displayName: str | Unset | None = ...,
        duration: int | Unset | None = ...,
        endTime: str | Unset | None = ...,
        externalExperimentId: str | Unset | None = ...,
        externalTrialId: str | Unset | None = ...,
        forkedFrom: int | Unset | None = ...,
        hyperparameters: Mapping[str, Any] | Unset | None = ...,
        labels: Sequence[str] | Unset | None = ...,
        modelDefinitionSize: int | Unset | None = ...,
        notes: str | Unset | None = ...,
        pachydermIntegration: Mapping[str, Any] | Unset | None = ...,
        parentArchived: bool | Unset | None = ...,
        progress: float | Unset | None = ...,
        projectName: str | Unset | None = ...,
        resourcePool: str | Unset | None = ...,
        searcherMetric: str | Unset | None = ...,
        trialIds: Sequence[int] | Unset | None = ...,
        unmanaged: bool | Unset | None = ...,
        userId: int | Unset | None = ...,
        workspaceId: int | Unset | None = ...,
        workspaceName: str | Unset | None = ...,
    ) -> None: ...

class v1ExperimentActionResult(Message):
    error: str
    id: int
    def __init__(
        self,
        *,
        error: str,
        id: int,
    ) -> None: ...

class v1FailureType(DetEnum):
    UNSPECIFIED = "FAILURE_TYPE_UNSPECIFIED"
    RESOURCES_FAILED = "FAILURE_TYPE_RESOURCES_FAILED"
    RESOURCES_ABORTED = "FAILURE_TYPE_RESOURCES_ABORTED"
    RESOURCES_MISSING = "FAILURE_TYPE_RESOURCES_MISSING"
    TASK_ABORTED = "FAILURE_TYPE_TASK_ABORTED"
    TASK_ERROR = "FAILURE_TYPE_TASK_ERROR"
    AGENT_FAILED = "FAILURE_TYPE_AGENT_FAILED"
    AGENT_ERROR = "FAILURE_TYPE_AGENT_ERROR"
    RESTORE_ERROR = "FAILURE_TYPE_RESTORE_ERROR"
    UNKNOWN_ERROR = "FAILURE_TYPE_UNKNOWN_ERROR"

class v1File(Message):
    content: str
    gid: int
    mode: int
    mtime: Any
    path: str
    type: int
    uid: int
    def __init__(
        self,
        *,
        content: str,
        gid: int,
        mode: int,
        mtime: Any,
        path: str,
        type: int,
        uid: int,
    ) -> None: ...

class v1FileNode(Message):
    contentLength: int | None
    contentType: str | None
    files: list[v1FileNode] | None
    isDir: bool | None
    modifiedTime: str | None
    name: str | None
    path: str | None
    def __init__(
        self,
        *,
        contentLength: int | Unset | None = ...,
        contentType: str | Unset | None = ...,
        files: Sequence[v1FileNode] | Unset | None = ...,
        isDir: bool | Unset | None = ...,
        modifiedTime: str | Unset | None = ...,
        name: str | Unset | None = ...,
        path: str | Unset | None = ...,
    ) -> None: ...

class v1FittingPolicy(DetEnum):
    UNSPECIFIED = "FITTING_POLICY_UNSPECIFIED"
    BEST = "FITTING_POLICY_BEST"
    WORST = "FITTING_POLICY_WORST"
    KUBERNETES = "FITTING_POLICY_KUBERNETES"
    SLURM = "FITTING_POLICY_SLURM"
    PBS = "FITTING_POLICY_PBS"

class v1FlatRun(Message):
    archived: bool
    checkpointCount: int
    checkpointSize: str
    id: int
    parentArchived: bool
    projectId: int
    projectName: str
    startTime: str
    state: trialv1State
    workspaceId: int
    workspaceName: str
    duration: int | None
    endTime: str | None
    experiment: v1FlatRunExperiment | None
    externalRunId: str | None
    hyperparameters: dict[str, Any] | None
    labels: list[str] | None
    localId: str | None
    logPolicyMatched: str | None
    metadata: dict[str, Any] | None
    searcherMetricValue: float | None
    summaryMetrics: dict[str, Any] | None
    userId: int | None
    def __init__(
        self,
        *,
        archived: bool,
        checkpointCount: int,
        checkpointSize: str,
        id: int,
        parentArchived: bool,
        projectId: int,
        projectName: str,
        startTime: str,
        state: trialv1State,
        workspaceId: int,
        workspaceName: str,
        duration: int | Unset | None = ...,
        endTime: str | Unset | None = ...,
        experiment: v1FlatRunExperiment | Unset | None = ...,
        externalRunId: str | Unset | None = ...,
        hyperparameters: Mapping[str, Any] | Unset | None = ...,
        labels: Sequence[str] | Unset | None = ...,
        localId: str | Unset | None = ...,
        logPolicyMatched: str | Unset | None = ...,
        metadata: Mapping[str, Any] | Unset | None = ...,
        searcherMetricValue: float | Unset | None = ...,
        summaryMetrics: Mapping[str, Any] | Unset | None = ...,
        userId: int | Unset | None = ...,
    ) -> None: ...

class v1FlatRunExperiment(Message):
    description: str
    id: int
    isMultitrial: bool
    name: str
    progress: float
    resourcePool: str
    searcherMetric: str
    searcherType: str
    unmanaged: bool
    externalExperimentId: str | None
    forkedFrom: int | None
    pachydermIntegration: dict[str, Any] | None
    def __init__(
        self,
        *,
        description: str,
        id: int,
        isMultitrial: bool,
        name: str,
        progress: float,
        resourcePool: str,
        searcherMetric: str,
        searcherType: str,
        unmanaged: bool,
        externalExperimentId: str | Unset | None = ...,
        forkedFrom: int | Unset | None = ...,
        pachydermIntegration: Mapping[str, Any] | Unset | None = ...,
    ) -> None: ...

class v1GenericTaskState(DetEnum):
    UNSPECIFIED = "GENERIC_TASK_STATE_UNSPECIFIED"
    ACTIVE = "GENERIC_TASK_STATE_ACTIVE"
    CANCELED = "GENERIC_TASK_STATE_CANCELED"
    COMPLETED = "GENERIC_TASK_STATE_COMPLETED"
    ERROR = "GENERIC_TASK_STATE_ERROR"
    PAUSED = "GENERIC_TASK_STATE_PAUSED"
    STOPPING_PAUSED = "GENERIC_TASK_STATE_STOPPING_PAUSED"
    STOPPING_CANCELED = "GENERIC_TASK_STATE_STOPPING_CANCELED"
    STOPPING_COMPLETED = "GENERIC_TASK_STATE_STOPPING_COMPLETED"
    STOPPING_ERROR = "GENERIC_TASK_STATE_STOPPING_ERROR"

class v1GetAccessTokensRequestSortBy(DetEnum):
    UNSPECIFIED = "SORT_BY_UNSPECIFIED"
    USER_ID = "SORT_BY_USER_ID"
    EXPIRY = "SORT_BY_EXPIRY"
    CREATED_AT = "SORT_BY_CREATED_AT"
    TOKEN_TYPE = "SORT_BY_TOKEN_TYPE"
    REVOKED = "SORT_BY_REVOKED"
    DESCRIPTION = "SORT_BY_DESCRIPTION"

class v1GetAccessTokensResponse(Message):
    tokenInfo: list[v1TokenInfo]
    pagination: v1Pagination | None
    def __init__(
        self,
        *,
        tokenInfo: Sequence[v1TokenInfo],
        pagination: v1Pagination | Unset | None = ...,
    ) -> None: ...

class v1GetActiveTasksCountResponse(Message):
    commands: int
    notebooks: int
    shells: int
    tensorboards: int
    def __init__(
        self,
        *,
        commands: int,
        notebooks: int,
        shells: int,
        tensorboards: int,
    ) -> None: ...

class v1GetAgentResponse(Message):
    agent: v1Agent
    def __init__(
        self,
        *,
        agent: v1Agent,
    ) -> None: ...

class v1GetAgentsRequestSortBy(DetEnum):
    UNSPECIFIED = "SORT_BY_UNSPECIFIED"
    ID = "SORT_BY_ID"
    TIME = "SORT_BY_TIME"

class v1GetAgentsResponse(Message):
    agents: list[v1Agent]
    pagination: v1Pagination | None
    def __init__(
        self,
        *,
        agents: Sequence[v1Agent],
        pagination: v1Pagination | Unset | None = ...,
    ) -> None: ...

class v1GetAllocationResponse(Message):
    allocation: v1Allocation
    def __init__(
        self,
        *,
        allocation: v1Allocation,
    ) -> None: ...

class v1GetBestSearcherValidationMetricResponse(Message):
    metric: float | None
    def __init__(
        self,
        *,
        metric: float | Unset | None = ...,
    ) -> None: ...

class v1GetCheckpointResponse(Message):
    checkpoint: v1Checkpoint
    def __init__(
        self,
        *,
        checkpoint: v1Checkpoint,
    ) -> None: ...

class v1GetClusterMessageResponse(Message):
    clusterMessage: v1ClusterMessage | None
    def __init__(
        self,
        *,
        clusterMessage: v1ClusterMessage | Unset | None = ...,
    ) -> None: ...

class v1GetCommandResponse(Message):
    command: v1Command
    config: dict[str, Any]
    def __init__(
        self,
        *,
        command: v1Command,
        config: Mapping[str, Any],
    ) -> None: ...

class v1GetCommandsResponse(Message):
    commands: list[v1Command]
    pagination: v1Pagination | None
    def __init__(
        self,
        *,
        commands: Sequence[v1Command],
        pagination: v1Pagination | Unset | None = ...,
    ) -> None: ...

class v1GetExperimentCheckpointsResponse(Message):
    checkpoints: list[v1Checkpoint]
    pagination: v1Pagination
    def __init__(
        self,
        *,
        checkpoints: Sequence[v1Checkpoint],
        pagination: v1Pagination,
    ) -> None: ...

class v1GetExperimentLabelsResponse(Message):
    labels: list[str] | None
    def __init__(
        self,
        *,
        labels: Sequence[str] | Unset | None = ...,
    ) -> None: ...

class v1GetExperimentResponse(Message):
    experiment: v1Experiment
    config: dict[str, Any] | None
    jobSummary: v1JobSummary | None
    def __init__(
        self,
        *,
        experiment: v1Experiment,
        config: Mapping[str, Any] | Unset | None = ...,
        jobSummary: v1JobSummary | Unset | None = ...,
    ) -> None: ...

class v1GetExperimentTrialsRequestSortBy(DetEnum):
    UNSPECIFIED = "SORT_BY_UNSPECIFIED"
    ID = "SORT_BY_ID"
    START_TIME = "SORT_BY_START_TIME"
    END_TIME = "SORT_BY_END_TIME"
    STATE = "SORT_BY_STATE"
    BEST_VALIDATION_METRIC = "SORT_BY_BEST_VALIDATION_METRIC"
    LATEST_VALIDATION_METRIC = "SORT_BY_LATEST_VALIDATION_METRIC"
    BATCHES_PROCESSED = "SORT_BY_BATCHES_PROCESSED"
    DURATION = "SORT_BY_DURATION"
    RESTARTS = "SORT_BY_RESTARTS"
    CHECKPOINT_SIZE = "SORT_BY_CHECKPOINT_SIZE"
    LOG_RETENTION_DAYS = "SORT_BY_LOG_RETENTION_DAYS"

class v1GetExperimentTrialsResponse(Message):
    pagination: v1Pagination
    trials: list[trialv1Trial]
    def __init__(
        self,
        *,
        pagination: v1Pagination,
        trials: Sequence[trialv1Trial],
    ) -> None: ...

class v1GetExperimentValidationHistoryResponse(Message):
    validationHistory: list[v1ValidationHistoryEntry] | None
    def __init__(
        self,
        *,
        validationHistory: Sequence[v1ValidationHistoryEntry] | Unset | None = ...,
    ) -> None: ...

class v1GetExperimentsRequestSortBy(DetEnum):
    UNSPECIFIED = "SORT_BY_UNSPECIFIED"
    ID = "SORT_BY_ID"
    DESCRIPTION = "SORT_BY_DESCRIPTION"
    START_TIME = "SORT_BY_START_TIME"
    END_TIME = "SORT_BY_END_TIME"
    STATE = "SORT_BY_STATE"
    NUM_TRIALS = "SORT_BY_NUM_TRIALS"
    PROGRESS = "SORT_BY_PROGRESS"
    USER = "SORT_BY_USER"
    NAME = "SORT_BY_NAME"
    FORKED_FROM = "SORT_BY_FORKED_FROM"
    RESOURCE_POOL = "SORT_BY_RESOURCE_POOL"
    PROJECT_ID = "SORT_BY_PROJECT_ID"
    CHECKPOINT_SIZE = "SORT_BY_CHECKPOINT_SIZE"
    CHECKPOINT_COUNT = "SORT_BY_CHECKPOINT_COUNT"
    SEARCHER_METRIC_VAL = "SORT_BY_SEARCHER_METRIC_VAL"

class v1GetExperimentsResponse(Message):
    experiments: list[v1Experiment]
    pagination: v1Pagination
    def __init__(
        self,
        *,
        experiments: Sequence[v1Experiment],
        pagination: v1Pagination,
    ) -> None: ...

class v1GetGenericTaskConfigResponse(Message):
    config: str
    def __init__(
        self,
        *,
        config: str,
    ) -> None: ...

class v1GetJobQueueStatsResponse(Message):
    results: list[v1RPQueueStat]
    def __init__(
        self,
        *,
        results: Sequence[v1RPQueueStat],
    ) -> None: ...

class v1GetJobsResponse(Message):
    jobs: list[v1Job]
    pagination: v1Pagination
    def __init__(
        self,
        *,
        jobs: Sequence[v1Job],
        pagination: v1Pagination,
    ) -> None: ...

class v1GetJobsV2Response(Message):
    jobs: list[v1RBACJob]
    pagination: v1Pagination
    def __init__(
        self,
        *,
        jobs: Sequence[v1RBACJob],
        pagination: v1Pagination,
    ) -> None: ...

class v1GetKubernetesResourceQuotasResponse(Message):
    resourceQuotas: dict[str, float]
    def __init__(
        self,
        *,
        resourceQuotas: Mapping[str, float],
    ) -> None: ...

class v1GetMasterConfigResponse(Message):
    config: dict[str, Any]
    def __init__(
        self,
        *,
        config: Mapping[str, Any],
    ) -> None: ...

class v1GetMasterResponse(Message):
    clusterId: str
    clusterName: str
    hasCustomLogo: bool
    masterId: str
    strictJobQueueControl: bool
    version: str
    branding: str | None
    clusterMessage: v1ClusterMessage | None
    externalLoginUri: str | None
    externalLogoutUri: str | None
    featureSwitches: list[str] | None
    product: GetMasterResponseProduct | None
    rbacEnabled: bool | None
    ssoProviders: list[v1SSOProvider] | None
    telemetryEnabled: bool | None
    userManagementEnabled: bool | None
    def __init__(
        self,
        *,
        clusterId: str,
        clusterName: str,
        hasCustomLogo: bool,
        masterId: str,
        strictJobQueueControl: bool,
        version: str,
        branding: str | Unset | None = ...,
        clusterMessage: v1ClusterMessage | Unset | None = ...,
        externalLoginUri: str | Unset | None = ...,
        externalLogoutUri: str | Unset | None = ...,
        featureSwitches: Sequence[str] | Unset | None = ...,
        product: GetMasterResponseProduct | Unset | None = ...,
        rbacEnabled: bool | Unset | None = ...,
        ssoProviders: Sequence[v1SSOProvider] | Unset | None = ...,
        telemetryEnabled: bool | Unset | None = ...,
        userManagementEnabled: bool | Unset | None = ...,
    ) -> None: ...

class v1GetMeResponse(Message):
    user: v1User
    def __init__(
        self,
        *,
        user: v1User,
    ) -> None: ...

class v1GetMetadataValuesResponse(Message):
    values: list[str] | None
    def __init__(
        self,
        *,
        values: Sequence[str] | Unset | None = ...,
    ) -> None: ...

class v1GetMetricsResponse(Message):
    metrics: list[v1MetricsReport]
    def __init__(
        self,
        *,
        metrics: Sequence[v1MetricsReport],
    ) -> None: ...

class v1GetModelDefFileRequest(Message):
    experimentId: int | None
    path: str | None
    def __init__(
        self,
        *,
        experimentId: int | Unset | None = ...,
        path: str | Unset | None = ...,
    ) -> None: ...

class v1GetModelDefFileResponse(Message):
    file: str | None
    def __init__(
        self,
        *,
        file: str | Unset | None = ...,
    ) -> None: ...

class v1GetModelDefResponse(Message):
    b64Tgz: str
    def __init__(
        self,
        *,
        b64Tgz: str,
    ) -> None: ...

class v1GetModelDefTreeResponse(Message):
    files: list[v1FileNode] | None
    def __init__(
        self,
        *,
        files: Sequence[v1FileNode] | Unset | None = ...,
    ) -> None: ...

class v1GetModelLabelsResponse(Message):
    labels: list[str]
    def __init__(
        self,
        *,
        labels: Sequence[str],
    ) -> None: ...

class v1GetModelResponse(Message):
    model: v1Model
    def __init__(
        self,
        *,
        model: v1Model,
    ) -> None: ...

class v1GetModelVersionResponse(Message):
    modelVersion: v1ModelVersion
    def __init__(
        self,
        *,
        modelVersion: v1ModelVersion,
    ) -> None: ...

class v1GetModelVersionsRequestSortBy(DetEnum):
    UNSPECIFIED = "SORT_BY_UNSPECIFIED"
    VERSION = "SORT_BY_VERSION"
    CREATION_TIME = "SORT_BY_CREATION_TIME"

class v1GetModelVersionsResponse(Message):
    model: v1Model
    modelVersions: list[v1ModelVersion]
    pagination: v1Pagination
    def __init__(
        self,
        *,
        model: v1Model,
        modelVersions: Sequence[v1ModelVersion],
        pagination: v1Pagination,
    ) -> None: ...

class v1GetModelsRequestSortBy(DetEnum):
    UNSPECIFIED = "SORT_BY_UNSPECIFIED"
    NAME = "SORT_BY_NAME"
    DESCRIPTION = "SORT_BY_DESCRIPTION"
    CREATION_TIME = "SORT_BY_CREATION_TIME"
    LAST_UPDATED_TIME = "SORT_BY_LAST_UPDATED_TIME"
    NUM_VERSIONS = "SORT_BY_NUM_VERSIONS"
    WORKSPACE = "SORT_BY_WORKSPACE"

class v1GetModelsResponse(Message):
    models: list[v1Model]
    pagination: v1Pagination
    def __init__(
        self,
        *,
        models: Sequence[v1Model],
        pagination: v1Pagination,
    ) -> None: ...

class v1GetNotebookResponse(Message):
    config: dict[str, Any]
    notebook: v1Notebook
    def __init__(
        self,
        *,
        config: Mapping[str, Any],
        notebook: v1Notebook,
    ) -> None: ...

class v1GetNotebooksResponse(Message):
    notebooks: list[v1Notebook]
    pagination: v1Pagination | None
    def __init__(
        self,
        *,
        notebooks: Sequence[v1Notebook],
        pagination: v1Pagination | Unset | None = ...,
    ) -> None: ...

class v1GetPermissionsSummaryResponse(Message):
    assignments: list[v1RoleAssignmentSummary]
    roles: list[v1Role]
    def __init__(
        self,
        *,
        assignments: Sequence[v1RoleAssignmentSummary],
        roles: Sequence[v1Role],
    ) -> None: ...

class v1GetProjectByKeyResponse(Message):
    project: v1Project
    def __init__(
        self,
        *,
        project: v1Project,
    ) -> None: ...

class v1GetProjectColumnsResponse(Message):
    columns: list[v1ProjectColumn]
    def __init__(
        self,
        *,
        columns: Sequence[v1ProjectColumn],
    ) -> None: ...

class v1GetProjectNumericMetricsRangeResponse(Message):
    ranges: list[v1MetricsRange] | None
    def __init__(
        self,
        *,
        ranges: Sequence[v1MetricsRange] | Unset | None = ...,
    ) -> None: ...

class v1GetProjectResponse(Message):
    project: v1Project
    def __init__(
        self,
        *,
        project: v1Project,
    ) -> None: ...

class v1GetProjectsByUserActivityResponse(Message):
    projects: list[v1Project] | None
    def __init__(
        self,
        *,
        projects: Sequence[v1Project] | Unset | None = ...,
    ) -> None: ...

class v1GetResourcePoolsResponse(Message):
    pagination: v1Pagination | None
    resourcePools: list[v1ResourcePool] | None
    def __init__(
        self,
        *,
        pagination: v1Pagination | Unset | None = ...,
        resourcePools: Sequence[v1ResourcePool] | Unset | None = ...,
    ) -> None: ...

class v1GetRunMetadataResponse(Message):
    metadata: dict[str, Any] | None
    def __init__(
        self,
        *,
        metadata: Mapping[str, Any] | Unset | None = ...,
    ) -> None: ...

class v1GetShellResponse(Message):
    config: dict[str, Any]
    shell: v1Shell
    def __init__(
        self,
        *,
        config: Mapping[str, Any],
        shell: v1Shell,
    ) -> None: ...

class v1GetShellsResponse(Message):
    shells: list[v1Shell]
    pagination: v1Pagination | None
    def __init__(
        self,
        *,
        shells: Sequence[v1Shell],
        pagination: v1Pagination | Unset | None = ...,
    ) -> None: ...

class v1GetSlotResponse(Message):
    slot: v1Slot | None
    def __init__(
        self,
        *,
        slot: v1Slot | Unset | None = ...,
    ) -> None: ...

class v1GetSlotsResponse(Message):
    slots: list[v1Slot] | None
    def __init__(
        self,
        *,
        slots: Sequence[v1Slot] | Unset | None = ...,
    ) -> None: ...

class v1GetTaskAcceleratorDataResponse(Message):
    acceleratorData: list[v1AcceleratorData]
    def __init__(
        self,
        *,
        acceleratorData: Sequence[v1AcceleratorData],
    ) -> None: ...

class v1GetTaskContextDirectoryResponse(Message):
    b64Tgz: str
    def __init__(
        self,
        *,
        b64Tgz: str,
    ) -> None: ...

class v1GetTaskResponse(Message):
    task: v1Task
    def __init__(
        self,
        *,
        task: v1Task,
    ) -> None: ...

class v1GetTasksResponse(Message):
    allocationIdToSummary: dict[str, v1AllocationSummary] | None
    def __init__(
        self,
        *,
        allocationIdToSummary: Mapping[str, v1AllocationSummary] | Unset | None = ...,
    ) -> None: ...

class v1GetTelemetryResponse(Message):
    enabled: bool
    segmentKey: str | None
    def __init__(
        self,
        *,
        enabled: bool,
        segmentKey: str | Unset | None = ...,
    ) -> None: ...

class v1GetTemplateResponse(Message):
    template: v1Template
    def __init__(
        self,
        *,
        template: v1Template,
    ) -> None: ...

class v1GetTemplatesRequestSortBy(DetEnum):
    UNSPECIFIED = "SORT_BY_UNSPECIFIED"
    NAME = "SORT_BY_NAME"

class v1GetTemplatesResponse(Message):
    pagination: v1Pagination
    templates: list[v1Template]
    def __init__(
        self,
        *,
        pagination: v1Pagination,
        templates: Sequence[v1Template],
    ) -> None: ...

class v1GetTensorboardResponse(Message):
    config: dict[str, Any]
    tensorboard: v1Tensorboard
    def __init__(
        self,
        *,
        config: Mapping[str, Any],
        tensorboard: v1Tensorboard,
    ) -> None: ...

class v1GetTensorboardsRequestSortBy(DetEnum):
    UNSPECIFIED = "SORT_BY_UNSPECIFIED"
    ID = "SORT_BY_ID"
    DESCRIPTION = "SORT_BY_DESCRIPTION"
    START_TIME = "SORT_BY_START_TIME"
    WORKSPACE_ID = "SORT_BY_WORKSPACE_ID"

class v1GetTensorboardsResponse(Message):
    tensorboards: list[v1Tensorboard]
    pagination: v1Pagination | None
    def __init__(
        self,
        *,
        tensorboards: Sequence[v1Tensorboard],
        pagination: v1Pagination | Unset | None = ...,
    ) -> None: ...

class v1GetTrainingMetricsResponse(Message):
    metrics: list[v1MetricsReport]
    def __init__(
        self,
        *,
        metrics: Sequence[v1MetricsReport],
    ) -> None: ...

class v1GetTrialByExternalIDResponse(Message):
    trial: trialv1Trial
    def __init__(
        self,
        *,
        trial: trialv1Trial,
    ) -> None: ...

class v1GetTrialCheckpointsResponse(Message):
    checkpoints: list[v1Checkpoint]
    pagination: v1Pagination
    def __init__(
        self,
        *,
        checkpoints: Sequence[v1Checkpoint],
        pagination: v1Pagination,
    ) -> None: ...

class v1GetTrialMetricsByCheckpointResponse(Message):
    metrics: list[v1MetricsReport]
    def __init__(
        self,
        *,
        metrics: Sequence[v1MetricsReport],
    ) -> None: ...

class v1GetTrialMetricsByModelVersionResponse(Message):
    metrics: list[v1MetricsReport]
    def __init__(
        self,
        *,
        metrics: Sequence[v1MetricsReport],
    ) -> None: ...

class v1GetTrialProfilerAvailableSeriesResponse(Message):
    labels: list[v1TrialProfilerMetricLabels]
    def __init__(
        self,
        *,
        labels: Sequence[v1TrialProfilerMetricLabels],
    ) -> None: ...

class v1GetTrialProfilerMetricsResponse(Message):
    batch: v1TrialProfilerMetricsBatch
    def __init__(
        self,
        *,
        batch: v1TrialProfilerMetricsBatch,
    ) -> None: ...

class v1GetTrialRemainingLogRetentionDaysResponse(Message):
    remainingDays: int | None
    def __init__(
        self,
        *,
        remainingDays: int | Unset | None = ...,
    ) -> None: ...

class v1GetTrialResponse(Message):
    trial: trialv1Trial
    def __init__(
        self,
        *,
        trial: trialv1Trial,
    ) -> None: ...

class v1GetTrialWorkloadsResponse(Message):
    pagination: v1Pagination
    workloads: list[v1WorkloadContainer]
    def __init__(
        self,
        *,
        pagination: v1Pagination,
        workloads: Sequence[v1WorkloadContainer],
    ) -> None: ...

class v1GetUserByUsernameResponse(Message):
    user: v1User
    def __init__(
        self,
        *,
        user: v1User,
    ) -> None: ...

class v1GetUserResponse(Message):
    user: v1User
    def __init__(
        self,
        *,
        user: v1User,
    ) -> None: ...

class v1GetUserSettingResponse(Message):
    settings: list[v1UserWebSetting]
    def __init__(
        self,
        *,
        settings: Sequence[v1UserWebSetting],
    ) -> None: ...

class v1GetUsersRequestSortBy(DetEnum):
    UNSPECIFIED = "SORT_BY_UNSPECIFIED"
    DISPLAY_NAME = "SORT_BY_DISPLAY_NAME"
    USER_NAME = "SORT_BY_USER_NAME"
    ADMIN = "SORT_BY_ADMIN"
    ACTIVE = "SORT_BY_ACTIVE"
    MODIFIED_TIME = "SORT_BY_MODIFIED_TIME"
    NAME = "SORT_BY_NAME"
    LAST_AUTH_TIME = "SORT_BY_LAST_AUTH_TIME"
    REMOTE = "SORT_BY_REMOTE"

class v1GetUsersResponse(Message):
    pagination: v1Pagination | None
    users: list[v1User] | None
    def __init__(
        self,
        *,
        pagination: v1Pagination | Unset | None = ...,
        users: Sequence[v1User] | Unset | None = ...,
    ) -> None: ...

class v1GetValidationMetricsResponse(Message):
    metrics: list[v1MetricsReport]
    def __init__(
        self,
        *,
        metrics: Sequence[v1MetricsReport],
    ) -> None: ...

class v1GetWebhooksResponse(Message):
    webhooks: list[v1Webhook]
    def __init__(
        self,
        *,
        webhooks: Sequence[v1Webhook],
    ) -> None: ...

class v1GetWorkspaceProjectsRequestSortBy(DetEnum):
    UNSPECIFIED = "SORT_BY_UNSPECIFIED"
    CREATION_TIME = "SORT_BY_CREATION_TIME"
    LAST_EXPERIMENT_START_TIME = "SORT_BY_LAST_EXPERIMENT_START_TIME"
    NAME = "SORT_BY_NAME"
    DESCRIPTION = "SORT_BY_DESCRIPTION"
    ID = "SORT_BY_ID"

class v1GetWorkspaceProjectsResponse(Message):
    pagination: v1Pagination
    projects: list[v1Project]
    def __init__(
        self,
        *,
        pagination: v1Pagination,
        projects: Sequence[v1Project],
    ) -> None: ...

class v1GetWorkspaceResponse(Message):
    workspace: v1Workspace
    def __init__(
        self,
        *,
        workspace: v1Workspace,
    ) -> None: ...

class v1GetWorkspacesRequestSortBy(DetEnum):
    UNSPECIFIED = "SORT_BY_UNSPECIFIED"
    ID = "SORT_BY_ID"
    NAME = "SORT_BY_NAME"

class v1GetWorkspacesResponse(Message):
    pagination: v1Pagination
    workspaces: list[v1Workspace]
    def __init__(
        self,
        *,
        pagination: v1Pagination,
        workspaces: Sequence[v1Workspace],
    ) -> None: ...

class v1IdleNotebookRequest(Message):
    idle: bool | None
    notebookId: str | None
    def __init__(
        self,
        *,
        idle: bool | Unset | None = ...,
        notebookId: str | Unset | None = ...,
    ) -> None: ...

class v1Job(Message):
    allocatedSlots: int
    entityId: str
    isPreemptible: bool
    jobId: str
    name: str
    requestedSlots: int
    resourcePool: str
    submissionTime: str
    type: jobv1Type
    username: str
    workspaceId: int
    priority: int | None
    progress: float | None
    summary: v1JobSummary | None
    userId: int | None
    weight: float | None
    def __init__(
        self,
        *,
        allocatedSlots: int,
        entityId: str,
        isPreemptible: bool,
        jobId: str,
        name: str,
        requestedSlots: int,
        resourcePool: str,
        submissionTime: str,
        type: jobv1Type,
        username: str,
        workspaceId: int,
        priority: int | Unset | None = ...,
        progress: float | Unset | None = ...,
        summary: v1JobSummary | Unset | None = ...,
        userId: int | Unset | None = ...,
        weight: float | Unset | None = ...,
    ) -> None: ...

class v1JobSummary(Message):
    jobsAhead: int
    state: jobv1State
    def __init__(
        self,
        *,
        jobsAhead: int,
        state: jobv1State,
    ) -> None: ...

class v1K8PriorityClass(Message):
    priorityClass: str | None
    priorityValue: int | None
    def __init__(
        self,
        *,
        priorityClass: str | Unset | None = ...,
        priorityValue: int | Unset | None = ...,
    ) -> None: ...

class v1KillCommandResponse(Message):
    command: v1Command | None
    def __init__(
        self,
        *,
        command: v1Command | Unset | None = ...,
    ) -> None: ...

class v1KillExperimentsRequest(Message):
    experimentIds: list[int]
    projectId: int
    filters: v1BulkExperimentFilters | None
    def __init__(
        self,
        *,
        experimentIds: Sequence[int],
        projectId: int,
        filters: v1BulkExperimentFilters | Unset | None = ...,
    ) -> None: ...

class v1KillExperimentsResponse(Message):
    results: list[v1ExperimentActionResult]
    def __init__(
        self,
        *,
        results: Sequence[v1ExperimentActionResult],
    ) -> None: ...

class v1KillGenericTaskRequest(Message):
    taskId: str
    killFromRoot: bool | None
    def __init__(
        self,
        *,
        taskId: str,
        killFromRoot: bool | Unset | None = ...,
    ) -> None: ...

class v1KillNotebookResponse(Message):
    notebook: v1Notebook | None
    def __init__(
        self,
        *,
        notebook: v1Notebook | Unset | None = ...,
    ) -> None: ...

class v1KillRunsRequest(Message):
    runIds: list[int]
    filter: str | None
    projectId: int | None
    def __init__(
        self,
        *,
        runIds: Sequence[int],
        filter: str | Unset | None = ...,
        projectId: int | Unset | None = ...,
    ) -> None: ...

class v1KillRunsResponse(Message):
    results: list[v1RunActionResult]
    def __init__(
        self,
        *,
        results: Sequence[v1RunActionResult],
    ) -> None: ...

class v1KillShellResponse(Message):
    shell: v1Shell | None
    def __init__(
        self,
        *,
        shell: v1Shell | Unset | None = ...,
    ) -> None: ...

class v1KillTensorboardResponse(Message):
    tensorboard: v1Tensorboard | None
    def __init__(
        self,
        *,
        tensorboard: v1Tensorboard | Unset | None = ...,
    ) -> None: ...

class v1LaunchCommandRequest(Message):
    config: dict[str, Any] | None
    data: str | None
    files: list[v1File] | None
    templateName: str | None
    workspaceId: int | None
    def __init__(
        self,
        *,
        config: Mapping[str, Any] | Unset | None = ...,
        data: str | Unset | None = ...,
        files: Sequence[v1File] | Unset | None = ...,
        templateName: str | Unset | None = ...,
        workspaceId: int | Unset | None = ...,
    ) -> None: ...

class v1LaunchCommandResponse(Message):
    command: v1Command
    config: dict[str, Any]
    warnings: list[v1LaunchWarning] | None
    def __init__(
        self,
        *,
        command: v1Command,
        config: Mapping[str, Any],
        warnings: Sequence[v1LaunchWarning] | Unset | None = ...,
    ) -> None: ...

class v1LaunchNotebookRequest(Message):
    config: dict[str, Any] | None
    files: list[v1File] | None
    preview: bool | None
    templateName: str | None
    workspaceId: int | None
    def __init__(
        self,
        *,
        config: Mapping[str, Any] | Unset | None = ...,
        files: Sequence[v1File] | Unset | None = ...,
        preview: bool | Unset | None = ...,
        templateName: str | Unset | None = ...,
        workspaceId: int | Unset | None = ...,
    ) -> None: ...

class v1LaunchNotebookResponse(Message):
    config: dict[str, Any]
    notebook: v1Notebook
    warnings: list[v1LaunchWarning] | None
    def __init__(
        self,
        *,
        config: Mapping[str, Any],
        notebook: v1Notebook,
        warnings: Sequence[v1LaunchWarning] | Unset | None = ...,
    ) -> None: ...

class v1LaunchShellRequest(Message):
    config: dict[str, Any] | None
    data: str | None
    files: list[v1File] | None
    templateName: str | None
    workspaceId: int | None
    def __init__(
        self,
        *,
        config: Mapping[str, Any] | Unset | None = ...,
        data: str | Unset | None = ...,
        files: Sequence[v1File] | Unset | None = ...,
        templateName: str | Unset | None = ...,
        workspaceId: int | Unset | None = ...,
    ) -> None: ...

class v1LaunchShellResponse(Message):
    config: dict[str, Any]
    shell: v1Shell
    warnings: list[v1LaunchWarning] | None
    def __init__(
        self,
        *,
        config: Mapping[str, Any],
        shell: v1Shell,
        warnings: Sequence[v1LaunchWarning] | Unset | None = ...,
    ) -> None: ...

class v1LaunchTensorboardRequest(Message):
    config: dict[str, Any] | None
    experimentIds: list[int] | None
    files: list[v1File] | None
    filters: v1BulkExperimentFilters | None
    templateName: str | None
    trialIds: list[int] | None
    workspaceId: int | None
    def __init__(
        self,
        *,
        config: Mapping[str, Any] | Unset | None = ...,
        experimentIds: Sequence[int] | Unset | None = ...,
        files: Sequence[v1File] | Unset | None = ...,
        filters: v1BulkExperimentFilters | Unset | None = ...,
        templateName: str | Unset | None = ...,
        trialIds: Sequence[int] | Unset | None = ...,
        workspaceId: int | Unset | None = ...,
    ) -> None: ...

class v1LaunchTensorboardResponse(Message):
    config: dict[str, Any]
    tensorboard: v1Tensorboard
    warnings: list[v1LaunchWarning] | None
    def __init__(
        self,
        *,
        config: Mapping[str, Any],
        tensorboard: v1Tensorboard,
        warnings: Sequence[v1LaunchWarning] | Unset | None = ...,
    ) -> None: ...

class v1LaunchWarning(DetEnum):
    UNSPECIFIED = "LAUNCH_WARNING_UNSPECIFIED"
    CURRENT_SLOTS_EXCEEDED = "LAUNCH_WARNING_CURRENT_SLOTS_EXCEEDED"

class v1LimitedJob(Message):
    allocatedSlots: int
    isPreemptible: bool
    jobId: str
    requestedSlots: int
    resourcePool: str
    type: jobv1Type
    workspaceId: int
    priority: int | None
    progress: float | None
    summary: v1JobSummary | None
    weight: float | None
    def __init__(
        self,
        *,
        allocatedSlots: int,
        isPreemptible: bool,
        jobId: str,
        requestedSlots: int,
        resourcePool: str,
        type: jobv1Type,
        workspaceId: int,
        priority: int | Unset | None = ...,
        progress: float | Unset | None = ...,
        summary: v1JobSummary | Unset | None = ...,
        weight: float | Unset | None = ...,
    ) -> None: ...

class v1ListRPsBoundToWorkspaceResponse(Message):
    pagination: v1Pagination | None
    resourcePools: list[str] | None
    def __init__(
        self,
        *,
        pagination: v1Pagination | Unset | None = ...,
        resourcePools: Sequence[str] | Unset | None = ...,
    ) -> None: ...

class v1ListWorkspaceNamespaceBindingsResponse(Message):
    namespaceBindings: dict[str, v1WorkspaceNamespaceBinding]
    def __init__(
        self,
        *,
        namespaceBindings: Mapping[str, v1WorkspaceNamespaceBinding],
    ) -> None: ...

class v1ListWorkspacesBoundToRPResponse(Message):
    pagination: v1Pagination | None
    workspaceIds: list[int] | None
    def __init__(
        self,
        *,
        pagination: v1Pagination | Unset | None = ...,
        workspaceIds: Sequence[int] | Unset | None = ...,
    ) -> None: ...

class v1LocationType(DetEnum):
    UNSPECIFIED = "LOCATION_TYPE_UNSPECIFIED"
    EXPERIMENT = "LOCATION_TYPE_EXPERIMENT"
    HYPERPARAMETERS = "LOCATION_TYPE_HYPERPARAMETERS"
    VALIDATIONS = "LOCATION_TYPE_VALIDATIONS"
    TRAINING = "LOCATION_TYPE_TRAINING"
    CUSTOM_METRIC = "LOCATION_TYPE_CUSTOM_METRIC"
    RUN = "LOCATION_TYPE_RUN"
    RUN_HYPERPARAMETERS = "LOCATION_TYPE_RUN_HYPERPARAMETERS"
    RUN_METADATA = "LOCATION_TYPE_RUN_METADATA"

class v1LogConfig(Message):
    color: bool | None
    level: v1LogLevel | None
    def __init__(
        self,
        *,
        color: bool | Unset | None = ...,
        level: v1LogLevel | Unset | None = ...,
    ) -> None: ...

class v1LogEntry(Message):
    id: int
    level: v1LogLevel
    message: str
    timestamp: str
    def __init__(
        self,
        *,
        id: int,
        level: v1LogLevel,
        message: str,
        timestamp: str,
    ) -> None: ...

class v1LogLevel(DetEnum):
    UNSPECIFIED = "LOG_LEVEL_UNSPECIFIED"
    TRACE = "LOG_LEVEL_TRACE"
    DEBUG = "LOG_LEVEL_DEBUG"
    INFO = "LOG_LEVEL_INFO"
    WARNING = "LOG_LEVEL_WARNING"
    ERROR = "LOG_LEVEL_ERROR"
    CRITICAL = "LOG_LEVEL_CRITICAL"

class v1LoginRequest(Message):
    password: str
    username: str
    isHashed: bool | None
    def __init__(
        self,
        *,
        password: str,
        username: str,
        isHashed: bool | Unset | None = ...,
    ) -> None: ...

class v1LoginResponse(Message):
    token: str
    user: v1User
    def __init__(
        self,
        *,
        token: str,
        user: v1User,
    ) -> None: ...

class v1MarkAllocationResourcesDaemonRequest(Message):
    allocationId: str
    resourcesId: str | None
    def __init__(
        self,
        *,
        allocationId: str,
        resourcesId: str | Unset | None = ...,
    ) -> None: ...

class v1MasterLogsResponse(Message):
    logEntry: v1LogEntry
    def __init__(
        self,
        *,
        logEntry: v1LogEntry,
    ) -> None: ...

class v1MetricBatchesResponse(Message):
    batches: list[int] | None
    def __init__(
        self,
        *,
        batches: Sequence[int] | Unset | None = ...,
    ) -> None: ...

class v1MetricIdentifier(Message):
    group: str
    name: str
    def __init__(
        self,
        *,
        group: str,
        name: str,
    ) -> None: ...

class v1MetricType(DetEnum):
    UNSPECIFIED = "METRIC_TYPE_UNSPECIFIED"
    TRAINING = "METRIC_TYPE_TRAINING"
    VALIDATION = "METRIC_TYPE_VALIDATION"
    PROFILING = "METRIC_TYPE_PROFILING"

class v1Metrics(Message):
    avgMetrics: dict[str, Any]
    batchMetrics: list[dict[str, Any]] | None
    def __init__(
        self,
        *,
        avgMetrics: Mapping[str, Any],
        batchMetrics: Sequence[Mapping[str, Any]] | Unset | None = ...,
    ) -> None: ...

class v1MetricsRange(Message):
    max: float
    metricsName: str
    min: float
    def __init__(
        self,
        *,
        max: float,
        metricsName: str,
        min: float,
    ) -> None: ...

class v1MetricsReport(Message):
    archived: bool
    endTime: str
    group: str
    id: int
    metrics: dict[str, Any]
    totalBatches: int
    trialId: int
    trialRunId: int
    def __init__(
        self,
        *,
        archived: bool,
        endTime: str,
        group: str,
        id: int,
        metrics: Mapping[str, Any],
        totalBatches: int,
        trialId: int,
        trialRunId: int,
    ) -> None: ...

class v1MetricsWorkload(Message):
    metrics: v1Metrics
    numInputs: int
    totalBatches: int
    endTime: str | None
    def __init__(
        self,
        *,
        metrics: v1Metrics,
        numInputs: int,
        totalBatches: int,
        endTime: str | Unset | None = ...,
    ) -> None: ...

class v1Model(Message):
    archived: bool
    creationTime: str
    id: int
    lastUpdatedTime: str
    metadata: dict[str, Any]
    name: str
    numVersions: int
    userId: int
    username: str
    workspaceId: int
    description: str | None
    labels: list[str] | None
    notes: str | None
    def __init__(
        self,
        *,
        archived: bool,
        creationTime: str,
        id: int,
        lastUpdatedTime: str,
        metadata: Mapping[str, Any],
        name: str,
        numVersions: int,
        userId: int,
        username: str,
        workspaceId: int,
        description: str | Unset | None = ...,
        labels: Sequence[str] | Unset | None = ...,
        notes: str | Unset | None = ...,
    ) -> None: ...

class v1ModelVersion(Message):
    checkpoint: v1Checkpoint
    creationTime: str
    id: int
    lastUpdatedTime: str
    model: v1Model
    version: int
    comment: str | None
    labels: list[str] | None
    metadata: dict[str, Any] | None
    name: str | None
    notes: str | None
    userId: int | None
    username: str | None
    def __init__(
        self,
        *,
        checkpoint: v1Checkpoint,
        creationTime: str,
        id: int,
        lastUpdatedTime: str,
        model: v1Model,
        version: int,
        comment: str | Unset | None = ...,
        labels: Sequence[str] | Unset | None = ...,
        metadata: Mapping[str, Any] | Unset | None = ...,
        name: str | Unset | None = ...,
        notes: str | Unset | None = ...,
        userId: int | Unset | None = ...,
        username: str | Unset | None = ...,
    ) -> None: ...

class v1MoveExperimentRequest(Message):
    destinationProjectId: int
    experimentId: int
    def __init__(
        self,
        *,
        destinationProjectId: int,
        experimentId: int,
    ) -> None: ...

class v1MoveExperimentsRequest(Message):
    destinationProjectId: int
    experimentIds: list[int]
    projectId: int
    filters: v1BulkExperimentFilters | None
    def __init__(
        self,
        *,
        destinationProjectId: int,
        experimentIds: Sequence[int],
        projectId: int,
        filters: v1BulkExperimentFilters | Unset | None = ...,
    ) -> None: ...

class v1MoveExperimentsResponse(Message):
    results: list[v1ExperimentActionResult]
    def __init__(
        self,
        *,
        results: Sequence[v1ExperimentActionResult],
    ) -> None: ...

class v1MoveModelRequest(Message):
    destinationWorkspaceId: int
    modelName: str
    def __init__(
        self,
        *,
        destinationWorkspaceId: int,
        modelName: str,
    ) -> None: ...

class v1MoveProjectRequest(Message):
    destinationWorkspaceId: int
    projectId: int
    def __init__(
        self,
        *,
        destinationWorkspaceId: int,
        projectId: int,
    ) -> None: ...

class v1MoveRunsRequest(Message):
    destinationProjectId: int
    runIds: list[int]
    sourceProjectId: int
    filter: str | None
    skipMultitrial: bool | None
    def __init__(
        self,
        *,
        destinationProjectId: int,
        runIds: Sequence[int],
        sourceProjectId: int,
        filter: str | Unset | None = ...,
        skipMultitrial: bool | Unset | None = ...,
    ) -> None: ...

class v1MoveRunsResponse(Message):
    results: list[v1RunActionResult]
    def __init__(
        self,
        *,
        results: Sequence[v1RunActionResult],
    ) -> None: ...

class v1Note(Message):
    contents: str
    name: str
    def __init__(
        self,
        *,
        contents: str,
        name: str,
    ) -> None: ...

class v1Notebook(Message):
    description: str
    id: str
    jobId: str
    resourcePool: str
    startTime: str
    state: taskv1State
    username: str
    workspaceId: int
    container: v1Container | None
    displayName: str | None
    exitStatus: str | None
    serviceAddress: str | None
    userId: int | None
    def __init__(
        self,
        *,
        description: str,
        id: str,
        jobId: str,
        resourcePool: str,
        startTime: str,
        state: taskv1State,
        username: str,
        workspaceId: int,
        container: v1Container | Unset | None = ...,
        displayName: str | Unset | None = ...,
        exitStatus: str | Unset | None = ...,
        serviceAddress: str | Unset | None = ...,
        userId: int | Unset | None = ...,
    ) -> None: ...

class v1NotifyContainerRunningRequest(Message):
    allocationId: str
    data: dict[str, Any]
    nodeName: str | None
    numPeers: int | None
    rank: int | None
    requestUuid: str | None
    def __init__(
        self,
        *,
        allocationId: str,
        data: Mapping[str, Any],
        nodeName: str | Unset | None = ...,
        numPeers: int | Unset | None = ...,
        rank: int | Unset | None = ...,
        requestUuid: str | Unset | None = ...,
    ) -> None: ...

class v1NotifyContainerRunningResponse(Message):
    data: list[dict[str, Any]]
    def __init__(
        self,
        *,
        data: Sequence[Mapping[str, Any]],
    ) -> None: ...

class v1OrderBy(DetEnum):
    UNSPECIFIED = "ORDER_BY_UNSPECIFIED"
    ASC = "ORDER_BY_ASC"
    DESC = "ORDER_BY_DESC"

class v1OverwriteRPWorkspaceBindingsRequest(Message):
    resourcePoolName: str
    workspaceIds: list[int] | None
    workspaceNames: list[str] | None
    def __init__(
        self,
        *,
        resourcePoolName: str,
        workspaceIds: Sequence[int] | Unset | None = ...,
        workspaceNames: Sequence[str] | Unset | None = ...,
    ) -> None: ...

class v1Pagination(Message):
    endIndex: int | None
    limit: int | None
    offset: int | None
    startIndex: int | None
    total: int | None
    def __init__(
        self,
        *,
        endIndex: int | Unset | None = ...,
        limit: int | Unset | None = ...,
        offset: int | Unset | None = ...,
        startIndex: int | Unset | None = ...,
        total: int | Unset | None = ...,
    ) -> None: ...

class v1PatchAccessTokenRequest(Message):
    tokenId: int
    description: str | None
    setRevoked: bool | None
    def __init__(
        self,
        *,
        tokenId: int,
        description: str | Unset | None = ...,
        setRevoked: bool | Unset | None = ...,
    ) -> None: ...

class v1PatchAccessTokenResponse(Message):
    tokenInfo: v1TokenInfo | None
    def __init__(
        self,
        *,
        tokenInfo: v1TokenInfo | Unset | None = ...,
    ) -> None: ...

class v1PatchCheckpoint(Message):
    uuid: str
    resources: PatchCheckpointOptionalResources | None
    def __init__(
        self,
        *,
        uuid: str,
        resources: PatchCheckpointOptionalResources | Unset | None = ...,
    ) -> None: ...

class v1PatchCheckpointsRequest(Message):
    checkpoints: list[v1PatchCheckpoint]
    def __init__(
        self,
        *,
        checkpoints: Sequence[v1PatchCheckpoint],
    ) -> None: ...

class v1PatchExperiment(Message):
    id: int
    checkpointStorage: PatchExperimentPatchCheckpointStorage | None
    description: str | None
    labels: list[str] | None
    name: str | None
    notes: str | None
    resources: PatchExperimentPatchResources | None
    def __init__(
        self,
        *,
        id: int,
        checkpointStorage: PatchExperimentPatchCheckpointStorage | Unset | None = ...,
        description: str | Unset | None = ...,
        labels: Sequence[str] | Unset | None = ...,
        name: str | Unset | None = ...,
        notes: str | Unset | None = ...,
        resources: PatchExperimentPatchResources | Unset | None = ...,
    ) -> None: ...

class v1PatchExperimentResponse(Message):
    experiment: v1Experiment | None
    def __init__(
        self,
        *,
        experiment: v1Experiment | Unset | None = ...,
    ) -> None: ...

class v1PatchMasterConfigRequest(Message):
    config: v1Config | None
    fieldMask: protobufFieldMask | None
    def __init__(
        self,
        *,
        config: v1Config | Unset | None = ...,
        fieldMask: protobufFieldMask | Unset | None = ...,
    ) -> None: ...

class v1PatchModel(Message):
    description: str | None
    labels: list[str] | None
    metadata: dict[str, Any] | None
    name: str | None
    notes: str | None
    workspaceId: int | None
    workspaceName: str | None
    def __init__(
        self,
        *,
        description: str | Unset | None = ...,
        labels: Sequence[str] | Unset | None = ...,
        metadata: Mapping[str, Any] | Unset | None = ...,
        name: str | Unset | None = ...,
        notes: str | Unset | None = ...,
        workspaceId: int | Unset | None = ...,
        workspaceName: str | Unset | None = ...,
    ) -> None: ...

class v1PatchModelResponse(Message):
    model: v1Model
    def __init__(
        self,
        *,
        model: v1Model,
    ) -> None: ...

class v1PatchModelVersion(Message):
    checkpoint: v1Checkpoint | None
    comment: str | None
    labels: list[str] | None
    metadata: dict[str, Any] | None
    name: str | None
    notes: str | None
    def __init__(
        self,
        *,
        checkpoint: v1Checkpoint | Unset | None = ...,
        comment: str | Unset | None = ...,
        labels: Sequence[str] | Unset | None = ...,
        metadata: Mapping[str, Any] | Unset | None = ...,
        name: str | Unset | None = ...,
        notes: str | Unset | None = ...,
    ) -> None: ...

class v1PatchModelVersionResponse(Message):
    modelVersion: v1ModelVersion
    def __init__(
        self,
        *,
        modelVersion: v1ModelVersion,
    ) -> None: ...

class v1PatchProject(Message):
    description: str | None
    key: str | None
    name: str | None
    def __init__(
        self,
        *,
        description: str | Unset | None = ...,
        key: str | Unset | None = ...,
        name: str | Unset | None = ...,
    ) -> None: ...

class v1PatchProjectResponse(Message):
    project: v1Project
    def __init__(
        self,
        *,
        project: v1Project,
    ) -> None: ...

class v1PatchTemplateConfigResponse(Message):
    template: v1Template
    def __init__(
        self,
        *,
        template: v1Template,
    ) -> None: ...

class v1PatchTemplateNameRequest(Message):
    newName: str
    oldName: str
    def __init__(
        self,
        *,
        newName: str,
        oldName: str,
    ) -> None: ...

class v1PatchTemplateNameResponse(Message):
    template: v1Template
    def __init__(
        self,
        *,
        template: v1Template,
    ) -> None: ...

class v1PatchTrialRequest(Message):
    trialId: int
    state: trialv1State | None
    def __init__(
        self,
        *,
        trialId: int,
        state: trialv1State | Unset | None = ...,
    ) -> None: ...

class v1PatchTrialResponse(Message):
    trial: trialv1Trial
    def __init__(
        self,
        *,
        trial: trialv1Trial,
    ) -> None: ...

class v1PatchUser(Message):
    active: bool | None
    admin: bool | None
    agentUserGroup: v1AgentUserGroup | None
    displayName: str | None
    isHashed: bool | None
    password: str | None
    remote: bool | None
    username: str | None
    def __init__(
        self,
        *,
        active: bool | Unset | None = ...,
        admin: bool | Unset | None = ...,
        agentUserGroup: v1AgentUserGroup | Unset | None = ...,
        displayName: str | Unset | None = ...,
        isHashed: bool | Unset | None = ...,
        password: str | Unset | None = ...,
        remote: bool | Unset | None = ...,
        username: str | Unset | None = ...,
    ) -> None: ...

class v1PatchUserResponse(Message):
    user: v1User
    def __init__(
        self,
        *,
        user: v1User,
    ) -> None: ...

class v1PatchUsersRequest(Message):
    activate: bool
    userIds: list[int]
    filters: v1UserFilters | None
    def __init__(
        self,
        *,
        activate: bool,
        userIds: Sequence[int],
        filters: v1UserFilters | Unset | None = ...,
    ) -> None: ...

class v1PatchUsersResponse(Message):
    results: list[v1UserActionResult]
    def __init__(
        self,
        *,
        results: Sequence[v1UserActionResult],
    ) -> None: ...

class v1PatchWebhook(Message):
    url: str
    def __init__(
        self,
        *,
        url: str,
    ) -> None: ...

class v1PatchWorkspace(Message):
    agentUserGroup: v1AgentUserGroup | None
    checkpointStorageConfig: dict[str, Any] | None
    clusterNamespaceMeta: dict[str, v1WorkspaceNamespaceMeta] | None
    defaultAuxPool: str | None
    defaultAuxResourcePool: str | None
    defaultComputePool: str | None
    defaultComputeResourcePool: str | None
    name: str | None
    def __init__(
        self,
        *,
        agentUserGroup: v1AgentUserGroup | Unset | None = ...,
        checkpointStorageConfig: Mapping[str, Any] | Unset | None = ...,
        clusterNamespaceMeta: Mapping[str, v1WorkspaceNamespaceMeta] | Unset | None = ...,
        defaultAuxPool: str | Unset | None = ...,
        defaultAuxResourcePool: str | Unset | None = ...,
        defaultComputePool: str | Unset | None = ...,
        defaultComputeResourcePool: str | Unset | None = ...,
        name: str | Unset | None = ...,
    ) -> None: ...

class v1PatchWorkspaceResponse(Message):
    workspace: v1Workspace
    namespaceBindings: dict[str, v1WorkspaceNamespaceBinding] | None
    def __init__(
        self,
        *,
        workspace: v1Workspace,
        namespaceBindings: Mapping[str, v1WorkspaceNamespaceBinding] | Unset | None = ...,
    ) -> None: ...

class v1PauseExperimentsRequest(Message):
    experimentIds: list[int]
    projectId: int
    filters: v1BulkExperimentFilters | None
    def __init__(
        self,
        *,
        experimentIds: Sequence[int],
        projectId: int,
        filters: v1BulkExperimentFilters | Unset | None = ...,
    ) -> None: ...

class v1PauseExperimentsResponse(Message):
    results: list[v1ExperimentActionResult]
    def __init__(
        self,
        *,
        results: Sequence[v1ExperimentActionResult],
    ) -> None: ...

class v1PauseRunsRequest(Message):
    projectId: int
    runIds: list[int]
    filter: str | None
    def __init__(
        self,
        *,
        projectId: int,
        runIds: Sequence[int],
        filter: str | Unset | None = ...,
    ) -> None: ...

class v1PauseRunsResponse(Message):
    results: list[v1RunActionResult]
    def __init__(
        self,
        *,
        results: Sequence[v1RunActionResult],
    ) -> None: ...

class v1Permission(Message):
    id: str
    name: str | None
    scopeTypeMask: v1ScopeTypeMask | None
    def __init__(
        self,
        *,
        id: str,
        name: str | Unset | None = ...,
        scopeTypeMask: v1ScopeTypeMask | Unset | None = ...,
    ) -> None: ...

class v1PostAccessTokenRequest(Message):
    userId: int
    description: str | None
    lifespan: str | None
    def __init__(
        self,
        *,
        userId: int,
        description: str | Unset | None = ...,
        lifespan: str | Unset | None = ...,
    ) -> None: ...

class v1PostAccessTokenResponse(Message):
    token: str | None
    tokenId: int | None
    def __init__(
        self,
        *,
        token: str | Unset | None = ...,
        tokenId: int | Unset | None = ...,
    ) -> None: ...

class v1PostAllocationAcceleratorDataRequest(Message):
    acceleratorData: v1AcceleratorData
    allocationId: str
    def __init__(
        self,
        *,
        acceleratorData: v1AcceleratorData,
        allocationId: str,
    ) -> None: ...

class v1PostAllocationProxyAddressRequest(Message):
    allocationId: str | None
    proxyAddress: str | None
    def __init__(
        self,
        *,
        allocationId: str | Unset | None = ...,
        proxyAddress: str | Unset | None = ...,
    ) -> None: ...

class v1PostCheckpointMetadataRequest(Message):
    checkpoint: v1Checkpoint | None
    def __init__(
        self,
        *,
        checkpoint: v1Checkpoint | Unset | None = ...,
    ) -> None: ...

class v1PostCheckpointMetadataResponse(Message):
    checkpoint: v1Checkpoint | None
    def __init__(
        self,
        *,
        checkpoint: v1Checkpoint | Unset | None = ...,
    ) -> None: ...

class v1PostModelRequest(Message):
    name: str
    description: str | None
    labels: list[str] | None
    metadata: dict[str, Any] | None
    notes: str | None
    workspaceId: int | None
    workspaceName: str | None
    def __init__(
        self,
        *,
        name: str,
        description: str | Unset | None = ...,
        labels: Sequence[str] | Unset | None = ...,
        metadata: Mapping[str, Any] | Unset | None = ...,
        notes: str | Unset | None = ...,
        workspaceId: int | Unset | None = ...,
        workspaceName: str | Unset | None = ...,
    ) -> None: ...

class v1PostModelResponse(Message):
    model: v1Model
    def __init__(
        self,
        *,
        model: v1Model,
    ) -> None: ...

class v1PostModelVersionRequest(Message):
    checkpointUuid: str
    modelName: str
    comment: str | None
    labels: list[str] | None
    metadata: dict[str, Any] | None
    name: str | None
    notes: str | None
    def __init__(
        self,
        *,
        checkpointUuid: str,
        modelName: str,
        comment: str | Unset | None = ...,
        labels: Sequence[str] | Unset | None = ...,
        metadata: Mapping[str, Any] | Unset | None = ...,
        name: str | Unset | None = ...,
        notes: str | Unset | None = ...,
    ) -> None: ...

class v1PostModelVersionResponse(Message):
    modelVersion: v1ModelVersion
    def __init__(
        self,
        *,
        modelVersion: v1ModelVersion,
    ) -> None: ...

class v1PostProjectRequest(Message):
    name: str
    workspaceId: int
    description: str | None
    key: str | None
    def __init__(
        self,
        *,
        name: str,
        workspaceId: int,
        description: str | Unset | None = ...,
        key: str | Unset | None = ...,
    ) -> None: ...

class v1PostProjectResponse(Message):
    project: v1Project
    def __init__(
        self,
        *,
        project: v1Project,
    ) -> None: ...

class v1PostRunMetadataRequest(Message):
    metadata: dict[str, Any]
    runId: int | None
    def __init__(
        self,
        *,
        metadata: Mapping[str, Any],
        runId: int | Unset | None = ...,
    ) -> None: ...

class v1PostRunMetadataResponse(Message):
    metadata: dict[str, Any] | None
    def __init__(
        self,
        *,
        metadata: Mapping[str, Any] | Unset | None = ...,
    ) -> None: ...

class v1PostTaskLogsRequest(Message):
    logs: list[v1TaskLog]
    def __init__(
        self,
        *,
        logs: Sequence[v1TaskLog],
    ) -> None: ...

class v1PostTemplateResponse(Message):
    template: v1Template
    def __init__(
        self,
        *,
        template: v1Template,
    ) -> None: ...

class v1PostTrialProfilerMetricsBatchRequest(Message):
    batches: list[v1TrialProfilerMetricsBatch] | None
    def __init__(
        self,
        *,
        batches: Sequence[v1TrialProfilerMetricsBatch] | Unset | None = ...,
    ) -> None: ...

class v1PostUserActivityRequest(Message):
    activityType: v1ActivityType
    entityId: int
    entityType: v1EntityType
    def __init__(
        self,
        *,
        activityType: v1ActivityType,
        entityId: int,
        entityType: v1EntityType,
    ) -> None: ...

class v1PostUserRequest(Message):
    isHashed: bool | None
    password: str | None
    user: v1User | None
    def __init__(
        self,
        *,
        isHashed: bool | Unset | None = ...,
        password: str | Unset | None = ...,
        user: v1User | Unset | None = ...,
    ) -> None: ...

class v1PostUserResponse(Message):
    user: v1User | None
    def __init__(
        self,
        *,
        user: v1User | Unset | None = ...,
    ) -> None: ...

class v1PostUserSettingRequest(Message):
    settings: list[v1UserWebSetting]
    def __init__(
        self,
        *,
        settings: Sequence[v1UserWebSetting],
    ) -> None: ...

class v1PostWebhookEventDataRequest(Message):
    data: v1CustomWebhookEventData
    experimentId: int
    trialId: int | None
    def __init__(
        self,
        *,
        data: v1CustomWebhookEventData,
        experimentId: int,
        trialId: int | Unset | None = ...,
    ) -> None: ...

class v1PostWebhookResponse(Message):
    webhook: v1Webhook
    def __init__(
        self,
        *,
        webhook: v1Webhook,
    ) -> None: ...

class v1PostWorkspaceRequest(Message):
    name: str
    agentUserGroup: v1AgentUserGroup | None
    checkpointStorageConfig: dict[str, Any] | None
    clusterNamespaceMeta: dict[str, v1WorkspaceNamespaceMeta] | None
    clusterQuotaPairs: dict[str, int] | None
    defaultAuxPool: str | None
    defaultComputePool: str | None
    def __init__(
        self,
        *,
        name: str,
        agentUserGroup: v1AgentUserGroup | Unset | None = ...,
        checkpointStorageConfig: Mapping[str, Any] | Unset | None = ...,
        clusterNamespaceMeta: Mapping[str, v1WorkspaceNamespaceMeta] | Unset | None = ...,
        clusterQuotaPairs: Mapping[str, int] | Unset | None = ...,
        defaultAuxPool: str | Unset | None = ...,
        defaultComputePool: str | Unset | None = ...,
    ) -> None: ...

class v1PostWorkspaceResponse(Message):
    workspace: v1Workspace
    namespaceBindings: dict[str, v1WorkspaceNamespaceBinding] | None
    def __init__(
        self,
        *,
        workspace: v1Workspace,
        namespaceBindings: Mapping[str, v1WorkspaceNamespaceBinding] | Unset | None = ...,
    ) -> None: ...

class v1PreviewHPSearchRequest(Message):
    config: dict[str, Any] | None
    seed: int | None
    def __init__(
        self,
        *,
        config: Mapping[str, Any] | Unset | None = ...,
        seed: int | Unset | None = ...,
    ) -> None: ...

class v1PreviewHPSearchResponse(Message):
    summary: v1SearchSummary | None
    def __init__(
        self,
        *,
        summary: v1SearchSummary | Unset | None = ...,
    ) -> None: ...

class v1Project(Message):
    archived: bool
    errorMessage: str
    id: int
    immutable: bool
    key: str
    name: str
    notes: list[v1Note]
    numActiveExperiments: int
    numExperiments: int
    numRuns: int
    state: v1WorkspaceState
    userId: int
    username: str
    workspaceId: int
    description: str | None
    lastExperimentStartedAt: str | None
    workspaceName: str | None
    def __init__(
        self,
        *,
        archived: bool,
        errorMessage: str,
        id: int,
        immutable: bool,
        key: str,
        name: str,
        notes: Sequence[v1Note],
        numActiveExperiments: int,
        numExperiments: int,
        numRuns: int,
        state: v1WorkspaceState,
        userId: int,
        username: str,
        workspaceId: int,
        description: str | Unset | None = ...,
        lastExperimentStartedAt: str | Unset | None = ...,
        workspaceName: str | Unset | None = ...,
    ) -> None: ...

class v1ProjectColumn(Message):
    column: str
    location: v1LocationType
    type: v1ColumnType
    displayName: str | None
    def __init__(
        self,
        *,
        column: str,
        location: v1LocationType,
        type: v1ColumnType,
        displayName: str | Unset | None = ...,
    ) -> None: ...

class v1ProxyPortConfig(Message):
    port: int | None
    proxyTcp: bool | None
    serviceId: str | None
    unauthenticated: bool | None
    def __init__(
        self,
        *,
        port: int | Unset | None = ...,
        proxyTcp: bool | Unset | None = ...,
        serviceId: str | Unset | None = ...,
        unauthenticated: bool | Unset | None = ...,
    ) -> None: ...

class v1PutExperimentLabelResponse(Message):
    labels: list[str]
    def __init__(
        self,
        *,
        labels: Sequence[str],
    ) -> None: ...

class v1PutExperimentResponse(Message):
    config: dict[str, Any]
    experiment: v1Experiment
    def __init__(
        self,
        *,
        config: Mapping[str, Any],
        experiment: v1Experiment,
    ) -> None: ...

class v1PutExperimentRetainLogsRequest(Message):
    experimentId: int
    numDays: int
    def __init__(
        self,
        *,
        experimentId: int,
        numDays: int,
    ) -> None: ...

class v1PutExperimentsRetainLogsRequest(Message):
    experimentIds: list[int]
    numDays: int
    projectId: int
    filters: v1BulkExperimentFilters | None
    def __init__(
        self,
        *,
        experimentIds: Sequence[int],
        numDays: int,
        projectId: int,
        filters: v1BulkExperimentFilters | Unset | None = ...,
    ) -> None: ...

class v1PutExperimentsRetainLogsResponse(Message):
    results: list[v1ExperimentActionResult]
    def __init__(
        self,
        *,
        results: Sequence[v1ExperimentActionResult],
    ) -> None: ...

class v1PutProjectNotesRequest(Message):
    notes: list[v1Note]
    projectId: int
    def __init__(
        self,
        *,
        notes: Sequence[v1Note],
        projectId: int,
    ) -> None: ...

class v1PutProjectNotesResponse(Message):
    notes: list[v1Note]
    def __init__(
        self,
        *,
        notes: Sequence[v1Note],
    ) -> None: ...

class v1PutTemplateResponse(Message):
    template: v1Template | None
    def __init__(
        self,
        *,
        template: v1Template | Unset | None = ...,
    ) -> None: ...

class v1PutTrialRequest(Message):
    createTrialRequest: v1CreateTrialRequest | None
    externalTrialId: str | None
    def __init__(
        self,
        *,
        createTrialRequest: v1CreateTrialRequest | Unset | None = ...,
        externalTrialId: str | Unset | None = ...,
    ) -> None: ...

class v1PutTrialResponse(Message):
    trial: trialv1Trial
    def __init__(
        self,
        *,
        trial: trialv1Trial,
    ) -> None: ...

class v1PutTrialRetainLogsRequest(Message):
    numDays: int
    trialId: int | None
    def __init__(
        self,
        *,
        numDays: int,
        trialId: int | Unset | None = ...,
    ) -> None: ...

class v1QueueControl(Message):
    jobId: str
    aheadOf: str | None
    behindOf: str | None
    priority: int | None
    resourcePool: str | None
    weight: float | None
    def __init__(
        self,
        *,
        jobId: str,
        aheadOf: str | Unset | None = ...,
        behindOf: str | Unset | None = ...,
        priority: int | Unset | None = ...,
        resourcePool: str | Unset | None = ...,
        weight: float | Unset | None = ...,
    ) -> None: ...

class v1QueueStats(Message):
    queuedCount: int
    scheduledCount: int
    def __init__(
        self,
        *,
        queuedCount: int,
        scheduledCount: int,
    ) -> None: ...

class v1RBACJob(Message):
    full: v1Job | None
    limited: v1LimitedJob | None
    def __init__(
        self,
        *,
        full: v1Job | Unset | None = ...,
        limited: v1LimitedJob | Unset | None = ...,
    ) -> None: ...

class v1RPQueueStat(Message):
    resourcePool: str
    stats: v1QueueStats
    aggregates: list[v1AggregateQueueStats] | None
    def __init__(
        self,
        *,
        resourcePool: str,
        stats: v1QueueStats,
        aggregates: Sequence[v1AggregateQueueStats] | Unset | None = ...,
    ) -> None: ...

class v1RendezvousInfo(Message):
    addresses: list[str]
    rank: int
    slots: list[int]
    def __init__(
        self,
        *,
        addresses: Sequence[str],
        rank: int,
        slots: Sequence[int],
    ) -> None: ...

class v1ReportTrialMetricsRequest(Message):
    group: str
    metrics: v1TrialMetrics
    def __init__(
        self,
        *,
        group: str,
        metrics: v1TrialMetrics,
    ) -> None: ...

class v1ReportTrialProgressRequest(Message):
    progress: float
    trialId: int
    isRaw: bool | None
    def __init__(
        self,
        *,
        progress: float,
        trialId: int,
        isRaw: bool | Unset | None = ...,
    ) -> None: ...

class v1ReportTrialSourceInfoRequest(Message):
    trialSourceInfo: v1TrialSourceInfo
    def __init__(
        self,
        *,
        trialSourceInfo: v1TrialSourceInfo,
    ) -> None: ...

class v1ReportTrialSourceInfoResponse(Message):
    checkpointUuid: str
    trialId: int
    def __init__(
        self,
        *,
        checkpointUuid: str,
        trialId: int,
    ) -> None: ...

class v1ResourceAllocationAggregatedEntry(Message):
    byExperimentLabel: dict[str, float]
    byResourcePool: dict[str, float]
    byUsername: dict[str, float]
    period: v1ResourceAllocationAggregationPeriod
    periodStart: str
    seconds: float
    def __init__(
        self,
        *,
        byExperimentLabel: Mapping[str, float],
        byResourcePool: Mapping[str, float],
        byUsername: Mapping[str, float],
        period: v1ResourceAllocationAggregationPeriod,
        periodStart: str,
        seconds: float,
    ) -> None: ...

class v1ResourceAllocationAggregatedResponse(Message):
    resourceEntries: list[v1ResourceAllocationAggregatedEntry]
    def __init__(
        self,
        *,
        resourceEntries: Sequence[v1ResourceAllocationAggregatedEntry],
    ) -> None: ...

class v1ResourceAllocationAggregationPeriod(DetEnum):
    UNSPECIFIED = "RESOURCE_ALLOCATION_AGGREGATION_PERIOD_UNSPECIFIED"
    DAILY = "RESOURCE_ALLOCATION_AGGREGATION_PERIOD_DAILY"
    MONTHLY = "RESOURCE_ALLOCATION_AGGREGATION_PERIOD_MONTHLY"

class v1ResourceAllocationRawEntry(Message):
    endTime: str | None
    experimentId: int | None
    kind: str | None
    labels: list[str] | None
    seconds: float | None
    slots: int | None
    startTime: str | None
    userId: int | None
    username: str | None
    def __init__(
        self,
        *,
        endTime: str | Unset | None = ...,
        experimentId: int | Unset | None = ...,
        kind: str | Unset | None = ...,
        labels: Sequence[str] | Unset | None = ...,
        seconds: float | Unset | None = ...,
        slots: int | Unset | None = ...,
        startTime: str | Unset | None = ...,
        userId: int | Unset | None = ...,
        username: str | Unset | None = ...,
    ) -> None: ...

class v1ResourceAllocationRawResponse(Message):
    resourceEntries: list[v1ResourceAllocationRawEntry] | None
    def __init__(
        self,
        *,
        resourceEntries: Sequence[v1ResourceAllocationRawEntry] | Unset | None = ...,
    ) -> None: ...

class v1ResourcePool(Message):
    agentDockerImage: str
    agentDockerNetwork: str
    agentDockerRuntime: str
    agentFluentImage: str
    auxContainerCapacity: int
    auxContainerCapacityPerAgent: int
    auxContainersRunning: int
    clusterName: str
    containerStartupScript: str
    defaultAuxPool: bool
    defaultComputePool: bool
    description: str
    details: v1ResourcePoolDetail
    imageId: str
    instanceType: str
    location: str
    masterCertName: str
    masterUrl: str
    maxAgentStartingPeriod: float
    maxAgents: int
    maxIdleAgentPeriod: float
    minAgents: int
    name: str
    numAgents: int
    preemptible: bool
    resourceManagerMetadata: dict[str, str]
    schedulerFittingPolicy: v1FittingPolicy
    schedulerType: v1SchedulerType
    slotType: devicev1Type
    slotsAvailable: int
    slotsUsed: int
    startupScript: str
    type: v1ResourcePoolType
    accelerator: str | None
    slotsPerAgent: int | None
    stats: v1QueueStats | None
    def __init__(
        self,
        *,
        agentDockerImage: str,
        agentDockerNetwork: str,
        agentDockerRuntime: str,
        agentFluentImage: str,
        auxContainerCapacity: int,
        auxContainerCapacityPerAgent: int,
        auxContainersRunning: int,
        clusterName: str,
        containerStartupScript: str,
        defaultAuxPool: bool,
        defaultComputePool: bool,
        description: str,
        details: v1ResourcePoolDetail,
        imageId: str,
        instanceType: str,
        location: str,
        masterCertName: str,
        masterUrl: str,
        maxAgentStartingPeriod: float,
        maxAgents: int,
        maxIdleAgentPeriod: float,
        minAgents: int,
        name: str,
        numAgents: int,
        preemptible: bool,
        resourceManagerMetadata: Mapping[str, str],
        schedulerFittingPolicy: v1FittingPolicy,
        schedulerType: v1SchedulerType,
        slotType: devicev1Type,
        slotsAvailable: int,
        slotsUsed: int,
        startupScript: str,
        type: v1ResourcePoolType,
        accelerator: str | Unset | None = ...,
        slotsPerAgent: int | Unset | None = ...,
        stats: v1QueueStats | Unset | None = ...,
    ) -> None: ...

class v1ResourcePoolAwsDetail(Message):
    iamInstanceProfileArn: str
    imageId: str
    instanceName: str
    publicIp: bool
    region: str
    rootVolumeSize: int
    securityGroupId: str
    spotEnabled: bool
    sshKeyName: str
    tagKey: str
    tagValue: str
    customTags: list[v1AwsCustomTag] | None
    instanceType: str | None
    logGroup: str | None
    logStream: str | None
    spotMaxPrice: str | None
    subnetId: str | None
    def __init__(
        self,
        *,
        iamInstanceProfileArn: str,
        imageId: str,
        instanceName: str,
        publicIp: bool,
        region: str,
        rootVolumeSize: int,
        securityGroupId: str,
        spotEnabled: bool,
        sshKeyName: str,
        tagKey: str,
        tagValue: str,
        customTags: Sequence[v1AwsCustomTag] | Unset | None = ...,
        instanceType: str | Unset | None = ...,
        logGroup: str | Unset | None = ...,
        logStream: str | Unset | None = ...,
        spotMaxPrice: str | Unset | None = ...,
        subnetId: str | Unset | None = ...,
    ) -> None: ...

class v1ResourcePoolDetail(Message):
    aws: v1ResourcePoolAwsDetail | None
    gcp: v1ResourcePoolGcpDetail | None
    priorityScheduler: v1ResourcePoolPrioritySchedulerDetail | None
    def __init__(
        self,
        *,
        aws: v1ResourcePoolAwsDetail | Unset | None = ...,
        gcp: v1ResourcePoolGcpDetail | Unset | None = ...,
        priorityScheduler: v1ResourcePoolPrioritySchedulerDetail | Unset | None = ...,
    ) -> None: ...

class v1ResourcePoolGcpDetail(Message):
    bootDiskSize: int
    bootDiskSourceImage: str
    externalIp: bool
    gpuNum: int
    gpuType: str
    labelKey: str
    labelValue: str
    machineType: str
    namePrefix: str
    network: str
    operationTimeoutPeriod: float
    preemptible: bool
    project: str
    serviceAccountEmail: str
    serviceAccountScopes: list[str]
    zone: str
    networkTags: list[str] | None
    subnetwork: str | None
    def __init__(
        self,
        *,
        bootDiskSize: int,
        bootDiskSourceImage: str,
        externalIp: bool,
        gpuNum: int,
        gpuType: str,
        labelKey: str,
        labelValue: str,
        machineType: str,
        namePrefix: str,
        network: str,
        operationTimeoutPeriod: float,
        preemptible: bool,
        project: str,
        serviceAccountEmail: str,
        serviceAccountScopes: Sequence[str],
        zone: str,
        networkTags: Sequence[str] | Unset | None = ...,
        subnetwork: str | Unset | None = ...,
    ) -> None: ...

class v1ResourcePoolPrioritySchedulerDetail(Message):
    defaultPriority: int
    preemption: bool
    k8Priorities: list[v1K8PriorityClass] | None
    def __init__(
        self,
        *,
        defaultPriority: int,
        preemption: bool,
        k8Priorities: Sequence[v1K8PriorityClass] | Unset | None = ...,
    ) -> None: ...

class v1ResourcePoolType(DetEnum):
    UNSPECIFIED = "RESOURCE_POOL_TYPE_UNSPECIFIED"
    AWS = "RESOURCE_POOL_TYPE_AWS"
    GCP = "RESOURCE_POOL_TYPE_GCP"
    STATIC = "RESOURCE_POOL_TYPE_STATIC"
    K8S = "RESOURCE_POOL_TYPE_K8S"

class v1ResourcesFailure(Message):
    errMsg: str | None
    exitCode: int | None
    failureType: v1FailureType | None
    def __init__(
        self,
        *,
        errMsg: str | Unset | None = ...,
        exitCode: int | Unset | None = ...,
        failureType: v1FailureType | Unset | None = ...,
    ) -> None: ...

class v1ResourcesStarted(Message):
    addresses: list[v1Address] | None
    nativeResourcesId: str | None
    def __init__(
        self,
        *,
        addresses: Sequence[v1Address] | Unset | None = ...,
        nativeResourcesId: str | Unset | None = ...,
    ) -> None: ...

class v1ResourcesStopped(Message):
    failure: v1ResourcesFailure | None
    def __init__(
        self,
        *,
        failure: v1ResourcesFailure | Unset | None = ...,
    ) -> None: ...

class v1ResourcesSummary(Message):
    agentDevices: dict[str, ResourcesSummaryDevices] | None
    allocationId: str | None
    containerId: str | None
    exited: v1ResourcesStopped | None
    resourcesId: str | None
    resourcesType: str | None
    started: v1ResourcesStarted | None
    def __init__(
        self,
        *,
        agentDevices: Mapping[str, ResourcesSummaryDevices] | Unset | None = ...,
        allocationId: str | Unset | None = ...,
        containerId: str | Unset | None = ...,
        exited: v1ResourcesStopped | Unset | None = ...,
        resourcesId: str | Unset | None = ...,
        resourcesType: str | Unset | None = ...,
        started: v1ResourcesStarted | Unset | None = ...,
    ) -> None: ...

class v1ResumeRunsRequest(Message):
    projectId: int
    runIds: list[int]
    filter: str | None
    def __init__(
        self,
        *,
        projectId: int,
        runIds: Sequence[int],
        filter: str | Unset | None = ...,
    ) -> None: ...

class v1ResumeRunsResponse(Message):
    results: list[v1RunActionResult]
    def __init__(
        self,
        *,
        results: Sequence[v1RunActionResult],
    ) -> None: ...

class v1Role(Message):
    roleId: int
    name: str | None
    permissions: list[v1Permission] | None
    scopeTypeMask: v1ScopeTypeMask | None
    def __init__(
        self,
        *,
        roleId: int,
        name: str | Unset | None = ...,
        permissions: Sequence[v1Permission] | Unset | None = ...,
        scopeTypeMask: v1ScopeTypeMask | Unset | None = ...,
    ) -> None: ...

class v1RoleAssignmentSummary(Message):
    roleId: int
    scopeCluster: bool | None
    scopeWorkspaceIds: list[int] | None
    def __init__(
        self,
        *,
        roleId: int,
        scopeCluster: bool | Unset | None = ...,
        scopeWorkspaceIds: Sequence[int] | Unset | None = ...,
    ) -> None: ...

class v1RunActionResult(Message):
    error: str
    id: int
    def __init__(
        self,
        *,
        error: str,
        id: int,
    ) -> None: ...

class v1RunPrepareForReportingRequest(Message):
    runId: int
    checkpointStorage: dict[str, Any] | None
    def __init__(
        self,
        *,
        runId: int,
        checkpointStorage: Mapping[str, Any] | Unset | None = ...,
    ) -> None: ...

class v1RunPrepareForReportingResponse(Message):
    storageId: int | None
    def __init__(
        self,
        *,
        storageId: int | Unset | None = ...,
    ) -> None: ...

class v1SSOProvider(Message):
    name: str
    ssoUrl: str
    type: str
    alwaysRedirect: bool | None
    def __init__(
        self,
        *,
        name: str,
        ssoUrl: str,
        type: str,
        alwaysRedirect: bool | Unset | None = ...,
    ) -> None: ...

class v1SchedulerType(DetEnum):
    UNSPECIFIED = "SCHEDULER_TYPE_UNSPECIFIED"
    PRIORITY = "SCHEDULER_TYPE_PRIORITY"
    FAIR_SHARE = "SCHEDULER_TYPE_FAIR_SHARE"
    ROUND_ROBIN = "SCHEDULER_TYPE_ROUND_ROBIN"
    KUBERNETES = "SCHEDULER_TYPE_KUBERNETES"
    SLURM = "SCHEDULER_TYPE_SLURM"
    PBS = "SCHEDULER_TYPE_PBS"

class v1ScopeTypeMask(Message):
    cluster: bool | None
    workspace: bool | None
    def __init__(
        self,
        *,
        cluster: bool | Unset | None = ...,
        workspace: bool | Unset | None = ...,
    ) -> None: ...

class v1SearchExperimentExperiment(Message):
    experiment: v1Experiment
    bestTrial: trialv1Trial | None
    def __init__(
        self,
        *,
        experiment: v1Experiment,
        bestTrial: trialv1Trial | Unset | None = ...,
    ) -> None: ...

class v1SearchExperimentsRequest(Message):
    filter: str | None
    limit: int | None
    offset: int | None
    projectId: int | None
    sort: str | None
    def __init__(
        self,
        *,
        filter: str | Unset | None = ...,
        limit: int | Unset | None = ...,
        offset: int | Unset | None = ...,
        projectId: int | Unset | None = ...,
        sort: str | Unset | None = ...,
    ) -> None: ...

class v1SearchExperimentsResponse(Message):
    experiments: list[v1SearchExperimentExperiment]
    pagination: v1Pagination
    def __init__(
        self,
        *,
        experiments: Sequence[v1SearchExperimentExperiment],
        pagination: v1Pagination,
    ) -> None: ...

class v1SearchRunsRequest(Message):
    filter: str | None
    limit: int | None
    offset: int | None
    projectId: int | None
    sort: str | None
    def __init__(
        self,
        *,
        filter: str | Unset | None = ...,
        limit: int | Unset | None = ...,
        offset: int | Unset | None = ...,
        projectId: int | Unset | None = ...,
        sort: str | Unset | None = ...,
    ) -> None: ...

class v1SearchRunsResponse(Message):
    pagination: v1Pagination
    runs: list[v1FlatRun]
    def __init__(
        self,
        *,
        pagination: v1Pagination,
        runs: Sequence[v1FlatRun],
    ) -> None: ...

class v1SearchSummary(Message):
    config: dict[str, Any]
    trials: list[v1TrialSummary] | None
    def __init__(
        self,
        *,
        config: Mapping[str, Any],
        trials: Sequence[v1TrialSummary] | Unset | None = ...,
    ) -> None: ...

class v1SearchUnit(Message):
    maxLength: bool
    name: str | None
    value: int | None
    def __init__(
        self,
        *,
        maxLength: bool,
        name: str | Unset | None = ...,
        value: int | Unset | None = ...,
    ) -> None: ...

class v1SetClusterMessageRequest(Message):
    message: str
    startTime: str
    duration: str | None
    endTime: str | None
    def __init__(
        self,
        *,
        message: str,
        startTime: str,
        duration: str | Unset | None = ...,
        endTime: str | Unset | None = ...,
    ) -> None: ...

class v1SetCommandPriorityRequest(Message):
    commandId: str | None
    priority: int | None
    def __init__(
        self,
        *,
        commandId: str | Unset | None = ...,
        priority: int | Unset | None = ...,
    ) -> None: ...

class v1SetCommandPriorityResponse(Message):
    command: v1Command | None
    def __init__(
        self,
        *,
        command: v1Command | Unset | None = ...,
    ) -> None: ...

class v1SetNotebookPriorityRequest(Message):
    notebookId: str | None
    priority: int | None
    def __init__(
        self,
        *,
        notebookId: str | Unset | None = ...,
        priority: int | Unset | None = ...,
    ) -> None: ...

class v1SetNotebookPriorityResponse(Message):
    notebook: v1Notebook | None
    def __init__(
        self,
        *,
        notebook: v1Notebook | Unset | None = ...,
    ) -> None: ...

class v1SetShellPriorityRequest(Message):
    priority: int | None
    shellId: str | None
    def __init__(
        self,
        *,
        priority: int | Unset | None = ...,
        shellId: str | Unset | None = ...,
    ) -> None: ...

class v1SetShellPriorityResponse(Message):
    shell: v1Shell | None
    def __init__(
        self,
        *,
        shell: v1Shell | Unset | None = ...,
    ) -> None: ...

class v1SetTensorboardPriorityRequest(Message):
    priority: int | None
    tensorboardId: str | None
    def __init__(
        self,
        *,
        priority: int | Unset | None = ...,
        tensorboardId: str | Unset | None = ...,
    ) -> None: ...

class v1SetTensorboardPriorityResponse(Message):
    tensorboard: v1Tensorboard | None
    def __init__(
        self,
        *,
        tensorboard: v1Tensorboard | Unset | None = ...,
    ) -> None: ...

class v1SetUserPasswordResponse(Message):
    user: v1User | None
    def __init__(
        self,
        *,
        user: v1User | Unset | None = ...,
    ) -> None: ...

class v1Shell(Message):
    description: str
    id: str
    jobId: str
    resourcePool: str
    startTime: str
    state: taskv1State
    username: str
    workspaceId: int
    addresses: list[dict[str, Any]] | None
    agentUserGroup: dict[str, Any] | None
    container: v1Container | None
    displayName: str | None
    exitStatus: str | None
    privateKey: str | None
    publicKey: str | None
    userId: int | None
    def __init__(
        self,
        *,
        description: str,
        id: str,
        jobId: str,
        resourcePool: str,
        startTime: str,
        state: taskv1State,
        username: str,
        workspaceId: int,
        addresses: Sequence[Mapping[str, Any]] | Unset | None = ...,
        agentUserGroup: Mapping[str, Any] | Unset | None = ...,
        container: v1Container | Unset | None = ...,
        displayName: str | Unset | None = ...,
        exitStatus: str | Unset | None = ...,
        privateKey: str | Unset | None = ...,
        publicKey: str | Unset | None = ...,
        userId: int | Unset | None = ...,
    ) -> None: ...

class v1Slot(Message):
    container: v1Container | None
    device: v1Device | None
    draining: bool | None
    enabled: bool | None
    id: str | None
    def __init__(
        self,
        *,
        container: v1Container | Unset | None = ...,
        device: v1Device | Unset | None = ...,
        draining: bool | Unset | None = ...,
        enabled: bool | Unset | None = ...,
        id: str | Unset | None = ...,
    ) -> None: ...

class v1SlotStats(Message):
    brandStats: dict[str, v1DeviceStats]
    typeStats: dict[str, v1DeviceStats]
    def __init__(
        self,
        *,
        brandStats: Mapping[str, v1DeviceStats],
        typeStats: Mapping[str, v1DeviceStats],
    ) -> None: ...

class v1StartTrialRequest(Message):
    trialId: int
    resume: bool | None
    def __init__(
        self,
        *,
        trialId: int,
        resume: bool | Unset | None = ...,
    ) -> None: ...

class v1StartTrialResponse(Message):
    stepsCompleted: int
    trialRunId: int
    latestCheckpoint: str | None
    def __init__(
        self,
        *,
        stepsCompleted: int,
        trialRunId: int,
        latestCheckpoint: str | Unset | None = ...,
    ) -> None: ...

class v1TableType(DetEnum):
    UNSPECIFIED = "TABLE_TYPE_UNSPECIFIED"
    EXPERIMENT = "TABLE_TYPE_EXPERIMENT"
    RUN = "TABLE_TYPE_RUN"

class v1Task(Message):
    allocations: list[v1Allocation]
    startTime: str
    taskId: str
    taskType: v1TaskType
    config: str | None
    endTime: str | None
    forkedFrom: str | None
    noPause: bool | None
    parentId: str | None
    taskState: v1GenericTaskState | None
    def __init__(
        self,
        *,
        allocations: Sequence[v1Allocation],
        startTime: str,
        taskId: str,
        taskType: v1TaskType,
        config: str | Unset | None = ...,
        endTime: str | Unset | None = ...,
        forkedFrom: str | Unset | None = ...,
        noPause: bool | Unset | None = ...,
        parentId: str | Unset | None = ...,
        taskState: v1GenericTaskState | Unset | None = ...,
    ) -> None: ...

class v1TaskLog(Message):
    log: str
    taskId: str
    agentId: str | None
    allocationId: str | None
    containerId: str | None
    id: int | None
    level: v1LogLevel | None
    rankId: int | None
    source: str | None
    stdtype: str | None
    timestamp: str | None
    def __init__(
        self,
        *,
        log: str,
        taskId: str,
        agentId: str | Unset | None = ...,
        allocationId: str | Unset | None = ...,
        containerId: str | Unset | None = ...,
        id: int | Unset | None = ...,
        level: v1LogLevel | Unset | None = ...,
        rankId: int | Unset | None = ...,
        source: str | Unset | None = ...,
        stdtype: str | Unset | None = ...,
        timestamp: str | Unset | None = ...,
    ) -> None: ...

class v1TaskLogsFieldsResponse(Message):
    agentIds: list[str] | None
    allocationIds: list[str] | None
    containerIds: list[str] | None
    rankIds: list[int] | None
    sources: list[str] | None
    stdtypes: list[str] | None
    def __init__(
        self,
        *,
        agentIds: Sequence[str] | Unset | None = ...,
        allocationIds: Sequence[str] | Unset | None = ...,
        containerIds: Sequence[str] | Unset | None = ...,
        rankIds: Sequence[int] | Unset | None = ...,
        sources: Sequence[str] | Unset | None = ...,
        stdtypes: Sequence[str] | Unset | None = ...,
    ) -> None: ...

class v1TaskLogsResponse(Message):
    id: str
    level: v1LogLevel
    log: str
    message: str
    taskId: str
    timestamp: str
    agentId: str | None
    allocationId: str | None
    containerId: str | None
    rankId: int | None
    source: str | None
    stdtype: str | None
    def __init__(
        self,
        *,
        id: str,
        level: v1LogLevel,
        log: str,
        message: str,
        taskId: str,
        timestamp: str,
        agentId: str | Unset | None = ...,
        allocationId: str | Unset | None = ...,
        containerId: str | Unset | None = ...,
        rankId: int | Unset | None = ...,
        source: str | Unset | None = ...,
        stdtype: str | Unset | None = ...,
    ) -> None: ...

class v1TaskType(DetEnum):
    UNSPECIFIED = "TASK_TYPE_UNSPECIFIED"
    TRIAL = "TASK_TYPE_TRIAL"
    NOTEBOOK = "TASK_TYPE_NOTEBOOK"
    SHELL = "TASK_TYPE_SHELL"
    COMMAND = "TASK_TYPE_COMMAND"
    TENSORBOARD = "TASK_TYPE_TENSORBOARD"
    CHECKPOINT_GC = "TASK_TYPE_CHECKPOINT_GC"
    GENERIC = "TASK_TYPE_GENERIC"

class v1Template(Message):
    config: dict[str, Any]
    name: str
    workspaceId: int
    def __init__(
        self,
        *,
        config: Mapping[str, Any],
        name: str,
        workspaceId: int,
    ) -> None: ...

class v1Tensorboard(Message):
    description: str
    id: str
    jobId: str
    resourcePool: str
    startTime: str
    state: taskv1State
    username: str
    workspaceId: int
    container: v1Container | None
    displayName: str | None
    exitStatus: str | None
    experimentIds: list[int] | None
    serviceAddress: str | None
    trialIds: list[int] | None
    userId: int | None
    def __init__(
        self,
        *,
        description: str,
        id: str,
        jobId: str,
        resourcePool: str,
        startTime: str,
        state: taskv1State,
        username: str,
        workspaceId: int,
        container: v1Container | Unset | None = ...,
        displayName: str | Unset | None = ...,
        exitStatus: str | Unset | None = ...,
        experimentIds: Sequence[int] | Unset | None = ...,
        serviceAddress: str | Unset | None = ...,
        trialIds: Sequence[int] | Unset | None = ...,
        userId: int | Unset | None = ...,
    ) -> None: ...

class v1TestWebhookResponse(Message):
    completed: bool
    def __init__(
        self,
        *,
        completed: bool,
    ) -> None: ...

class v1TokenInfo(Message):
    id: int
    userId: int
    createdAt: str | None
    description: str | None
    expiry: str | None
    revoked: bool | None
    tokenType: v1TokenType | None
    def __init__(
        self,
        *,
        id: int,
        userId: int,
        createdAt: str | Unset | None = ...,
        description: str | Unset | None = ...,
        expiry: str | Unset | None = ...,
        revoked: bool | Unset | None = ...,
        tokenType: v1TokenType | Unset | None = ...,
    ) -> None: ...

class v1TokenType(DetEnum):
    UNSPECIFIED = "TOKEN_TYPE_UNSPECIFIED"
    USER_SESSION = "TOKEN_TYPE_USER_SESSION"
    ACCESS_TOKEN = "TOKEN_TYPE_ACCESS_TOKEN"

class v1TrialEarlyExit(Message):
    reason: v1TrialEarlyExitExitedReason
    def __init__(
        self,
        *,
        reason: v1TrialEarlyExitExitedReason,
    ) -> None: ...

class v1TrialEarlyExitExitedReason(DetEnum):
    UNSPECIFIED = "EXITED_REASON_UNSPECIFIED"
    INVALID_HP = "EXITED_REASON_INVALID_HP"
    INIT_INVALID_HP = "EXITED_REASON_INIT_INVALID_HP"

class v1TrialLogsFieldsResponse(Message):
    agentIds: list[str] | None
    containerIds: list[str] | None
    rankIds: list[int] | None
    sources: list[str] | None
    stdtypes: list[str] | None
    def __init__(
        self,
        *,
        agentIds: Sequence[str] | Unset | None = ...,
        containerIds: Sequence[str] | Unset | None = ...,
        rankIds: Sequence[int] | Unset | None = ...,
        sources: Sequence[str] | Unset | None = ...,
        stdtypes: Sequence[str] | Unset | None = ...,
    ) -> None: ...

class v1TrialLogsResponse(Message):
    id: str
    level: v1LogLevel
    message: str
    timestamp: str
    trialId: int
    agentId: str | None
    containerId: str | None
    log: str | None
    rankId: int | None
    source: str | None
    stdtype: str | None
    def __init__(
        self,
        *,
        id: str,
        level: v1LogLevel,
        message: str,
        timestamp: str,
        trialId: int,
        agentId: str | Unset | None = ...,
        containerId: str | Unset | None = ...,
        log: str | Unset | None = ...,
        rankId: int | Unset | None = ...,
        source: str | Unset | None = ...,
        stdtype: str | Unset | None = ...,
    ) -> None: ...

class v1TrialMetrics(Message):
    metrics: v1Metrics
    trialId: int
    trialRunId: int
    reportTime: str | None
    stepsCompleted: int | None
    def __init__(
        self,
        *,
        metrics: v1Metrics,
        trialId: int,
        trialRunId: int,
        reportTime: str | Unset | None = ...,
        stepsCompleted: int | Unset | None = ...,
    ) -> None: ...

class v1TrialProfilerMetricLabels(Message):
    name: str
    trialId: int
    agentId: str | None
    gpuUuid: str | None
    metricType: TrialProfilerMetricLabelsProfilerMetricType | None
    def __init__(
        self,
        *,
        name: str,
        trialId: int,
        agentId: str | Unset | None = ...,
        gpuUuid: str | Unset | None = ...,
        metricType: TrialProfilerMetricLabelsProfilerMetricType | Unset | None = ...,
    ) -> None: ...

class v1TrialProfilerMetricsBatch(Message):
    batches: list[int]
    labels: v1TrialProfilerMetricLabels
    timestamps: list[str]
    values: list[float]
    def __init__(
        self,
        *,
        batches: Sequence[int],
        labels: v1TrialProfilerMetricLabels,
        timestamps: Sequence[str],
        values: Sequence[float],
    ) -> None: ...

class v1TrialRunnerMetadata(Message):
    state: str
    def __init__(
        self,
        *,
        state: str,
    ) -> None: ...

class v1TrialSourceInfo(Message):
    checkpointUuid: str
    trialId: int
    trialSourceInfoType: v1TrialSourceInfoType
    modelId: int | None
    modelVersion: int | None
    def __init__(
        self,
        *,
        checkpointUuid: str,
        trialId: int,
        trialSourceInfoType: v1TrialSourceInfoType,
        modelId: int | Unset | None = ...,
        modelVersion: int | Unset | None = ...,
    ) -> None: ...

class v1TrialSourceInfoType(DetEnum):
    UNSPECIFIED = "TRIAL_SOURCE_INFO_TYPE_UNSPECIFIED"
    INFERENCE = "TRIAL_SOURCE_INFO_TYPE_INFERENCE"
    FINE_TUNING = "TRIAL_SOURCE_INFO_TYPE_FINE_TUNING"

class v1TrialSummary(Message):
    count: int
    unit: v1SearchUnit
    def __init__(
        self,
        *,
        count: int,
        unit: v1SearchUnit,
    ) -> None: ...

class v1TrialsSampleResponse(Message):
    demotedTrials: list[int]
    promotedTrials: list[int]
    trials: list[v1TrialsSampleResponseTrial]
    def __init__(
        self,
        *,
        demotedTrials: Sequence[int],
        promotedTrials: Sequence[int],
        trials: Sequence[v1TrialsSampleResponseTrial],
    ) -> None: ...

class v1TrialsSampleResponseTrial(Message):
    data: list[v1DataPoint]
    hparams: dict[str, Any]
    trialId: int
    def __init__(
        self,
        *,
        data: Sequence[v1DataPoint],
        hparams: Mapping[str, Any],
        trialId: int,
    ) -> None: ...

class v1TrialsSnapshotResponse(Message):
    trials: list[v1TrialsSnapshotResponseTrial]
    def __init__(
        self,
        *,
        trials: Sequence[v1TrialsSnapshotResponseTrial],
    ) -> None: ...

class v1TrialsSnapshotResponseTrial(Message):
    batchesProcessed: int
    hparams: dict[str, Any]
    metric: float
    trialId: int
    def __init__(
        self,
        *,
        batchesProcessed: int,
        hparams: Mapping[str, Any],
        metric: float,
        trialId: int,
    ) -> None: ...

class v1Trigger(Message):
    condition: dict[str, Any] | None
    id: int | None
    triggerType: v1TriggerType | None
    webhookId: int | None
    def __init__(
        self,
        *,
        condition: Mapping[str, Any] | Unset | None = ...,
        id: int | Unset | None = ...,
        triggerType: v1TriggerType | Unset | None = ...,
        webhookId: int | Unset | None = ...,
    ) -> None: ...

class v1TriggerType(DetEnum):
    UNSPECIFIED = "TRIGGER_TYPE_UNSPECIFIED"
    EXPERIMENT_STATE_CHANGE = "TRIGGER_TYPE_EXPERIMENT_STATE_CHANGE"
    METRIC_THRESHOLD_EXCEEDED = "TRIGGER_TYPE_METRIC_THRESHOLD_EXCEEDED"
    TASK_LOG = "TRIGGER_TYPE_TASK_LOG"
    CUSTOM = "TRIGGER_TYPE_CUSTOM"

class v1UnarchiveExperimentsRequest(Message):
    experimentIds: list[int]
    projectId: int
    filters: v1BulkExperimentFilters | None
    def __init__(
        self,
        *,
        experimentIds: Sequence[int],
        projectId: int,
        filters: v1BulkExperimentFilters | Unset | None = ...,
    ) -> None: ...

class v1UnarchiveExperimentsResponse(Message):
    results: list[v1ExperimentActionResult]
    def __init__(
        self,
        *,
        results: Sequence[v1ExperimentActionResult],
    ) -> None: ...

class v1UnarchiveRunsRequest(Message):
    projectId: int
    runIds: list[int]
    filter: str | None
    def __init__(
        self,
        *,
        projectId: int,
        runIds: Sequence[int],
        filter: str | Unset | None = ...,
    ) -> None: ...

class v1UnarchiveRunsResponse(Message):
    results: list[v1RunActionResult]
    def __init__(
        self,
        *,
        results: Sequence[v1RunActionResult],
    ) -> None: ...

class v1UnbindRPFromWorkspaceRequest(Message):
    resourcePoolName: str
    workspaceIds: list[int] | None
    workspaceNames: list[str] | None
    def __init__(
        self,
        *,
        resourcePoolName: str,
        workspaceIds: Sequence[int] | Unset | None = ...,
        workspaceNames: Sequence[str] | Unset | None = ...,
    ) -> None: ...

class v1UpdateJobQueueRequest(Message):
    updates: list[v1QueueControl]
    def __init__(
        self,
        *,
        updates: Sequence[v1QueueControl],
    ) -> None: ...

class v1User(Message):
    active: bool
    admin: bool
    username: str
    agentUserGroup: v1AgentUserGroup | None
    displayName: str | None
    id: int | None
    lastAuthAt: str | None
    modifiedAt: str | None
    remote: bool | None
    def __init__(
        self,
        *,
        active: bool,
        admin: bool,
        username: str,
        agentUserGroup: v1AgentUserGroup | Unset | None = ...,
        displayName: str | Unset | None = ...,
        id: int | Unset | None = ...,
        lastAuthAt: str | Unset | None = ...,
        modifiedAt: str | Unset | None = ...,
        remote: bool | Unset | None = ...,
    ) -> None: ...

class v1UserActionResult(Message):
    error: str
    id: int
    def __init__(
        self,
        *,
        error: str,
        id: int,
    ) -> None: ...

class v1UserFilters(Message):
    admin: bool | None
    name: str | None
    def __init__(
        self,
        *,
        admin: bool | Unset | None = ...,
        name: str | Unset | None = ...,
    ) -> None: ...

class v1UserWebSetting(Message):
    key: str
    storagePath: str | None
    value: str | None
    def __init__(
        self,
        *,
        key: str,
        storagePath: str | Unset | None = ...,
        value: str | Unset | None = ...,
    ) -> None: ...

class v1ValidationHistoryEntry(Message):
    endTime: str
    searcherMetric: float
    trialId: int
    def __init__(
        self,
        *,
        endTime: str,
        searcherMetric: float,
        trialId: int,
    ) -> None: ...

class v1Webhook(Message):
    mode: v1WebhookMode
    name: str
    url: str
    webhookType: v1WebhookType
    id: int | None
    triggers: list[v1Trigger] | None
    workspaceId: int | None
    def __init__(
        self,
        *,
        mode: v1WebhookMode,
        name: str,
        url: str,
        webhookType: v1WebhookType,
        id: int | Unset | None = ...,
        triggers: Sequence[v1Trigger] | Unset | None = ...,
        workspaceId: int | Unset | None = ...,
    ) -> None: ...

class v1WebhookMode(DetEnum):
    UNSPECIFIED = "WEBHOOK_MODE_UNSPECIFIED"
    WORKSPACE = "WEBHOOK_MODE_WORKSPACE"
    SPECIFIC = "WEBHOOK_MODE_SPECIFIC"

class v1WebhookType(DetEnum):
    UNSPECIFIED = "WEBHOOK_TYPE_UNSPECIFIED"
    DEFAULT = "WEBHOOK_TYPE_DEFAULT"
    SLACK = "WEBHOOK_TYPE_SLACK"

class v1WorkloadContainer(Message):
    checkpoint: v1CheckpointWorkload | None
    training: v1MetricsWorkload | None
    validation: v1MetricsWorkload | None
    def __init__(
        self,
        *,
        checkpoint: v1CheckpointWorkload | Unset | None = ...,
        training: v1MetricsWorkload | Unset | None = ...,
        validation: v1MetricsWorkload | Unset | None = ...,
    ) -> None: ...

class v1Workspace(Message):
    archived: bool
    errorMessage: str
    id: int
    immutable: bool
    name: str
    numExperiments: int
    numProjects: int
    pinned: bool
    state: v1WorkspaceState
    userId: int
    username: str
    agentUserGroup: v1AgentUserGroup | None
    autoCreatedNamespace: str | None
    checkpointStorageConfig: dict[str, Any] | None
    defaultAuxPool: str | None
    defaultComputePool: str | None
    pinnedAt: str | None
    def __init__(
        self,
        *,
        archived: bool,
        errorMessage: str,
        id: int,
        immutable: bool,
        name: str,
        numExperiments: int,
        numProjects: int,
        pinned: bool,
        state: v1WorkspaceState,
        userId: int,
        username: str,
        agentUserGroup: v1AgentUserGroup | Unset | None = ...,
        autoCreatedNamespace: str | Unset | None = ...,
        checkpointStorageConfig: Mapping[str, Any] | Unset | None = ...,
        defaultAuxPool: str | Unset | None = ...,
        defaultComputePool: str | Unset | None = ...,
        pinnedAt: str | Unset | None = ...,
    ) -> None: ...

class v1WorkspaceNamespaceBinding(Message):
    autoCreateNamespace: bool | None
    clusterName: str | None
    namespace: str | None
    workspaceId: int | None
    def __init__(
        self,
        *,
        autoCreateNamespace: bool | Unset | None = ...,
        clusterName: str | Unset | None = ...,
        namespace: str | Unset | None = ...,
        workspaceId: int | Unset | None = ...,
    ) -> None: ...

class v1WorkspaceNamespaceMeta(Message):
    autoCreateNamespace: bool | None
    autoCreateNamespaceAllClusters: bool | None
    clusterName: str | None
    namespace: str | None
    resourceQuota: int | None
    def __init__(
        self,
        *,
        autoCreateNamespace: bool | Unset | None = ...,
        autoCreateNamespaceAllClusters: bool | Unset | None = ...,
        clusterName: str | Unset | None = ...,
        namespace: str | Unset | None = ...,
        resourceQuota: int | Unset | None = ...,
    ) -> None: ...

class v1WorkspaceState(DetEnum):
    UNSPECIFIED = "WORKSPACE_STATE_UNSPECIFIED"
    DELETING = "WORKSPACE_STATE_DELETING"
    DELETE_FAILED = "WORKSPACE_STATE_DELETE_FAILED"
    DELETED = "WORKSPACE_STATE_DELETED"

def delete_DeleteCheckpoints(
    session: Session,
    *,
    body: v1DeleteCheckpointsRequest,
) -> None: ...

def delete_DeleteClusterMessage(
    session: Session,
) -> None: ...

def delete_DeleteExperiment(
    session: Session,
    *,
    experimentId: int,
) -> None: ...

def delete_DeleteExperimentLabel(
    session: Session,
    *,
    experimentId: int,
    label: str,
) -> v1DeleteExperimentLabelResponse: ...

def delete_DeleteExperiments(
    session: Session,
    *,
    body: v1DeleteExperimentsRequest,
    projectId: int,
) -> v1DeleteExperimentsResponse: ...

def delete_DeleteModel(
    session: Session,
    *,
    modelName: str,
) -> None: ...

def delete_DeleteModelVersion(
    session: Session,
    *,
    modelName: str,
    modelVersionNum: str,
) -> None: ...

def delete_DeleteProject(
    session: Session,
    *,
    id: int,
) -> v1DeleteProjectResponse: ...

def delete_DeleteTemplate(
    session: Session,
    *,
    templateName: str,
) -> None: ...

def delete_DeleteTensorboardFiles(
    session: Session,
    *,
    experimentId: int,
) -> None: ...

def delete_DeleteWebhook(
    session: Session,
    *,
    id: int,
) -> None: ...

def delete_DeleteWorkspace(
    session: Session,
    *,
    id: int,
) -> v1DeleteWorkspaceResponse: ...

def delete_UnbindRPFromWorkspace(
    session: Session,
    *,
    body: v1UnbindRPFromWorkspaceRequest,
    resourcePoolName: str,
) -> None: ...

def get_AllocationPreemptionSignal(
    session: Session,
    *,
    allocationId: str,
    timeoutSeconds: float | None = None,
) -> v1AllocationPreemptionSignalResponse: ...

def get_AllocationRendezvousInfo(
    session: Session,
    *,
    allocationId: str,
    resourcesId: str,
) -> v1AllocationRendezvousInfoResponse: ...

def get_CompareTrials(
    session: Session,
    *,
    endBatches: int | None = None,
    group: str | None = None,
    maxDatapoints: int | None = None,
    metricIds: Sequence[str] | None = None,
    metricNames: Sequence[str] | None = None,
    metricType: v1MetricType | None = None,
    startBatches: int | None = None,
    timeSeriesFilter_doubleRange_gt: float | None = None,
    timeSeriesFilter_doubleRange_gte: float | None = None,
    timeSeriesFilter_doubleRange_lt: float | None = None,
    timeSeriesFilter_doubleRange_lte: float | None = None,
    timeSeriesFilter_integerRange_gt: int | None = None,
    timeSeriesFilter_integerRange_gte: int | None = None,
    timeSeriesFilter_integerRange_incl: Sequence[int] | None = None,
    timeSeriesFilter_integerRange_lt: int | None = None,
    timeSeriesFilter_integerRange_lte: int | None = None,
    timeSeriesFilter_integerRange_notIn: Sequence[int] | None = None,
    timeSeriesFilter_name: str | None = None,
    timeSeriesFilter_timeRange_gt: str | None = None,
    timeSeriesFilter_timeRange_gte: str | None = None,
    timeSeriesFilter_timeRange_lt: str | None = None,
    timeSeriesFilter_timeRange_lte: str | None = None,
    trialIds: Sequence[int] | None = None,
) -> v1CompareTrialsResponse: ...

def get_CurrentUser(
    session: Session,
) -> v1CurrentUserResponse: ...

def get_ExpMetricNames(
    session: Session,
    *,
    ids: Sequence[int],
    periodSeconds: int | None = None,
) -> Iterator[v1ExpMetricNamesResponse]: ...

def get_GetAccessTokens(
    session: Session,
    *,
    limit: int | None = None,
    offset: int | None = None,
    orderBy: v1OrderBy | None = None,
    showInactive: bool | None = None,
    sortBy: v1GetAccessTokensRequestSortBy | None = None,
    tokenIds: Sequence[int] | None = None,
    username: str | None = None,
) -> v1GetAccessTokensResponse: ...

def get_GetActiveTasksCount(
    session: Session,
) -> v1GetActiveTasksCountResponse: ...

def get_GetAgent(
    session: Session,
    *,
    agentId: str,
) -> v1GetAgentResponse: ...

def get_GetAgents(
    session: Session,
    *,
    excludeContainers: bool | None = None,
    excludeSlots: bool | None = None,
    limit: int | None = None,
    offset: int | None = None,
    orderBy: v1OrderBy | None = None,
    sortBy: v1GetAgentsRequestSortBy | None = None,
) -> v1GetAgentsResponse: ...

def get_GetAllocation(
    session: Session,
    *,
    allocationId: str,
) -> v1GetAllocationResponse: ...

def get_GetBestSearcherValidationMetric(
    session: Session,
    *,
    experimentId: int,
) -> v1GetBestSearcherValidationMetricResponse: ...

def get_GetCheckpoint(
    session: Session,
    *,
    checkpointUuid: str,
) -> v1GetCheckpointResponse: ...

def get_GetClusterMessage(
    session: Session,
) -> v1GetClusterMessageResponse: ...

def get_GetCommand(
    session: Session,
    *,
    commandId: str,
) -> v1GetCommandResponse: ...

def get_GetCommands(
    session: Session,
    *,
    limit: int | None = None,
    offset: int | None = None,
    orderBy: v1OrderBy | None = None,
    sortBy: v1GetTensorboardsRequestSortBy | None = None,
    userIds: Sequence[int] | None = None,
    users: Sequence[str] | None = None,
    workspaceId: int | None = None,
) -> v1GetCommandsResponse: ...

def get_GetExperiment(
    session: Session,
    *,
    experimentId: int,
) -> v1GetExperimentResponse: ...

def get_GetExperimentCheckpoints(
    session: Session,
    *,
    id: int,
    limit: int | None = None,
    offset: int | None = None,
    orderBy: v1OrderBy | None = None,
    sortByAttr: checkpointv1SortBy | None = None,
    sortByMetric: str | None = None,
    states: Sequence[checkpointv1State] | None = None,
) -> v1GetExperimentCheckpointsResponse: ...

def get_GetExperimentLabels(
    session: Session,
    *,
    projectId: int | None = None,
) -> v1GetExperimentLabelsResponse: ...

def get_GetExperimentTrials(
    session: Session,
    *,
    experimentId: int,
    limit: int | None = None,
    offset: int | None = None,
    orderBy: v1OrderBy | None = None,
    sortBy: v1GetExperimentTrialsRequestSortBy | None = None,
    states: Sequence[trialv1State] | None = None,
) -> v1GetExperimentTrialsResponse: ...

def get_GetExperimentValidationHistory(
    session: Session,
    *,
    experimentId: int,
) -> v1GetExperimentValidationHistoryResponse: ...

def get_GetExperiments(
    session: Session,
    *,
    archived: bool | None = None,
    description: str | None = None,
    experimentIdFilter_gt: int | None = None,
    experimentIdFilter_gte: int | None = None,
    experimentIdFilter_incl: Sequence[int] | None = None,
    experimentIdFilter_lt: int | None = None,
    experimentIdFilter_lte: int | None = None,
    experimentIdFilter_notIn: Sequence[int] | None = None,
    labels: Sequence[str] | None = None,
    limit: int | None = None,
    name: str | None = None,
    offset: int | None = None,
    orderBy: v1OrderBy | None = None,
    projectId: int | None = None,
    showTrialData: bool | None = None,
    sortBy: v1GetExperimentsRequestSortBy | None = None,
    states: Sequence[experimentv1State] | None = None,
    userIds: Sequence[int] | None = None,
    users: Sequence[str] | None = None,
) -> v1GetExperimentsResponse: ...

def get_GetGenericTaskConfig(
    session: Session,
    *,
    taskId: str,
) -> v1GetGenericTaskConfigResponse: ...

def get_GetJobQueueStats(
    session: Session,
    *,
    resourcePools: Sequence[str] | None = None,
) -> v1GetJobQueueStatsResponse: ...

def get_GetJobs(
    session: Session,
    *,
    limit: int | None = None,
    offset: int | None = None,
    orderBy: v1OrderBy | None = None,
    resourcePool: str | None = None,
    states: Sequence[jobv1State] | None = None,
) -> v1GetJobsResponse: ...

def get_GetJobsV2(
    session: Session,
    *,
    limit: int | None = None,
    offset: int | None = None,
    orderBy: v1OrderBy | None = None,
    resourcePool: str | None = None,
    states: Sequence[jobv1State] | None = None,
) -> v1GetJobsV2Response: ...

def get_GetKubernetesResourceQuotas(
    session: Session,
    *,
    id: int,
) -> v1GetKubernetesResourceQuotasResponse: ...

def get_GetMaster(
    session: Session,
) -> v1GetMasterResponse: ...

def get_GetMasterConfig(
    session: Session,
) -> v1GetMasterConfigResponse: ...

def get_GetMe(
    session: Session,
) -> v1GetMeResponse: ...

def get_GetMetadataValues(
    session: Session,
    *,
    key: str,
    projectId: int,
) -> v1GetMetadataValuesResponse: ...

def get_GetMetrics(
    session: Session,
    *,
    group: str,
    trialIds: Sequence[int],
) -> Iterator[v1GetMetricsResponse]: ...

def get_GetModel(
    session: Session,
    *,
    modelName: str,
) -> v1GetModelResponse: ...

def get_GetModelDef(
    session: Session,
    *,
    experimentId: int,
) -> v1GetModelDefResponse: ...

def get_GetModelDefTree(
    session: Session,
    *,
    experimentId: int,
) -> v1GetModelDefTreeResponse: ...

def get_GetModelLabels(
    session: Session,
    *,
    workspaceId: int | None = None,
) -> v1GetModelLabelsResponse: ...

def get_GetModelVersion(
    session: Session,
    *,
    modelName: str,
    modelVersionNum: str,
) -> v1GetModelVersionResponse: ...

def get_GetModelVersions(
    session: Session,
    *,
    modelName: str,
    limit: int | None = None,
    offset: int | None = None,
    orderBy: v1OrderBy | None = None,
    sortBy: v1GetModelVersionsRequestSortBy | None = None,
) -> v1GetModelVersionsResponse: ...

def get_GetModels(
    session: Session,
    *,
    archived: bool | None = None,
    description: str | None = None,
    id: int | None = None,
    labels: Sequence[str] | None = None,
    limit: int | None = None,
    name: str | None = None,
    offset: int | None = None,
    orderBy: v1OrderBy | None = None,
    sortBy: v1GetModelsRequestSortBy | None = None,
    userIds: Sequence[int] | None = None,
    users: Sequence[str] | None = None,
    workspaceIds: Sequence[int] | None = None,
    workspaceNames: Sequence[str] | None = None,
) -> v1GetModelsResponse: ...

def get_GetNotebook(
    session: Session,
    *,
    notebookId: str,
) -> v1GetNotebookResponse: ...

def get_GetNotebooks(
    session: Session,
    *,
    limit: int | None = None,
    offset: int | None = None,
    orderBy: v1OrderBy | None = None,
    sortBy: v1GetTensorboardsRequestSortBy | None = None,
    userIds: Sequence[int] | None = None,
    users: Sequence[str] | None = None,
    workspaceId: int | None = None,
) -> v1GetNotebooksResponse: ...

def get_GetPermissionsSummary(
    session: Session,
) -> v1GetPermissionsSummaryResponse: ...

def get_GetProject(
    session: Session,
    *,
    id: int,
) -> v1GetProjectResponse: ...

def get_GetProjectByKey(
    session: Session,
    *,
    key: str,
) -> v1GetProjectByKeyResponse: ...

def get_GetProjectColumns(
    session: Session,
    *,
    id: int,
    tableType: v1TableType | None = None,
) -> v1GetProjectColumnsResponse: ...

def get_GetProjectNumericMetricsRange(
    session: Session,
    *,
    id: int,
) -> v1GetProjectNumericMetricsRangeResponse: ...

def get_GetProjectsByUserActivity(
    session: Session,
    *,
    limit: int | None = None,
) -> v1GetProjectsByUserActivityResponse: ...

def get_GetResourcePools(
    session: Session,
    *,
    limit: int | None = None,
    offset: int | None = None,
    unbound: bool | None = None,
) -> v1GetResourcePoolsResponse: ...

def get_GetRunMetadata(
    session: Session,
    *,
    runId: int,
) -> v1GetRunMetadataResponse: ...

def get_GetShell(
    session: Session,
    *,
    shellId: str,
) -> v1GetShellResponse: ...

def get_GetShells(
    session: Session,
    *,
    limit: int | None = None,
    offset: int | None = None,
    orderBy: v1OrderBy | None = None,
    sortBy: v1GetTensorboardsRequestSortBy | None = None,
    userIds: Sequence[int] | None = None,
    users: Sequence[str] | None = None,
    workspaceId: int | None = None,
) -> v1GetShellsResponse: ...

def get_GetSlot(
    session: Session,
    *,
    agentId: str,
    slotId: str,
) -> v1GetSlotResponse: ...

def get_GetSlots(
    session: Session,
    *,
    agentId: str,
) -> v1GetSlotsResponse: ...

def get_GetTask(
    session: Session,
    *,
    taskId: str,
) -> v1GetTaskResponse: ...

def get_GetTaskAcceleratorData(
    session: Session,
    *,
    taskId: str,
) -> v1GetTaskAcceleratorDataResponse: ...

def get_GetTaskContextDirectory(
    session: Session,
    *,
    taskId: str,
) -> v1GetTaskContextDirectoryResponse: ...

def get_GetTasks(
    session: Session,
) -> v1GetTasksResponse: ...

def get_GetTelemetry(
    session: Session,
) -> v1GetTelemetryResponse: ...

def get_GetTemplate(
    session: Session,
    *,
    templateName: str,
) -> v1GetTemplateResponse: ...

def get_GetTemplates(
    session: Session,
    *,
    limit: int | None = None,
    name: str | None = None,
    offset: int | None = None,
    orderBy: v1OrderBy | None = None,
    sortBy: v1GetTemplatesRequestSortBy | None = None,
    workspaceIds: Sequence[int] | None = None,
) -> v1GetTemplatesResponse: ...

def get_GetTensorboard(
    session: Session,
    *,
    tensorboardId: str,
) -> v1GetTensorboardResponse: ...

def get_GetTensorboards(
    session: Session,
    *,
    limit: int | None = None,
    offset: int | None = None,
    orderBy: v1OrderBy | None = None,
    sortBy: v1GetTensorboardsRequestSortBy | None = None,
    userIds: Sequence[int] | None = None,
    users: Sequence[str] | None = None,
    workspaceId: int | None = None,
) -> v1GetTensorboardsResponse: ...

def get_GetTrainingMetrics(
    session: Session,
    *,
    trialIds: Sequence[int] | None = None,
) -> Iterator[v1GetTrainingMetricsResponse]: ...

def get_GetTrial(
    session: Session,
    *,
    trialId: int,
) -> v1GetTrialResponse: ...

def get_GetTrialByExternalID(
    session: Session,
    *,
    externalExperimentId: str,
    externalTrialId: str,
) -> v1GetTrialByExternalIDResponse: ...

def get_GetTrialCheckpoints(
    session: Session,
    *,
    id: int,
    limit: int | None = None,
    offset: int | None = None,
    orderBy: v1OrderBy | None = None,
    sortByAttr: checkpointv1SortBy | None = None,
    sortByMetric: str | None = None,
    states: Sequence[checkpointv1State] | None = None,
) -> v1GetTrialCheckpointsResponse: ...

def get_GetTrialMetricsByCheckpoint(
    session: Session,
    *,
    checkpointUuid: str,
    metricGroup: str | None = None,
    trialSourceInfoType: v1TrialSourceInfoType | None = None,
) -> v1GetTrialMetricsByCheckpointResponse: ...

def get_GetTrialMetricsByModelVersion(
    session: Session,
    *,
    modelName: str,
    modelVersionNum: str,
    metricGroup: str | None = None,
    trialSourceInfoType: v1TrialSourceInfoType | None = None,
) -> v1GetTrialMetricsByModelVersionResponse: ...

def get_GetTrialProfilerAvailableSeries(
    session: Session,
    *,
    trialId: int,
    follow: bool | None = None,
) -> Iterator[v1GetTrialProfilerAvailableSeriesResponse]: ...

def get_GetTrialProfilerMetrics(
    session: Session,
    *,
    labels_trialId: int,
    follow: bool | None = None,
    labels_agentId: str | None = None,
    labels_gpuUuid: str | None = None,
    labels_metricType: TrialProfilerMetricLabelsProfilerMetricType | None = None,
    labels_name: str | None = None,
) -> Iterator[v1GetTrialProfilerMetricsResponse]: ...

def get_GetTrialRemainingLogRetentionDays(
    session: Session,
    *,
    id: int,
) -> v1GetTrialRemainingLogRetentionDaysResponse: ...

def get_GetTrialWorkloads(
    session: Session,
    *,
    trialId: int,
    filter: GetTrialWorkloadsRequestFilterOption | None = None,
    group: str | None = None,
    includeBatchMetrics: bool | None = None,
    limit: int | None = None,
    metricType: v1MetricType | None = None,
    offset: int | None = None,
    orderBy: v1OrderBy | None = None,
    removeDeletedCheckpoints: bool | None = None,
    sortKey: str | None = None,
) -> v1GetTrialWorkloadsResponse: ...

def get_GetUser(
    session: Session,
    *,
    userId: int,
) -> v1GetUserResponse: ...

def get_GetUserByUsername(
    session: Session,
    *,
    username: str,
) -> v1GetUserByUsernameResponse: ...

def get_GetUserSetting(
    session: Session,
) -> v1GetUserSettingResponse: ...

def get_GetUsers(
    session: Session,
    *,
    active: bool | None = None,
    admin: bool | None = None,
    limit: int | None = None,
    name: str | None = None,
    offset: int | None = None,
    orderBy: v1OrderBy | None = None,
    roleIdAssignedDirectlyToUser: Sequence[int] | None = None,
    sortBy: v1GetUsersRequestSortBy | None = None,
) -> v1GetUsersResponse: ...

def get_GetValidationMetrics(
    session: Session,
    *,
    trialIds: Sequence[int] | None = None,
) -> Iterator[v1GetValidationMetricsResponse]: ...

def get_GetWebhooks(
    session: Session,
) -> v1GetWebhooksResponse: ...

def get_GetWorkspace(
    session: Session,
    *,
    id: int,
) -> v1GetWorkspaceResponse: ...

def get_GetWorkspaceProjects(
    session: Session,
    *,
    id: int,
    archived: bool | None = None,
    limit: int | None = None,
    name: str | None = None,
    offset: int | None = None,
    orderBy: v1OrderBy | None = None,
    sortBy: v1GetWorkspaceProjectsRequestSortBy | None = None,
    userIds: Sequence[int] | None = None,
    users: Sequence[str] | None = None,
) -> v1GetWorkspaceProjectsResponse: ...

def get_GetWorkspaces(
    session: Session,
    *,
    archived: bool | None = None,
    limit: int | None = None,
    name: str | None = None,
    nameCaseSensitive: str | None = None,
    offset: int | None = None,
    orderBy: v1OrderBy | None = None,
    pinned: bool | None = None,
    sortBy: v1GetWorkspacesRequestSortBy | None = None,
    userIds: Sequence[int] | None = None,
    users: Sequence[str] | None = None,
) -> v1GetWorkspacesResponse: ...

def get_ListRPsBoundToWorkspace(
    session: Session,
    *,
    workspaceId: int,
    limit: int | None = None,
    offset: int | None = None,
) -> v1ListRPsBoundToWorkspaceResponse: ...

def get_ListWorkspaceNamespaceBindings(
    session: Session,
    *,
    id: int,
) -> v1ListWorkspaceNamespaceBindingsResponse: ...

def get_ListWorkspacesBoundToRP(
    session: Session,
    *,
    resourcePoolName: str,
    limit: int | None = None,
    offset: int | None = None,
) -> v1ListWorkspacesBoundToRPResponse: ...

def get_MasterLogs(
    session: Session,
    *,
    follow: bool | None = None,
    limit: int | None = None,
    offset: int | None = None,
) -> Iterator[v1MasterLogsResponse]: ...

def get_MetricBatches(
    session: Session,
    *,
    experimentId: int,
    metricName: str,
    group: str | None = None,
    metricType: v1MetricType | None = None,
    periodSeconds: int | None = None,
) -> Iterator[v1MetricBatchesResponse]: ...

def get_ResourceAllocationAggregated(
    session: Session,
    *,
    endDate: str,
    period: v1ResourceAllocationAggregationPeriod,
    startDate: str,
) -> v1ResourceAllocationAggregatedResponse: ...

def get_ResourceAllocationRaw(
    session: Session,
    *,
    timestampAfter: str,
    timestampBefore: str,
) -> v1ResourceAllocationRawResponse: ...

def get_TaskLogs(
    session: Session,
    *,
    taskId: str,
    agentIds: Sequence[str] | None = None,
    allocationIds: Sequence[str] | None = None,
    containerIds: Sequence[str] | None = None,
    enableRegex: bool | None = None,
    follow: bool | None = None,
    levels: Sequence[v1LogLevel] | None = None,
    limit: int | None = None,
    orderBy: v1OrderBy | None = None,
    rankIds: Sequence[int] | None = None,
    searchText: str | None = None,
    sources: Sequence[str] | None = None,
    stdtypes: Sequence[str] | None = None,
    timestampAfter: str | None = None,
    timestampBefore: str | None = None,
) -> Iterator[v1TaskLogsResponse]: ...

def get_TaskLogsFields(
    session: Session,
    *,
    taskId: str,
    follow: bool | None = None,
) -> Iterator[v1TaskLogsFieldsResponse]: ...

def get_TrialLogs(
    session: Session,
    *,
    trialId: int,
    agentIds: Sequence[str] | None = None,
    containerIds: Sequence[str] | None = None,
    enableRegex: bool | None = None,
    follow: bool | None = None,
    levels: Sequence[v1LogLevel] | None = None,
    limit: int | None = None,
    orderBy: v1OrderBy | None = None,
    rankIds: Sequence[int] | None = None,
    searchText: str | None = None,
    sources: Sequence[str] | None = None,
    stdtypes: Sequence[str] | None = None,
    timestampAfter: str | None = None,
    timestampBefore: str | None = None,
) -> Iterator[v1TrialLogsResponse]: ...

def get_TrialLogsFields(
    session: Session,
    *,
    trialId: int,
    follow: bool | None = None,
) -> Iterator[v1TrialLogsFieldsResponse]: ...

def get_TrialsSample(
    session: Session,
    *,
    experimentId: int,
    metricName: str,
    endBatches: int | None = None,
    group: str | None = None,
    maxDatapoints: int | None = None,
    maxTrials: int | None = None,
    metricType: v1MetricType | None = None,
    periodSeconds: int | None = None,
    startBatches: int | None = None,
) -> Iterator[v1TrialsSampleResponse]: ...

def get_TrialsSnapshot(
    session: Session,
    *,
    batchesProcessed: int,
    experimentId: int,
    metricName: str,
    batchesMargin: int | None = None,
    group: str | None = None,
    metricType: v1MetricType | None = None,
    periodSeconds: int | None = None,
) -> Iterator[v1TrialsSnapshotResponse]: ...

def get_health(
    session: Session,
) -> HealthCheck: ...

def patch_PatchAccessToken(
    session: Session,
    *,
    body: v1PatchAccessTokenRequest,
    tokenId: int,
) -> v1PatchAccessTokenResponse: ...

def patch_PatchCheckpoints(
    session: Session,
    *,
    body: v1PatchCheckpointsRequest,
) -> None: ...

def patch_PatchExperiment(
    session: Session,
    *,
    body: v1PatchExperiment,
    experiment_id: int,
) -> v1PatchExperimentResponse: ...

def patch_PatchMasterConfig(
    session: Session,
    *,
    body: v1PatchMasterConfigRequest,
) -> None: ...

def patch_PatchModel(
    session: Session,
    *,
    body: v1PatchModel,
    modelName: str,
) -> v1PatchModelResponse: ...

def patch_PatchModelVersion(
    session: Session,
    *,
    body: v1PatchModelVersion,
    modelName: str,
    modelVersionNum: str,
) -> v1PatchModelVersionResponse: ...

def patch_PatchProject(
    session: Session,
    *,
    body: v1PatchProject,
    id: int,
) -> v1PatchProjectResponse: ...

def patch_PatchTemplateConfig(
    session: Session,
    *,
    body: Mapping[str, Any],
    templateName: str,
) -> v1PatchTemplateConfigResponse: ...

def patch_PatchTemplateName(
    session: Session,
    *,
    body: v1PatchTemplateNameRequest,
) -> v1PatchTemplateNameResponse: ...

def patch_PatchTrial(
    session: Session,
    *,
    body: v1PatchTrialRequest,
    trialId: int,
) -> v1PatchTrialResponse: ...

def patch_PatchUser(
    session: Session,
    *,
    body: v1PatchUser,
    userId: int,
) -> v1PatchUserResponse: ...

def patch_PatchUsers(
    session: Session,
    *,
    body: v1PatchUsersRequest,
) -> v1PatchUsersResponse: ...

def patch_PatchWebhook(
    session: Session,
    *,
    body: v1PatchWebhook,
    id: int,
) -> None: ...

def patch_PatchWorkspace(
    session: Session,
    *,
    body: v1PatchWorkspace,
    id: int,
) -> v1PatchWorkspaceResponse: ...

def post_AckAllocationPreemptionSignal(
    session: Session,
    *,
    allocationId: str,
    body: v1AckAllocationPreemptionSignalRequest,
) -> None: ...

def post_ActivateExperiment(
    session: Session,
    *,
    id: int,
) -> None: ...

def post_ActivateExperiments(
    session: Session,
    *,
    body: v1ActivateExperimentsRequest,
    projectId: int,
) -> v1ActivateExperimentsResponse: ...

def post_AddProjectNote(
    session: Session,
    *,
    body: v1Note,
    projectId: int,
) -> v1AddProjectNoteResponse: ...

def post_AllocationAllGather(
    session: Session,
    *,
    allocationId: str,
    body: v1AllocationAllGatherRequest,
) -> v1AllocationAllGatherResponse: ...

def post_AllocationPendingPreemptionSignal(
    session: Session,
    *,
    allocationId: str,
    body: v1AllocationPendingPreemptionSignalRequest,
) -> None: ...

def post_AllocationReady(
    session: Session,
    *,
    allocationId: str,
    body: v1AllocationReadyRequest,
) -> None: ...

def post_AllocationWaiting(
    session: Session,
    *,
    allocationId: str,
    body: v1AllocationWaitingRequest,
) -> None: ...

def post_ArchiveExperiment(
    session: Session,
    *,
    id: int,
) -> None: ...

def post_ArchiveExperiments(
    session: Session,
    *,
    body: v1ArchiveExperimentsRequest,
    projectId: int,
) -> v1ArchiveExperimentsResponse: ...

def post_ArchiveModel(
    session: Session,
    *,
    modelName: str,
) -> None: ...

def post_ArchiveProject(
    session: Session,
    *,
    id: int,
) -> None: ...

def post_ArchiveRuns(
    session: Session,
    *,
    body: v1ArchiveRunsRequest,
) -> v1ArchiveRunsResponse: ...

def post_ArchiveWorkspace(
    session: Session,
    *,
    id: int,
) -> None: ...

def post_BindRPToWorkspace(
    session: Session,
    *,
    body: v1BindRPToWorkspaceRequest,
    resourcePoolName: str,
) -> None: ...

def post_CancelExperiment(
    session: Session,
    *,
    id: int,
) -> None: ...

def post_CancelExperiments(
    session: Session,
    *,
    body: v1CancelExperimentsRequest,
    projectId: int,
) -> v1CancelExperimentsResponse: ...

def post_CheckpointsRemoveFiles(
    session: Session,
    *,
    body: v1CheckpointsRemoveFilesRequest,
) -> None: ...

def post_CleanupLogs(
    session: Session,
) -> v1CleanupLogsResponse: ...

def post_ContinueExperiment(
    session: Session,
    *,
    body: v1ContinueExperimentRequest,
) -> v1ContinueExperimentResponse: ...

def post_CreateExperiment(
    session: Session,
    *,
    body: v1CreateExperimentRequest,
) -> v1CreateExperimentResponse: ...

def post_CreateGenericTask(
    session: Session,
    *,
    body: v1CreateGenericTaskRequest,
) -> v1CreateGenericTaskResponse: ...

def post_CreateTrial(
    session: Session,
    *,
    body: v1CreateTrialRequest,
) -> v1CreateTrialResponse: ...

def post_DeleteRuns(
    session: Session,
    *,
    body: v1DeleteRunsRequest,
) -> v1DeleteRunsResponse: ...

def post_DisableAgent(
    session: Session,
    *,
    agentId: str,
    body: v1DisableAgentRequest,
) -> v1DisableAgentResponse: ...

def post_DisableSlot(
    session: Session,
    *,
    agentId: str,
    body: v1DisableSlotRequest,
    slotId: str,
) -> v1DisableSlotResponse: ...

def post_EnableAgent(
    session: Session,
    *,
    agentId: str,
) -> v1EnableAgentResponse: ...

def post_EnableSlot(
    session: Session,
    *,
    agentId: str,
    slotId: str,
) -> v1EnableSlotResponse: ...

def post_GetModelDefFile(
    session: Session,
    *,
    body: v1GetModelDefFileRequest,
    experimentId: int,
) -> v1GetModelDefFileResponse: ...

def post_KillCommand(
    session: Session,
    *,
    commandId: str,
) -> v1KillCommandResponse: ...

def post_KillExperiment(
    session: Session,
    *,
    id: int,
) -> None: ...

def post_KillExperiments(
    session: Session,
    *,
    body: v1KillExperimentsRequest,
    projectId: int,
) -> v1KillExperimentsResponse: ...

def post_KillGenericTask(
    session: Session,
    *,
    body: v1KillGenericTaskRequest,
    taskId: str,
) -> None: ...

def post_KillNotebook(
    session: Session,
    *,
    notebookId: str,
) -> v1KillNotebookResponse: ...

def post_KillRuns(
    session: Session,
    *,
    body: v1KillRunsRequest,
) -> v1KillRunsResponse: ...

def post_KillShell(
    session: Session,
    *,
    shellId: str,
) -> v1KillShellResponse: ...

def post_KillTensorboard(
    session: Session,
    *,
    tensorboardId: str,
) -> v1KillTensorboardResponse: ...

def post_KillTrial(
    session: Session,
    *,
    id: int,
) -> None: ...

def post_LaunchCommand(
    session: Session,
    *,
    body: v1LaunchCommandRequest,
) -> v1LaunchCommandResponse: ...

def post_LaunchNotebook(
    session: Session,
    *,
    body: v1LaunchNotebookRequest,
) -> v1LaunchNotebookResponse: ...

def post_LaunchShell(
    session: Session,
    *,
    body: v1LaunchShellRequest,
) -> v1LaunchShellResponse: ...

def post_LaunchTensorboard(
    session: Session,
    *,
    body: v1LaunchTensorboardRequest,
) -> v1LaunchTensorboardResponse: ...

def post_Login(
    session: Session,
    *,
    body: v1LoginRequest,
) -> v1LoginResponse: ...

def post_Logout(
    session: Session,
) -> None: ...

def post_MarkAllocationResourcesDaemon(
    session: Session,
    *,
    allocationId: str,
    body: v1MarkAllocationResourcesDaemonRequest,
    resourcesId: str,
) -> None: ...

def post_MoveExperiment(
    session: Session,
    *,
    body: v1MoveExperimentRequest,
    experimentId: int,
) -> None: ...

def post_MoveExperiments(
    session: Session,
    *,
    body: v1MoveExperimentsRequest,
    projectId: int,
) -> v1MoveExperimentsResponse: ...

def post_MoveModel(
    session: Session,
    *,
    body: v1MoveModelRequest,
    modelName: str,
) -> None: ...

def post_MoveProject(
    session: Session,
    *,
    body: v1MoveProjectRequest,
    projectId: int,
) -> None: ...

def post_MoveRuns(
    session: Session,
    *,
    body: v1MoveRunsRequest,
) -> v1MoveRunsResponse: ...

def post_NotifyContainerRunning(
    session: Session,
    *,
    allocationId: str,
    body: v1NotifyContainerRunningRequest,
) -> v1NotifyContainerRunningResponse: ...

def post_PauseExperiment(
    session: Session,
    *,
    id: int,
) -> None: ...

def post_PauseExperiments(
    session: Session,
    *,
    body: v1PauseExperimentsRequest,
    projectId: int,
) -> v1PauseExperimentsResponse: ...

def post_PauseGenericTask(
    session: Session,
    *,
    taskId: str,
) -> None: ...

def post_PauseRuns(
    session: Session,
    *,
    body: v1PauseRunsRequest,
) -> v1PauseRunsResponse: ...

def post_PinWorkspace(
    session: Session,
    *,
    id: int,
) -> None: ...

def post_PostAccessToken(
    session: Session,
    *,
    body: v1PostAccessTokenRequest,
) -> v1PostAccessTokenResponse: ...

def post_PostAllocationAcceleratorData(
    session: Session,
    *,
    allocationId: str,
    body: v1PostAllocationAcceleratorDataRequest,
) -> None: ...

def post_PostAllocationProxyAddress(
    session: Session,
    *,
    allocationId: str,
    body: v1PostAllocationProxyAddressRequest,
) -> None: ...

def post_PostCheckpointMetadata(
    session: Session,
    *,
    body: v1PostCheckpointMetadataRequest,
    checkpoint_uuid: str,
) -> v1PostCheckpointMetadataResponse: ...

def post_PostModel(
    session: Session,
    *,
    body: v1PostModelRequest,
) -> v1PostModelResponse: ...

def post_PostModelVersion(
    session: Session,
    *,
    body: v1PostModelVersionRequest,
    modelName: str,
) -> v1PostModelVersionResponse: ...

def post_PostProject(
    session: Session,
    *,
    body: v1PostProjectRequest,
    workspaceId: int,
) -> v1PostProjectResponse: ...

def post_PostRunMetadata(
    session: Session,
    *,
    body: v1PostRunMetadataRequest,
    runId: int,
) -> v1PostRunMetadataResponse: ...

def post_PostTaskLogs(
    session: Session,
    *,
    body: v1PostTaskLogsRequest,
) -> None: ...

def post_PostTemplate(
    session: Session,
    *,
    body: v1Template,
    template_name: str,
) -> v1PostTemplateResponse: ...

def post_PostTrialProfilerMetricsBatch(
    session: Session,
    *,
    body: v1PostTrialProfilerMetricsBatchRequest,
) -> None: ...

def post_PostTrialRunnerMetadata(
    session: Session,
    *,
    body: v1TrialRunnerMetadata,
    trialId: int,
) -> None: ...

def post_PostUser(
    session: Session,
    *,
    body: v1PostUserRequest,
) -> v1PostUserResponse: ...

def post_PostUserActivity(
    session: Session,
    *,
    body: v1PostUserActivityRequest,
) -> None: ...

def post_PostUserSetting(
    session: Session,
    *,
    body: v1PostUserSettingRequest,
) -> None: ...

def post_PostWebhook(
    session: Session,
    *,
    body: v1Webhook,
) -> v1PostWebhookResponse: ...

def post_PostWebhookEventData(
    session: Session,
    *,
    body: v1PostWebhookEventDataRequest,
) -> None: ...

def post_PostWorkspace(
    session: Session,
    *,
    body: v1PostWorkspaceRequest,
) -> v1PostWorkspaceResponse: ...

def post_PreviewHPSearch(
    session: Session,
    *,
    body: v1PreviewHPSearchRequest,
) -> v1PreviewHPSearchResponse: ...

def post_ReportCheckpoint(
    session: Session,
    *,
    body: v1Checkpoint,
) -> None: ...

def post_ReportTrialMetrics(
    session: Session,
    *,
    body: v1ReportTrialMetricsRequest,
    metrics_trialId: int,
) -> None: ...

def post_ReportTrialProgress(
    session: Session,
    *,
    body: v1ReportTrialProgressRequest,
    trialId: int,
) -> None: ...

def post_ReportTrialSearcherEarlyExit(
    session: Session,
    *,
    body: v1TrialEarlyExit,
    trialId: int,
) -> None: ...

def post_ReportTrialSourceInfo(
    session: Session,
    *,
    body: v1ReportTrialSourceInfoRequest,
) -> v1ReportTrialSourceInfoResponse: ...

def post_ReportTrialTrainingMetrics(
    session: Session,
    *,
    body: v1TrialMetrics,
    trainingMetrics_trialId: int,
) -> None: ...

def post_ReportTrialValidationMetrics(
    session: Session,
    *,
    body: v1TrialMetrics,
    validationMetrics_trialId: int,
) -> None: ...

def post_ResetUserSetting(
    session: Session,
) -> None: ...

def post_ResumeRuns(
    session: Session,
    *,
    body: v1ResumeRunsRequest,
) -> v1ResumeRunsResponse: ...

def post_RunPrepareForReporting(
    session: Session,
    *,
    body: v1RunPrepareForReportingRequest,
) -> v1RunPrepareForReportingResponse: ...

def post_SearchExperiments(
    session: Session,
    *,
    body: v1SearchExperimentsRequest,
) -> v1SearchExperimentsResponse: ...

def post_SearchRuns(
    session: Session,
    *,
    body: v1SearchRunsRequest,
) -> v1SearchRunsResponse: ...

def post_SetCommandPriority(
    session: Session,
    *,
    body: v1SetCommandPriorityRequest,
    commandId: str,
) -> v1SetCommandPriorityResponse: ...

def post_SetNotebookPriority(
    session: Session,
    *,
    body: v1SetNotebookPriorityRequest,
    notebookId: str,
) -> v1SetNotebookPriorityResponse: ...

def post_SetShellPriority(
    session: Session,
    *,
    body: v1SetShellPriorityRequest,
    shellId: str,
) -> v1SetShellPriorityResponse: ...

def post_SetTensorboardPriority(
    session: Session,
    *,
    body: v1SetTensorboardPriorityRequest,
    tensorboardId: str,
) -> v1SetTensorboardPriorityResponse: ...

def post_SetUserPassword(
    session: Session,
    *,
    body: str,
    userId: int,
) -> v1SetUserPasswordResponse: ...

def post_StartTrial(
    session: Session,
    *,
    body: v1StartTrialRequest,
    trialId: int,
) -> v1StartTrialResponse: ...

def post_TestWebhook(
    session: Session,
    *,
    id: int,
) -> v1TestWebhookResponse: ...

def post_UnarchiveExperiment(
    session: Session,
    *,
    id: int,
) -> None: ...

def post_UnarchiveExperiments(
    session: Session,
    *,
    body: v1UnarchiveExperimentsRequest,
    projectId: int,
) -> v1UnarchiveExperimentsResponse: ...

def post_UnarchiveModel(
    session: Session,
    *,
    modelName: str,
) -> None: ...

def post_UnarchiveProject(
    session: Session,
    *,
    id: int,
) -> None: ...

def post_UnarchiveRuns(
    session: Session,
    *,
    body: v1UnarchiveRunsRequest,
) -> v1UnarchiveRunsResponse: ...

def post_UnarchiveWorkspace(
    session: Session,
    *,
    id: int,
) -> None: ...

def post_UnpauseGenericTask(
    session: Session,
    *,
    taskId: str,
) -> None: ...

def post_UnpinWorkspace(
    session: Session,
    *,
    id: int,
) -> None: ...

def post_UpdateJobQueue(
    session: Session,
    *,
    body: v1UpdateJobQueueRequest,
) -> None: ...

def put_IdleNotebook(
    session: Session,
    *,
    body: v1IdleNotebookRequest,
    notebookId: str,
) -> None: ...

def put_OverwriteRPWorkspaceBindings(
    session: Session,
    *,
    body: v1OverwriteRPWorkspaceBindingsRequest,
    resourcePoolName: str,
) -> None: ...

def put_PutExperiment(
    session: Session,
    *,
    body: v1CreateExperimentRequest,
    externalExperimentId: str,
) -> v1PutExperimentResponse: ...

def put_PutExperimentLabel(
    session: Session,
    *,
    experimentId: int,
    label: str,
) -> v1PutExperimentLabelResponse: ...

def put_PutExperimentRetainLogs(
    session: Session,
    *,
    body: v1PutExperimentRetainLogsRequest,
    experimentId: int,
) -> None: ...

def put_PutExperimentsRetainLogs(
    session: Session,
    *,
    body: v1PutExperimentsRetainLogsRequest,
    projectId: int,
) -> v1PutExperimentsRetainLogsResponse: ...

def put_PutProjectNotes(
    session: Session,
    *,
    body: v1PutProjectNotesRequest,
    projectId: int,
) -> v1PutProjectNotesResponse: ...

def put_PutTemplate(
    session: Session,
    *,
    body: v1Template,
    template_name: str,
) -> v1PutTemplateResponse: ...

def put_PutTrial(
    session: Session,
    *,
    body: v1PutTrialRequest,
) -> v1PutTrialResponse: ...

def put_PutTrialRetainLogs(
    session: Session,
    *,
    body: v1PutTrialRetainLogsRequest,
    trialId: int,
) -> None: ...

def put_SetClusterMessage(
    session: Session,
    *,
    body: v1SetClusterMessageRequest,
) -> None: ...

Paginated: TypeAlias = (
    v1GetAccessTokensResponse
    | v1GetAgentsResponse
    | v1GetCommandsResponse
    | v1GetExperimentCheckpointsResponse
    | v1GetExperimentTrialsResponse
    | v1GetExperimentsResponse
    | v1GetJobsResponse
    | v1GetJobsV2Response
    | v1GetModelVersionsResponse
    | v1GetModelsResponse
    | v1GetNotebooksResponse
    | v1GetResourcePoolsResponse
    | v1GetShellsResponse
    | v1GetTemplatesResponse
    | v1GetTensorboardsResponse
    | v1GetTrialCheckpointsResponse
    | v1GetTrialWorkloadsResponse
    | v1GetUsersResponse
    | v1GetWorkspaceProjectsResponse
    | v1GetWorkspacesResponse
    | v1ListRPsBoundToWorkspaceResponse
    | v1ListWorkspacesBoundToRPResponse
    | v1SearchExperimentsResponse
    | v1SearchRunsResponse
)
