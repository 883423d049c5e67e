// Written by scripts/make_webui_types.py from the OpenAPI description of the master; do not edit.
// Types of every request and response: Schemas by name, Operations by their name in wire (LIST_TRIALS is listTrials).
// StreamRows are the rows that `/stream` sends, by noun.

export interface Schemas {
  AcceleratorData: {
    acceleratorType?: string | null | undefined;
    acceleratorUuids?: string[] | null | undefined;
    allocationId?: string | null | undefined;
    containerId?: string | null | undefined;
    nodeName?: string | null | undefined;
    resourcePool?: string | null | undefined;
    taskId?: string | null | undefined;
  };
  ActivateExperimentsRequest: {
    experimentIds?: number[] | undefined;
    filters?: Schemas["BulkExperimentFilters"] | null | undefined;
    projectId?: number | null | undefined;
  };
  ActivateExperimentsResponse: {
    results: Schemas["ExperimentActionResult"][];
  };
  ActivityType: "ACTIVITY_TYPE_GET" | "ACTIVITY_TYPE_UNSPECIFIED";
  AddProjectNoteResponse: {
    notes: Schemas["Note"][];
  };
  Address: {
    containerIp?: string | null | undefined;
    containerPort?: number | null | undefined;
    hostIp?: string | null | undefined;
    hostPort?: number | null | undefined;
  };
  Agent: {
    addresses?: string[] | null | undefined;
    containers?: Record<string, Schemas["Container"]> | null | undefined;
    draining?: boolean | null | undefined;
    enabled?: boolean | null | undefined;
    id: string;
    registeredTime?: string | null | undefined;
    resourcePools?: string[] | null | undefined;
    slotStats: Schemas["SlotStats"];
    slots?: Record<string, Schemas["Slot"]> | null | undefined;
    version?: string | null | undefined;
  };
  AgentUserGroup: {
    agentGid?: number | null | undefined;
    agentGroup?: string | null | undefined;
    agentUid?: number | null | undefined;
    agentUser?: string | null | undefined;
  };
  AggregateQueueStats: {
    periodStart: string;
    seconds: number;
  };
  Alert: ["alert", string, string, string];
  Allocation: {
    allocationId: string;
    endTime?: string | null | undefined;
    exitReason?: string | null | undefined;
    isReady?: boolean | null | undefined;
    slots: number;
    startTime?: string | null | undefined;
    state: Schemas["AllocationState"];
    statusCode?: number | null | undefined;
    taskId: string;
  };
  AllocationAllGatherRequest: {
    allocationId: string;
    data: Record<string, unknown>;
    numPeers?: number | null | undefined;
    requestUuid?: string | null | undefined;
    topic?: string | null | undefined;
  };
  AllocationAllGatherResponse: {
    data: (Record<string, unknown>)[];
  };
  AllocationPreemptionSignalResponse: {
    preempt?: boolean | null | undefined;
  };
  AllocationRecord: {
    assignedAt?: string | null | undefined;
    endedAt?: string | null | undefined;
    exitCode?: number | null | undefined;
    exitKind?: string | null | undefined;
    exitReason?: string | null | undefined;
    id: string;
    pool: string;
    requestedAt: string;
    runId: number;
    slots: number;
    startedAt?: string | null | undefined;
    taskId: string;
  };
  AllocationRendezvousInfoResponse: {
    rendezvousInfo: Schemas["RendezvousInfo"];
  };
  AllocationState: "STATE_UNSPECIFIED" | "STATE_PULLING" | "STATE_STARTING" | "STATE_RUNNING" | "STATE_TERMINATED" | "STATE_TERMINATING" | "STATE_WAITING" | "STATE_QUEUED";
  AllocationSummary: {
    allocationId?: string | null | undefined;
    experimentId?: number | null | undefined;
    name?: string | null | undefined;
    priority?: number | null | undefined;
    proxyPorts?: Schemas["ProxyPortConfig"][] | null | undefined;
    registeredTime?: string | null | undefined;
    resourcePool?: string | null | undefined;
    resources?: Schemas["ResourcesSummary"][] | null | undefined;
    schedulerType?: string | null | undefined;
    slotsNeeded?: number | null | undefined;
    state?: Schemas["AllocationState"] | null | undefined;
    taskId?: string | null | undefined;
    taskType?: Schemas["TaskType"] | null | undefined;
    trialId?: number | null | undefined;
    username?: string | null | undefined;
  };
  ArchiveExperimentsRequest: {
    experimentIds?: number[] | undefined;
    filters?: Schemas["BulkExperimentFilters"] | null | undefined;
    projectId?: number | null | undefined;
  };
  ArchiveExperimentsResponse: {
    results: Schemas["ExperimentActionResult"][];
  };
  ArchiveRunsRequest: {
    filter?: string | null | undefined;
    projectId?: number | null | undefined;
    runIds?: number[] | undefined;
  };
  ArchiveRunsResponse: {
    results: Schemas["RunActionResult"][];
  };
  AwsCustomTag: {
    key: string;
    value: string;
  };
  BindMount: {
    containerPath: string;
    hostPath: string;
    readOnly?: boolean | undefined;
  };
  BindRPToWorkspaceRequest: {
    resourcePoolName: string;
    workspaceIds?: number[] | null | undefined;
    workspaceNames?: string[] | null | undefined;
  };
  BucketedTrial: {
    metrics: Schemas["MetricBuckets"][];
    positions: Schemas["SeriesPosition"][];
    trialId: number;
  };
  BucketedTrialsResponse: {
    trials: Schemas["BucketedTrial"][];
  };
  BulkExperimentFilters: {
    archived?: boolean | null | undefined;
    description?: string | null | undefined;
    excludedExperimentIds?: number[] | null | undefined;
    labels?: string[] | null | undefined;
    name?: string | null | undefined;
    projectId?: number | null | undefined;
    states?: Schemas["ExperimentState"][] | null | undefined;
    userIds?: number[] | null | undefined;
  };
  CancelExperimentsRequest: {
    experimentIds?: number[] | undefined;
    filters?: Schemas["BulkExperimentFilters"] | null | undefined;
    projectId?: number | null | undefined;
  };
  CancelExperimentsResponse: {
    results: Schemas["ExperimentActionResult"][];
  };
  CheckTemplateRequest: {
    config?: string | Record<string, unknown> | null | undefined;
  };
  CheckTemplateResponse: {
    config?: Record<string, unknown> | null | undefined;
    problems: Schemas["Problem"][];
    text: string;
    warnings?: string[] | undefined;
  };
  Checkpoint: {
    allocationId?: string | null | undefined;
    metadata: Record<string, unknown>;
    reportTime?: string | null | undefined;
    resources: Record<string, string>;
    state: Schemas["CheckpointState"];
    storageId?: number | null | undefined;
    taskId?: string | null | undefined;
    training: Schemas["CheckpointTrainingMetadata"];
    uuid: string;
  };
  CheckpointMetadata: {
    metadata?: Record<string, unknown> | undefined;
  };
  CheckpointRecord: {
    allocationId?: string | null | undefined;
    hashes?: Record<string, string> | undefined;
    metadata: Record<string, unknown>;
    reportTime: string;
    resources: Record<string, number>;
    runId?: number | null | undefined;
    size: number;
    state: string;
    stepsCompleted: number;
    storage?: Record<string, unknown> | null | undefined;
    taskId: string;
    uuid: string;
  };
  CheckpointReport: ["checkpoint", string, number, Record<string, unknown>, Record<string, number>, number, number | null];
  CheckpointState: "STATE_UNSPECIFIED" | "STATE_ACTIVE" | "STATE_COMPLETED" | "STATE_ERROR" | "STATE_DELETED" | "STATE_PARTIALLY_DELETED";
  CheckpointTrainingMetadata: {
    experimentConfig?: Record<string, unknown> | null | undefined;
    experimentId?: number | null | undefined;
    hparams?: Record<string, unknown> | null | undefined;
    searcherMetric?: number | null | undefined;
    trainingMetrics?: Schemas["Metrics"] | null | undefined;
    trialId?: number | null | undefined;
    validationMetrics?: Schemas["Metrics"] | null | undefined;
  };
  CheckpointVersionsResponse: {
    modelVersions: Schemas["ModelVersion"][];
  };
  CheckpointWorkload: {
    endTime?: string | null | undefined;
    metadata?: Record<string, unknown> | null | undefined;
    resources?: Record<string, string> | null | undefined;
    state: Schemas["CheckpointState"];
    totalBatches: number;
    uuid?: string | null | undefined;
  };
  CheckpointsRemoveFilesRequest: {
    checkpointGlobs?: string[] | undefined;
    checkpointUuids?: string[] | undefined;
  };
  ClaimRequest: {
    address?: string | null | undefined;
    allocationId: string;
    claimant: string;
    nodeId?: string | null | undefined;
    proof: string;
    rank: number;
    slotIds?: number[] | null | undefined;
  };
  Claimed: {
    launch: Schemas["LaunchFile"];
    proof: string;
  };
  ClauseCount: {
    column?: string | null | undefined;
    count: number;
    operator?: string | null | undefined;
    path: number[];
    value?: unknown;
  };
  CleanupLogsResponse: {
    removedCount: string;
  };
  CloseTrialOperation: {
    requestId: string;
  };
  ClusterMessage: {
    createdTime?: string | null | undefined;
    endTime?: string | null | undefined;
    message: string;
    startTime: string;
  };
  ColumnStatistics: {
    max?: number | null | undefined;
    mean?: number | null | undefined;
    min?: number | null | undefined;
    n: number;
    std?: number | null | undefined;
  };
  ColumnType: "COLUMN_TYPE_UNSPECIFIED" | "COLUMN_TYPE_TEXT" | "COLUMN_TYPE_NUMBER" | "COLUMN_TYPE_DATE" | "COLUMN_TYPE_ARRAY";
  Command: {
    description: string;
    displayName?: string | null | undefined;
    endTime?: string | null | undefined;
    exitStatus?: string | null | undefined;
    id: string;
    isReady?: boolean | null | undefined;
    jobId: string;
    priority?: number | null | undefined;
    resourcePool: string;
    slots?: number | null | undefined;
    startTime: string;
    state: Schemas["AllocationState"];
    userId?: number | null | undefined;
    username: string;
    workspaceId: number;
  };
  ComparableTrial: {
    metrics: Schemas["DownsampledMetrics"][];
    trial: Schemas["Trial"];
  };
  CompareTrialsResponse: {
    trials: Schemas["ComparableTrial"][];
  };
  CompleteTrialSearcherOperationRequest: {
    op?: Schemas["ValidateAfterOperation"] | null | undefined;
    searcherMetric?: unknown;
  };
  Config: {
    log?: Schemas["LogConfig"] | null | undefined;
  };
  Container: {
    devices?: Schemas["Device"][] | null | undefined;
    id: string;
    parent?: string | null | undefined;
    permissionDenied?: boolean | null | undefined;
    state: Schemas["ContainerState"];
  };
  ContainerState: "STATE_UNSPECIFIED" | "STATE_ASSIGNED" | "STATE_PULLING" | "STATE_STARTING" | "STATE_RUNNING" | "STATE_TERMINATED";
  ContinueExperimentRequest: {
    id: number;
    overrideConfig?: string | null | undefined;
  };
  ContinueExperimentResponse: {
    experiment: Schemas["Experiment"];
    messages?: string[] | undefined;
    warnings?: Schemas["LaunchWarning"][] | null | undefined;
  };
  CreateExperimentRequest: {
    activate?: boolean | null | undefined;
    config?: string | null | undefined;
    modelDefinition?: Schemas["File"][] | null | undefined;
    parentId?: number | null | undefined;
    projectId?: number | null | undefined;
    submitterPython?: string | null | undefined;
    template?: string | null | undefined;
    unmanaged?: boolean | null | undefined;
    validateOnly?: boolean | null | undefined;
  };
  CreateExperimentResponse: {
    config: Record<string, unknown>;
    experiment: Schemas["Experiment"];
    messages?: string[] | undefined;
    warnings?: Schemas["LaunchWarning"][] | null | undefined;
  };
  CreateGenericTaskRequest: {
    config?: string | null | undefined;
    contextDirectory?: Schemas["File"][] | null | undefined;
    forkedFrom?: string | null | undefined;
    inheritContext?: boolean | null | undefined;
    noPause?: boolean | null | undefined;
    parentId?: string | null | undefined;
    projectId?: number | null | undefined;
    submitterPython?: string | null | undefined;
    templateName?: string | null | undefined;
  };
  CreateGenericTaskResponse: {
    taskId: string;
    warnings?: Schemas["LaunchWarning"][] | null | undefined;
  };
  CreateTrialOperation: {
    hyperparams: string;
    requestId: string;
  };
  CreateTrialRequest: {
    experimentId?: number | null | undefined;
    hparams?: Record<string, unknown> | null | undefined;
    unmanaged?: boolean | null | undefined;
  };
  CreateTrialResponse: {
    trial: Schemas["Trial"];
  };
  CurrentUserResponse: {
    user: Schemas["User"];
  };
  CustomWebhookEventData: {
    description?: string | null | undefined;
    level?: Schemas["LogLevel"] | null | undefined;
    title?: string | null | undefined;
  };
  DataPoint: {
    batches: number;
    epoch?: number | null | undefined;
    max?: Record<string, unknown> | undefined;
    min?: Record<string, unknown> | undefined;
    time: string;
    values?: Record<string, unknown> | null | undefined;
  };
  DeleteCheckpointsRequest: {
    checkpointUuids?: string[] | undefined;
  };
  DeleteExperimentLabelResponse: {
    labels: string[];
  };
  DeleteExperimentsRequest: {
    experimentIds?: number[] | undefined;
    filters?: Schemas["BulkExperimentFilters"] | null | undefined;
    projectId?: number | null | undefined;
  };
  DeleteExperimentsResponse: {
    results: Schemas["ExperimentActionResult"][];
  };
  DeleteProjectResponse: {
    completed: boolean;
  };
  DeleteRunsRequest: {
    filter?: string | null | undefined;
    projectId?: number | null | undefined;
    runIds?: number[] | undefined;
  };
  DeleteRunsResponse: {
    results: Schemas["RunActionResult"][];
  };
  DeleteWorkspaceResponse: {
    completed: boolean;
  };
  DeliveryState: "DELIVERY_STATE_UNSPECIFIED" | "DELIVERY_STATE_PENDING" | "DELIVERY_STATE_SENDING" | "DELIVERY_STATE_DELIVERED" | "DELIVERY_STATE_FAILED";
  Device: {
    brand?: string | null | undefined;
    id?: number | null | undefined;
    type?: Schemas["DeviceType"] | null | undefined;
    uuid?: string | null | undefined;
  };
  DeviceStats: {
    disabled: number;
    draining: number;
    states?: Record<string, number> | null | undefined;
    total: number;
  };
  DeviceType: "TYPE_UNSPECIFIED" | "TYPE_CPU" | "TYPE_CUDA" | "TYPE_ROCM";
  DisableAgentRequest: {
    agentId?: string | null | undefined;
    drain?: boolean | null | undefined;
  };
  DisableAgentResponse: {
    agent?: Schemas["Agent"] | null | undefined;
  };
  DisableSlotRequest: {
    agentId?: string | null | undefined;
    drain?: boolean | null | undefined;
    slotId?: string | null | undefined;
  };
  DisableSlotResponse: {
    slot?: Schemas["Slot"] | null | undefined;
  };
  DownsampledMetrics: {
    data: Schemas["DataPoint"][];
    group: string;
    type: Schemas["MetricType"];
  };
  DryRunRequest: {
    config?: string | Record<string, unknown> | null | undefined;
    parentId?: number | null | undefined;
    projectId?: number | null | undefined;
    template?: string | null | undefined;
    unmanaged?: boolean | null | undefined;
  };
  DryRunResponse: {
    config?: Record<string, unknown> | null | undefined;
    fromTemplate?: string[] | null | undefined;
    maxSlots?: number | null | undefined;
    pool?: string | null | undefined;
    problems: Schemas["Problem"][];
    reason?: string | null | undefined;
    slotsPerTrial?: number | null | undefined;
    starts?: Schemas["Starts"] | null | undefined;
    submitted?: Record<string, unknown> | null | undefined;
    text: string;
    trials?: Schemas["PlannedTrials"] | null | undefined;
    units?: Schemas["PlannedUnits"] | null | undefined;
    warnings?: string[] | undefined;
  };
  DryRunTaskRequest: {
    config?: Record<string, unknown> | null | undefined;
    experimentIds?: number[] | null | undefined;
    taskType: Schemas["TaskType"];
    templateName?: string | null | undefined;
    trialIds?: number[] | null | undefined;
    workspaceId?: number | null | undefined;
  };
  DryRunTaskResponse: {
    config?: Record<string, unknown> | null | undefined;
    fromTemplate?: string[] | null | undefined;
    pool?: string | null | undefined;
    problems: Schemas["Problem"][];
    reason?: string | null | undefined;
    slots?: number | null | undefined;
    starts?: Schemas["Starts"] | null | undefined;
    warnings?: string[] | undefined;
  };
  EarlyExit: ["early_exit", string];
  EnableAgentResponse: {
    agent?: Schemas["Agent"] | null | undefined;
  };
  EnableSlotResponse: {
    slot?: Schemas["Slot"] | null | undefined;
  };
  EnrolRequest: {
    determined: string;
    job: string;
    proof: string;
    python: string;
    ray: string;
  };
  Enrolment: {
    disown?: string[] | undefined;
    key: string;
    namespace: string;
  };
  EntityType: "ENTITY_TYPE_PROJECT" | "ENTITY_TYPE_UNSPECIFIED";
  EnvironmentLock: {
    content: string;
    createdAt: string;
    platform: string;
  };
  Error: {
    error: {
      code: number;
      details?: Record<string, unknown> | undefined;
      error: string;
      reason: string;
    };
    message: string;
  };
  Exit: ["exit", Schemas["ExitCause"], number, string, number, string];
  ExitCause: "exited" | "failed" | "killed" | "lost" | "not_started" | "preempted" | "unusable";
  ExitedReason: "EXITED_REASON_UNSPECIFIED" | "EXITED_REASON_INVALID_HP" | "EXITED_REASON_USER_REQUESTED_STOP" | "EXITED_REASON_USER_CANCELED";
  ExpMetricNamesResponse: {
    metricNames?: Schemas["MetricIdentifier"][] | null | undefined;
    searcherMetrics?: string[] | null | undefined;
    trainingMetrics?: string[] | null | undefined;
    validationMetrics?: string[] | null | undefined;
  };
  Experiment: {
    archived: boolean;
    bestTrialId?: number | null | undefined;
    bestTrialSearcherMetric?: number | null | undefined;
    checkpointCount?: number | null | undefined;
    checkpointSize?: string | null | undefined;
    config: Record<string, unknown>;
    description?: string | null | undefined;
    displayName?: string | null | undefined;
    duration?: number | null | undefined;
    endTime?: string | null | undefined;
    error?: string | null | undefined;
    externalExperimentId?: string | null | undefined;
    externalTrialId?: string | null | undefined;
    forkedFrom?: number | null | undefined;
    hyperparameters?: Record<string, unknown> | null | undefined;
    id: number;
    jobId: string;
    labels?: string[] | null | undefined;
    modelDefinitionSize?: number | null | undefined;
    name: string;
    notes?: string | null | undefined;
    numTrials: number;
    originalConfig: string;
    pachydermIntegration?: Record<string, unknown> | null | undefined;
    parentArchived?: boolean | null | undefined;
    progress?: number | null | undefined;
    projectId: number;
    projectName?: string | null | undefined;
    projectOwnerId: number;
    resourcePool?: string | null | undefined;
    searcherMetric?: string | null | undefined;
    searcherType: string;
    startTime: string;
    state: Schemas["ExperimentState"];
    template?: string | null | undefined;
    trialIds?: number[] | null | undefined;
    unmanaged?: boolean | null | undefined;
    userId?: number | null | undefined;
    username: string;
    workspaceId?: number | null | undefined;
    workspaceName?: string | null | undefined;
  };
  ExperimentActionResult: {
    changed?: boolean | undefined;
    error: string;
    id: number;
    previousProjectId?: number | null | undefined;
  };
  ExperimentInactive: {
    experimentState: Schemas["ExperimentState"];
  };
  ExperimentState: "STATE_UNSPECIFIED" | "STATE_ACTIVE" | "STATE_PAUSED" | "STATE_STOPPING_COMPLETED" | "STATE_STOPPING_CANCELED" | "STATE_STOPPING_ERROR" | "STATE_COMPLETED" | "STATE_CANCELED" | "STATE_ERROR" | "STATE_DELETED" | "STATE_DELETING" | "STATE_DELETE_FAILED" | "STATE_STOPPING_KILLED" | "STATE_QUEUED" | "STATE_PULLING" | "STATE_STARTING" | "STATE_RUNNING";
  ExtendExperimentRequest: {
    trials: number;
  };
  ExtendExperimentResponse: {
    experiment: Schemas["Experiment"];
  };
  FailureType: "FAILURE_TYPE_UNSPECIFIED" | "FAILURE_TYPE_RESOURCES_FAILED" | "FAILURE_TYPE_RESOURCES_ABORTED" | "FAILURE_TYPE_RESOURCES_MISSING" | "FAILURE_TYPE_TASK_ABORTED" | "FAILURE_TYPE_TASK_ERROR" | "FAILURE_TYPE_AGENT_FAILED" | "FAILURE_TYPE_AGENT_ERROR" | "FAILURE_TYPE_RESTORE_ERROR" | "FAILURE_TYPE_UNKNOWN_ERROR";
  File: {
    content: string;
    gid: number;
    mode: number;
    mtime: string | number;
    path: string;
    type: number;
    uid: number;
  };
  FileNode: {
    contentLength?: number | null | undefined;
    contentType?: string | null | undefined;
    files?: Schemas["FileNode"][] | null | undefined;
    isDir?: boolean | null | undefined;
    modifiedTime?: string | null | undefined;
    name?: string | null | undefined;
    path?: string | null | undefined;
  };
  FilterCountsRequest: {
    filter?: string | null | undefined;
    tableType?: Schemas["TableType"] | null | undefined;
  };
  FilterCountsResponse: {
    clauses: Schemas["ClauseCount"][];
    total: number;
    withArchived?: number | null | undefined;
  };
  FittingPolicy: "FITTING_POLICY_UNSPECIFIED" | "FITTING_POLICY_BEST" | "FITTING_POLICY_WORST" | "FITTING_POLICY_KUBERNETES" | "FITTING_POLICY_SLURM" | "FITTING_POLICY_PBS";
  FlatRun: {
    archived: boolean;
    checkpointCount: number;
    checkpointSize: string;
    duration?: number | null | undefined;
    endTime?: string | null | undefined;
    experiment?: Schemas["FlatRunExperiment"] | null | undefined;
    externalRunId?: string | null | undefined;
    hyperparameters?: Record<string, unknown> | null | undefined;
    id: number;
    labels?: string[] | null | undefined;
    localId?: string | null | undefined;
    logPolicyMatched?: string | null | undefined;
    metadata?: Record<string, unknown> | null | undefined;
    parentArchived: boolean;
    projectId: number;
    projectName: string;
    searcherMetricValue?: number | null | undefined;
    shownState?: Schemas["TrialState"] | null | undefined;
    startTime: string;
    state: Schemas["TrialState"];
    summaryMetrics?: Record<string, unknown> | null | undefined;
    userId?: number | null | undefined;
    workspaceId: number;
    workspaceName: string;
  };
  FlatRunExperiment: {
    description: string;
    externalExperimentId?: string | null | undefined;
    forkedFrom?: number | null | undefined;
    id: number;
    isMultitrial: boolean;
    name: string;
    pachydermIntegration?: Record<string, unknown> | null | undefined;
    progress: number;
    resourcePool: string;
    searcherMetric: string;
    searcherType: string;
    unmanaged: boolean;
  };
  GenericTaskState: "GENERIC_TASK_STATE_UNSPECIFIED" | "GENERIC_TASK_STATE_ACTIVE" | "GENERIC_TASK_STATE_CANCELED" | "GENERIC_TASK_STATE_COMPLETED" | "GENERIC_TASK_STATE_ERROR" | "GENERIC_TASK_STATE_PAUSED" | "GENERIC_TASK_STATE_STOPPING_PAUSED" | "GENERIC_TASK_STATE_STOPPING_CANCELED" | "GENERIC_TASK_STATE_STOPPING_COMPLETED" | "GENERIC_TASK_STATE_STOPPING_ERROR";
  GetAccessTokensRequestSortBy: "SORT_BY_CREATED_AT" | "SORT_BY_DESCRIPTION" | "SORT_BY_EXPIRY" | "SORT_BY_REVOKED" | "SORT_BY_TOKEN_TYPE" | "SORT_BY_UNSPECIFIED" | "SORT_BY_USER_ID";
  GetAccessTokensResponse: {
    pagination?: Schemas["Pagination"] | null | undefined;
    tokenInfo: Schemas["TokenInfo"][];
  };
  GetActiveTasksCountResponse: {
    commands: number;
    notebooks: number;
    shells: number;
    tensorboards: number;
  };
  GetAgentResponse: {
    agent: Schemas["Agent"];
  };
  GetAgentsRequestSortBy: "SORT_BY_ID" | "SORT_BY_TIME" | "SORT_BY_UNSPECIFIED";
  GetAgentsResponse: {
    agents: Schemas["Agent"][];
    pagination?: Schemas["Pagination"] | null | undefined;
  };
  GetAllocationResponse: {
    allocation: Schemas["Allocation"];
  };
  GetBestSearcherValidationMetricResponse: {
    metric?: number | null | undefined;
  };
  GetCheckpointResponse: {
    checkpoint: Schemas["Checkpoint"];
  };
  GetClusterMessageResponse: {
    clusterMessage?: Schemas["ClusterMessage"] | null | undefined;
  };
  GetCommandResponse: {
    command: Schemas["Command"];
    config: Record<string, unknown>;
  };
  GetCommandsResponse: {
    commands: Schemas["Command"][];
    pagination?: Schemas["Pagination"] | null | undefined;
  };
  GetCurrentTrialSearcherOperationResponse: {
    completed?: boolean | undefined;
    op?: Schemas["SearcherOperation"] | null | undefined;
  };
  GetEnvironmentLocksResponse: {
    locks: Schemas["EnvironmentLock"][];
  };
  GetExperimentCheckpointsResponse: {
    checkpoints: Schemas["Checkpoint"][];
    pagination: Schemas["Pagination"];
  };
  GetExperimentLabelsResponse: {
    labels?: string[] | null | undefined;
  };
  GetExperimentResponse: {
    config?: Record<string, unknown> | null | undefined;
    experiment: Schemas["Experiment"];
    jobSummary?: Schemas["JobSummary"] | null | undefined;
  };
  GetExperimentTrialsRequestSortBy: "SORT_BY_BATCHES_PROCESSED" | "SORT_BY_BEST_VALIDATION_METRIC" | "SORT_BY_CHECKPOINT_SIZE" | "SORT_BY_DURATION" | "SORT_BY_END_TIME" | "SORT_BY_ID" | "SORT_BY_LATEST_VALIDATION_METRIC" | "SORT_BY_LOG_RETENTION_DAYS" | "SORT_BY_RESTARTS" | "SORT_BY_START_TIME" | "SORT_BY_STATE" | "SORT_BY_UNSPECIFIED";
  GetExperimentTrialsResponse: {
    pagination: Schemas["Pagination"];
    trials: Schemas["Trial"][];
  };
  GetExperimentValidationHistoryResponse: {
    validationHistory?: Schemas["ValidationHistoryEntry"][] | null | undefined;
  };
  GetExperimentsRequestSortBy: "SORT_BY_CHECKPOINT_COUNT" | "SORT_BY_CHECKPOINT_SIZE" | "SORT_BY_DESCRIPTION" | "SORT_BY_END_TIME" | "SORT_BY_FORKED_FROM" | "SORT_BY_ID" | "SORT_BY_NAME" | "SORT_BY_NUM_TRIALS" | "SORT_BY_PROGRESS" | "SORT_BY_PROJECT_ID" | "SORT_BY_RESOURCE_POOL" | "SORT_BY_SEARCHER_METRIC_VAL" | "SORT_BY_START_TIME" | "SORT_BY_STATE" | "SORT_BY_UNSPECIFIED" | "SORT_BY_USER";
  GetExperimentsResponse: {
    experiments: Schemas["Experiment"][];
    pagination: Schemas["Pagination"];
  };
  GetGenericTaskConfigResponse: {
    config: string;
  };
  GetHpImportanceResponse: {
    importances: Schemas["HpImportance"][];
    message?: string | undefined;
    metric: string;
    smallerIsBetter: boolean;
    trialsCompleted: number;
    trialsUsed: number;
  };
  GetJobQueueStatsResponse: {
    results: Schemas["RPQueueStat"][];
  };
  GetJobsResponse: {
    jobs: Schemas["Job"][];
    pagination: Schemas["Pagination"];
  };
  GetJobsV2Response: {
    jobs: Schemas["RBACJob"][];
    pagination: Schemas["Pagination"];
  };
  GetMasterConfigResponse: {
    config: Record<string, unknown>;
  };
  GetMasterResponse: {
    branding?: string | null | undefined;
    clusterId: string;
    clusterMessage?: Schemas["ClusterMessage"] | null | undefined;
    clusterName: string;
    externalLoginUri?: string | null | undefined;
    externalLogoutUri?: string | null | undefined;
    featureSwitches?: string[] | null | undefined;
    hasCustomLogo: boolean;
    masterId: string;
    product?: Schemas["GetMasterResponseProduct"] | null | undefined;
    rbacEnabled?: boolean | null | undefined;
    ssoProviders?: Schemas["SSOProvider"][] | null | undefined;
    strictJobQueueControl: boolean;
    telemetryEnabled?: boolean | null | undefined;
    userManagementEnabled?: boolean | null | undefined;
    version: string;
  };
  GetMasterResponseProduct: "PRODUCT_UNSPECIFIED" | "PRODUCT_COMMUNITY";
  GetMeResponse: {
    user: Schemas["User"];
  };
  GetMetadataValuesResponse: {
    values: string[];
  };
  GetMetricsResponse: {
    metrics: Schemas["MetricsReport"][];
  };
  GetModelDefFileRequest: {
    experimentId?: number | null | undefined;
    path?: string | null | undefined;
  };
  GetModelDefFileResponse: {
    file?: string | null | undefined;
  };
  GetModelDefResponse: {
    b64Tgz: string;
  };
  GetModelDefTreeResponse: {
    files?: Schemas["FileNode"][] | null | undefined;
  };
  GetModelLabelsResponse: {
    labels: string[];
  };
  GetModelResponse: {
    model: Schemas["Model"];
  };
  GetModelVersionResponse: {
    modelVersion: Schemas["ModelVersion"];
  };
  GetModelVersionsRequestSortBy: "SORT_BY_CREATION_TIME" | "SORT_BY_UNSPECIFIED" | "SORT_BY_VERSION";
  GetModelVersionsResponse: {
    model: Schemas["Model"];
    modelVersions: Schemas["ModelVersion"][];
    pagination: Schemas["Pagination"];
  };
  GetModelsRequestSortBy: "SORT_BY_CREATION_TIME" | "SORT_BY_DESCRIPTION" | "SORT_BY_LAST_UPDATED_TIME" | "SORT_BY_NAME" | "SORT_BY_NUM_VERSIONS" | "SORT_BY_UNSPECIFIED" | "SORT_BY_WORKSPACE";
  GetModelsResponse: {
    models: Schemas["Model"][];
    pagination: Schemas["Pagination"];
  };
  GetNotebookResponse: {
    config: Record<string, unknown>;
    notebook: Schemas["Notebook"];
  };
  GetNotebooksResponse: {
    notebooks: Schemas["Notebook"][];
    pagination?: Schemas["Pagination"] | null | undefined;
  };
  GetParetoFrontResponse: {
    front: number[];
    message?: string | undefined;
    metrics: Schemas["ParetoMetric"][];
    points: Schemas["ParetoPoint"][];
    trialsCompleted: number;
    trialsUsed: number;
  };
  GetProjectByKeyResponse: {
    project: Schemas["Project"];
  };
  GetProjectColumnsResponse: {
    columns: Schemas["ProjectColumn"][];
    total?: number | null | undefined;
  };
  GetProjectNumericMetricsRangeResponse: {
    ranges?: Schemas["MetricsRange"][] | null | undefined;
  };
  GetProjectResponse: {
    project: Schemas["Project"];
  };
  GetProjectsByUserActivityResponse: {
    projects?: Schemas["Project"][] | null | undefined;
  };
  GetResourcePoolsResponse: {
    pagination?: Schemas["Pagination"] | null | undefined;
    resourcePools?: Schemas["ResourcePool"][] | null | undefined;
  };
  GetRunMetadataResponse: {
    metadata?: Record<string, unknown> | null | undefined;
  };
  GetSavedViewsResponse: {
    views: Schemas["SavedView"][];
  };
  GetSearcherEventsResponse: {
    searcherEvents: Schemas["SearcherEvent"][];
  };
  GetShellResponse: {
    config: Record<string, unknown>;
    shell: Schemas["Shell"];
  };
  GetShellsResponse: {
    pagination?: Schemas["Pagination"] | null | undefined;
    shells: Schemas["Shell"][];
  };
  GetSlotResponse: {
    slot?: Schemas["Slot"] | null | undefined;
  };
  GetSlotsResponse: {
    slots?: Schemas["Slot"][] | null | undefined;
  };
  GetTaskAcceleratorDataResponse: {
    acceleratorData: Schemas["AcceleratorData"][];
  };
  GetTaskContextDirectoryResponse: {
    b64Tgz: string;
  };
  GetTaskResponse: {
    task: Schemas["Task"];
  };
  GetTasksResponse: {
    allocationIdToSummary?: Record<string, Schemas["AllocationSummary"]> | null | undefined;
  };
  GetTelemetryResponse: {
    enabled: boolean;
    segmentKey?: string | null | undefined;
  };
  GetTemplatesResponse: {
    pagination: Schemas["Pagination"];
    templates: Schemas["Template"][];
  };
  GetTensorboardResponse: {
    config: Record<string, unknown>;
    tensorboard: Schemas["Tensorboard"];
  };
  GetTensorboardsResponse: {
    pagination?: Schemas["Pagination"] | null | undefined;
    tensorboards: Schemas["Tensorboard"][];
  };
  GetTrialByExternalIDResponse: {
    trial: Schemas["Trial"];
  };
  GetTrialCheckpointsResponse: {
    checkpoints: Schemas["Checkpoint"][];
    pagination: Schemas["Pagination"];
  };
  GetTrialMetricsByCheckpointResponse: {
    metrics: Schemas["MetricsReport"][];
  };
  GetTrialMetricsByModelVersionResponse: {
    metrics: Schemas["MetricsReport"][];
  };
  GetTrialProfilerAvailableSeriesResponse: {
    labels: Schemas["TrialProfilerMetricLabels"][];
  };
  GetTrialProfilerMetricsResponse: {
    batch: Schemas["TrialProfilerMetricsBatch"];
  };
  GetTrialRemainingLogRetentionDaysResponse: {
    remainingDays?: number | null | undefined;
  };
  GetTrialResponse: {
    trial: Schemas["Trial"];
  };
  GetTrialWorkloadsRequestFilterOption: "FILTER_OPTION_CHECKPOINT" | "FILTER_OPTION_CHECKPOINT_OR_VALIDATION" | "FILTER_OPTION_UNSPECIFIED" | "FILTER_OPTION_VALIDATION";
  GetTrialWorkloadsResponse: {
    pagination: Schemas["Pagination"];
    workloads: Schemas["WorkloadContainer"][];
  };
  GetUserByUsernameResponse: {
    user: Schemas["User"];
  };
  GetUserResponse: {
    user: Schemas["User"];
  };
  GetUserSettingResponse: {
    settings: Schemas["UserWebSetting"][];
  };
  GetUsersRequestSortBy: "SORT_BY_ACTIVE" | "SORT_BY_ADMIN" | "SORT_BY_DISPLAY_NAME" | "SORT_BY_LAST_AUTH_TIME" | "SORT_BY_MODIFIED_TIME" | "SORT_BY_NAME" | "SORT_BY_REMOTE" | "SORT_BY_UNSPECIFIED" | "SORT_BY_USER_NAME";
  GetUsersResponse: {
    pagination?: Schemas["Pagination"] | null | undefined;
    users?: Schemas["User"][] | null | undefined;
  };
  GetWebhookDeliveriesResponse: {
    deliveries: Schemas["WebhookDelivery"][];
    pagination: Schemas["Pagination"];
  };
  GetWebhookSigningKeyResponse: {
    signingKey: string;
  };
  GetWebhooksResponse: {
    webhooks: Schemas["Webhook"][];
  };
  GetWorkspaceProjectsRequestSortBy: "SORT_BY_CREATION_TIME" | "SORT_BY_DESCRIPTION" | "SORT_BY_ID" | "SORT_BY_LAST_EXPERIMENT_START_TIME" | "SORT_BY_NAME" | "SORT_BY_UNSPECIFIED";
  GetWorkspaceProjectsResponse: {
    pagination: Schemas["Pagination"];
    projects: Schemas["Project"][];
  };
  GetWorkspaceResponse: {
    workspace: Schemas["Workspace"];
  };
  GetWorkspacesRequestSortBy: "SORT_BY_ID" | "SORT_BY_NAME" | "SORT_BY_UNSPECIFIED";
  GetWorkspacesResponse: {
    pagination: Schemas["Pagination"];
    workspaces: Schemas["Workspace"][];
  };
  Hit: {
    detail: string;
    id: string;
    kind: Schemas["HitKind"];
    name: string;
    path: string;
  };
  HitKind: "experiment" | "trial" | "project" | "workspace" | "user" | "pool" | "model";
  HpImportance: {
    importance: number;
    name: string;
  };
  IdleNotebookRequest: {
    idle?: boolean | null | undefined;
    notebookId?: string | null | undefined;
  };
  IdleShellRequest: {
    idle?: boolean | null | undefined;
  };
  InitialOperations: Record<string, unknown>;
  Job: {
    allocatedSlots: number;
    entityId: string;
    eta?: string | null | undefined;
    isPreemptible: boolean;
    jobId: string;
    name: string;
    priority?: number | null | undefined;
    progress?: number | null | undefined;
    reason?: string | null | undefined;
    requestedSlots: number;
    resourcePool: string;
    submissionTime: string;
    summary?: Schemas["JobSummary"] | null | undefined;
    type: Schemas["JobType"];
    userId?: number | null | undefined;
    username: string;
    weight?: number | null | undefined;
    workspaceId: number;
  };
  JobState: "STATE_UNSPECIFIED" | "STATE_QUEUED" | "STATE_SCHEDULED" | "STATE_SCHEDULED_BACKFILLED";
  JobSummary: {
    jobsAhead: number;
    state: Schemas["JobState"];
  };
  JobType: "TYPE_UNSPECIFIED" | "TYPE_EXPERIMENT" | "TYPE_NOTEBOOK" | "TYPE_TENSORBOARD" | "TYPE_SHELL" | "TYPE_COMMAND" | "TYPE_CHECKPOINT_GC" | "TYPE_EXTERNAL" | "TYPE_GENERIC";
  K8PriorityClass: {
    priorityClass?: string | null | undefined;
    priorityValue?: number | null | undefined;
  };
  KillCommandResponse: {
    command?: Schemas["Command"] | null | undefined;
  };
  KillExperimentsRequest: {
    experimentIds?: number[] | undefined;
    filters?: Schemas["BulkExperimentFilters"] | null | undefined;
    projectId?: number | null | undefined;
  };
  KillExperimentsResponse: {
    results: Schemas["ExperimentActionResult"][];
  };
  KillGenericTaskRequest: {
    killFromRoot?: boolean | null | undefined;
    taskId?: string | null | undefined;
  };
  KillNotebookResponse: {
    notebook?: Schemas["Notebook"] | null | undefined;
  };
  KillRunsRequest: {
    filter?: string | null | undefined;
    projectId?: number | null | undefined;
    runIds?: number[] | undefined;
  };
  KillRunsResponse: {
    results: Schemas["RunActionResult"][];
  };
  KillShellResponse: {
    shell?: Schemas["Shell"] | null | undefined;
  };
  KillTensorboardResponse: {
    tensorboard?: Schemas["Tensorboard"] | null | undefined;
  };
  LastDelivery: {
    attempts: number;
    createdAt: string;
    error?: string | null | undefined;
    id: number;
    state: Schemas["DeliveryState"];
    statusCode?: number | null | undefined;
  };
  LaunchCommandRequest: {
    config?: Record<string, unknown> | null | undefined;
    files?: Schemas["File"][] | null | undefined;
    submitterPython?: string | null | undefined;
    templateName?: string | null | undefined;
    workspaceId?: number | null | undefined;
  };
  LaunchCommandResponse: {
    command: Schemas["Command"];
    config: Record<string, unknown>;
    messages?: string[] | null | undefined;
    warnings?: Schemas["LaunchWarning"][] | null | undefined;
  };
  LaunchFile: {
    allocationId: string;
    containerId: string;
    context?: string | null | undefined;
    device?: string | undefined;
    masterCertFile?: string | null | undefined;
    masterCertName?: string | null | undefined;
    masterUrl: string;
    nodeId: string;
    rank: number;
    resourceId: string;
    resourcesType?: string | undefined;
    slotIds: number[];
    spec?: Schemas["TaskSpec"] | null | undefined;
    tiedTo?: number | null | undefined;
    token: string;
    visibleDevices?: string | null | undefined;
  };
  LaunchNotebookRequest: {
    checkpointUuid?: string | null | undefined;
    config?: Record<string, unknown> | null | undefined;
    files?: Schemas["File"][] | null | undefined;
    preview?: boolean | null | undefined;
    submitterPython?: string | null | undefined;
    templateName?: string | null | undefined;
    workspaceId?: number | null | undefined;
  };
  LaunchNotebookResponse: {
    config: Record<string, unknown>;
    fromTemplate?: string[] | null | undefined;
    messages?: string[] | null | undefined;
    notebook: Schemas["Notebook"];
    warnings?: Schemas["LaunchWarning"][] | null | undefined;
  };
  LaunchShellRequest: {
    config?: Record<string, unknown> | null | undefined;
    files?: Schemas["File"][] | null | undefined;
    submitterPython?: string | null | undefined;
    templateName?: string | null | undefined;
    workspaceId?: number | null | undefined;
  };
  LaunchShellResponse: {
    config: Record<string, unknown>;
    messages?: string[] | null | undefined;
    shell: Schemas["Shell"];
    warnings?: Schemas["LaunchWarning"][] | null | undefined;
  };
  LaunchTensorboardRequest: {
    config?: Record<string, unknown> | null | undefined;
    experimentIds?: number[] | null | undefined;
    files?: Schemas["File"][] | null | undefined;
    filters?: Schemas["BulkExperimentFilters"] | null | undefined;
    submitterPython?: string | null | undefined;
    templateName?: string | null | undefined;
    trialIds?: number[] | null | undefined;
    workspaceId?: number | null | undefined;
  };
  LaunchTensorboardResponse: {
    config: Record<string, unknown>;
    messages?: string[] | null | undefined;
    tensorboard: Schemas["Tensorboard"];
    warnings?: Schemas["LaunchWarning"][] | null | undefined;
  };
  LaunchWarning: "LAUNCH_WARNING_UNSPECIFIED" | "LAUNCH_WARNING_CURRENT_SLOTS_EXCEEDED";
  LimitedJob: {
    allocatedSlots: number;
    isPreemptible: boolean;
    jobId: string;
    priority?: number | null | undefined;
    progress?: number | null | undefined;
    requestedSlots: number;
    resourcePool: string;
    summary?: Schemas["JobSummary"] | null | undefined;
    type: Schemas["JobType"];
    weight?: number | null | undefined;
    workspaceId: number;
  };
  ListModelAliasesResponse: {
    aliases: Schemas["ModelAlias"][];
  };
  ListRPsBoundToWorkspaceResponse: {
    pagination?: Schemas["Pagination"] | null | undefined;
    resourcePools?: string[] | null | undefined;
  };
  ListTrialRecordsResponse: {
    pagination: Schemas["Pagination"];
    trials: Schemas["TrialRecord"][];
  };
  ListWorkspacesBoundToRPResponse: {
    pagination?: Schemas["Pagination"] | null | undefined;
    workspaceIds?: number[] | null | undefined;
  };
  ListedTask: {
    displayName?: string | null | undefined;
    endTime?: string | null | undefined;
    exitStatus: string;
    experimentId?: number | null | undefined;
    experimentIds?: number[] | null | undefined;
    hasFailed: boolean;
    isReady: boolean;
    jobId: string;
    name: string;
    priority: number;
    resourcePool: string;
    serviceAddress?: string | null | undefined;
    slots: number;
    startTime: string;
    state: Schemas["AllocationState"];
    taskId: string;
    taskState?: Schemas["GenericTaskState"] | null | undefined;
    taskType: Schemas["TaskType"];
    trialId?: number | null | undefined;
    trialIds?: number[] | null | undefined;
    userId: number;
    username: string;
    workspaceId: number;
    workspaceName: string;
  };
  LocationType: "LOCATION_TYPE_UNSPECIFIED" | "LOCATION_TYPE_EXPERIMENT" | "LOCATION_TYPE_HYPERPARAMETERS" | "LOCATION_TYPE_VALIDATIONS" | "LOCATION_TYPE_TRAINING" | "LOCATION_TYPE_CUSTOM_METRIC" | "LOCATION_TYPE_RUN" | "LOCATION_TYPE_RUN_HYPERPARAMETERS" | "LOCATION_TYPE_RUN_METADATA";
  LogConfig: {
    color?: boolean | null | undefined;
    level?: Schemas["LogLevel"] | null | undefined;
  };
  LogEntry: {
    id: number;
    level: Schemas["LogLevel"];
    message: string;
    timestamp: string;
  };
  LogLevel: "LOG_LEVEL_CRITICAL" | "LOG_LEVEL_DEBUG" | "LOG_LEVEL_ERROR" | "LOG_LEVEL_INFO" | "LOG_LEVEL_TRACE" | "LOG_LEVEL_UNSPECIFIED" | "LOG_LEVEL_WARNING";
  LogLine: ["log", string, number, string, string | null, number | null, string];
  LoginLinkResponse: {
    code: string;
    expiresAt: string;
  };
  LoginRequest: {
    isHashed?: boolean | null | undefined;
    password: string;
    username: string;
  };
  LoginResponse: {
    token: string;
    user: Schemas["User"];
  };
  LookupResponse: {
    hits: Schemas["Hit"][];
  };
  MasterLogsResponse: {
    logEntry: Schemas["LogEntry"];
  };
  MetricBatchesResponse: {
    batches?: number[] | null | undefined;
  };
  MetricBuckets: {
    count: number[];
    exact: boolean;
    group: string;
    last: (number | string)[];
    max: (number | string)[];
    min: (number | string)[];
    name: string;
    notFinite: number[];
    total: number;
    x: (number | string)[];
  };
  MetricIdentifier: {
    group: string;
    name: string;
  };
  MetricReport: ["metric", string, number | null, Record<string, unknown>, number, (Record<string, unknown>)[] | null];
  MetricSeriesResponse: {
    exact: boolean;
    group: string;
    last: unknown[];
    max: unknown[];
    min: unknown[];
    name: string;
    steps: number[];
    times: number[];
    total: number;
    trialId: number;
  };
  MetricType: "METRIC_TYPE_UNSPECIFIED" | "METRIC_TYPE_TRAINING" | "METRIC_TYPE_VALIDATION" | "METRIC_TYPE_PROFILING";
  Metrics: {
    avgMetrics: Record<string, unknown>;
    batchMetrics?: (Record<string, unknown>)[] | null | undefined;
  };
  MetricsRange: {
    max: number;
    metricsName: string;
    min: number;
  };
  MetricsReport: {
    archived: boolean;
    endTime: string;
    group: string;
    id: number;
    metrics: Record<string, unknown>;
    totalBatches: number;
    trialId: number;
    trialRunId: number;
  };
  MetricsWorkload: {
    endTime?: string | null | undefined;
    metrics: Schemas["Metrics"];
    numInputs: number;
    totalBatches: number;
  };
  Missing: ["missing"];
  Model: {
    aliases?: Record<string, number> | null | undefined;
    archived: boolean;
    creationTime: string;
    description?: string | null | undefined;
    id: number;
    labels?: string[] | null | undefined;
    lastUpdatedTime: string;
    metadata: Record<string, unknown>;
    name: string;
    notes?: string | null | undefined;
    numVersions: number;
    userId: number;
    username: string;
    workspaceId: number;
    workspaceName?: string | null | undefined;
  };
  ModelAlias: {
    alias: string;
    setTime: string;
    userId: number;
    username: string;
    version: number;
  };
  ModelAliasChange: {
    alias: string;
    id: number;
    previousVersion?: number | null | undefined;
    time: string;
    userId: number;
    username: string;
    version?: number | null | undefined;
  };
  ModelAliasHistoryResponse: {
    changes: Schemas["ModelAliasChange"][];
    pagination: Schemas["Pagination"];
  };
  ModelFile: {
    hash?: string | null | undefined;
    path: string;
    size: number;
  };
  ModelFilesResponse: {
    checkpointUuid: string;
    files: Schemas["ModelFile"][];
    modelName: string;
    version: number;
  };
  ModelVersion: {
    aliases?: string[] | null | undefined;
    checkpoint: Schemas["Checkpoint"];
    comment?: string | null | undefined;
    creationTime: string;
    id: number;
    labels?: string[] | null | undefined;
    lastUpdatedTime: string;
    metadata?: Record<string, unknown> | null | undefined;
    model: Schemas["Model"];
    name?: string | null | undefined;
    notes?: string | null | undefined;
    userId?: number | null | undefined;
    username?: string | null | undefined;
    version: number;
  };
  MoveExperimentRequest: {
    destinationProjectId: number;
    experimentId?: number | null | undefined;
  };
  MoveExperimentsRequest: {
    destinationProjectId: number;
    experimentIds?: number[] | undefined;
    filters?: Schemas["BulkExperimentFilters"] | null | undefined;
    projectId?: number | null | undefined;
  };
  MoveExperimentsResponse: {
    results: Schemas["ExperimentActionResult"][];
  };
  MoveModelRequest: {
    destinationWorkspaceId: number;
    modelName?: string | null | undefined;
  };
  MoveProjectRequest: {
    destinationWorkspaceId: number;
    projectId: number;
  };
  MoveRunsRequest: {
    destinationProjectId: number;
    filter?: string | null | undefined;
    runIds?: number[] | undefined;
    skipMultitrial?: boolean | null | undefined;
    sourceProjectId?: number | null | undefined;
  };
  MoveRunsResponse: {
    results: Schemas["RunActionResult"][];
  };
  Note: {
    contents: string;
    name: string;
  };
  Notebook: {
    description: string;
    displayName?: string | null | undefined;
    endTime?: string | null | undefined;
    exitStatus?: string | null | undefined;
    id: string;
    isReady?: boolean | null | undefined;
    jobId: string;
    priority?: number | null | undefined;
    resourcePool: string;
    serviceAddress?: string | null | undefined;
    slots?: number | null | undefined;
    startTime: string;
    state: Schemas["AllocationState"];
    userId?: number | null | undefined;
    username: string;
    workspaceId: number;
  };
  Nothing: Record<string, unknown>;
  NotifyContainerRunningRequest: {
    allocationId: string;
    data: Record<string, unknown>;
    nodeName?: string | null | undefined;
    numPeers?: number | null | undefined;
    rank?: number | null | undefined;
    requestUuid?: string | null | undefined;
  };
  NotifyContainerRunningResponse: {
    data: (Record<string, unknown>)[];
  };
  OpenTrialShellResponse: {
    shell: Schemas["Shell"];
  };
  OrderBy: "ORDER_BY_ASC" | "ORDER_BY_DESC" | "ORDER_BY_UNSPECIFIED";
  OverwriteRPWorkspaceBindingsRequest: {
    resourcePoolName: string;
    workspaceIds?: number[] | null | undefined;
    workspaceNames?: string[] | null | undefined;
  };
  Pagination: {
    endIndex?: number | null | undefined;
    limit?: number | null | undefined;
    offset?: number | null | undefined;
    startIndex?: number | null | undefined;
    total?: number | null | undefined;
  };
  ParetoMetric: {
    name: string;
    smallerIsBetter: boolean;
  };
  ParetoPoint: {
    hparams: Record<string, unknown>;
    rank: number;
    trialId: number;
    values: number[];
  };
  PatchAccessTokenRequest: {
    description?: string | null | undefined;
    setRevoked?: boolean | null | undefined;
    tokenId: number;
  };
  PatchAccessTokenResponse: {
    tokenInfo?: Schemas["TokenInfo"] | null | undefined;
  };
  PatchCheckpoint: {
    resources?: Schemas["PatchCheckpointOptionalResources"] | null | undefined;
    uuid: string;
  };
  PatchCheckpointOptionalResources: {
    resources?: Record<string, string> | null | undefined;
  };
  PatchCheckpointsRequest: {
    checkpoints: Schemas["PatchCheckpoint"][];
  };
  PatchExperiment: {
    checkpointStorage?: Schemas["PatchExperimentPatchCheckpointStorage"] | null | undefined;
    description?: string | null | undefined;
    expectedDescription?: string | null | undefined;
    expectedNotes?: string | null | undefined;
    id?: number | null | undefined;
    labels?: string[] | null | undefined;
    name?: string | null | undefined;
    notes?: string | null | undefined;
    resources?: Schemas["PatchExperimentPatchResources"] | null | undefined;
  };
  PatchExperimentPatchCheckpointStorage: {
    saveExperimentBest?: number | null | undefined;
    saveTrialBest?: number | null | undefined;
    saveTrialLatest?: number | null | undefined;
  };
  PatchExperimentPatchResources: {
    maxSlots?: number | null | undefined;
    priority?: number | null | undefined;
    weight?: number | null | undefined;
  };
  PatchExperimentResponse: {
    experiment?: Schemas["Experiment"] | null | undefined;
  };
  PatchMasterConfigRequest: {
    config?: Schemas["Config"] | null | undefined;
    fieldMask?: Schemas["ProtobufFieldMask"] | null | undefined;
  };
  PatchModel: {
    description?: string | null | undefined;
    expectedNotes?: string | null | undefined;
    labels?: string[] | null | undefined;
    metadata?: Record<string, unknown> | null | undefined;
    name?: string | null | undefined;
    notes?: string | null | undefined;
    workspaceId?: number | null | undefined;
    workspaceName?: string | null | undefined;
  };
  PatchModelResponse: {
    model: Schemas["Model"];
  };
  PatchModelVersion: {
    checkpoint?: Schemas["Checkpoint"] | null | undefined;
    comment?: string | null | undefined;
    expectedNotes?: string | null | undefined;
    labels?: string[] | null | undefined;
    metadata?: Record<string, unknown> | null | undefined;
    name?: string | null | undefined;
    notes?: string | null | undefined;
  };
  PatchModelVersionResponse: {
    modelVersion: Schemas["ModelVersion"];
  };
  PatchProject: {
    description?: string | null | undefined;
    key?: string | null | undefined;
    name?: string | null | undefined;
  };
  PatchProjectResponse: {
    project: Schemas["Project"];
  };
  PatchSavedViewRequest: {
    name?: string | null | undefined;
    state?: string | null | undefined;
  };
  PatchTemplateNameRequest: {
    newName: string;
    oldName: string;
  };
  PatchTrialRequest: {
    state?: Schemas["TrialState"] | null | undefined;
    trialId?: number | null | undefined;
  };
  PatchTrialResponse: {
    trial: Schemas["Trial"];
  };
  PatchUser: {
    active?: boolean | null | undefined;
    admin?: boolean | null | undefined;
    agentUserGroup?: Schemas["AgentUserGroup"] | null | undefined;
    displayName?: string | null | undefined;
    isHashed?: boolean | null | undefined;
    oldPassword?: string | null | undefined;
    password?: string | null | undefined;
    remote?: boolean | null | undefined;
    username?: string | null | undefined;
  };
  PatchUserResponse: {
    user: Schemas["User"];
  };
  PatchUsersRequest: {
    activate: boolean;
    filters?: Schemas["UserFilters"] | null | undefined;
    userIds: number[];
  };
  PatchUsersResponse: {
    results: Schemas["UserActionResult"][];
  };
  PatchWebhook: {
    url: string;
  };
  PatchWorkspace: {
    agentUserGroup?: Schemas["AgentUserGroup"] | null | undefined;
    checkpointStorageConfig?: Record<string, unknown> | null | undefined;
    clusterNamespaceMeta?: Record<string, Schemas["WorkspaceNamespaceMeta"]> | null | undefined;
    defaultAuxPool?: string | null | undefined;
    defaultAuxResourcePool?: string | null | undefined;
    defaultComputePool?: string | null | undefined;
    defaultComputeResourcePool?: string | null | undefined;
    name?: string | null | undefined;
  };
  PatchWorkspaceResponse: {
    namespaceBindings?: Record<string, Schemas["WorkspaceNamespaceBinding"]> | null | undefined;
    workspace: Schemas["Workspace"];
  };
  PauseExperimentsRequest: {
    experimentIds?: number[] | undefined;
    filters?: Schemas["BulkExperimentFilters"] | null | undefined;
    projectId?: number | null | undefined;
  };
  PauseExperimentsResponse: {
    results: Schemas["ExperimentActionResult"][];
  };
  PauseRunsRequest: {
    filter?: string | null | undefined;
    projectId?: number | null | undefined;
    runIds?: number[] | undefined;
  };
  PauseRunsResponse: {
    results: Schemas["RunActionResult"][];
  };
  Phase: ["phase", string, number];
  PlannedTrials: {
    exact: boolean;
    max: number | null;
    min: number | null;
  };
  PlannedUnits: {
    exact: boolean;
    name: string | null;
    total: number | null;
  };
  PostAccessTokenRequest: {
    description?: string | null | undefined;
    lifespan?: string | null | undefined;
    userId: number;
  };
  PostAccessTokenResponse: {
    token?: string | null | undefined;
    tokenId?: number | null | undefined;
  };
  PostAgentRequest: {
    id: string;
    resourcePool?: string | undefined;
    slots: number;
  };
  PostAllocationAcceleratorDataRequest: {
    acceleratorData: Schemas["AcceleratorData"];
    allocationId: string;
  };
  PostAllocationProxyAddressRequest: {
    allocationId?: string | null | undefined;
    proxyAddress?: string | null | undefined;
  };
  PostCheckpointMetadataRequest: {
    checkpoint?: Schemas["CheckpointMetadata"] | undefined;
  };
  PostCheckpointMetadataResponse: {
    checkpoint?: Schemas["Checkpoint"] | null | undefined;
  };
  PostEnvironmentLockRequest: {
    content: string;
    platform: string;
  };
  PostEnvironmentLockResponse: {
    content: string;
  };
  PostModelRequest: {
    description?: string | null | undefined;
    labels?: string[] | null | undefined;
    metadata?: Record<string, unknown> | null | undefined;
    name: string;
    notes?: string | null | undefined;
    workspaceId?: number | null | undefined;
    workspaceName?: string | null | undefined;
  };
  PostModelResponse: {
    model: Schemas["Model"];
  };
  PostModelVersionRequest: {
    checkpointUuid: string;
    comment?: string | null | undefined;
    labels?: string[] | null | undefined;
    metadata?: Record<string, unknown> | null | undefined;
    modelName?: string | null | undefined;
    name?: string | null | undefined;
    notes?: string | null | undefined;
  };
  PostModelVersionResponse: {
    modelVersion: Schemas["ModelVersion"];
  };
  PostProjectRequest: {
    description?: string | null | undefined;
    key?: string | null | undefined;
    name: string;
    workspaceId: number;
  };
  PostProjectResponse: {
    project: Schemas["Project"];
  };
  PostRunMetadataRequest: {
    metadata: Record<string, unknown>;
    runId?: number | null | undefined;
  };
  PostRunMetadataResponse: {
    metadata?: Record<string, unknown> | null | undefined;
  };
  PostSavedViewRequest: {
    name: string;
    state: string;
  };
  PostSearcherOperationsRequest: {
    experimentId?: number | null | undefined;
    searcherOperations?: Schemas["SearcherOperation"][] | undefined;
    triggeredByEvent?: number | Schemas["TriggeringEvent"] | null | undefined;
  };
  PostSearcherOperationsResponse: Record<string, unknown>;
  PostTaskLogsRequest: {
    logs: Schemas["TaskLog"][];
  };
  PostTemplateRequest: {
    config?: Record<string, unknown> | null | undefined;
    name?: string | null | undefined;
    workspaceId?: number | null | undefined;
  };
  PostTrialProfilerMetricsBatchRequest: {
    batches?: Schemas["TrialProfilerMetricsBatch"][] | null | undefined;
  };
  PostUserActivityRequest: {
    activityType: Schemas["ActivityType"];
    entityId: number;
    entityType: Schemas["EntityType"];
  };
  PostUserRequest: {
    isHashed?: boolean | null | undefined;
    password?: string | null | undefined;
    user?: Schemas["User"] | null | undefined;
  };
  PostUserResponse: {
    user?: Schemas["User"] | null | undefined;
  };
  PostUserSettingRequest: {
    settings: Schemas["UserWebSetting"][];
  };
  PostWebhookEventDataRequest: {
    data: Schemas["CustomWebhookEventData"];
    experimentId: number;
    trialId?: number | null | undefined;
  };
  PostWebhookResponse: {
    messages?: string[] | undefined;
    webhook: Schemas["Webhook"];
  };
  PostWorkspaceRequest: {
    agentUserGroup?: Schemas["AgentUserGroup"] | null | undefined;
    checkpointStorageConfig?: Record<string, unknown> | null | undefined;
    clusterNamespaceMeta?: Record<string, Schemas["WorkspaceNamespaceMeta"]> | null | undefined;
    clusterQuotaPairs?: Record<string, number> | null | undefined;
    defaultAuxPool?: string | null | undefined;
    defaultComputePool?: string | null | undefined;
    name: string;
  };
  PostWorkspaceResponse: {
    namespaceBindings?: Record<string, Schemas["WorkspaceNamespaceBinding"]> | null | undefined;
    workspace: Schemas["Workspace"];
  };
  PreemptAck: ["preempt_ack"];
  PreviewHPSearchRequest: {
    config?: Record<string, unknown> | undefined;
    seed?: number | null | undefined;
  };
  PreviewHPSearchResponse: {
    summary: Schemas["SearchSummary"];
  };
  Problem: {
    line?: number | null | undefined;
    message: string;
    path: string;
    value?: unknown;
  };
  Progress: ["progress", number, boolean];
  Project: {
    archived: boolean;
    description?: string | null | undefined;
    errorMessage: string;
    id: number;
    immutable: boolean;
    key: string;
    lastExperimentStartedAt?: string | null | undefined;
    name: string;
    notes: Schemas["Note"][];
    numActiveExperiments: number;
    numExperiments: number;
    numRuns: number;
    state: Schemas["WorkspaceState"];
    userId: number;
    username: string;
    workspaceId: number;
    workspaceName?: string | null | undefined;
  };
  ProjectColumn: {
    column: string;
    displayName?: string | null | undefined;
    location: Schemas["LocationType"];
    moreValues?: boolean | null | undefined;
    type: Schemas["ColumnType"];
    values?: unknown[] | null | undefined;
  };
  ProtobufFieldMask: {
    paths?: string[] | null | undefined;
  };
  ProxyPortConfig: {
    port?: number | null | undefined;
    proxyTcp?: boolean | null | undefined;
    serviceId?: string | null | undefined;
    unauthenticated?: boolean | null | undefined;
  };
  PutExperimentLabelResponse: {
    labels: string[];
  };
  PutExperimentResponse: {
    config: Record<string, unknown>;
    experiment: Schemas["Experiment"];
    messages?: string[] | undefined;
  };
  PutExperimentRetainLogsRequest: {
    experimentId?: number | null | undefined;
    numDays: number;
  };
  PutExperimentsRetainLogsRequest: {
    experimentIds?: number[] | undefined;
    filters?: Schemas["BulkExperimentFilters"] | null | undefined;
    numDays: number;
    projectId?: number | null | undefined;
  };
  PutExperimentsRetainLogsResponse: {
    results: Schemas["ExperimentActionResult"][];
  };
  PutModelAliasRequest: {
    expectedVersion?: number | null | undefined;
    version: number | string;
  };
  PutModelAliasResponse: {
    alias: Schemas["ModelAlias"];
  };
  PutProjectNotesRequest: {
    expected?: Schemas["Note"][] | null | undefined;
    notes: Schemas["Note"][];
    projectId: number;
  };
  PutProjectNotesResponse: {
    notes: Schemas["Note"][];
  };
  PutTrialRequest: {
    createTrialRequest?: Schemas["CreateTrialRequest"] | null | undefined;
    externalTrialId?: string | null | undefined;
  };
  PutTrialResponse: {
    trial: Schemas["Trial"];
  };
  PutTrialRetainLogsRequest: {
    numDays: number;
    trialId?: number | null | undefined;
  };
  PythonPackages: {
    lock?: string | null | undefined;
    locks?: Record<string, string> | undefined;
    requirements?: string | string[] | null | undefined;
    version?: string | null | undefined;
  };
  QueueControl: {
    aheadOf?: string | null | undefined;
    behindOf?: string | null | undefined;
    jobId: string;
    priority?: number | null | undefined;
    resourcePool?: string | null | undefined;
    weight?: number | null | undefined;
  };
  QueueStats: {
    queuedCount: number;
    scheduledCount: number;
  };
  RBACJob: {
    full?: Schemas["Job"] | null | undefined;
    limited?: Schemas["LimitedJob"] | null | undefined;
  };
  RPQueueStat: {
    aggregates?: Schemas["AggregateQueueStats"][] | null | undefined;
    resourcePool: string;
    stats: Schemas["QueueStats"];
  };
  RedeemLoginLinkRequest: {
    code: string;
  };
  RendezvousInfo: {
    addresses: string[];
    rank: number;
    slots: number[];
  };
  ReportAnswer: {
    ended?: boolean | undefined;
    positions: Record<string, number>;
    refused?: Record<string, string> | undefined;
  };
  ReportBatch: [Schemas["Segment"][], number | null];
  ReportCheckpointRequest: {
    allocationId?: string | null | undefined;
    metadata: Record<string, unknown>;
    reportTime?: string | null | undefined;
    resources?: Record<string, number> | undefined;
    state?: Schemas["CheckpointState"] | undefined;
    storageId?: number | null | undefined;
    taskId?: string | null | undefined;
    training?: Record<string, unknown> | null | undefined;
    uuid: string;
  };
  ReportTrialSourceInfoRequest: {
    trialSourceInfo: Schemas["TrialSourceInfo"];
  };
  ReportTrialSourceInfoResponse: {
    checkpointUuid: string;
    trialId: number;
  };
  ReproduceExperimentRequest: {
    activate?: boolean | null | undefined;
  };
  RequestStacksResponse: {
    nodes: number;
    request: number;
  };
  ResourceAllocationAggregatedEntry: {
    byExperimentLabel: Record<string, number>;
    byProject?: Record<string, number> | undefined;
    byResourcePool: Record<string, number>;
    byUsername: Record<string, number>;
    period: Schemas["ResourceAllocationAggregationPeriod"];
    periodStart: string;
    seconds: number;
  };
  ResourceAllocationAggregatedResponse: {
    resourceEntries: Schemas["ResourceAllocationAggregatedEntry"][];
  };
  ResourceAllocationAggregationPeriod: "RESOURCE_ALLOCATION_AGGREGATION_PERIOD_UNSPECIFIED" | "RESOURCE_ALLOCATION_AGGREGATION_PERIOD_DAILY" | "RESOURCE_ALLOCATION_AGGREGATION_PERIOD_MONTHLY";
  ResourceAllocationRawEntry: {
    endTime: string;
    experimentId?: number | null | undefined;
    kind: string;
    labels: string[];
    seconds: number;
    slots: number;
    startTime: string;
    userId: number;
    username: string;
  };
  ResourceAllocationRawResponse: {
    resourceEntries: Schemas["ResourceAllocationRawEntry"][];
  };
  ResourcePool: {
    accelerator?: string | null | undefined;
    agentDockerImage: string;
    agentDockerNetwork: string;
    agentDockerRuntime: string;
    agentFluentImage: string;
    auxContainerCapacity: number;
    auxContainerCapacityPerAgent: number;
    auxContainersRunning: number;
    clusterName: string;
    containerStartupScript: string;
    defaultAuxPool: boolean;
    defaultComputePool: boolean;
    description: string;
    details: Schemas["ResourcePoolDetail"];
    imageId: string;
    instanceType: string;
    location: string;
    masterCertName: string;
    masterUrl: string;
    maxAgentStartingPeriod: number;
    maxAgents: number;
    maxIdleAgentPeriod: number;
    minAgents: number;
    name: string;
    numAgents: number;
    preemptible: boolean;
    resourceManagerMetadata: Record<string, string>;
    schedulerFittingPolicy: Schemas["FittingPolicy"];
    schedulerType: Schemas["SchedulerType"];
    slotType: Schemas["DeviceType"];
    slotsAvailable: number;
    slotsFree: number;
    slotsPerAgent?: number | null | undefined;
    slotsUsed: number;
    startupScript: string;
    stats?: Schemas["QueueStats"] | null | undefined;
    type: Schemas["ResourcePoolType"];
  };
  ResourcePoolAwsDetail: {
    customTags?: Schemas["AwsCustomTag"][] | null | undefined;
    iamInstanceProfileArn: string;
    imageId: string;
    instanceName: string;
    instanceType?: string | null | undefined;
    logGroup?: string | null | undefined;
    logStream?: string | null | undefined;
    publicIp: boolean;
    region: string;
    rootVolumeSize: number;
    securityGroupId: string;
    spotEnabled: boolean;
    spotMaxPrice?: string | null | undefined;
    sshKeyName: string;
    subnetId?: string | null | undefined;
    tagKey: string;
    tagValue: string;
  };
  ResourcePoolDetail: {
    aws?: Schemas["ResourcePoolAwsDetail"] | null | undefined;
    gcp?: Schemas["ResourcePoolGcpDetail"] | null | undefined;
    priorityScheduler?: Schemas["ResourcePoolPrioritySchedulerDetail"] | null | undefined;
  };
  ResourcePoolGcpDetail: {
    bootDiskSize: number;
    bootDiskSourceImage: string;
    externalIp: boolean;
    gpuNum: number;
    gpuType: string;
    labelKey: string;
    labelValue: string;
    machineType: string;
    namePrefix: string;
    network: string;
    networkTags?: string[] | null | undefined;
    operationTimeoutPeriod: number;
    preemptible: boolean;
    project: string;
    serviceAccountEmail: string;
    serviceAccountScopes: string[];
    subnetwork?: string | null | undefined;
    zone: string;
  };
  ResourcePoolPrioritySchedulerDetail: {
    defaultPriority: number;
    k8Priorities?: Schemas["K8PriorityClass"][] | null | undefined;
    preemption: boolean;
  };
  ResourcePoolType: "RESOURCE_POOL_TYPE_UNSPECIFIED" | "RESOURCE_POOL_TYPE_AWS" | "RESOURCE_POOL_TYPE_GCP" | "RESOURCE_POOL_TYPE_STATIC" | "RESOURCE_POOL_TYPE_K8S";
  ResourcesFailure: {
    errMsg?: string | null | undefined;
    exitCode?: number | null | undefined;
    failureType?: Schemas["FailureType"] | null | undefined;
  };
  ResourcesStarted: {
    addresses?: Schemas["Address"][] | null | undefined;
    nativeResourcesId?: string | null | undefined;
  };
  ResourcesStopped: {
    failure?: Schemas["ResourcesFailure"] | null | undefined;
  };
  ResourcesSummary: {
    agentDevices?: Record<string, Schemas["ResourcesSummaryDevices"]> | null | undefined;
    allocationId?: string | null | undefined;
    containerId?: string | null | undefined;
    exited?: Schemas["ResourcesStopped"] | null | undefined;
    resourcesId?: string | null | undefined;
    resourcesType?: string | null | undefined;
    started?: Schemas["ResourcesStarted"] | null | undefined;
  };
  ResourcesSummaryDevices: {
    devices?: Schemas["Device"][] | null | undefined;
  };
  ResumeRunsRequest: {
    filter?: string | null | undefined;
    projectId?: number | null | undefined;
    runIds?: number[] | undefined;
  };
  ResumeRunsResponse: {
    results: Schemas["RunActionResult"][];
  };
  RunActionResult: {
    changed?: boolean | undefined;
    error: string;
    id: number;
    previousProjectId?: number | null | undefined;
  };
  RunGroup: {
    key: Record<string, unknown>;
    metrics: Record<string, Schemas["ColumnStatistics"]>;
    n: number;
    runIds: number[];
  };
  RunPrepareForReportingRequest: {
    checkpointStorage?: Record<string, unknown> | null | undefined;
    runId: number;
  };
  RunPrepareForReportingResponse: {
    storageId?: number | null | undefined;
  };
  RunnerSignals: {
    ended?: boolean | undefined;
    kill?: boolean | undefined;
    peerFailed?: boolean | undefined;
    preempt?: boolean | undefined;
    shell?: boolean | undefined;
    stacks?: number | undefined;
  };
  SSOProvider: {
    alwaysRedirect?: boolean | null | undefined;
    name: string;
    ssoUrl: string;
    type: string;
  };
  SavedView: {
    createdAt: string;
    id: number;
    name: string;
    projectId: number;
    state: string;
    userId: number;
    username: string;
  };
  SavedViewResponse: {
    view: Schemas["SavedView"];
  };
  SchedulerType: "SCHEDULER_TYPE_UNSPECIFIED" | "SCHEDULER_TYPE_PRIORITY" | "SCHEDULER_TYPE_FAIR_SHARE" | "SCHEDULER_TYPE_ROUND_ROBIN" | "SCHEDULER_TYPE_KUBERNETES" | "SCHEDULER_TYPE_SLURM" | "SCHEDULER_TYPE_PBS";
  Sealed: {
    job: string;
    seal: string;
    text: string;
  };
  SearchExperimentExperiment: {
    bestTrial?: Schemas["Trial"] | null | undefined;
    experiment: Schemas["Experiment"];
  };
  SearchExperimentsRequest: {
    filter?: string | null | undefined;
    limit?: number | null | undefined;
    offset?: number | null | undefined;
    projectId?: number | null | undefined;
    sort?: string | null | undefined;
  };
  SearchExperimentsResponse: {
    experiments: Schemas["SearchExperimentExperiment"][];
    pagination: Schemas["Pagination"];
  };
  SearchRunsRequest: {
    filter?: string | null | undefined;
    groupBy?: string[] | undefined;
    groupMetrics?: string[] | undefined;
    limit?: number | null | undefined;
    offset?: number | null | undefined;
    projectId?: number | null | undefined;
    sort?: string | null | undefined;
  };
  SearchRunsResponse: {
    exact?: boolean | null | undefined;
    groups?: Schemas["RunGroup"][] | null | undefined;
    pagination: Schemas["Pagination"];
    runs: Schemas["FlatRun"][];
  };
  SearchSummary: {
    config: Record<string, unknown>;
    maxSlots?: number | undefined;
    slotsPerTrial?: number | undefined;
    totalTrials?: number | undefined;
    totalUnits?: number | null | undefined;
    trials?: Schemas["TrialSummary"][] | undefined;
  };
  SearchTasksResponse: {
    pagination: Schemas["Pagination"];
    tasks: Schemas["ListedTask"][];
  };
  SearchUnit: {
    maxLength: boolean;
    name?: string | null | undefined;
    value?: number | null | undefined;
  };
  SearcherEvent: {
    experimentInactive?: Schemas["ExperimentInactive"] | null | undefined;
    id: number;
    initialOperations?: Schemas["InitialOperations"] | null | undefined;
    trialClosed?: Schemas["TrialClosed"] | null | undefined;
    trialCreated?: Schemas["TrialCreated"] | null | undefined;
    trialExitedEarly?: Schemas["TrialExitedEarly"] | null | undefined;
    trialProgress?: Schemas["TrialProgress"] | null | undefined;
    validationCompleted?: Schemas["ValidationCompleted"] | null | undefined;
  };
  SearcherOperation: {
    validateAfter?: Schemas["ValidateAfterOperation"] | null | undefined;
  };
  Segment: [string, number, (Schemas["LogLine"] | Schemas["MetricReport"] | Schemas["CheckpointReport"] | Schemas["PreemptAck"] | Schemas["Status"] | Schemas["Progress"] | Schemas["EarlyExit"] | Schemas["Phase"] | Schemas["Exit"] | Schemas["Alert"] | Schemas["Missing"])[]];
  SeriesAxis: "batch" | "epoch" | "time";
  SeriesPosition: {
    continues: boolean;
    group: string;
    token: string;
  };
  SeriesRecord: {
    group: string;
    indexed?: boolean | undefined;
    points: number;
    runId: number;
  };
  Service: {
    id?: string | undefined;
    port?: number | undefined;
    tcp?: boolean | undefined;
    unauthenticated?: boolean | undefined;
  };
  SetClusterMessageRequest: {
    duration?: string | null | undefined;
    endTime?: string | null | undefined;
    message: string;
    startTime: string;
  };
  SetCommandPriorityResponse: {
    command?: Schemas["Command"] | null | undefined;
  };
  SetNotebookPriorityResponse: {
    notebook?: Schemas["Notebook"] | null | undefined;
  };
  SetPriorityRequest: {
    priority?: number | null | undefined;
  };
  SetSearcherProgressOperation: {
    progress: number;
  };
  SetShellPriorityResponse: {
    shell?: Schemas["Shell"] | null | undefined;
  };
  SetTensorboardPriorityResponse: {
    tensorboard?: Schemas["Tensorboard"] | null | undefined;
  };
  SetUserPasswordResponse: {
    user?: Schemas["User"] | null | undefined;
  };
  ShareTaskResponse: {
    address: string;
  };
  Shell: {
    addresses?: (Record<string, unknown>)[] | null | undefined;
    agentUserGroup?: Record<string, unknown> | null | undefined;
    description: string;
    displayName?: string | null | undefined;
    endTime?: string | null | undefined;
    exitStatus?: string | null | undefined;
    hostPublicKey?: string | null | undefined;
    id: string;
    isReady?: boolean | null | undefined;
    jobId: string;
    priority?: number | null | undefined;
    privateKey?: string | null | undefined;
    publicKey?: string | null | undefined;
    resourcePool: string;
    slots?: number | null | undefined;
    startTime: string;
    state: Schemas["AllocationState"];
    userId?: number | null | undefined;
    username: string;
    workspaceId: number;
  };
  ShellSettings: {
    authorizedKeys: string[];
    hostKey: string;
    reportsIdle?: boolean | undefined;
    server?: string | undefined;
    terminalKey?: string | undefined;
  };
  ShutDownOperation: {
    cancel?: boolean | undefined;
    failure?: boolean | undefined;
  };
  Slot: {
    container?: Schemas["Container"] | null | undefined;
    device?: Schemas["Device"] | null | undefined;
    draining?: boolean | null | undefined;
    enabled?: boolean | null | undefined;
    id?: string | null | undefined;
  };
  SlotStats: {
    brandStats: Record<string, Schemas["DeviceStats"]>;
    typeStats: Record<string, Schemas["DeviceStats"]>;
  };
  SortBy: "SORT_BY_BATCH_NUMBER" | "SORT_BY_END_TIME" | "SORT_BY_SEARCHER_METRIC" | "SORT_BY_STATE" | "SORT_BY_TRIAL_ID" | "SORT_BY_UNSPECIFIED" | "SORT_BY_UUID";
  SortTasksBy: "SORT_BY_DESCRIPTION" | "SORT_BY_ID" | "SORT_BY_START_TIME" | "SORT_BY_UNSPECIFIED" | "SORT_BY_WORKSPACE_ID";
  SortTemplatesBy: "SORT_BY_NAME" | "SORT_BY_UNSPECIFIED";
  StartTrialRequest: {
    resume?: boolean | null | undefined;
    trialId?: number | null | undefined;
  };
  StartTrialResponse: {
    latestCheckpoint?: string | null | undefined;
    stepsCompleted: number;
    trialRunId: number;
  };
  Starts: "now" | "waits";
  Status: ["status", string];
  TableType: "TABLE_TYPE_EXPERIMENT" | "TABLE_TYPE_RUN" | "TABLE_TYPE_UNSPECIFIED";
  Task: {
    allocations: Schemas["Allocation"][];
    config?: string | null | undefined;
    endTime?: string | null | undefined;
    forkedFrom?: string | null | undefined;
    noPause?: boolean | null | undefined;
    parentId?: string | null | undefined;
    startTime: string;
    taskId: string;
    taskState?: Schemas["GenericTaskState"] | null | undefined;
    taskType: Schemas["TaskType"];
  };
  TaskLog: {
    agentId?: string | null | undefined;
    allocationId?: string | null | undefined;
    containerId?: string | null | undefined;
    id?: number | null | undefined;
    level?: Schemas["LogLevel"] | null | undefined;
    log: string;
    rankId?: number | null | undefined;
    source?: string | null | undefined;
    stdtype?: string | null | undefined;
    taskId: string;
    timestamp?: string | null | undefined;
  };
  TaskLogsFieldsResponse: {
    agentIds?: string[] | null | undefined;
    allocationIds?: string[] | null | undefined;
    containerIds?: string[] | null | undefined;
    rankIds?: number[] | null | undefined;
    sources?: string[] | null | undefined;
    stdtypes?: string[] | null | undefined;
  };
  TaskLogsResponse: {
    agentId?: string | null | undefined;
    allocationId?: string | null | undefined;
    containerId?: string | null | undefined;
    id: string;
    level: Schemas["LogLevel"];
    log: string;
    message: string;
    rankId?: number | null | undefined;
    source?: string | null | undefined;
    stdtype?: string | null | undefined;
    taskId: string;
    timestamp: string;
  };
  TaskRecord: {
    endTime?: string | null | undefined;
    id: string;
    logLines?: number | undefined;
    logRetentionDays?: number | null | undefined;
    startTime: string;
  };
  TaskSpec: {
    address?: string | null | undefined;
    bindMounts?: Schemas["BindMount"][] | undefined;
    clusterId: string;
    config?: Record<string, unknown> | null | undefined;
    debug?: boolean | undefined;
    entrypoint?: string | string[] | undefined;
    environment?: string[] | undefined;
    experimentId?: number | null | undefined;
    hparams?: Record<string, unknown> | null | undefined;
    isFirstRun?: boolean | undefined;
    latestCheckpoint?: string | null | undefined;
    masterId: string;
    networkInterface?: string | null | undefined;
    ports?: Record<string, number> | undefined;
    preemptionTimeout?: number | null | undefined;
    python?: Schemas["PythonPackages"] | null | undefined;
    services?: Schemas["Service"][] | undefined;
    settings?: Record<string, unknown> | null | undefined;
    sharedTmp?: boolean | undefined;
    shownConfig?: string | null | undefined;
    slotCounts?: number[] | undefined;
    startupHook?: string | null | undefined;
    stepsCompleted?: number | undefined;
    submitterPython?: string | null | undefined;
    taskId: string;
    taskType: string;
    trialId?: number | null | undefined;
    trialRunId?: number | null | undefined;
    trialSeed?: number | null | undefined;
    userToken?: string | null | undefined;
    username: string;
    warnings?: string[] | undefined;
    workDir?: string | null | undefined;
  };
  TaskType: "TASK_TYPE_UNSPECIFIED" | "TASK_TYPE_TRIAL" | "TASK_TYPE_NOTEBOOK" | "TASK_TYPE_SHELL" | "TASK_TYPE_COMMAND" | "TASK_TYPE_TENSORBOARD" | "TASK_TYPE_CHECKPOINT_GC" | "TASK_TYPE_GENERIC";
  Template: {
    config: Record<string, unknown>;
    name: string;
    updatedAt?: string | null | undefined;
    username?: string | null | undefined;
    workspaceId: number;
  };
  TemplateResponse: {
    template: Schemas["Template"];
  };
  Tensorboard: {
    description: string;
    displayName?: string | null | undefined;
    endTime?: string | null | undefined;
    exitStatus?: string | null | undefined;
    experimentIds?: number[] | null | undefined;
    id: string;
    isReady?: boolean | null | undefined;
    jobId: string;
    priority?: number | null | undefined;
    resourcePool: string;
    serviceAddress?: string | null | undefined;
    slots?: number | null | undefined;
    startTime: string;
    state: Schemas["AllocationState"];
    trialIds?: number[] | null | undefined;
    userId?: number | null | undefined;
    username: string;
    workspaceId: number;
  };
  TestWebhookResponse: {
    answer?: string | null | undefined;
    completed: boolean;
    statusCode?: number | null | undefined;
  };
  TokenInfo: {
    createdAt?: string | null | undefined;
    description?: string | null | undefined;
    expiry?: string | null | undefined;
    id: number;
    revoked?: boolean | null | undefined;
    tokenType?: Schemas["TokenType"] | null | undefined;
    userId: number;
  };
  TokenType: "TOKEN_TYPE_UNSPECIFIED" | "TOKEN_TYPE_USER_SESSION" | "TOKEN_TYPE_ACCESS_TOKEN";
  Trial: {
    bestCheckpoint?: Schemas["CheckpointWorkload"] | null | undefined;
    bestValidation?: Schemas["MetricsWorkload"] | null | undefined;
    checkpointCount?: number | null | undefined;
    endTime?: string | null | undefined;
    experimentId: number;
    hparams: Record<string, unknown>;
    id: number;
    latestValidation?: Schemas["MetricsWorkload"] | null | undefined;
    logPolicyMatched?: string | null | undefined;
    logRetentionDays?: number | null | undefined;
    metadata?: Record<string, unknown> | null | undefined;
    restarts: number;
    runnerState?: string | null | undefined;
    searcherMetricValue?: number | null | undefined;
    startTime: string;
    state: Schemas["TrialState"];
    stopReason?: string | null | undefined;
    summaryMetrics?: Record<string, unknown> | null | undefined;
    taskId?: string | null | undefined;
    taskIds?: string[] | null | undefined;
    totalBatchesProcessed: number;
    totalCheckpointSize?: string | null | undefined;
    wallClockTime?: number | null | undefined;
    warmStartCheckpointUuid?: string | null | undefined;
  };
  TrialClosed: {
    requestId: string;
  };
  TrialCreated: {
    requestId: string;
  };
  TrialExitedEarly: {
    exitedReason: Schemas["ExitedReason"];
    requestId: string;
  };
  TrialLogsFieldsResponse: {
    agentIds?: string[] | null | undefined;
    containerIds?: string[] | null | undefined;
    rankIds?: number[] | null | undefined;
    sources?: string[] | null | undefined;
    stdtypes?: string[] | null | undefined;
  };
  TrialLogsResponse: {
    agentId?: string | null | undefined;
    containerId?: string | null | undefined;
    id: string;
    level: Schemas["LogLevel"];
    log?: string | null | undefined;
    message: string;
    rankId?: number | null | undefined;
    source?: string | null | undefined;
    stdtype?: string | null | undefined;
    timestamp: string;
    trialId: number;
  };
  TrialOperation: {
    validateAfter: Schemas["TrialValidateAfter"];
  };
  TrialProfilerMetricLabels: {
    agentId?: string | null | undefined;
    gpuUuid?: string | null | undefined;
    metricType?: Schemas["TrialProfilerMetricLabelsProfilerMetricType"] | null | undefined;
    name: string;
    trialId: number;
  };
  TrialProfilerMetricLabelsProfilerMetricType: "PROFILER_METRIC_TYPE_MISC" | "PROFILER_METRIC_TYPE_SYSTEM" | "PROFILER_METRIC_TYPE_TIMING" | "PROFILER_METRIC_TYPE_UNSPECIFIED";
  TrialProfilerMetricsBatch: {
    batches: number[];
    labels: Schemas["TrialProfilerMetricLabels"];
    timestamps: string[];
    values: number[];
  };
  TrialProgress: {
    partialUnits: number;
    requestId: string;
  };
  TrialRecord: {
    allocations?: Schemas["AllocationRecord"][] | undefined;
    archived?: boolean | undefined;
    bestValidationStep?: number | null | undefined;
    bestValidationTime?: string | null | undefined;
    bestValidationValue?: number | string | null | undefined;
    checkpoints?: Schemas["CheckpointRecord"][] | undefined;
    earlyExit?: string | null | undefined;
    earlyStopped?: boolean | undefined;
    endTime?: string | null | undefined;
    externalId?: string | null | undefined;
    hparams: Record<string, unknown>;
    id: number;
    lastActivity?: string | null | undefined;
    latestCheckpoint?: string | null | undefined;
    latestValidationStep?: number | null | undefined;
    latestValidationTime?: string | null | undefined;
    latestValidationValue?: number | string | null | undefined;
    logPolicyLabel?: string | null | undefined;
    logRetentionDays?: number | null | undefined;
    metadata?: Record<string, unknown> | null | undefined;
    progress?: number | null | undefined;
    requestId: string;
    restarts: number;
    runId: number;
    runnerState?: string | null | undefined;
    seed: number;
    series?: Schemas["SeriesRecord"][] | undefined;
    startTime: string;
    state: string;
    stepsCompleted: number;
    stopReason?: string | null | undefined;
    taskId: string;
    tasks?: Schemas["TaskRecord"][] | undefined;
    warmStartCheckpoint?: string | null | undefined;
  };
  TrialRunnerMetadata: {
    state: string;
  };
  TrialSourceInfo: {
    checkpointUuid: string;
    modelId?: number | null | undefined;
    modelVersion?: number | null | undefined;
    trialId: number;
    trialSourceInfoType: Schemas["TrialSourceInfoType"];
  };
  TrialSourceInfoType: "TRIAL_SOURCE_INFO_TYPE_UNSPECIFIED" | "TRIAL_SOURCE_INFO_TYPE_INFERENCE" | "TRIAL_SOURCE_INFO_TYPE_FINE_TUNING";
  TrialState: "STATE_UNSPECIFIED" | "STATE_ACTIVE" | "STATE_PAUSED" | "STATE_STOPPING_CANCELED" | "STATE_STOPPING_KILLED" | "STATE_STOPPING_COMPLETED" | "STATE_STOPPING_ERROR" | "STATE_CANCELED" | "STATE_COMPLETED" | "STATE_ERROR" | "STATE_QUEUED" | "STATE_PULLING" | "STATE_STARTING" | "STATE_RUNNING";
  TrialSummary: {
    count: number;
    lengths?: number[] | undefined;
    unit: Schemas["SearchUnit"];
  };
  TrialUsing: {
    checkpointUuid: string;
    experimentId: number;
    experimentName: string;
    modelId?: number | null | undefined;
    modelVersion?: number | null | undefined;
    startTime: string;
    state: string;
    trialId: number;
    trialSourceInfoType: Schemas["TrialSourceInfoType"];
    userId: number;
    username: string;
  };
  TrialValidateAfter: {
    length: number;
    requestId: string;
  };
  TrialsSampleResponse: {
    demotedTrials: number[];
    promotedTrials: number[];
    trials: Schemas["TrialsSampleResponseTrial"][];
  };
  TrialsSampleResponseTrial: {
    data: Schemas["DataPoint"][];
    hparams: Record<string, unknown>;
    trialId: number;
  };
  TrialsSnapshotResponse: {
    trials: Schemas["TrialsSnapshotResponseTrial"][];
  };
  TrialsSnapshotResponseTrial: {
    batchesProcessed: number;
    hparams: Record<string, unknown>;
    metric: number;
    trialId: number;
  };
  TrialsUsingResponse: {
    trials: Schemas["TrialUsing"][];
  };
  Trigger: {
    condition?: Record<string, unknown> | null | undefined;
    id?: number | null | undefined;
    triggerType?: Schemas["TriggerType"] | undefined;
    webhookId?: number | null | undefined;
  };
  TriggerType: "TRIGGER_TYPE_UNSPECIFIED" | "TRIGGER_TYPE_EXPERIMENT_STATE_CHANGE" | "TRIGGER_TYPE_METRIC_THRESHOLD_EXCEEDED" | "TRIGGER_TYPE_TASK_LOG" | "TRIGGER_TYPE_CUSTOM";
  TriggeringEvent: {
    id: number;
  };
  UnarchiveExperimentsRequest: {
    experimentIds?: number[] | undefined;
    filters?: Schemas["BulkExperimentFilters"] | null | undefined;
    projectId?: number | null | undefined;
  };
  UnarchiveExperimentsResponse: {
    results: Schemas["ExperimentActionResult"][];
  };
  UnarchiveRunsRequest: {
    filter?: string | null | undefined;
    projectId?: number | null | undefined;
    runIds?: number[] | undefined;
  };
  UnarchiveRunsResponse: {
    results: Schemas["RunActionResult"][];
  };
  UnbindRPFromWorkspaceRequest: {
    resourcePoolName: string;
    workspaceIds?: number[] | null | undefined;
    workspaceNames?: string[] | null | undefined;
  };
  UpdateJobQueueRequest: {
    updates: Schemas["QueueControl"][];
  };
  User: {
    active: boolean;
    admin: boolean;
    agentUserGroup?: Schemas["AgentUserGroup"] | null | undefined;
    displayName?: string | null | undefined;
    id?: number | null | undefined;
    lastAuthAt?: string | null | undefined;
    modifiedAt?: string | null | undefined;
    remote?: boolean | null | undefined;
    username: string;
  };
  UserActionResult: {
    error: string;
    id: number;
  };
  UserFilters: {
    admin?: boolean | null | undefined;
    name?: string | null | undefined;
  };
  UserWebSetting: {
    key: string;
    storagePath?: string | null | undefined;
    value?: string | null | undefined;
  };
  ValidateAfterOperation: {
    length: number;
  };
  ValidationCompleted: {
    metric: unknown;
    requestId: string;
    validateAfterLength: string;
  };
  ValidationHistoryEntry: {
    endTime: string;
    searcherMetric: number;
    trialId: number;
  };
  Webhook: {
    id?: number | null | undefined;
    lastDelivery?: Schemas["LastDelivery"] | null | undefined;
    mayChange?: boolean | null | undefined;
    mode?: Schemas["WebhookMode"] | undefined;
    name?: string | undefined;
    triggers?: Schemas["Trigger"][] | null | undefined;
    url: string;
    webhookType?: Schemas["WebhookType"] | undefined;
    workspaceId?: number | null | undefined;
  };
  WebhookDelivery: {
    answer?: string | null | undefined;
    attempts: number;
    createdAt: string;
    error?: string | null | undefined;
    eventId: string;
    eventType: string;
    finishedAt?: string | null | undefined;
    id: number;
    nextAttemptAt?: string | null | undefined;
    payload: string;
    state: Schemas["DeliveryState"];
    statusCode?: number | null | undefined;
    url?: string | null | undefined;
    webhookId: number;
  };
  WebhookMode: "WEBHOOK_MODE_UNSPECIFIED" | "WEBHOOK_MODE_WORKSPACE" | "WEBHOOK_MODE_SPECIFIC";
  WebhookType: "WEBHOOK_TYPE_UNSPECIFIED" | "WEBHOOK_TYPE_DEFAULT" | "WEBHOOK_TYPE_SLACK";
  WorkloadContainer: {
    checkpoint?: Schemas["CheckpointWorkload"] | null | undefined;
    training?: Schemas["MetricsWorkload"] | null | undefined;
    validation?: Schemas["MetricsWorkload"] | null | undefined;
  };
  Workspace: {
    agentUserGroup?: Schemas["AgentUserGroup"] | null | undefined;
    archived: boolean;
    autoCreatedNamespace?: string | null | undefined;
    checkpointStorageConfig?: Record<string, unknown> | null | undefined;
    defaultAuxPool?: string | null | undefined;
    defaultComputePool?: string | null | undefined;
    errorMessage: string;
    id: number;
    immutable: boolean;
    name: string;
    numExperiments: number;
    numProjects: number;
    pinned: boolean;
    pinnedAt?: string | null | undefined;
    state: Schemas["WorkspaceState"];
    userId: number;
    username: string;
  };
  WorkspaceNamespaceBinding: {
    autoCreateNamespace?: boolean | null | undefined;
    clusterName?: string | null | undefined;
    namespace?: string | null | undefined;
    workspaceId?: number | null | undefined;
  };
  WorkspaceNamespaceMeta: {
    autoCreateNamespace?: boolean | null | undefined;
    autoCreateNamespaceAllClusters?: boolean | null | undefined;
    clusterName?: string | null | undefined;
    namespace?: string | null | undefined;
    resourceQuota?: number | null | undefined;
  };
  WorkspaceState: "WORKSPACE_STATE_UNSPECIFIED" | "WORKSPACE_STATE_DELETING" | "WORKSPACE_STATE_DELETE_FAILED" | "WORKSPACE_STATE_DELETED";
}

