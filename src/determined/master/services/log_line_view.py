"""A stored log line as the wire shows it, rendered as upstream renders it (docs/architecture/task_environment.md)."""

from collections.abc import Sequence
from datetime import UTC, datetime

from determined.master.db.log_filter import LogRecord
from determined.master.db.queries.log_scope import LogScope
from determined.wire.log import LogLevel, TaskLogsResponse, TrialLogsResponse

_SHORT_ID = 8
_MICRO = 1_000_000
# Lines are numbered per task; a trial that was continued has several, and its lines still need ids of their own.
_IDS_PER_TASK = 1 << 40

_LEVELS = {level.removeprefix("LOG_LEVEL_"): LogLevel(level) for level in LogLevel}


class LineWriter:
    """Renders the lines of one task of a scope; remembers the second it wrote last, because lines come in bursts."""

    def __init__(self, scope: LogScope, task: int) -> None:
        self._scope, self._task = scope, task
        self._second = -1
        self._prefix = ""

    def render(self, records: Sequence[LogRecord]) -> list[object]:
        make = self._task_line if self._scope.trial_id is None else self._trial_line
        return [make(record, self._time(record.time)) for record in records]

    def _time(self, micros: int) -> str:
        second, rest = divmod(micros, _MICRO)
        if second != self._second:
            self._second = second
            self._prefix = datetime.fromtimestamp(second, UTC).strftime("%Y-%m-%dT%H:%M:%S")
        return f"{self._prefix}.{rest:06d}Z"

    def _task_line(self, record: LogRecord, time: str) -> TaskLogsResponse:
        origin = record.origin
        return TaskLogsResponse(
            id=str(record.id),
            level=_LEVELS.get(record.level, LogLevel.UNSPECIFIED),
            log=record.text,
            message=message(record, time),
            task_id=self._scope.task_ids[self._task],
            timestamp=time,
            agent_id=origin.agent_id,
            allocation_id=origin.allocation_id,
            container_id=origin.container_id,
            rank_id=origin.rank,
            source=origin.source,
            stdtype=origin.stdtype,
        )

    def _trial_line(self, record: LogRecord, time: str) -> TrialLogsResponse:
        origin = record.origin
        return TrialLogsResponse(
            id=str(self._task * _IDS_PER_TASK + record.id),
            level=_LEVELS.get(record.level, LogLevel.UNSPECIFIED),
            message=message(record, time),
            timestamp=time,
            trial_id=self._scope.trial_id or 0,
            agent_id=origin.agent_id,
            container_id=origin.container_id,
            log=record.text,
            rank_id=origin.rank,
            source=origin.source,
            stdtype=origin.stdtype,
        )


def place_of(line_id: int) -> tuple[int, int]:
    """Return which task of its scope, and which line of that task, an id on the wire means."""
    return divmod(line_id, _IDS_PER_TASK)


def message(record: LogRecord, time: str) -> str:
    """`[2022-03-02T02:15:18.299569Z] f6114bb3 [rank=1] || INFO: text` and a newline."""
    container = (record.origin.container_id or "")[:_SHORT_ID].ljust(_SHORT_ID)
    rank = "" if record.origin.rank is None else f"[rank={record.origin.rank}] "
    level = f"{record.level}: " if record.level else ""
    return f"[{time}] {container} {rank}|| {level}{record.text}\n"
