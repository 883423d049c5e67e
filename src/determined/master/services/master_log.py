"""The master's own log, its newest lines kept in memory for `det master logs`."""

import logging
import sys
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from datetime import UTC, datetime

from determined._json import JsonObject
from determined.master.bus import Bus
from determined.wire.codec import rfc3339, to_json
from determined.wire.log import LogEntry, LogLevel

_KEPT = 10_000  # lines
_POLL_SECONDS = 0.5  # log records come from any thread, where the bus must not be touched

_LEVELS = {
    "DEBUG": LogLevel.DEBUG,
    "INFO": LogLevel.INFO,
    "WARNING": LogLevel.WARNING,
    "ERROR": LogLevel.ERROR,
    "CRITICAL": LogLevel.CRITICAL,
}


class JsonFormatter(logging.Formatter):
    """Formatter of one JSON object per line: time, level, logger, message, `fields` of the record, any traceback."""

    def format(self, record: logging.LogRecord) -> str:
        entry: JsonObject = {
            "time": rfc3339(datetime.fromtimestamp(record.created, UTC)),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
        }
        entry.update(getattr(record, "fields", {}))
        if record.exc_info:
            entry["traceback"] = self.formatException(record.exc_info)
        return to_json(entry).decode()


class LogRing(logging.Handler):
    """A logging handler that remembers the last lines, numbered from 1."""

    def __init__(self) -> None:
        super().__init__()
        self._entries: deque[LogEntry] = deque(maxlen=_KEPT)
        self._next = 1

    def emit(self, record: logging.LogRecord) -> None:
        entry = LogEntry(
            id=self._next,
            level=_LEVELS.get(record.levelname, LogLevel.UNSPECIFIED),
            message=self.format(record),
            timestamp=rfc3339(datetime.fromtimestamp(record.created, UTC)),
        )
        self._next += 1
        self._entries.append(entry)

    def after(self, number: int) -> list[LogEntry]:
        """Return entries with an id above `number`, oldest first."""
        return [entry for entry in list(self._entries) if entry.id > number]


async def stream(ring: LogRing, bus: Bus, *, offset: int, limit: int, follow: bool) -> AsyncIterator[LogEntry]:
    """Stream from the `offset`-th kept line on (negative: from the end), at most `limit` (0: all), then new ones."""
    left = limit or sys.maxsize
    async with aclosing(_batches(ring, bus, offset, follow)) as batches:
        async for batch in batches:
            for entry in batch[:left]:
                yield entry
            left -= len(batch)
            if left <= 0:
                return


async def _batches(ring: LogRing, bus: Bus, offset: int, follow: bool) -> AsyncGenerator[list[LogEntry], None]:
    kept = ring.after(0)
    yield kept[offset:]
    last = kept[-1].id if kept else 0
    async with bus.listen("master_logs") as listener:
        while follow and not bus.closed:
            await listener.wait(_POLL_SECONDS)
            fresh = ring.after(last)
            last = fresh[-1].id if fresh else last
            yield fresh