export interface Operations {
  ackPreemption: {
    path: { allocation_id: string; };
    query: never;
    body: never;
    response: Schemas["Nothing"];
  };
  activateExperiment: {
    path: { experiment_id: number; };
    query: never;
    body: never;
    response: Schemas["Nothing"];
  };
  activateExperiments: {
    path: { project_id: number; };
    query: never;
    body: Schemas["ActivateExperimentsRequest"];
    response: Schemas["ActivateExperimentsResponse"];
  };
  activateUsers: {
    path: never;
    query: never;
    body: Schemas["PatchUsersRequest"];
    response: Schemas["PatchUsersResponse"];
  };
  addAgent: {
    path: never;
    query: never;
    body: Schemas["PostAgentRequest"];
    response: Schemas["GetAgentResponse"];
  };
  addExperimentLabel: {
    path: { experiment_id: number; label: string; };
    query: never;
    body: never;
    response: Schemas["PutExperimentLabelResponse"];
  };
  addProjectNote: {
    path: { project_id: number; };
    query: never;
    body: Schemas["Note"];
    response: Schemas["AddProjectNoteResponse"];
  };
  allGather: {
    path: { allocation_id: string; };
    query: never;
    body: Schemas["AllocationAllGatherRequest"];
    response: Schemas["AllocationAllGatherResponse"];
  };
  archiveExperiment: {
    path: { experiment_id: number; };
    query: never;
    body: never;
    response: Schemas["Nothing"];
  };
  archiveExperiments: {
    path: { project_id: number; };
    query: never;
    body: Schemas["ArchiveExperimentsRequest"];
    response: Schemas["ArchiveExperimentsResponse"];
  };
  archiveModel: {
    path: { model_name: string; };
    query: never;
    body: never;
    response: Schemas["Nothing"];
  };
  archiveProject: {
    path: { project_id: number; };
    query: never;
    body: never;
    response: Schemas["Nothing"];
  };
  archiveRuns: {
    path: never;
    query: never;
    body: Schemas["ArchiveRunsRequest"];
    response: Schemas["ArchiveRunsResponse"];
  };
  archiveWorkspace: {
    path: { workspace_id: number; };
    query: never;
    body: never;
    response: Schemas["Nothing"];
  };
  bindPool: {
    path: { pool: string; };
    query: never;
    body: Schemas["BindRPToWorkspaceRequest"];
    response: Schemas["Nothing"];
  };
  cancelExperiment: {
    path: { experiment_id: number; };
    query: never;
    body: never;
    response: Schemas["Nothing"];
  };
  cancelExperiments: {
    path: { project_id: number; };
    query: never;
    body: Schemas["CancelExperimentsRequest"];
    response: Schemas["CancelExperimentsResponse"];
  };
  checkTemplate: {
    path: never;
    query: never;
    body: Schemas["CheckTemplateRequest"];
    response: Schemas["CheckTemplateResponse"];
  };
  claimRunner: {
    path: never;
    query: never;
    body: Schemas["ClaimRequest"];
    response: Schemas["Claimed"];
  };
  cleanupLogs: {
    path: never;
    query: never;
    body: never;
    response: Schemas["CleanupLogsResponse"];
  };
  compareTrials: {
    path: never;
    query: { trialIds: number[]; metricIds?: string[] | null | undefined; metricNames?: string[] | null | undefined; group?: string | null | undefined; metricType?: Schemas["MetricType"] | null | undefined; startBatches?: number | null | undefined; endBatches?: number | null | undefined; maxDatapoints?: number | null | undefined; sampling?: "bucket" | null | undefined; xAxis?: Schemas["SeriesAxis"] | undefined; start?: number | null | undefined; end?: number | null | undefined; since?: string[] | null | undefined; };
    body: never;
    response: Schemas["CompareTrialsResponse"] | Schemas["BucketedTrialsResponse"];
  };
  completeSearcherOperation: {
    path: { trial_id: number; };
    query: never;
    body: Schemas["CompleteTrialSearcherOperationRequest"];
    response: Schemas["Nothing"];
  };
  continueExperiment: {
    path: never;
    query: never;
    body: Schemas["ContinueExperimentRequest"];
    response: Schemas["ContinueExperimentResponse"];
  };
  countFilter: {
    path: { project_id: number; };
    query: never;
    body: Schemas["FilterCountsRequest"];
    response: Schemas["FilterCountsResponse"];
  };
  countTasks: {
    path: never;
    query: never;
    body: never;
    response: Schemas["GetActiveTasksCountResponse"];
  };
  createExperiment: {
    path: never;
    query: never;
    body: Schemas["CreateExperimentRequest"];
    response: Schemas["CreateExperimentResponse"];
  };
  createGenericTask: {
    path: never;
    query: never;
    body: Schemas["CreateGenericTaskRequest"];
    response: Schemas["CreateGenericTaskResponse"];
  };
  createModel: {
    path: never;
    query: never;
    body: Schemas["PostModelRequest"];
    response: Schemas["PostModelResponse"];
  };
  createProject: {
    path: { workspace_id: number; };
    query: never;
    body: Schemas["PostProjectRequest"];
    response: Schemas["PostProjectResponse"];
  };
  createTemplate: {
    path: { template_name: string; };
    query: never;
    body: Schemas["PostTemplateRequest"];
    response: Schemas["TemplateResponse"];
  };
  createToken: {
    path: never;
    query: never;
    body: Schemas["PostAccessTokenRequest"];
    response: Schemas["PostAccessTokenResponse"];
  };
  createTrial: {
    path: never;
    query: never;
    body: Schemas["CreateTrialRequest"];
    response: Schemas["CreateTrialResponse"];
  };
  createUser: {
    path: never;
    query: never;
    body: Schemas["PostUserRequest"];
    response: Schemas["PostUserResponse"];
  };
  createView: {
    path: { project_id: number; };
    query: never;
    body: Schemas["PostSavedViewRequest"];
    response: Schemas["SavedViewResponse"];
  };
  createWebhook: {
    path: never;
    query: never;
    body: Schemas["Webhook"];
    response: Schemas["PostWebhookResponse"];
  };
  createWorkspace: {
    path: never;
    query: never;
    body: Schemas["PostWorkspaceRequest"];
    response: Schemas["PostWorkspaceResponse"];
  };
  deleteCheckpoints: {
    path: never;
    query: never;
    body: Schemas["DeleteCheckpointsRequest"];
    response: Schemas["Nothing"];
  };
  deleteClusterMessage: {
    path: never;
    query: never;
    body: never;
    response: Schemas["Nothing"];
  };
  deleteExperiment: {
    path: { experiment_id: number; };
    query: never;
    body: never;
    response: Schemas["Nothing"];
  };
  deleteExperiments: {
    path: { project_id: number; };
    query: never;
    body: Schemas["DeleteExperimentsRequest"];
    response: Schemas["DeleteExperimentsResponse"];
  };
  deleteModel: {
    path: { model_name: string; };
    query: never;
    body: never;
    response: Schemas["Nothing"];
  };
  deleteModelVersion: {
    path: { model_name: string; version: string; };
    query: never;
    body: never;
    response: Schemas["Nothing"];
  };
  deleteProject: {
    path: { project_id: number; };
    query: never;
    body: never;
    response: Schemas["DeleteProjectResponse"];
  };
  deleteRuns: {
    path: never;
    query: never;
    body: Schemas["DeleteRunsRequest"];
    response: Schemas["DeleteRunsResponse"];
  };
  deleteTemplate: {
    path: { template_name: string; };
    query: never;
    body: never;
    response: Schemas["Nothing"];
  };
  deleteTensorboardFiles: {
    path: { experiment_id: number; };
    query: never;
    body: never;
    response: Schemas["Nothing"];
  };
  deleteView: {
    path: { project_id: number; view_id: number; };
    query: never;
    body: never;
    response: Schemas["Nothing"];
  };
  deleteWebhook: {
    path: { webhook_id: number; };
    query: never;
    body: never;
    response: Schemas["Nothing"];
  };
  deleteWorkspace: {
    path: { workspace_id: number; };
    query: never;
    body: never;
    response: Schemas["DeleteWorkspaceResponse"];
  };
  disableAgent: {
    path: { agent_id: string; };
    query: never;
    body: Schemas["DisableAgentRequest"];
    response: Schemas["DisableAgentResponse"];
  };
  disableSlot: {
    path: { agent_id: string; slot_id: string; };
    query: never;
    body: Schemas["DisableSlotRequest"];
    response: Schemas["DisableSlotResponse"];
  };
  downloadAggregatedUse: {
    path: never;
    query: { startDate?: string | null | undefined; endDate?: string | null | undefined; period?: Schemas["ResourceAllocationAggregationPeriod"] | undefined; };
    body: never;
    response: string;
  };
  downloadAllocationUse: {
    path: never;
    query: { timestampAfter?: string | null | undefined; timestampBefore?: string | null | undefined; };
    body: never;
    response: string;
  };
  downloadCheckpoint: {
    path: { checkpoint_uuid: string; };
    query: never;
    body: never;
    response: unknown;
  };
  downloadMetrics: {
    path: never;
    query: { trialIds: number[]; metricIds: string[]; };
    body: never;
    response: unknown;
  };
  downloadModelVersion: {
    path: { model_name: string; version: string; };
    query: never;
    body: never;
    response: unknown;
  };
  downloadModelVersionFile: {
    path: { model_name: string; version: string; file_path: string; };
    query: never;
    body: never;
    response: unknown;
  };
  downloadRawUse: {
    path: never;
    query: { timestampAfter?: string | null | undefined; timestampBefore?: string | null | undefined; };
    body: never;
    response: string;
  };
  dryRunExperiment: {
    path: never;
    query: never;
    body: Schemas["DryRunRequest"];
    response: Schemas["DryRunResponse"];
  };
  dryRunTask: {
    path: never;
    query: never;
    body: Schemas["DryRunTaskRequest"];
    response: Schemas["DryRunTaskResponse"];
  };
  enableAgent: {
    path: { agent_id: string; };
    query: never;
    body: never;
    response: Schemas["EnableAgentResponse"];
  };
  enableSlot: {
    path: { agent_id: string; slot_id: string; };
    query: never;
    body: never;
    response: Schemas["EnableSlotResponse"];
  };
  enrolBridge: {
    path: { engine: string; };
    query: never;
    body: Schemas["EnrolRequest"];
    response: Schemas["Enrolment"];
  };
  exchangeWithBridge: {
    path: { engine: string; };
    query: never;
    body: Schemas["Sealed"];
    response: Schemas["Sealed"];
  };
  extendExperiment: {
    path: { experiment_id: number; };
    query: never;
    body: Schemas["ExtendExperimentRequest"];
    response: Schemas["ExtendExperimentResponse"];
  };
  getAgent: {
    path: { agent_id: string; };
    query: never;
    body: never;
    response: Schemas["GetAgentResponse"];
  };
  getAggregatedUse: {
    path: never;
    query: { startDate?: string | null | undefined; endDate?: string | null | undefined; period?: Schemas["ResourceAllocationAggregationPeriod"] | undefined; };
    body: never;
    response: Schemas["ResourceAllocationAggregatedResponse"];
  };
  getAllocation: {
    path: { allocation_id: string; };
    query: never;
    body: never;
    response: Schemas["GetAllocationResponse"];
  };
  getBestSearcherMetric: {
    path: { experiment_id: number; };
    query: never;
    body: never;
    response: Schemas["GetBestSearcherValidationMetricResponse"];
  };
  getCheckpoint: {
    path: { checkpoint_uuid: string; };
    query: never;
    body: never;
    response: Schemas["GetCheckpointResponse"];
  };
  getCheckpointMetrics: {
    path: { checkpoint_uuid: string; };
    query: { trialSourceInfoType?: Schemas["TrialSourceInfoType"] | null | undefined; metricGroup?: string | null | undefined; };
    body: never;
    response: Schemas["GetTrialMetricsByCheckpointResponse"];
  };
  getClusterMessage: {
    path: never;
    query: never;
    body: never;
    response: Schemas["GetClusterMessageResponse"];
  };
  getCommand: {
    path: { task_id: string; };
    query: never;
    body: never;
    response: Schemas["GetCommandResponse"];
  };
  getContextDirectory: {
    path: { task_id: string; };
    query: never;
    body: never;
    response: Schemas["GetTaskContextDirectoryResponse"];
  };
  getCurrentUser: {
    path: never;
    query: never;
    body: never;
    response: Schemas["CurrentUserResponse"];
  };
  getExperiment: {
    path: { experiment_id: number; };
    query: never;
    body: never;
    response: Schemas["GetExperimentResponse"];
  };
  getGenericTaskConfig: {
    path: { task_id: string; };
    query: never;
    body: never;
    response: Schemas["GetGenericTaskConfigResponse"];
  };
  getHealth: {
    path: never;
    query: never;
    body: never;
    response: Record<string, unknown>;
  };
  getHpImportance: {
    path: { experiment_id: number; };
    query: { metric?: string | null | undefined; smallerIsBetter?: boolean | null | undefined; };
    body: never;
    response: Schemas["GetHpImportanceResponse"];
  };
  getInfo: {
    path: never;
    query: { challenge?: string | null | undefined; allocation?: string | null | undefined; };
    body: never;
    response: Record<string, unknown>;
  };
  getJobQueueStats: {
    path: never;
    query: { resourcePools?: string[] | null | undefined; };
    body: never;
    response: Schemas["GetJobQueueStatsResponse"];
  };
  getMaster: {
    path: never;
    query: never;
    body: never;
    response: Schemas["GetMasterResponse"];
  };
  getMasterConfig: {
    path: never;
    query: never;
    body: never;
    response: Schemas["GetMasterConfigResponse"];
  };
  getMe: {
    path: never;
    query: never;
    body: never;
    response: Schemas["GetMeResponse"];
  };
  getMetricSeries: {
    path: { trial_id: number; };
    query: { name: string; group?: string | undefined; from?: number | null | undefined; to?: number | null | undefined; points?: number | undefined; };
    body: never;
    response: Schemas["MetricSeriesResponse"];
  };
  getModel: {
    path: { model_name: string; };
    query: never;
    body: never;
    response: Schemas["GetModelResponse"];
  };
  getModelDefinition: {
    path: { experiment_id: number; };
    query: never;
    body: never;
    response: Schemas["GetModelDefResponse"];
  };
  getModelDefinitionFile: {
    path: { experiment_id: number; };
    query: never;
    body: Schemas["GetModelDefFileRequest"];
    response: Schemas["GetModelDefFileResponse"];
  };
  getModelDefinitionTree: {
    path: { experiment_id: number; };
    query: never;
    body: never;
    response: Schemas["GetModelDefTreeResponse"];
  };
  getModelVersion: {
    path: { model_name: string; version: string; };
    query: never;
    body: never;
    response: Schemas["GetModelVersionResponse"];
  };
  getModelVersionMetrics: {
    path: { model_name: string; version: string; };
    query: { trialSourceInfoType?: Schemas["TrialSourceInfoType"] | null | undefined; metricGroup?: string | null | undefined; };
    body: never;
    response: Schemas["GetTrialMetricsByModelVersionResponse"];
  };
  getNotebook: {
    path: { task_id: string; };
    query: never;
    body: never;
    response: Schemas["GetNotebookResponse"];
  };
  getParetoFront: {
    path: { experiment_id: number; };
    query: { metrics?: string[] | null | undefined; smallerIsBetter?: string[] | null | undefined; };
    body: never;
    response: Schemas["GetParetoFrontResponse"];
  };
  getPreemptionSignal: {
    path: { allocation_id: string; };
    query: { timeoutSeconds?: number | null | undefined; };
    body: never;
    response: Schemas["AllocationPreemptionSignalResponse"];
  };
  getProject: {
    path: { project_id: number; };
    query: never;
    body: never;
    response: Schemas["GetProjectResponse"];
  };
  getProjectByKey: {
    path: { key: string; };
    query: never;
    body: never;
    response: Schemas["GetProjectByKeyResponse"];
  };
  getRawUse: {
    path: never;
    query: { timestampAfter?: string | null | undefined; timestampBefore?: string | null | undefined; };
    body: never;
    response: Schemas["ResourceAllocationRawResponse"];
  };
  getRemainingLogDays: {
    path: { trial_id: number; };
    query: never;
    body: never;
    response: Schemas["GetTrialRemainingLogRetentionDaysResponse"];
  };
  getRendezvous: {
    path: { allocation_id: string; resource_id: string; };
    query: never;
    body: never;
    response: Schemas["AllocationRendezvousInfoResponse"];
  };
  getRunMetadata: {
    path: { run_id: number; };
    query: never;
    body: never;
    response: Schemas["GetRunMetadataResponse"];
  };
  getRunnerSignals: {
    path: { allocation_id: string; resource_id: string; };
    query: { preempt?: boolean | undefined; kill?: boolean | undefined; stacks?: number | undefined; shell?: boolean | undefined; timeoutSeconds?: number | null | undefined; };
    body: never;
    response: Schemas["RunnerSignals"];
  };
  getSearcherEvents: {
    path: { experiment_id: number; };
    query: { timeoutSeconds?: number | null | undefined; };
    body: never;
    response: Schemas["GetSearcherEventsResponse"];
  };
  getSearcherOperation: {
    path: { trial_id: number; };
    query: never;
    body: never;
    response: Schemas["GetCurrentTrialSearcherOperationResponse"];
  };
  getShell: {
    path: { task_id: string; };
    query: never;
    body: never;
    response: Schemas["GetShellResponse"];
  };
  getSlot: {
    path: { agent_id: string; slot_id: string; };
    query: never;
    body: never;
    response: Schemas["GetSlotResponse"];
  };
  getTask: {
    path: { task_id: string; };
    query: never;
    body: never;
    response: Schemas["GetTaskResponse"];
  };
  getTaskAccelerators: {
    path: { task_id: string; };
    query: never;
    body: never;
    response: Schemas["GetTaskAcceleratorDataResponse"];
  };
  getTaskSpec: {
    path: { allocation_id: string; resource_id: string; };
    query: never;
    body: never;
    response: Schemas["TaskSpec"];
  };
  getTelemetry: {
    path: never;
    query: never;
    body: never;
    response: Schemas["GetTelemetryResponse"];
  };
  getTemplate: {
    path: { template_name: string; };
    query: never;
    body: never;
    response: Schemas["TemplateResponse"];
  };
  getTensorboard: {
    path: { task_id: string; };
    query: never;
    body: never;
    response: Schemas["GetTensorboardResponse"];
  };
  getTrial: {
    path: { trial_id: number; };
    query: never;
    body: never;
    response: Schemas["GetTrialResponse"];
  };
  getTrialByExternalId: {
    path: { external_experiment_id: string; external_trial_id: string; };
    query: never;
    body: never;
    response: Schemas["GetTrialByExternalIDResponse"];
  };
  getTrialShellSettings: {
    path: { allocation_id: string; };
    query: never;
    body: never;
    response: Schemas["ShellSettings"];
  };
  getUser: {
    path: { user_id: number; };
    query: never;
    body: never;
    response: Schemas["GetUserResponse"];
  };
  getUserByName: {
    path: { username: string; };
    query: never;
    body: never;
    response: Schemas["GetUserByUsernameResponse"];
  };
  getUserSettings: {
    path: never;
    query: never;
    body: never;
    response: Schemas["GetUserSettingResponse"];
  };
  getValidationHistory: {
    path: { experiment_id: number; };
    query: never;
    body: never;
    response: Schemas["GetExperimentValidationHistoryResponse"];
  };
  getWebhookSigningKey: {
    path: never;
    query: never;
    body: never;
    response: Schemas["GetWebhookSigningKeyResponse"];
  };
  getWorkspace: {
    path: { workspace_id: number; };
    query: never;
    body: never;
    response: Schemas["GetWorkspaceResponse"];
  };
  issueLoginLink: {
    path: never;
    query: never;
    body: never;
    response: Schemas["LoginLinkResponse"];
  };
  killCommand: {
    path: { task_id: string; };
    query: never;
    body: never;
    response: Schemas["KillCommandResponse"];
  };
  killExperiment: {
    path: { experiment_id: number; };
    query: never;
    body: never;
    response: Schemas["Nothing"];
  };
  killExperiments: {
    path: { project_id: number; };
    query: never;
    body: Schemas["KillExperimentsRequest"];
    response: Schemas["KillExperimentsResponse"];
  };
  killGenericTask: {
    path: { task_id: string; };
    query: never;
    body: Schemas["KillGenericTaskRequest"];
    response: Schemas["Nothing"];
  };
  killNotebook: {
    path: { task_id: string; };
    query: never;
    body: never;
    response: Schemas["KillNotebookResponse"];
  };
  killRuns: {
    path: never;
    query: never;
    body: Schemas["KillRunsRequest"];
    response: Schemas["KillRunsResponse"];
  };
  killShell: {
    path: { task_id: string; };
    query: never;
    body: never;
    response: Schemas["KillShellResponse"];
  };
  killTensorboard: {
    path: { task_id: string; };
    query: never;
    body: never;
    response: Schemas["KillTensorboardResponse"];
  };
  killTrial: {
    path: { trial_id: number; };
    query: never;
    body: never;
    response: Schemas["Nothing"];
  };
  launchCommand: {
    path: never;
    query: never;
    body: Schemas["LaunchCommandRequest"];
    response: Schemas["LaunchCommandResponse"];
  };
  launchNotebook: {
    path: never;
    query: never;
    body: Schemas["LaunchNotebookRequest"];
    response: Schemas["LaunchNotebookResponse"];
  };
  launchShell: {
    path: never;
    query: never;
    body: Schemas["LaunchShellRequest"];
    response: Schemas["LaunchShellResponse"];
  };
  launchTensorboard: {
    path: never;
    query: never;
    body: Schemas["LaunchTensorboardRequest"];
    response: Schemas["LaunchTensorboardResponse"];
  };
  listAgents: {
    path: never;
    query: { limit?: number | null | undefined; offset?: number | null | undefined; orderBy?: Schemas["OrderBy"] | null | undefined; sortBy?: Schemas["GetAgentsRequestSortBy"] | null | undefined; excludeSlots?: boolean | undefined; excludeContainers?: boolean | undefined; };
    body: never;
    response: Schemas["GetAgentsResponse"];
  };
  listCheckpointVersions: {
    path: { checkpoint_uuid: string; };
    query: never;
    body: never;
    response: Schemas["CheckpointVersionsResponse"];
  };
  listCommands: {
    path: never;
    query: { limit?: number | null | undefined; offset?: number | null | undefined; orderBy?: Schemas["OrderBy"] | null | undefined; sortBy?: Schemas["SortTasksBy"] | null | undefined; users?: string[] | null | undefined; userIds?: number[] | null | undefined; workspaceId?: number | null | undefined; };
    body: never;
    response: Schemas["GetCommandsResponse"];
  };
  listEnvironmentLocks: {
    path: { experiment_id: number; };
    query: never;
    body: never;
    response: Schemas["GetEnvironmentLocksResponse"];
  };
  listExperimentCheckpoints: {
    path: { experiment_id: number; };
    query: { limit?: number | null | undefined; offset?: number | null | undefined; orderBy?: Schemas["OrderBy"] | null | undefined; states?: Schemas["CheckpointState"][] | null | undefined; sortByAttr?: Schemas["SortBy"] | null | undefined; sortByMetric?: string | null | undefined; };
    body: never;
    response: Schemas["GetExperimentCheckpointsResponse"];
  };
  listExperimentLabels: {
    path: never;
    query: { projectId?: number | null | undefined; };
    body: never;
    response: Schemas["GetExperimentLabelsResponse"];
  };
  listExperiments: {
    path: never;
    query: { limit?: number | null | undefined; offset?: number | null | undefined; orderBy?: Schemas["OrderBy"] | null | undefined; archived?: boolean | null | undefined; description?: string | null | undefined; name?: string | null | undefined; labels?: string[] | null | undefined; projectId?: number | null | undefined; states?: Schemas["ExperimentState"][] | null | undefined; users?: string[] | null | undefined; userIds?: number[] | null | undefined; "experimentIdFilter.incl"?: number[] | null | undefined; "experimentIdFilter.notIn"?: number[] | null | undefined; "experimentIdFilter.gt"?: number | null | undefined; "experimentIdFilter.gte"?: number | null | undefined; "experimentIdFilter.lt"?: number | null | undefined; "experimentIdFilter.lte"?: number | null | undefined; sortBy?: Schemas["GetExperimentsRequestSortBy"] | null | undefined; showTrialData?: boolean | undefined; };
    body: never;
    response: Schemas["GetExperimentsResponse"];
  };
  listJobs: {
    path: never;
    query: { limit?: number | null | undefined; offset?: number | null | undefined; orderBy?: Schemas["OrderBy"] | null | undefined; resourcePool?: string | null | undefined; states?: Schemas["JobState"][] | null | undefined; };
    body: never;
    response: Schemas["GetJobsResponse"];
  };
  listJobsV2: {
    path: never;
    query: { limit?: number | null | undefined; offset?: number | null | undefined; orderBy?: Schemas["OrderBy"] | null | undefined; resourcePool?: string | null | undefined; states?: Schemas["JobState"][] | null | undefined; };
    body: never;
    response: Schemas["GetJobsV2Response"];
  };
  listMetadataValues: {
    path: { project_id: number; key: string; };
    query: never;
    body: never;
    response: Schemas["GetMetadataValuesResponse"];
  };
  listMetricRanges: {
    path: { project_id: number; };
    query: never;
    body: never;
    response: Schemas["GetProjectNumericMetricsRangeResponse"];
  };
  listModelAliasHistory: {
    path: { model_name: string; };
    query: { limit?: number | null | undefined; offset?: number | null | undefined; orderBy?: Schemas["OrderBy"] | null | undefined; alias?: string | null | undefined; };
    body: never;
    response: Schemas["ModelAliasHistoryResponse"];
  };
  listModelAliases: {
    path: { model_name: string; };
    query: never;
    body: never;
    response: Schemas["ListModelAliasesResponse"];
  };
  listModelLabels: {
    path: never;
    query: { workspaceId?: number | null | undefined; };
    body: never;
    response: Schemas["GetModelLabelsResponse"];
  };
  listModelVersionFiles: {
    path: { model_name: string; version: string; };
    query: never;
    body: never;
    response: Schemas["ModelFilesResponse"];
  };
  listModelVersions: {
    path: { model_name: string; };
    query: { limit?: number | null | undefined; offset?: number | null | undefined; orderBy?: Schemas["OrderBy"] | null | undefined; sortBy?: Schemas["GetModelVersionsRequestSortBy"] | null | undefined; };
    body: never;
    response: Schemas["GetModelVersionsResponse"];
  };
  listModels: {
    path: never;
    query: { limit?: number | null | undefined; offset?: number | null | undefined; orderBy?: Schemas["OrderBy"] | null | undefined; id?: number | null | undefined; name?: string | null | undefined; description?: string | null | undefined; archived?: boolean | null | undefined; labels?: string[] | null | undefined; users?: string[] | null | undefined; userIds?: number[] | null | undefined; workspaceIds?: number[] | null | undefined; workspaceNames?: string[] | null | undefined; sortBy?: Schemas["GetModelsRequestSortBy"] | null | undefined; };
    body: never;
    response: Schemas["GetModelsResponse"];
  };
  listNamespaceBindings: {
    path: { workspace_id: number; };
    query: never;
    body: never;
    response: Record<string, unknown>;
  };
  listNotebooks: {
    path: never;
    query: { limit?: number | null | undefined; offset?: number | null | undefined; orderBy?: Schemas["OrderBy"] | null | undefined; sortBy?: Schemas["SortTasksBy"] | null | undefined; users?: string[] | null | undefined; userIds?: number[] | null | undefined; workspaceId?: number | null | undefined; };
    body: never;
    response: Schemas["GetNotebooksResponse"];
  };
  listPoolBindings: {
    path: { pool: string; };
    query: { limit?: number | null | undefined; offset?: number | null | undefined; };
    body: never;
    response: Schemas["ListWorkspacesBoundToRPResponse"];
  };
  listPools: {
    path: never;
    query: { limit?: number | null | undefined; offset?: number | null | undefined; unbound?: boolean | undefined; };
    body: never;
    response: Schemas["GetResourcePoolsResponse"];
  };
  listProjectColumns: {
    path: { project_id: number; };
    query: { tableType?: Schemas["TableType"] | null | undefined; search?: string | undefined; limit?: number | null | undefined; values?: boolean | undefined; };
    body: never;
    response: Schemas["GetProjectColumnsResponse"];
  };
  listProjects: {
    path: { workspace_id: number; };
    query: { limit?: number | null | undefined; offset?: number | null | undefined; orderBy?: Schemas["OrderBy"] | null | undefined; name?: string | null | undefined; archived?: boolean | null | undefined; users?: string[] | null | undefined; userIds?: number[] | null | undefined; sortBy?: Schemas["GetWorkspaceProjectsRequestSortBy"] | null | undefined; };
    body: never;
    response: Schemas["GetWorkspaceProjectsResponse"];
  };
  listRecentProjects: {
    path: never;
    query: { limit?: number | null | undefined; };
    body: never;
    response: Schemas["GetProjectsByUserActivityResponse"];
  };
  listResourceQuotas: {
    path: { workspace_id: number; };
    query: never;
    body: never;
    response: Record<string, unknown>;
  };
  listShells: {
    path: never;
    query: { limit?: number | null | undefined; offset?: number | null | undefined; orderBy?: Schemas["OrderBy"] | null | undefined; sortBy?: Schemas["SortTasksBy"] | null | undefined; users?: string[] | null | undefined; userIds?: number[] | null | undefined; workspaceId?: number | null | undefined; };
    body: never;
    response: Schemas["GetShellsResponse"];
  };
  listSlots: {
    path: { agent_id: string; };
    query: never;
    body: never;
    response: Schemas["GetSlotsResponse"];
  };
  listTasks: {
    path: never;
    query: never;
    body: never;
    response: Schemas["GetTasksResponse"];
  };
  listTasksRaw: {
    path: never;
    query: never;
    body: never;
    response: Record<string, unknown>;
  };
  listTemplates: {
    path: never;
    query: { limit?: number | null | undefined; offset?: number | null | undefined; orderBy?: Schemas["OrderBy"] | null | undefined; name?: string | null | undefined; workspaceIds?: number[] | null | undefined; sortBy?: Schemas["SortTemplatesBy"] | null | undefined; };
    body: never;
    response: Schemas["GetTemplatesResponse"];
  };
  listTensorboards: {
    path: never;
    query: { limit?: number | null | undefined; offset?: number | null | undefined; orderBy?: Schemas["OrderBy"] | null | undefined; sortBy?: Schemas["SortTasksBy"] | null | undefined; users?: string[] | null | undefined; userIds?: number[] | null | undefined; workspaceId?: number | null | undefined; };
    body: never;
    response: Schemas["GetTensorboardsResponse"];
  };
  listTokens: {
    path: never;
    query: { limit?: number | null | undefined; offset?: number | null | undefined; orderBy?: Schemas["OrderBy"] | null | undefined; username?: string | null | undefined; tokenIds?: number[] | null | undefined; showInactive?: boolean | null | undefined; sortBy?: Schemas["GetAccessTokensRequestSortBy"] | null | undefined; };
    body: never;
    response: Schemas["GetAccessTokensResponse"];
  };
  listTrialCheckpoints: {
    path: { trial_id: number; };
    query: { limit?: number | null | undefined; offset?: number | null | undefined; orderBy?: Schemas["OrderBy"] | null | undefined; states?: Schemas["CheckpointState"][] | null | undefined; sortByAttr?: Schemas["SortBy"] | null | undefined; sortByMetric?: string | null | undefined; };
    body: never;
    response: Schemas["GetTrialCheckpointsResponse"];
  };
  listTrialRecords: {
    path: { experiment_id: number; };
    query: { limit?: number | null | undefined; offset?: number | null | undefined; hashes?: boolean | null | undefined; };
    body: never;
    response: Schemas["ListTrialRecordsResponse"];
  };
  listTrialWorkloads: {
    path: { trial_id: number; };
    query: { limit?: number | null | undefined; offset?: number | null | undefined; orderBy?: Schemas["OrderBy"] | null | undefined; sortKey?: string | null | undefined; filter?: Schemas["GetTrialWorkloadsRequestFilterOption"] | null | undefined; metricType?: Schemas["MetricType"] | null | undefined; group?: string | null | undefined; removeDeletedCheckpoints?: boolean | undefined; };
    body: never;
    response: Schemas["GetTrialWorkloadsResponse"];
  };
  listTrials: {
    path: { experiment_id: number; };
    query: { limit?: number | null | undefined; offset?: number | null | undefined; orderBy?: Schemas["OrderBy"] | null | undefined; states?: Schemas["TrialState"][] | null | undefined; sortBy?: Schemas["GetExperimentTrialsRequestSortBy"] | null | undefined; };
    body: never;
    response: Schemas["GetExperimentTrialsResponse"];
  };
  listTrialsUsingCheckpoint: {
    path: { checkpoint_uuid: string; };
    query: { trialSourceInfoType?: Schemas["TrialSourceInfoType"] | null | undefined; };
    body: never;
    response: Schemas["TrialsUsingResponse"];
  };
  listTrialsUsingVersion: {
    path: { model_name: string; version: string; };
    query: { trialSourceInfoType?: Schemas["TrialSourceInfoType"] | null | undefined; };
    body: never;
    response: Schemas["TrialsUsingResponse"];
  };
  listUsers: {
    path: never;
    query: { limit?: number | null | undefined; offset?: number | null | undefined; orderBy?: Schemas["OrderBy"] | null | undefined; name?: string | null | undefined; active?: boolean | null | undefined; admin?: boolean | null | undefined; sortBy?: Schemas["GetUsersRequestSortBy"] | null | undefined; };
    body: never;
    response: Schemas["GetUsersResponse"];
  };
  listViews: {
    path: { project_id: number; };
    query: never;
    body: never;
    response: Schemas["GetSavedViewsResponse"];
  };
  listWebhookDeliveries: {
    path: { webhook_id: number; };
    query: { limit?: number | null | undefined; offset?: number | null | undefined; states?: Schemas["DeliveryState"][] | null | undefined; };
    body: never;
    response: Schemas["GetWebhookDeliveriesResponse"];
  };
  listWebhooks: {
    path: never;
    query: never;
    body: never;
    response: Schemas["GetWebhooksResponse"];
  };
  listWorkspacePools: {
    path: { workspace_id: number; };
    query: { limit?: number | null | undefined; offset?: number | null | undefined; };
    body: never;
    response: Schemas["ListRPsBoundToWorkspaceResponse"];
  };
  listWorkspaces: {
    path: never;
    query: { limit?: number | null | undefined; offset?: number | null | undefined; orderBy?: Schemas["OrderBy"] | null | undefined; name?: string | null | undefined; archived?: boolean | null | undefined; users?: string[] | null | undefined; userIds?: number[] | null | undefined; nameCaseSensitive?: string | null | undefined; pinned?: boolean | null | undefined; sortBy?: Schemas["GetWorkspacesRequestSortBy"] | null | undefined; };
    body: never;
    response: Schemas["GetWorkspacesResponse"];
  };
  login: {
    path: never;
    query: never;
    body: Schemas["LoginRequest"];
    response: Schemas["LoginResponse"];
  };
  logout: {
    path: never;
    query: never;
    body: never;
    response: Record<string, unknown>;
  };
  lookUp: {
    path: never;
    query: { q?: string | undefined; limit?: number | null | undefined; };
    body: never;
    response: Schemas["LookupResponse"];
  };
  markDaemon: {
    path: { allocation_id: string; resource_id: string; };
    query: never;
    body: never;
    response: Schemas["Nothing"];
  };
  markReady: {
    path: { allocation_id: string; };
    query: never;
    body: never;
    response: Schemas["Nothing"];
  };
  markWaiting: {
    path: { allocation_id: string; };
    query: never;
    body: never;
    response: Schemas["Nothing"];
  };
  moveExperiment: {
    path: { experiment_id: number; };
    query: never;
    body: Schemas["MoveExperimentRequest"];
    response: Schemas["Nothing"];
  };
  moveExperiments: {
    path: { project_id: number; };
    query: never;
    body: Schemas["MoveExperimentsRequest"];
    response: Schemas["MoveExperimentsResponse"];
  };
  moveModel: {
    path: { model_name: string; };
    query: never;
    body: Schemas["MoveModelRequest"];
    response: Schemas["Nothing"];
  };
  moveProject: {
    path: { project_id: number; };
    query: never;
    body: Schemas["MoveProjectRequest"];
    response: Schemas["Nothing"];
  };
  moveRuns: {
    path: never;
    query: never;
    body: Schemas["MoveRunsRequest"];
    response: Schemas["MoveRunsResponse"];
  };
  notifyContainerRunning: {
    path: { allocation_id: string; };
    query: never;
    body: Schemas["NotifyContainerRunningRequest"];
    response: Schemas["NotifyContainerRunningResponse"];
  };
  openTrialShell: {
    path: { trial_id: number; };
    query: never;
    body: never;
    response: Schemas["OpenTrialShellResponse"];
  };
  openTunnel: {
    path: { allocation_id: string; };
    query: never;
    body: never;
    response: unknown;
  };
  overwritePoolBindings: {
    path: { pool: string; };
    query: never;
    body: Schemas["OverwriteRPWorkspaceBindingsRequest"];
    response: Schemas["Nothing"];
  };
  patchCheckpoints: {
    path: never;
    query: never;
    body: Schemas["PatchCheckpointsRequest"];
    response: Schemas["Nothing"];
  };
  patchExperiment: {
    path: { experiment_id: number; };
    query: never;
    body: Schemas["PatchExperiment"];
    response: Schemas["PatchExperimentResponse"];
  };
  patchMasterConfig: {
    path: never;
    query: never;
    body: Schemas["PatchMasterConfigRequest"];
    response: Schemas["Nothing"];
  };
  patchModel: {
    path: { model_name: string; };
    query: never;
    body: Schemas["PatchModel"];
    response: Schemas["PatchModelResponse"];
  };
  patchModelVersion: {
    path: { model_name: string; version: string; };
    query: never;
    body: Schemas["PatchModelVersion"];
    response: Schemas["PatchModelVersionResponse"];
  };
  patchProject: {
    path: { project_id: number; };
    query: never;
    body: Schemas["PatchProject"];
    response: Schemas["PatchProjectResponse"];
  };
  patchTemplateConfig: {
    path: { template_name: string; };
    query: never;
    body: Record<string, unknown>;
    response: Schemas["TemplateResponse"];
  };
  patchToken: {
    path: { token_id: number; };
    query: never;
    body: Schemas["PatchAccessTokenRequest"];
    response: Schemas["PatchAccessTokenResponse"];
  };
  patchTrial: {
    path: { trial_id: number; };
    query: never;
    body: Schemas["PatchTrialRequest"];
    response: Schemas["PatchTrialResponse"];
  };
  patchUser: {
    path: { user_id: number; };
    query: never;
    body: Schemas["PatchUser"];
    response: Schemas["PatchUserResponse"];
  };
  patchView: {
    path: { project_id: number; view_id: number; };
    query: never;
    body: Schemas["PatchSavedViewRequest"];
    response: Schemas["SavedViewResponse"];
  };
  patchWebhook: {
    path: { webhook_id: number; };
    query: never;
    body: Schemas["PatchWebhook"];
    response: Schemas["Nothing"];
  };
  patchWorkspace: {
    path: { workspace_id: number; };
    query: never;
    body: Schemas["PatchWorkspace"];
    response: Schemas["PatchWorkspaceResponse"];
  };
  pauseExperiment: {
    path: { experiment_id: number; };
    query: never;
    body: never;
    response: Schemas["Nothing"];
  };
  pauseExperiments: {
    path: { project_id: number; };
    query: never;
    body: Schemas["PauseExperimentsRequest"];
    response: Schemas["PauseExperimentsResponse"];
  };
  pauseGenericTask: {
    path: { task_id: string; };
    query: never;
    body: never;
    response: Schemas["Nothing"];
  };
  pauseRuns: {
    path: never;
    query: never;
    body: Schemas["PauseRunsRequest"];
    response: Schemas["PauseRunsResponse"];
  };
  pinWorkspace: {
    path: { workspace_id: number; };
    query: never;
    body: never;
    response: Schemas["Nothing"];
  };
  postAcceleratorData: {
    path: { allocation_id: string; };
    query: never;
    body: Schemas["PostAllocationAcceleratorDataRequest"];
    response: Schemas["Nothing"];
  };
  postCheckpointMetadata: {
    path: { checkpoint_uuid: string; };
    query: never;
    body: Schemas["PostCheckpointMetadataRequest"];
    response: Schemas["PostCheckpointMetadataResponse"];
  };
  postPendingPreemption: {
    path: { allocation_id: string; };
    query: never;
    body: never;
    response: Schemas["Nothing"];
  };
  postProxyAddress: {
    path: { allocation_id: string; };
    query: never;
    body: Schemas["PostAllocationProxyAddressRequest"];
    response: Schemas["Nothing"];
  };
  postReports: {
    path: { allocation_id: string; resource_id: string; };
    query: never;
    body: Schemas["ReportBatch"];
    response: Schemas["ReportAnswer"];
  };
  postRunMetadata: {
    path: { run_id: number; };
    query: never;
    body: Schemas["PostRunMetadataRequest"];
    response: Schemas["PostRunMetadataResponse"];
  };
  postRunnerMetadata: {
    path: { trial_id: number; };
    query: never;
    body: Schemas["TrialRunnerMetadata"];
    response: Schemas["Nothing"];
  };
  postSearcherOperations: {
    path: { experiment_id: number; };
    query: never;
    body: Schemas["PostSearcherOperationsRequest"];
    response: Schemas["PostSearcherOperationsResponse"];
  };
  postTaskLogs: {
    path: never;
    query: never;
    body: Schemas["PostTaskLogsRequest"];
    response: Schemas["Nothing"];
  };
  postTaskLogsOlder: {
    path: never;
    query: never;
    body: unknown;
    response: Schemas["Nothing"];
  };
  postUnmanagedReports: {
    path: { trial_id: number; run_id: number; };
    query: never;
    body: Schemas["ReportBatch"];
    response: Schemas["ReportAnswer"];
  };
  postWebhookEventData: {
    path: never;
    query: never;
    body: Schemas["PostWebhookEventDataRequest"];
    response: Schemas["Nothing"];
  };
  prepareForReporting: {
    path: never;
    query: never;
    body: Schemas["RunPrepareForReportingRequest"];
    response: Schemas["RunPrepareForReportingResponse"];
  };
  previewCheckpointGc: {
    path: { experiment_id: number; };
    query: { save_experiment_best?: number | null | undefined; save_trial_best?: number | null | undefined; save_trial_latest?: number | null | undefined; };
    body: never;
    response: Record<string, unknown>;
  };
  previewHpSearch: {
    path: never;
    query: never;
    body: Schemas["PreviewHPSearchRequest"];
    response: Schemas["PreviewHPSearchResponse"];
  };
  putExperiment: {
    path: { external_id: string; };
    query: never;
    body: Schemas["CreateExperimentRequest"];
    response: Schemas["PutExperimentResponse"];
  };
  putModelAlias: {
    path: { model_name: string; alias: string; };
    query: never;
    body: Schemas["PutModelAliasRequest"];
    response: Schemas["PutModelAliasResponse"];
  };
  putProjectNotes: {
    path: { project_id: number; };
    query: never;
    body: Schemas["PutProjectNotesRequest"];
    response: Schemas["PutProjectNotesResponse"];
  };
  putTemplate: {
    path: { template_name: string; };
    query: never;
    body: Schemas["PostTemplateRequest"];
    response: Schemas["TemplateResponse"];
  };
  putTrial: {
    path: never;
    query: never;
    body: Schemas["PutTrialRequest"];
    response: Schemas["PutTrialResponse"];
  };
  putUserSettings: {
    path: never;
    query: never;
    body: Schemas["PostUserSettingRequest"];
    response: Schemas["Nothing"];
  };
  recordUserActivity: {
    path: never;
    query: never;
    body: Schemas["PostUserActivityRequest"];
    response: Schemas["Nothing"];
  };
  redeemLoginLink: {
    path: never;
    query: never;
    body: Schemas["RedeemLoginLinkRequest"];
    response: Schemas["LoginResponse"];
  };
  registerModelVersion: {
    path: { model_name: string; };
    query: never;
    body: Schemas["PostModelVersionRequest"];
    response: Schemas["PostModelVersionResponse"];
  };
  removeAgent: {
    path: { agent_id: string; };
    query: never;
    body: never;
    response: Schemas["Nothing"];
  };
  removeCheckpointFiles: {
    path: never;
    query: never;
    body: Schemas["CheckpointsRemoveFilesRequest"];
    response: Schemas["Nothing"];
  };
  removeExperimentLabel: {
    path: { experiment_id: number; label: string; };
    query: never;
    body: never;
    response: Schemas["DeleteExperimentLabelResponse"];
  };
  removeModelAlias: {
    path: { model_name: string; alias: string; };
    query: never;
    body: never;
    response: Schemas["Nothing"];
  };
  renameTemplate: {
    path: never;
    query: never;
    body: Schemas["PatchTemplateNameRequest"];
    response: Schemas["TemplateResponse"];
  };
  reportCheckpoint: {
    path: never;
    query: never;
    body: Schemas["ReportCheckpointRequest"];
    response: Schemas["Nothing"];
  };
  reportEarlyExit: {
    path: { trial_id: number; };
    query: never;
    body: Record<string, unknown>;
    response: Schemas["Nothing"];
  };
  reportMetrics: {
    path: { trial_id: number; };
    query: never;
    body: Record<string, unknown>;
    response: Schemas["Nothing"];
  };
  reportNotebookIdle: {
    path: { task_id: string; };
    query: never;
    body: Schemas["IdleNotebookRequest"];
    response: Schemas["Nothing"];
  };
  reportProfilerMetrics: {
    path: never;
    query: never;
    body: Schemas["PostTrialProfilerMetricsBatchRequest"];
    response: Schemas["Nothing"];
  };
  reportProgress: {
    path: { trial_id: number; };
    query: never;
    body: unknown;
    response: Schemas["Nothing"];
  };
  reportShellIdle: {
    path: { task_id: string; };
    query: never;
    body: Schemas["IdleShellRequest"];
    response: Schemas["Nothing"];
  };
  reportTrainingMetrics: {
    path: { trial_id: number; };
    query: never;
    body: Record<string, unknown>;
    response: Schemas["Nothing"];
  };
  reportTrialSource: {
    path: never;
    query: never;
    body: Schemas["ReportTrialSourceInfoRequest"];
    response: Schemas["ReportTrialSourceInfoResponse"];
  };
  reportValidationMetrics: {
    path: { trial_id: number; };
    query: never;
    body: Record<string, unknown>;
    response: Schemas["Nothing"];
  };
  reproduceExperiment: {
    path: { experiment_id: number; };
    query: never;
    body: Schemas["ReproduceExperimentRequest"];
    response: Schemas["CreateExperimentResponse"];
  };
  requestStacks: {
    path: { trial_id: number; };
    query: never;
    body: never;
    response: Schemas["RequestStacksResponse"];
  };
  resetUserSettings: {
    path: never;
    query: never;
    body: never;
    response: Schemas["Nothing"];
  };
  resumeRuns: {
    path: never;
    query: never;
    body: Schemas["ResumeRunsRequest"];
    response: Schemas["ResumeRunsResponse"];
  };
  retainExperimentLogs: {
    path: { experiment_id: number; };
    query: never;
    body: Schemas["PutExperimentRetainLogsRequest"];
    response: Schemas["Nothing"];
  };
  retainExperimentsLogs: {
    path: { project_id: number; };
    query: never;
    body: Schemas["PutExperimentsRetainLogsRequest"];
    response: Schemas["PutExperimentsRetainLogsResponse"];
  };
  retainTrialLogs: {
    path: { trial_id: number; };
    query: never;
    body: Schemas["PutTrialRetainLogsRequest"];
    response: Schemas["Nothing"];
  };
  searchExperiments: {
    path: never;
    query: never;
    body: Schemas["SearchExperimentsRequest"];
    response: Schemas["SearchExperimentsResponse"];
  };
  searchRuns: {
    path: never;
    query: never;
    body: Schemas["SearchRunsRequest"];
    response: Schemas["SearchRunsResponse"];
  };
  searchTasks: {
    path: never;
    query: { limit?: number | null | undefined; offset?: number | null | undefined; taskTypes?: Schemas["TaskType"][] | null | undefined; taskIds?: string[] | null | undefined; states?: Schemas["AllocationState"][] | null | undefined; userIds?: number[] | null | undefined; workspaceId?: number | null | undefined; text?: string | null | undefined; };
    body: never;
    response: Schemas["SearchTasksResponse"];
  };
  setClusterMessage: {
    path: never;
    query: never;
    body: Schemas["SetClusterMessageRequest"];
    response: Schemas["Nothing"];
  };
  setCommandPriority: {
    path: { task_id: string; };
    query: never;
    body: Schemas["SetPriorityRequest"];
    response: Schemas["SetCommandPriorityResponse"];
  };
  setNotebookPriority: {
    path: { task_id: string; };
    query: never;
    body: Schemas["SetPriorityRequest"];
    response: Schemas["SetNotebookPriorityResponse"];
  };
  setPassword: {
    path: { user_id: number; };
    query: never;
    body: string;
    response: Schemas["SetUserPasswordResponse"];
  };
  setShellPriority: {
    path: { task_id: string; };
    query: never;
    body: Schemas["SetPriorityRequest"];
    response: Schemas["SetShellPriorityResponse"];
  };
  setTensorboardPriority: {
    path: { task_id: string; };
    query: never;
    body: Schemas["SetPriorityRequest"];
    response: Schemas["SetTensorboardPriorityResponse"];
  };
  shareTask: {
    path: { task_id: string; };
    query: never;
    body: never;
    response: Schemas["ShareTaskResponse"];
  };
  startTrial: {
    path: { trial_id: number; };
    query: never;
    body: Schemas["StartTrialRequest"];
    response: Schemas["StartTrialResponse"];
  };
  storeEnvironmentLock: {
    path: { allocation_id: string; resource_id: string; };
    query: never;
    body: Schemas["PostEnvironmentLockRequest"];
    response: Schemas["PostEnvironmentLockResponse"];
  };
  streamMasterLogs: {
    path: never;
    query: { limit?: number | null | undefined; offset?: number | null | undefined; follow?: boolean | undefined; };
    body: never;
    response: {
      result: Schemas["MasterLogsResponse"];
    };
  };
  streamMetricBatches: {
    path: { experiment_id: number; };
    query: { metricName: string; group?: string | null | undefined; metricType?: Schemas["MetricType"] | null | undefined; periodSeconds?: number | undefined; };
    body: never;
    response: {
      result: Schemas["MetricBatchesResponse"];
    };
  };
  streamMetricNames: {
    path: never;
    query: { ids: number[]; periodSeconds?: number | undefined; };
    body: never;
    response: {
      result: Schemas["ExpMetricNamesResponse"];
    };
  };
  streamMetrics: {
    path: never;
    query: { trialIds: number[]; group?: string | null | undefined; };
    body: never;
    response: {
      result: Schemas["GetMetricsResponse"];
    };
  };
  streamProfilerMetrics: {
    path: { trial_id: number; };
    query: { "labels.name": string; "labels.agentId"?: string | null | undefined; "labels.gpuUuid"?: string | null | undefined; "labels.metricType"?: Schemas["TrialProfilerMetricLabelsProfilerMetricType"] | null | undefined; follow?: boolean | undefined; after?: number | null | undefined; };
    body: never;
    response: {
      result: Schemas["GetTrialProfilerMetricsResponse"];
    };
  };
  streamProfilerSeries: {
    path: { trial_id: number; };
    query: { follow?: boolean | undefined; };
    body: never;
    response: {
      result: Schemas["GetTrialProfilerAvailableSeriesResponse"];
    };
  };
  streamTaskLogFields: {
    path: { task_id: string; };
    query: { follow?: boolean | undefined; };
    body: never;
    response: {
      result: Schemas["TaskLogsFieldsResponse"];
    };
  };
  streamTaskLogs: {
    path: { task_id: string; };
    query: { limit?: number | null | undefined; follow?: boolean | undefined; orderBy?: Schemas["OrderBy"] | null | undefined; allocationIds?: string[] | null | undefined; agentIds?: string[] | null | undefined; containerIds?: string[] | null | undefined; rankIds?: number[] | null | undefined; levels?: Schemas["LogLevel"][] | null | undefined; stdtypes?: string[] | null | undefined; sources?: string[] | null | undefined; timestampBefore?: string | null | undefined; timestampAfter?: string | null | undefined; searchText?: string | null | undefined; enableRegex?: boolean | undefined; afterId?: number | null | undefined; beforeId?: number | null | undefined; };
    body: never;
    response: {
      result: Schemas["TaskLogsResponse"];
    };
  };
  streamTrainingMetrics: {
    path: never;
    query: { trialIds: number[]; };
    body: never;
    response: {
      result: Schemas["GetMetricsResponse"];
    };
  };
  streamTrialLogFields: {
    path: { trial_id: number; };
    query: { follow?: boolean | undefined; };
    body: never;
    response: {
      result: Schemas["TrialLogsFieldsResponse"];
    };
  };
  streamTrialLogs: {
    path: { trial_id: number; };
    query: { limit?: number | null | undefined; follow?: boolean | undefined; orderBy?: Schemas["OrderBy"] | null | undefined; allocationIds?: string[] | null | undefined; agentIds?: string[] | null | undefined; containerIds?: string[] | null | undefined; rankIds?: number[] | null | undefined; levels?: Schemas["LogLevel"][] | null | undefined; stdtypes?: string[] | null | undefined; sources?: string[] | null | undefined; timestampBefore?: string | null | undefined; timestampAfter?: string | null | undefined; searchText?: string | null | undefined; enableRegex?: boolean | undefined; afterId?: number | null | undefined; beforeId?: number | null | undefined; };
    body: never;
    response: {
      result: Schemas["TrialLogsResponse"];
    };
  };
  streamTrialsSample: {
    path: { experiment_id: number; };
    query: { metricName: string; group?: string | null | undefined; metricType?: Schemas["MetricType"] | null | undefined; periodSeconds?: number | undefined; maxTrials?: number | undefined; maxDatapoints?: number | undefined; startBatches?: number | null | undefined; endBatches?: number | null | undefined; };
    body: never;
    response: {
      result: Schemas["TrialsSampleResponse"];
    };
  };
  streamTrialsSnapshot: {
    path: { experiment_id: number; };
    query: { metricName: string; group?: string | null | undefined; metricType?: Schemas["MetricType"] | null | undefined; periodSeconds?: number | undefined; batchesProcessed: number; batchesMargin?: number | undefined; };
    body: never;
    response: {
      result: Schemas["TrialsSnapshotResponse"];
    };
  };
  streamValidationMetrics: {
    path: never;
    query: { trialIds: number[]; };
    body: never;
    response: {
      result: Schemas["GetMetricsResponse"];
    };
  };
  summarizePermissions: {
    path: never;
    query: never;
    body: never;
    response: Record<string, unknown>;
  };
  testWebhook: {
    path: { webhook_id: number; };
    query: never;
    body: never;
    response: Schemas["TestWebhookResponse"];
  };
  unarchiveExperiment: {
    path: { experiment_id: number; };
    query: never;
    body: never;
    response: Schemas["Nothing"];
  };
  unarchiveExperiments: {
    path: { project_id: number; };
    query: never;
    body: Schemas["UnarchiveExperimentsRequest"];
    response: Schemas["UnarchiveExperimentsResponse"];
  };
  unarchiveModel: {
    path: { model_name: string; };
    query: never;
    body: never;
    response: Schemas["Nothing"];
  };
  unarchiveProject: {
    path: { project_id: number; };
    query: never;
    body: never;
    response: Schemas["Nothing"];
  };
  unarchiveRuns: {
    path: never;
    query: never;
    body: Schemas["UnarchiveRunsRequest"];
    response: Schemas["UnarchiveRunsResponse"];
  };
  unarchiveWorkspace: {
    path: { workspace_id: number; };
    query: never;
    body: never;
    response: Schemas["Nothing"];
  };
  unbindPool: {
    path: { pool: string; };
    query: never;
    body: Schemas["UnbindRPFromWorkspaceRequest"];
    response: Schemas["Nothing"];
  };
  unpauseGenericTask: {
    path: { task_id: string; };
    query: never;
    body: never;
    response: Schemas["Nothing"];
  };
  unpinWorkspace: {
    path: { workspace_id: number; };
    query: never;
    body: never;
    response: Schemas["Nothing"];
  };
  unshareTask: {
    path: { task_id: string; };
    query: never;
    body: never;
    response: Schemas["Nothing"];
  };
  updateJobQueue: {
    path: never;
    query: never;
    body: Schemas["UpdateJobQueueRequest"];
    response: Schemas["Nothing"];
  };
}

