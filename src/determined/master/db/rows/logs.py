"""Rows of log lines, packed in chunks.

Written by scripts/make_rows.py from db/schema/logs.py; do not edit.
"""

from datetime import datetime
from typing import TypedDict

import msgspec


class LogChunk(msgspec.Struct, frozen=True):
    """Compressed batches of lines (master/db/log_chunk.py). `levels` is a bit mask; filters skip chunks by it."""

    task_id: str
    first_id: int
    n: int
    min_time: datetime
    max_time: datetime
    levels: int
    data: bytes


class LogChunkValues(TypedDict, total=False):
    task_id: str
    first_id: int
    n: int
    min_time: datetime
    max_time: datetime
    levels: int
    data: bytes
