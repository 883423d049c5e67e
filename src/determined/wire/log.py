"""Task, trial and master logs."""

from enum import StrEnum

from determined.wire.codec import Wire


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
    log: str
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
    logs: list[TaskLog]


class LogEntry(Wire):
    id: int
    level: LogLevel
    message: str
    timestamp: str


class MasterLogsResponse(Wire):
    log_entry: LogEntry


class CleanupLogsResponse(Wire):
    removed_count: str