export const PATHS: Record<keyof Operations, string> = {
  ackPreemption: "POST /api/v1/allocations/{allocation_id}/signals/ack_preemption",
  activateExperiment: "POST /api/v1/experiments/{experiment_id}/activate",
  activateExperiments: "POST /api/v1/projects/{project_id}/experiments/activate",
  activateUsers: "PATCH /api/v1/users",
  addAgent: "POST /api/v1/agents",
  addExperimentLabel: "PUT /api/v1/experiments/{experiment_id}/labels/{label}",
  addProjectNote: "POST /api/v1/projects/{project_id}/notes",
  allGather: "POST /api/v1/allocations/{allocation_id}/all_gather",
  archiveExperiment: "POST /api/v1/experiments/{experiment_id}/archive",
  archiveExperiments: "POST /api/v1/projects/{project_id}/experiments/archive",
  archiveModel: "POST /api/v1/models/{model_name}/archive",
  archiveProject: "POST /api/v1/projects/{project_id}/archive",
  archiveRuns: "POST /api/v1/runs/archive",
  archiveWorkspace: "POST /api/v1/workspaces/{workspace_id}/archive",
  bindPool: "POST /api/v1/resource-pools/{pool}/workspace-bindings",
  cancelExperiment: "POST /api/v1/experiments/{experiment_id}/cancel",
  cancelExperiments: "POST /api/v1/projects/{project_id}/experiments/cancel",
  checkTemplate: "POST /api/v1/template/check",
  claimRunner: "POST /api/v1/claims",
  cleanupLogs: "POST /api/v1/cleanup_logs",
  compareTrials: "GET /api/v1/trials/time-series",
  completeSearcherOperation: "POST /api/v1/trials/{trial_id}/searcher/completed_operation",
  continueExperiment: "POST /api/v1/experiments/continue",
  countFilter: "POST /api/v1/projects/{project_id}/filter-counts",
  countTasks: "GET /api/v1/tasks/count",
  createExperiment: "POST /api/v1/experiments",
  createGenericTask: "POST /api/v1/generic-tasks",
  createModel: "POST /api/v1/models",
  createProject: "POST /api/v1/workspaces/{workspace_id}/projects",
  createTemplate: "POST /api/v1/templates/{template_name}",
  createToken: "POST /api/v1/tokens",
  createTrial: "POST /api/v1/trials",
  createUser: "POST /api/v1/users",
  createView: "POST /api/v1/projects/{project_id}/views",
  createWebhook: "POST /api/v1/webhooks",
  createWorkspace: "POST /api/v1/workspaces",
  deleteCheckpoints: "DELETE /api/v1/checkpoints",
  deleteClusterMessage: "DELETE /api/v1/master/cluster_message",
  deleteExperiment: "DELETE /api/v1/experiments/{experiment_id}",
  deleteExperiments: "DELETE /api/v1/projects/{project_id}/experiments/delete",
  deleteModel: "DELETE /api/v1/models/{model_name}",
  deleteModelVersion: "DELETE /api/v1/models/{model_name}/versions/{version}",
  deleteProject: "DELETE /api/v1/projects/{project_id}",
  deleteRuns: "POST /api/v1/runs/delete",
  deleteTemplate: "DELETE /api/v1/templates/{template_name}",
  deleteTensorboardFiles: "DELETE /api/v1/experiments/{experiment_id}/tensorboard-files",
  deleteView: "DELETE /api/v1/projects/{project_id}/views/{view_id}",
  deleteWebhook: "DELETE /api/v1/webhooks/{webhook_id}",
  deleteWorkspace: "DELETE /api/v1/workspaces/{workspace_id}",
  disableAgent: "POST /api/v1/agents/{agent_id}/disable",
  disableSlot: "POST /api/v1/agents/{agent_id}/slots/{slot_id}/disable",
  downloadAggregatedUse: "GET /resources/allocation/aggregated",
  downloadAllocationUse: "GET /resources/allocation/allocations-csv",
  downloadCheckpoint: "GET /checkpoints/{checkpoint_uuid}",
  downloadMetrics: "GET /api/v1/trials/time-series.csv",
  downloadModelVersion: "GET /api/v1/models/{model_name}/versions/{version}/archive",
  downloadModelVersionFile: "GET /api/v1/models/{model_name}/versions/{version}/files/{file_path}",
  downloadRawUse: "GET /resources/allocation/raw",
  dryRunExperiment: "POST /api/v1/experiments/dry-run",
  dryRunTask: "POST /api/v1/tasks/dry-run",
  enableAgent: "POST /api/v1/agents/{agent_id}/enable",
  enableSlot: "POST /api/v1/agents/{agent_id}/slots/{slot_id}/enable",
  enrolBridge: "POST /api/v1/bridges/{engine}/enrol",
  exchangeWithBridge: "POST /api/v1/bridges/{engine}/exchange",
  extendExperiment: "POST /api/v1/experiments/{experiment_id}/extend",
  getAgent: "GET /api/v1/agents/{agent_id}",
  getAggregatedUse: "GET /api/v1/resources/allocation/aggregated",
  getAllocation: "GET /api/v1/allocations/{allocation_id}",
  getBestSearcherMetric: "GET /api/v1/experiments/{experiment_id}/searcher/best_searcher_validation_metric",
  getCheckpoint: "GET /api/v1/checkpoints/{checkpoint_uuid}",
  getCheckpointMetrics: "GET /api/v1/checkpoints/{checkpoint_uuid}/metrics",
  getClusterMessage: "GET /api/v1/master/cluster_message",
  getCommand: "GET /api/v1/commands/{task_id}",
  getContextDirectory: "GET /api/v1/tasks/{task_id}/context_directory",
  getCurrentUser: "GET /api/v1/auth/user",
  getExperiment: "GET /api/v1/experiments/{experiment_id}",
  getGenericTaskConfig: "GET /api/v1/tasks/{task_id}/config",
  getHealth: "GET /health",
  getHpImportance: "GET /api/v1/experiments/{experiment_id}/hp-importance",
  getInfo: "GET /info",
  getJobQueueStats: "GET /api/v1/job-queues/stats",
  getMaster: "GET /api/v1/master",
  getMasterConfig: "GET /api/v1/master/config",
  getMe: "GET /api/v1/me",
  getMetricSeries: "GET /api/v1/trials/{trial_id}/metrics/series",
  getModel: "GET /api/v1/models/{model_name}",
  getModelDefinition: "GET /api/v1/experiments/{experiment_id}/model_def",
  getModelDefinitionFile: "POST /api/v1/experiments/{experiment_id}/file",
  getModelDefinitionTree: "GET /api/v1/experiments/{experiment_id}/file_tree",
  getModelVersion: "GET /api/v1/models/{model_name}/versions/{version}",
  getModelVersionMetrics: "GET /api/v1/models/{model_name}/versions/{version}/metrics",
  getNotebook: "GET /api/v1/notebooks/{task_id}",
  getParetoFront: "GET /api/v1/experiments/{experiment_id}/pareto-front",
  getPreemptionSignal: "GET /api/v1/allocations/{allocation_id}/signals/preemption",
  getProject: "GET /api/v1/projects/{project_id}",
  getProjectByKey: "GET /api/v1/projects/key/{key}",
  getRawUse: "GET /api/v1/resources/allocation/raw",
  getRemainingLogDays: "GET /api/v1/trials/{trial_id}/remaining_log_retention_days",
  getRendezvous: "GET /api/v1/allocations/{allocation_id}/resources/{resource_id}/rendezvous",
  getRunMetadata: "GET /api/v1/runs/{run_id}/metadata",
  getRunnerSignals: "GET /api/v1/allocations/{allocation_id}/resources/{resource_id}/signals",
  getSearcherEvents: "GET /api/v1/experiments/{experiment_id}/searcher_events",
  getSearcherOperation: "GET /api/v1/trials/{trial_id}/searcher/operation",
  getShell: "GET /api/v1/shells/{task_id}",
  getSlot: "GET /api/v1/agents/{agent_id}/slots/{slot_id}",
  getTask: "GET /api/v1/tasks/{task_id}",
  getTaskAccelerators: "GET /api/v1/tasks/{task_id}/acceleratorData",
  getTaskSpec: "GET /api/v1/allocations/{allocation_id}/resources/{resource_id}/spec",
  getTelemetry: "GET /api/v1/master/telemetry",
  getTemplate: "GET /api/v1/templates/{template_name}",
  getTensorboard: "GET /api/v1/tensorboards/{task_id}",
  getTrial: "GET /api/v1/trials/{trial_id}",
  getTrialByExternalId: "GET /api/v1/trials/by-external-id/{external_experiment_id}/{external_trial_id}",
  getTrialShellSettings: "GET /api/v1/allocations/{allocation_id}/shell",
  getUser: "GET /api/v1/users/{user_id}",
  getUserByName: "GET /api/v1/users/{username}/by-username",
  getUserSettings: "GET /api/v1/users/setting",
  getValidationHistory: "GET /api/v1/experiments/{experiment_id}/validation-history",
  getWebhookSigningKey: "GET /api/v1/webhooks/signing-key",
  getWorkspace: "GET /api/v1/workspaces/{workspace_id}",
  issueLoginLink: "POST /api/v1/auth/link",
  killCommand: "POST /api/v1/commands/{task_id}/kill",
  killExperiment: "POST /api/v1/experiments/{experiment_id}/kill",
  killExperiments: "POST /api/v1/projects/{project_id}/experiments/kill",
  killGenericTask: "POST /api/v1/tasks/{task_id}/kill",
  killNotebook: "POST /api/v1/notebooks/{task_id}/kill",
  killRuns: "POST /api/v1/runs/kill",
  killShell: "POST /api/v1/shells/{task_id}/kill",
  killTensorboard: "POST /api/v1/tensorboards/{task_id}/kill",
  killTrial: "POST /api/v1/trials/{trial_id}/kill",
  launchCommand: "POST /api/v1/commands",
  launchNotebook: "POST /api/v1/notebooks",
  launchShell: "POST /api/v1/shells",
  launchTensorboard: "POST /api/v1/tensorboards",
  listAgents: "GET /api/v1/agents",
  listCheckpointVersions: "GET /api/v1/checkpoints/{checkpoint_uuid}/model-versions",
  listCommands: "GET /api/v1/commands",
  listEnvironmentLocks: "GET /api/v1/experiments/{experiment_id}/environment_locks",
  listExperimentCheckpoints: "GET /api/v1/experiments/{experiment_id}/checkpoints",
  listExperimentLabels: "GET /api/v1/experiment/labels",
  listExperiments: "GET /api/v1/experiments",
  listJobs: "GET /api/v1/job-queues",
  listJobsV2: "GET /api/v1/job-queues-v2",
  listMetadataValues: "GET /api/v1/projects/{project_id}/metadata/{key}",
  listMetricRanges: "GET /api/v1/projects/{project_id}/experiments/metric-ranges",
  listModelAliasHistory: "GET /api/v1/models/{model_name}/alias-history",
  listModelAliases: "GET /api/v1/models/{model_name}/aliases",
  listModelLabels: "GET /api/v1/model/labels",
  listModelVersionFiles: "GET /api/v1/models/{model_name}/versions/{version}/files",
  listModelVersions: "GET /api/v1/models/{model_name}/versions",
  listModels: "GET /api/v1/models",
  listNamespaceBindings: "GET /api/v1/workspaces/{workspace_id}/list-namespace-bindings",
  listNotebooks: "GET /api/v1/notebooks",
  listPoolBindings: "GET /api/v1/resource-pools/{pool}/workspace-bindings",
  listPools: "GET /api/v1/resource-pools",
  listProjectColumns: "GET /api/v1/projects/{project_id}/columns",
  listProjects: "GET /api/v1/workspaces/{workspace_id}/projects",
  listRecentProjects: "GET /api/v1/user/projects/activity",
  listResourceQuotas: "GET /api/v1/workspaces/{workspace_id}/get-k8s-resource-quotas",
  listShells: "GET /api/v1/shells",
  listSlots: "GET /api/v1/agents/{agent_id}/slots",
  listTasks: "GET /api/v1/tasks",
  listTasksRaw: "GET /tasks",
  listTemplates: "GET /api/v1/templates",
  listTensorboards: "GET /api/v1/tensorboards",
  listTokens: "GET /api/v1/tokens",
  listTrialCheckpoints: "GET /api/v1/trials/{trial_id}/checkpoints",
  listTrialRecords: "GET /api/v1/experiments/{experiment_id}/trial_records",
  listTrialWorkloads: "GET /api/v1/trials/{trial_id}/workloads",
  listTrials: "GET /api/v1/experiments/{experiment_id}/trials",
  listTrialsUsingCheckpoint: "GET /api/v1/checkpoints/{checkpoint_uuid}/trials",
  listTrialsUsingVersion: "GET /api/v1/models/{model_name}/versions/{version}/trials",
  listUsers: "GET /api/v1/users",
  listViews: "GET /api/v1/projects/{project_id}/views",
  listWebhookDeliveries: "GET /api/v1/webhooks/{webhook_id}/deliveries",
  listWebhooks: "GET /api/v1/webhooks",
  listWorkspacePools: "GET /api/v1/workspaces/{workspace_id}/available-resource-pools",
  listWorkspaces: "GET /api/v1/workspaces",
  login: "POST /api/v1/auth/login",
  logout: "POST /api/v1/auth/logout",
  lookUp: "GET /api/v1/search",
  markDaemon: "POST /api/v1/allocations/{allocation_id}/resources/{resource_id}/daemon",
  markReady: "POST /api/v1/allocations/{allocation_id}/ready",
  markWaiting: "POST /api/v1/allocations/{allocation_id}/waiting",
  moveExperiment: "POST /api/v1/experiments/{experiment_id}/move",
  moveExperiments: "POST /api/v1/projects/{project_id}/experiments/move",
  moveModel: "POST /api/v1/models/{model_name}/move",
  moveProject: "POST /api/v1/projects/{project_id}/move",
  moveRuns: "POST /api/v1/runs/move",
  notifyContainerRunning: "POST /api/v1/allocations/{allocation_id}/notify_container_running",
  openTrialShell: "POST /api/v1/trials/{trial_id}/shell",
  openTunnel: "GET /api/v1/allocations/{allocation_id}/tunnel",
  overwritePoolBindings: "PUT /api/v1/resource-pools/{pool}/workspace-bindings",
  patchCheckpoints: "PATCH /api/v1/checkpoints",
  patchExperiment: "PATCH /api/v1/experiments/{experiment_id}",
  patchMasterConfig: "PATCH /api/v1/master/config",
  patchModel: "PATCH /api/v1/models/{model_name}",
  patchModelVersion: "PATCH /api/v1/models/{model_name}/versions/{version}",
  patchProject: "PATCH /api/v1/projects/{project_id}",
  patchTemplateConfig: "PATCH /api/v1/templates/{template_name}",
  patchToken: "PATCH /api/v1/tokens/{token_id}",
  patchTrial: "PATCH /api/v1/trials/{trial_id}",
  patchUser: "PATCH /api/v1/users/{user_id}",
  patchView: "PATCH /api/v1/projects/{project_id}/views/{view_id}",
  patchWebhook: "PATCH /api/v1/webhooks/{webhook_id}",
  patchWorkspace: "PATCH /api/v1/workspaces/{workspace_id}",
  pauseExperiment: "POST /api/v1/experiments/{experiment_id}/pause",
  pauseExperiments: "POST /api/v1/projects/{project_id}/experiments/pause",
  pauseGenericTask: "POST /api/v1/tasks/{task_id}/pause",
  pauseRuns: "POST /api/v1/runs/pause",
  pinWorkspace: "POST /api/v1/workspaces/{workspace_id}/pin",
  postAcceleratorData: "POST /api/v1/allocations/{allocation_id}/acceleratorData",
  postCheckpointMetadata: "POST /api/v1/checkpoints/{checkpoint_uuid}/metadata",
  postPendingPreemption: "POST /api/v1/allocations/{allocation_id}/signals/pending_preemption",
  postProxyAddress: "POST /api/v1/allocations/{allocation_id}/proxy_address",
  postReports: "POST /api/v1/allocations/{allocation_id}/resources/{resource_id}/reports",
  postRunMetadata: "POST /api/v1/runs/{run_id}/metadata",
  postRunnerMetadata: "POST /api/v1/trials/{trial_id}/runner/metadata",
  postSearcherOperations: "POST /api/v1/experiments/{experiment_id}/searcher_operations",
  postTaskLogs: "POST /api/v1/task/logs",
  postTaskLogsOlder: "POST /task-logs",
  postUnmanagedReports: "POST /api/v1/trials/{trial_id}/runs/{run_id}/reports",
  postWebhookEventData: "POST /api/v1/webhooks/custom",
  prepareForReporting: "POST /api/v1/runs/start",
  previewCheckpointGc: "GET /experiments/{experiment_id}/preview_gc",
  previewHpSearch: "POST /api/v1/preview-hp-search",
  putExperiment: "PUT /api/v1/experiments/by-external-id/{external_id}",
  putModelAlias: "PUT /api/v1/models/{model_name}/aliases/{alias}",
  putProjectNotes: "PUT /api/v1/projects/{project_id}/notes",
  putTemplate: "PUT /api/v1/templates/{template_name}",
  putTrial: "PUT /api/v1/trials",
  putUserSettings: "POST /api/v1/users/setting",
  recordUserActivity: "POST /api/v1/users/activity",
  redeemLoginLink: "POST /api/v1/auth/link/redeem",
  registerModelVersion: "POST /api/v1/models/{model_name}/versions",
  removeAgent: "DELETE /api/v1/agents/{agent_id}",
  removeCheckpointFiles: "POST /api/v1/checkpoints/rm",
  removeExperimentLabel: "DELETE /api/v1/experiments/{experiment_id}/labels/{label}",
  removeModelAlias: "DELETE /api/v1/models/{model_name}/aliases/{alias}",
  renameTemplate: "PATCH /api/v1/template/rename",
  reportCheckpoint: "POST /api/v1/checkpoints",
  reportEarlyExit: "POST /api/v1/trials/{trial_id}/early_exit",
  reportMetrics: "POST /api/v1/trials/{trial_id}/metrics",
  reportNotebookIdle: "PUT /api/v1/notebooks/{task_id}/report_idle",
  reportProfilerMetrics: "POST /api/v1/trials/profiler/metrics",
  reportProgress: "POST /api/v1/trials/{trial_id}/progress",
  reportShellIdle: "PUT /api/v1/shells/{task_id}/report_idle",
  reportTrainingMetrics: "POST /api/v1/trials/{trial_id}/training_metrics",
  reportTrialSource: "POST /api/v1/trial-source-info",
  reportValidationMetrics: "POST /api/v1/trials/{trial_id}/validation_metrics",
  reproduceExperiment: "POST /api/v1/experiments/{experiment_id}/reproduce",
  requestStacks: "POST /api/v1/trials/{trial_id}/stacks",
  resetUserSettings: "POST /api/v1/users/setting/reset",
  resumeRuns: "POST /api/v1/runs/resume",
  retainExperimentLogs: "PUT /api/v1/experiments/{experiment_id}/retain_logs",
  retainExperimentsLogs: "PUT /api/v1/projects/{project_id}/experiments/retain_logs",
  retainTrialLogs: "PUT /api/v1/trials/{trial_id}/retain_logs",
  searchExperiments: "POST /api/v1/experiments-search",
  searchRuns: "POST /api/v1/runs",
  searchTasks: "GET /api/v1/tasks/search",
  setClusterMessage: "PUT /api/v1/master/cluster_message",
  setCommandPriority: "POST /api/v1/commands/{task_id}/set_priority",
  setNotebookPriority: "POST /api/v1/notebooks/{task_id}/set_priority",
  setPassword: "POST /api/v1/users/{user_id}/password",
  setShellPriority: "POST /api/v1/shells/{task_id}/set_priority",
  setTensorboardPriority: "POST /api/v1/tensorboards/{task_id}/set_priority",
  shareTask: "POST /api/v1/tasks/{task_id}/share",
  startTrial: "POST /api/v1/trials/{trial_id}/start",
  storeEnvironmentLock: "POST /api/v1/allocations/{allocation_id}/resources/{resource_id}/environment_lock",
  streamMasterLogs: "GET /api/v1/master/logs",
  streamMetricBatches: "GET /api/v1/experiments/{experiment_id}/metrics-stream/batches",
  streamMetricNames: "GET /api/v1/experiments/metrics-stream/metric-names",
  streamMetrics: "GET /api/v1/trials/metrics/trial_metrics",
  streamProfilerMetrics: "GET /api/v1/trials/{trial_id}/profiler/metrics",
  streamProfilerSeries: "GET /api/v1/trials/{trial_id}/profiler/available_series",
  streamTaskLogFields: "GET /api/v1/tasks/{task_id}/logs/fields",
  streamTaskLogs: "GET /api/v1/tasks/{task_id}/logs",
  streamTrainingMetrics: "GET /api/v1/trials/metrics/training_metrics",
  streamTrialLogFields: "GET /api/v1/trials/{trial_id}/logs/fields",
  streamTrialLogs: "GET /api/v1/trials/{trial_id}/logs",
  streamTrialsSample: "GET /api/v1/experiments/{experiment_id}/metrics-stream/trials-sample",
  streamTrialsSnapshot: "GET /api/v1/experiments/{experiment_id}/metrics-stream/trials-snapshot",
  streamValidationMetrics: "GET /api/v1/trials/metrics/validation_metrics",
  summarizePermissions: "GET /api/v1/permissions/summary",
  testWebhook: "POST /api/v1/webhooks/{webhook_id}/test",
  unarchiveExperiment: "POST /api/v1/experiments/{experiment_id}/unarchive",
  unarchiveExperiments: "POST /api/v1/projects/{project_id}/experiments/unarchive",
  unarchiveModel: "POST /api/v1/models/{model_name}/unarchive",
  unarchiveProject: "POST /api/v1/projects/{project_id}/unarchive",
  unarchiveRuns: "POST /api/v1/runs/unarchive",
  unarchiveWorkspace: "POST /api/v1/workspaces/{workspace_id}/unarchive",
  unbindPool: "DELETE /api/v1/resource-pools/{pool}/workspace-bindings",
  unpauseGenericTask: "POST /api/v1/tasks/{task_id}/unpause",
  unpinWorkspace: "POST /api/v1/workspaces/{workspace_id}/unpin",
  unshareTask: "DELETE /api/v1/tasks/{task_id}/share",
  updateJobQueue: "POST /api/v1/job-queues",
};

