"""Filter of log lines, applied to one stored chunk: by origin first, then level and time, then text. Pure."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from determined.master.db import log_chunk
from determined.master.db.log_chunk import Lines, Origin

NO_RANK = -1  # as a rank filter: lines of no rank


@dataclass(frozen=True, slots=True)
class LogRecord:
    """Stored line. `time` is microseconds since the epoch, `level` a name of log_chunk.LEVELS."""

    id: int
    time: int
    level: str
    origin: Origin
    text: str


@dataclass(frozen=True, slots=True)
class LogFilter:
    """Empty means "all". `after` is exclusive, `before` inclusive; `pattern` is a compiled RE2 over UTF-8."""

    allocation_ids: frozenset[str] = frozenset()
    agent_ids: frozenset[str] = frozenset()
    container_ids: frozenset[str] = frozenset()
    rank_ids: frozenset[int] = frozenset()
    stdtypes: frozenset[str] = frozenset()
    sources: frozenset[str] = frozenset()
    levels: frozenset[int] = frozenset()  # codes: indices of log_chunk.LEVELS
    after: datetime | None = None
    before: datetime | None = None
    text: str | None = None
    pattern: Any = None

    def pick(self, first_id: int, data: bytes) -> list[LogRecord]:
        """Return the wanted lines of a chunk, in order."""
        if not any(self._wants_origin(origin) for origin in log_chunk.origins(data)):
            return []
        lines = log_chunk.decode(data)
        origins, levels = lines.origins, log_chunk.LEVELS
        return [
            LogRecord(first_id + i, lines.times[i], levels[lines.levels[i]], origins[lines.origin[i]], lines.texts[i])
            for i in self._indices(lines)
        ]

    def _indices(self, lines: Lines) -> Sequence[int]:
        indices: Sequence[int] = range(len(lines.texts))
        good = {i for i, origin in enumerate(lines.origins) if self._wants_origin(origin)}
        if len(good) < len(lines.origins):
            indices = [i for i in indices if lines.origin[i] in good]
        if self.levels:
            indices = [i for i in indices if lines.levels[i] in self.levels]
        if self.after is not None:
            after = log_chunk.to_micros(self.after)
            indices = [i for i in indices if lines.times[i] > after]
        if self.before is not None:
            before = log_chunk.to_micros(self.before)
            indices = [i for i in indices if lines.times[i] <= before]
        return self._by_text(lines, indices)

    def _by_text(self, lines: Lines, indices: Sequence[int]) -> Sequence[int]:
        if self.pattern is not None:
            return [i for i in indices if self.pattern.search(lines.texts[i].encode())]
        if self.text:
            plain = re.compile(re.escape(self.text), re.IGNORECASE)
            return [i for i in indices if plain.search(lines.texts[i])]
        return indices

    def _wants_origin(self, origin: Origin) -> bool:
        rank = NO_RANK if origin.rank is None else origin.rank
        return (
            _fits(origin.allocation_id, self.allocation_ids)
            and _fits(origin.agent_id, self.agent_ids)
            and _fits(origin.container_id, self.container_ids)
            and _fits(origin.stdtype, self.stdtypes)
            and _fits(origin.source, self.sources)
            and (not self.rank_ids or rank in self.rank_ids)
        )


def _fits(value: str | None, wanted: frozenset[str]) -> bool:
    return not wanted or value in wanted
