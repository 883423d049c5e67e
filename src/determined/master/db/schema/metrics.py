"""Tables of metrics, packed in chunks."""

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    String,
    Table,
    false,
)

from determined.master.db.schema.base import Id, metadata

# A run of reports of one trial, run and group, columnar and packed (master/db/metric_chunk.py).
metric_chunks = Table(
    "metric_chunks",
    metadata,
    Column("id", Id, primary_key=True, autoincrement=True),
    Column("trial_id", ForeignKey("trials.id", ondelete="CASCADE"), nullable=False),
    Column("run_id", Integer, nullable=False),
    Column("group", String, nullable=False),
    Column("first_step", BigInteger, nullable=False),
    Column("last_step", BigInteger, nullable=False),
    Column("n", Integer, nullable=False),
    Column("full", Boolean, nullable=False, server_default=false()),
    Column("data", LargeBinary, nullable=False),
    Index("ix_metric_chunks_series", "trial_id", "group", "run_id", "first_step"),
    sqlite_autoincrement=True,
)

# The first step a run reported per group: rows of earlier runs at later steps are archived by it, not rewritten.
metric_watermarks = Table(
    "metric_watermarks",
    metadata,
    Column("trial_id", ForeignKey("trials.id", ondelete="CASCADE"), primary_key=True),
    Column("run_id", Integer, primary_key=True),
    Column("group", String, primary_key=True),
    Column("first_step", BigInteger, nullable=False),  # -1: reports without steps, numbered in order
    Column("last_step", BigInteger, nullable=False),
    Column("tail_id", Id),  # the chunk that the next report of this series is added to
)

metric_summaries = Table(
    "metric_summaries",
    metadata,
    Column("trial_id", ForeignKey("trials.id", ondelete="CASCADE"), primary_key=True),
    Column("group", String, primary_key=True),
    Column("name", String, primary_key=True),
    Column("type", String, nullable=False),  # number, string, boolean, date, object, array, null
    Column("count", BigInteger, nullable=False),  # finite numbers only feed sum/min/max
    Column("sum", Float),
    Column("min", Float),
    Column("max", Float),
    Column("last", JSON),  # NaN and infinities as strings
    Column("last_step", BigInteger),
    Index("ix_metric_summaries_name", "group", "name", "trial_id"),
)

# The lowest and the highest of a metric of numbers over the trials of an experiment, from metric_summaries.
metric_ranges = Table(
    "metric_ranges",
    metadata,
    Column("experiment_id", ForeignKey("experiments.id", ondelete="CASCADE"), primary_key=True),
    Column("group", String, primary_key=True),
    Column("name", String, primary_key=True),
    Column("min", Float, nullable=False),
    Column("max", Float, nullable=False),
)
