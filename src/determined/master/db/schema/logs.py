"""Tables of log lines, packed in chunks."""

from datetime import datetime

from sqlalchemy import BigInteger, Column, ForeignKey, Named, Table

from determined.master.db.schema.base import Columns, Time, metadata


class LogChunkColumns(Columns):
    """Compressed batches of lines (master/db/log_chunk.py). `levels` is a bit mask; filters skip chunks by it."""

    task_id: Named[str] = Column(ForeignKey("tasks.id", ondelete="CASCADE"), primary_key=True)
    first_id: Named[int] = Column(BigInteger, primary_key=True)
    n: Named[int]
    min_time: Named[datetime] = Column(Time)
    max_time: Named[datetime] = Column(Time)
    levels: Named[int]
    data: Named[bytes]


log_chunks = Table("log_chunks", metadata, LogChunkColumns)
