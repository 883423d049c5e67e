"""Tables of metrics, packed in chunks."""

from sqlalchemy import JSON, BigInteger, Column, Float, ForeignKey, Index, Named, Table, false

from determined._json import JsonValue
from determined.master.db.schema.base import Columns, Id, metadata


class MetricChunkColumns(Columns):
    """Consecutive reports of one trial, run and group, columnar and packed (master/db/metric_chunk.py)."""

    id: Named[int] = Column(Id, primary_key=True, autoincrement=True)
    trial_id: Named[int] = Column(Id, ForeignKey("trials.id", ondelete="CASCADE"))
    run_id: Named[int]
    group: Named[str]
    first_step: Named[int] = Column(BigInteger)
    last_step: Named[int] = Column(BigInteger)
    n: Named[int]
    full: Named[bool] = Column(server_default=false())
    data: Named[bytes]


metric_chunks = Table(
    "metric_chunks",
    metadata,
    MetricChunkColumns,
    Index("ix_metric_chunks_series", "trial_id", "group", "run_id", "first_step"),
    sqlite_autoincrement=True,
)


class MetricWatermarkColumns(Columns):
    """First step that a run reported per group. It archives rows of earlier runs at later steps without a rewrite."""

    trial_id: Named[int] = Column(Id, ForeignKey("trials.id", ondelete="CASCADE"), primary_key=True)
    run_id: Named[int] = Column(primary_key=True)
    group: Named[str] = Column(primary_key=True)
    first_step: Named[int] = Column(BigInteger)  # -1: reports without steps, numbered in order
    last_step: Named[int] = Column(BigInteger)
    tail_id: Named[int | None] = Column(Id)  # the chunk that the next report of this series is added to


metric_watermarks = Table("metric_watermarks", metadata, MetricWatermarkColumns)


class MetricSummaryColumns(Columns):
    trial_id: Named[int] = Column(Id, ForeignKey("trials.id", ondelete="CASCADE"), primary_key=True)
    group: Named[str] = Column(primary_key=True)
    name: Named[str] = Column(primary_key=True)
    type: Named[str]  # number, string, boolean, date, object, array, null
    count: Named[int] = Column(BigInteger)  # finite numbers only feed sum/min/max
    sum: Named[float | None] = Column(Float)
    min: Named[float | None] = Column(Float)
    max: Named[float | None] = Column(Float)
    last: Named[JsonValue] = Column(JSON, nullable=True)  # NaN and infinities as strings
    last_step: Named[int | None] = Column(BigInteger)


metric_summaries = Table(
    "metric_summaries", metadata, MetricSummaryColumns, Index("ix_metric_summaries_name", "group", "name", "trial_id")
)


class MetricRangeColumns(Columns):
    """Lowest and highest value of a numeric metric over the trials of an experiment, from metric_summaries."""

    experiment_id: Named[int] = Column(Id, ForeignKey("experiments.id", ondelete="CASCADE"), primary_key=True)
    group: Named[str] = Column(primary_key=True)
    name: Named[str] = Column(primary_key=True)
    min: Named[float] = Column(Float)
    max: Named[float] = Column(Float)


metric_ranges = Table("metric_ranges", metadata, MetricRangeColumns)
