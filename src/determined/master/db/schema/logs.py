"""Tables of log lines, packed in chunks."""

from sqlalchemy import BigInteger, Column, ForeignKey, Integer, LargeBinary, Table

from determined.master.db.schema.base import Time, metadata

# One compressed batch of lines (master/db/log_chunk.py). `levels` is a bit mask; filters skip chunks by it.
log_chunks = Table(
    "log_chunks",
    metadata,
    Column("task_id", ForeignKey("tasks.id", ondelete="CASCADE"), primary_key=True),
    Column("first_id", BigInteger, primary_key=True),
    Column("n", Integer, nullable=False),
    Column("min_time", Time, nullable=False),
    Column("max_time", Time, nullable=False),
    Column("levels", Integer, nullable=False),
    Column("data", LargeBinary, nullable=False),
)
