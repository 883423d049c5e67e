"""Task, trial and master logs."""

from enum import StrEnum
from typing import Annotated

from msgspec import Meta

from determined.wire.base import LongText, OrderBy, Paged, Position
from determined.wire.codec import Wire
from determined.wire.operation import AnyJson, Nothing, Operation, Query, StreamOperation
from determined.wire.upstream import Ours


class LogLevel(StrEnum):
    UNSPECIFIED = "LOG_LEVEL_UNSPECIFIED"
    TRACE = "LOG_LEVEL_TRACE"
    DEBUG = "LOG_LEVEL_DEBUG"
    INFO = "LOG_LEVEL_INFO"
    WARNING = "LOG_LEVEL_WARNING"
    ERROR = "LOG_LEVEL_ERROR"
    CRITICAL = "LOG_LEVEL_CRITICAL"


class TaskLogsResponse(Wire):
    id: str
    level: LogLevel
    log: str
    message: str
    task_id: str
    timestamp: str
    agent_id: str | None = None
    allocation_id: str | None = None
    container_id: str | None = None
    rank_id: int | None = None
    source: str | None = None
    stdtype: str | None = None


class TaskLogsFieldsResponse(Wire):
    agent_ids: list[str] | None = None
    allocation_ids: list[str] | None = None
    container_ids: list[str] | None = None
    rank_ids: list[int] | None = None
    sources: list[str] | None = None
    stdtypes: list[str] | None = None


class TrialLogsResponse(Wire):
    id: str
    level: LogLevel
    message: str
    timestamp: str
    trial_id: int
    agent_id: str | None = None
    container_id: str | None = None
    log: str | None = None
    rank_id: int | None = None
    source: str | None = None
    stdtype: str | None = None


class TrialLogsFieldsResponse(Wire):
    agent_ids: list[str] | None = None
    container_ids: list[str] | None = None
    rank_ids: list[int] | None = None
    sources: list[str] | None = None
    stdtypes: list[str] | None = None


class TaskLog(Wire):
    log: LongText
    task_id: str
    agent_id: str | None = None
    allocation_id: str | None = None
    container_id: str | None = None
    id: int | None = None
    level: LogLevel | None = None
    rank_id: int | None = None
    source: str | None = None
    stdtype: str | None = None
    timestamp: str | None = None


class PostTaskLogsRequest(Wire):
    logs: Annotated[list[TaskLog], Meta(max_length=100_000)]


class LogEntry(Wire):
    id: int
    level: LogLevel
    message: str
    timestamp: str


class MasterLogsResponse(Wire):
    log_entry: LogEntry


class CleanupLogsResponse(Wire):
    removed_count: str


class LogQuery(Query):
    """Query of a log's lines."""

    limit: Annotated[
        Annotated[int, Meta(ge=0, le=2**31 - 1)] | None, Meta(description="Lines at most; 0: all of them.")
    ] = None
    follow: Annotated[bool, Meta(description="Go on with new lines until the task ends.")] = False
    order_by: Annotated[OrderBy | None, Meta(description="Descending: newest lines first.")] = None
    allocation_ids: list[str] | None = None
    agent_ids: list[str] | None = None
    container_ids: list[str] | None = None
    rank_ids: Annotated[list[int] | None, Meta(description="Of these ranks; -1: lines of no rank.")] = None
    levels: list[LogLevel] | None = None
    stdtypes: Annotated[list[str] | None, Meta(description="stdout, stderr.")] = None
    sources: list[str] | None = None
    timestamp_before: Annotated[str | None, Meta(description="Not later than this time.")] = None
    timestamp_after: Annotated[str | None, Meta(description="Later than this time.")] = None
    search_text: Annotated[str | None, Meta(description="Lines that contain this, whatever the case.")] = None
    enable_regex: Annotated[bool, Meta(description="`searchText` is an RE2 pattern.")] = False
    after_id: Ours[
        Annotated[Position | None, Meta(description="Lines that follow this one; with ascending order.")]
    ] = None
    before_id: Ours[
        Annotated[Position | None, Meta(description="Lines that precede this one; with descending order.")]
    ] = None


class Follow(Query):
    follow: Annotated[bool, Meta(description="Go on with what is new until the task ends.")] = False


class MasterLogQuery(Paged):
    follow: Annotated[bool, Meta(description="Go on with new entries.")] = False


STREAM_TASK_LOGS = StreamOperation("GET", "/api/v1/tasks/{task_id:str}/logs", LogQuery, TaskLogsResponse)
STREAM_TRIAL_LOGS = StreamOperation("GET", "/api/v1/trials/{trial_id:int}/logs", LogQuery, TrialLogsResponse)
STREAM_TASK_LOG_FIELDS = StreamOperation(
    "GET", "/api/v1/tasks/{task_id:str}/logs/fields", Follow, TaskLogsFieldsResponse
)
STREAM_TRIAL_LOG_FIELDS = StreamOperation(
    "GET", "/api/v1/trials/{trial_id:int}/logs/fields", Follow, TrialLogsFieldsResponse
)
POST_TASK_LOGS = Operation("POST", "/api/v1/task/logs", PostTaskLogsRequest, Nothing)
POST_TASK_LOGS_OLDER = Operation("POST", "/task-logs", AnyJson, Nothing, ours=True)
CLEANUP_LOGS = Operation("POST", "/api/v1/cleanup_logs", Nothing, CleanupLogsResponse)
STREAM_MASTER_LOGS = StreamOperation("GET", "/api/v1/master/logs", MasterLogQuery, MasterLogsResponse)
