"""Log lines: text for bytes, a record per physical line."""

import re

from determined.master.db.log_chunk import LEVEL_CODES, Origin
from determined.master.importing.sources.upstream.reading.logs import LogRow
from determined.wire.report import LogLine

_FORMATTED = re.compile(
    r"^\[[^\]]*\] \S* ?(?:\[rank=(?P<rank>\d+)\] )?\|\| (?:(?P<level>[A-Z]+): )?(?P<text>.*)$", re.DOTALL
)
_BAD = "�"


def map_line(row: LogRow) -> tuple[list[tuple[Origin, LogLine]], bool]:
    """Return the records of a row, and whether bytes of it were no text."""
    text, is_bad = _text(row.log if row.log is not None else row.message or b"")
    level, rank = row.level, row.rank_id
    if row.log is None and (match := _FORMATTED.match(text)):
        text, level = match["text"], level or match["level"]
        rank = rank if rank is not None or match["rank"] is None else int(match["rank"])
    origin = Origin(
        row.allocation_id, row.container_id, row.agent_id, rank, row.stdtype or "stdout", row.source or "task"
    )
    time = row.time.timestamp() if row.time else 0.0
    level_name = level if level in LEVEL_CODES else None
    lines = text.removesuffix("\n").split("\n")
    return [(origin, LogLine(line, time, origin.stdtype, level_name, rank, origin.source)) for line in lines], is_bad


def _text(raw: bytes) -> tuple[str, bool]:
    try:
        text = bytes(raw).decode()
        is_bad = False
    except UnicodeDecodeError:
        text, is_bad = bytes(raw).decode(errors="replace"), True
    return (text.replace("\0", _BAD), True) if "\0" in text else (text, is_bad)