/** Rows of the `/stream` WebSocket by noun (master/db/queries/streamed.py). */
export interface StreamRows {
  agents: {
    draining: boolean;
    enabled: boolean;
    id: string;
    resourcePools: string[];
    seq: number;
    slots: number;
    used: number;
  };
  checkpoints: {
    experimentId: number | null;
    id: string;
    reportTime: string;
    seq: number;
    size: number;
    state: string;
    stepsCompleted: number;
    trialId: number | null;
  };
  experiments: {
    archived: boolean;
    endTime: string | null;
    id: number;
    jobId: string;
    name: string;
    progress: number | null;
    projectId: number;
    seq: number;
    startTime: string;
    state: string;
    userId: number;
  };
  jobs: {
    id: string;
    priority: number;
    resourcePool: string;
    seq: number;
    type: string;
    userId: number;
    weight: number;
    workspaceId: number;
  };
  metrics: {
    group: string;
    lastBatch: number;
    seq: number;
    trialId: number;
  };
  models: {
    archived: boolean;
    creationTime: number;
    description: string;
    id: number;
    labels: string[];
    lastUpdatedTime: number;
    metadata: Record<string, unknown>;
    name: string;
    notes: string;
    seq: number;
    userId: number;
    workspaceId: number;
  };
  modelversions: {
    checkpointUuid: string;
    comment: string;
    creationTime: number;
    id: number;
    labels: string[];
    lastUpdatedTime: number;
    metadata: Record<string, unknown>;
    modelId: number;
    name: string;
    notes: string;
    seq: number;
    userId: number;
    version: number;
    workspaceId: string;
  };
  projects: {
    archived: boolean;
    createdAt: number;
    description: string;
    id: number;
    immutable: boolean;
    key: string;
    name: string;
    notes: (Record<string, string>)[];
    seq: number;
    state: string;
    userId: number;
    workspaceId: number;
  };
  tasks: {
    endTime: string | null;
    experimentId: number | null;
    id: string;
    isReady: boolean;
    jobId: string | null;
    seq: number;
    startTime: string;
    state: string | null;
    trialId: number | null;
    type: string;
    userId: number | null;
    workspaceId: number | null;
  };
  trials: {
    checkpointCount: number;
    endTime: string | null;
    experimentId: number;
    id: number;
    restarts: number;
    runnerState: string;
    searcherMetricValue: number | null;
    seq: number;
    startTime: string;
    state: string;
    totalBatchesProcessed: number;
  };
}
