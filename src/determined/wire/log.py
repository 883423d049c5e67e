"""Task, trial and master logs."""

from enum import StrEnum
from typing import Annotated

from msgspec import Meta

from determined.wire.base import LongText
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
