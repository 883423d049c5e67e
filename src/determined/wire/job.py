"""The job queue."""

from enum import StrEnum
from typing import Annotated

from msgspec import Meta

from determined.wire.base import Ordered, Pagination
from determined.wire.codec import Wire
from determined.wire.operation import Nothing, Operation, Query
from determined.wire.pool import QueueStats
from determined.wire.upstream import Ours


class JobState(StrEnum):
    __upstream__ = "jobv1State"

    UNSPECIFIED = "STATE_UNSPECIFIED"
    QUEUED = "STATE_QUEUED"
    SCHEDULED = "STATE_SCHEDULED"
    SCHEDULED_BACKFILLED = "STATE_SCHEDULED_BACKFILLED"


class JobType(StrEnum):
    __upstream__ = "jobv1Type"

    UNSPECIFIED = "TYPE_UNSPECIFIED"
    EXPERIMENT = "TYPE_EXPERIMENT"
    NOTEBOOK = "TYPE_NOTEBOOK"
    TENSORBOARD = "TYPE_TENSORBOARD"
    SHELL = "TYPE_SHELL"
    COMMAND = "TYPE_COMMAND"
    CHECKPOINT_GC = "TYPE_CHECKPOINT_GC"
    EXTERNAL = "TYPE_EXTERNAL"
    GENERIC = "TYPE_GENERIC"


class JobSummary(Wire):
    jobs_ahead: int
    state: JobState


class Job(Wire):
    allocated_slots: int
    entity_id: str
    is_preemptible: bool
    job_id: str
    name: str
    requested_slots: int
    resource_pool: str
    submission_time: str
    type: JobType
    username: str
    workspace_id: int
    priority: int | None = None
    progress: float | None = None
    summary: JobSummary | None = None
    user_id: int | None = None
    weight: float | None = None
    reason: Ours[str | None] = None  # what a queued job waits for
    eta: Ours[str | None] = None  # when a queued job may start, going by the progress of those that run


class GetJobsResponse(Wire):
    jobs: list[Job]
    pagination: Pagination


class LimitedJob(Wire):
    allocated_slots: int
    is_preemptible: bool
    job_id: str
    requested_slots: int
    resource_pool: str
    type: JobType
    workspace_id: int
    priority: int | None = None
    progress: float | None = None
    summary: JobSummary | None = None
    weight: float | None = None


class RBACJob(Wire):
    full: Job | None = None
    limited: LimitedJob | None = None


class GetJobsV2Response(Wire):
    jobs: list[RBACJob]
    pagination: Pagination


class AggregateQueueStats(Wire):
    period_start: str
    seconds: float


class RPQueueStat(Wire):
    resource_pool: str
    stats: QueueStats
    aggregates: list[AggregateQueueStats] | None = None


class GetJobQueueStatsResponse(Wire):
    results: list[RPQueueStat]


class QueueControl(Wire):
    job_id: str
    ahead_of: str | None = None
    behind_of: str | None = None
    priority: int | None = None
    resource_pool: str | None = None
    weight: float | None = None


class UpdateJobQueueRequest(Wire):
    updates: list[QueueControl]


class ListJobs(Ordered):
    """Jobs in the order in which they are scheduled; 100 of them where no limit is given."""

    resource_pool: Annotated[str | None, Meta(description="Of this pool.")] = None
    states: Annotated[list[JobState] | None, Meta(description="Any of these states.")] = None


class GetJobQueueStats(Query):
    resource_pools: Annotated[list[str] | None, Meta(description="These pools; all by default.")] = None


UPDATE_JOB_QUEUE = Operation("POST", "/api/v1/job-queues", UpdateJobQueueRequest, Nothing)
LIST_JOBS = Operation("GET", "/api/v1/job-queues", ListJobs, GetJobsResponse)
LIST_JOBS_V2 = Operation("GET", "/api/v1/job-queues-v2", ListJobs, GetJobsV2Response)
GET_JOB_QUEUE_STATS = Operation("GET", "/api/v1/job-queues/stats", GetJobQueueStats, GetJobQueueStatsResponse)
