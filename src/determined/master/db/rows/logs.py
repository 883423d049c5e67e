"""Rows of log lines, packed in chunks.

Written by scripts/make_rows.py from db/schema/logs.py; do not edit.
"""

from datetime import datetime
from typing import TypedDict


class LogChunkValues(TypedDict, total=False):
    task_id: str
    first_id: int
    n: int
    min_time: datetime
    max_time: datetime
    levels: int
    data: bytes
