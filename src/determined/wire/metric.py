"""Metrics, progress and profiler series."""

from enum import StrEnum
from typing import Annotated, Any, Literal, cast

from msgspec import Meta, field

from determined._json import JsonObject
from determined.wire.base import MAX_INT64, Position
from determined.wire.checkpoint import Metrics
from determined.wire.codec import Wire
from determined.wire.log import Follow
from determined.wire.operation import Nothing, Operation, Query, StreamOperation
from determined.wire.trial import (
    DataPoint,
    MetricType,
    Trial,
    TrialSourceInfoType,
    TrialsSampleResponse,
    TrialsSnapshotResponse,
)

MAX_POINTS = 2000  # a chart of more would be larger than 200 KB and finer than any screen
DEFAULT_POINTS = 1000
DEFAULT_PERIOD = 30  # seconds


class MetricsReport(Wire):
    archived: bool
    end_time: str
    group: str
    id: int
    metrics: dict[str, Any]
    total_batches: int
    trial_id: int
    trial_run_id: int


class GetMetricsResponse(Wire):
    metrics: list[MetricsReport]


class GetTrainingMetricsResponse(Wire):
    metrics: list[MetricsReport]


class GetValidationMetricsResponse(Wire):
    metrics: list[MetricsReport]


class TrialMetrics(Wire):
    metrics: Metrics
    trial_id: int
    trial_run_id: int
    report_time: str | None = None
    steps_completed: int | None = None


class ReportTrialMetricsRequest(Wire):
    group: str
    metrics: TrialMetrics


class DownsampledMetrics(Wire):
    data: list[DataPoint]
    group: str
    type: MetricType


class ComparableTrial(Wire):
    metrics: list[DownsampledMetrics]
    trial: Trial


class CompareTrialsResponse(Wire):
    trials: list[ComparableTrial]


class SeriesAxis(StrEnum):
    BATCH = "batch"
    EPOCH = "epoch"
    TIME = "time"  # seconds since 1970


class MetricBuckets(Wire):
    """One series as columns of equal length. A bucket stands for `count` points: the last of them and their extremes.

    NaN and infinities are strings; they count as `last`, not as extremes. `exact`: every bucket is one point.
    `notFinite`: how many points of each bucket are NaN or infinite; empty when none is.
    """

    name: str
    group: str
    x: list[float | str]
    last: list[float | str]
    min: list[float | str]
    max: list[float | str]
    count: list[int]
    exact: bool
    total: int
    not_finite: list[int]


class SeriesPosition(Wire):
    """How far the reports of a group were read. Sent back as `since=<trial>/<group>/<token>`, only what is new comes.

    `continues`: what came goes on where the token was; otherwise it is everything (a trial that started over, a late
    report, no token).
    """

    group: str
    token: str
    continues: bool


class BucketedTrial(Wire):
    trial_id: int
    metrics: list[MetricBuckets]
    positions: list[SeriesPosition]


class BucketedTrialsResponse(Wire):
    trials: list[BucketedTrial]


class MetricBatchesResponse(Wire):
    batches: list[int] | None = None


class MetricIdentifier(Wire):
    group: str
    name: str


class ExpMetricNamesResponse(Wire):
    metric_names: list[MetricIdentifier] | None = None
    searcher_metrics: list[str] | None = None
    training_metrics: list[str] | None = None
    validation_metrics: list[str] | None = None


class TrialProfilerMetricLabelsProfilerMetricType(StrEnum):
    UNSPECIFIED = "PROFILER_METRIC_TYPE_UNSPECIFIED"
    SYSTEM = "PROFILER_METRIC_TYPE_SYSTEM"
    TIMING = "PROFILER_METRIC_TYPE_TIMING"
    MISC = "PROFILER_METRIC_TYPE_MISC"


class TrialProfilerMetricLabels(Wire):
    name: str
    trial_id: int
    agent_id: str | None = None
    gpu_uuid: str | None = None
    metric_type: TrialProfilerMetricLabelsProfilerMetricType | None = None


class GetTrialProfilerAvailableSeriesResponse(Wire):
    labels: list[TrialProfilerMetricLabels]


class TrialProfilerMetricsBatch(Wire):
    batches: list[int]
    labels: TrialProfilerMetricLabels
    timestamps: list[str]
    values: list[float]


class GetTrialProfilerMetricsResponse(Wire):
    batch: TrialProfilerMetricsBatch


class PostTrialProfilerMetricsBatchRequest(Wire):
    batches: list[TrialProfilerMetricsBatch] | None = None


class GetTrialMetricsByCheckpointResponse(Wire):
    metrics: list[MetricsReport]


class MetricSeriesResponse(Wire):
    """Ours: one metric as columns of equal length. Point i stands for a bucket: `last` was reported at steps[i] and
    times[i] (seconds since the epoch); `exact` says that no bucket holds more than one report."""

    trial_id: int
    group: str
    name: str
    exact: bool
    total: int
    steps: list[int]
    times: list[float]
    last: list[Any]
    min: list[Any]
    max: list[Any]


class TrialIds(Query):
    trial_ids: Annotated[list[int], Meta(description="Trials to read.")]


class StreamMetrics(TrialIds):
    group: Annotated[str | None, Meta(description="training, validation or a group of your own; all by default.")] = (
        None
    )


class GetMetricSeries(Query):
    name: Annotated[str, Meta(description="Name of the metric.")]
    group: Annotated[str, Meta(description="Its group.")] = "training"
    first: Annotated[Position | None, Meta(description="First step.")] = field(name="from", default=None)
    last: Annotated[Position | None, Meta(description="Last step.")] = field(name="to", default=None)
    points: Annotated[int, Meta(ge=1, le=MAX_POINTS, description="Buckets at most.")] = DEFAULT_POINTS


class DownloadMetrics(TrialIds):
    metric_ids: Annotated[list[str], Meta(description="`<group>.<name>` of each metric.")]


class CompareTrials(TrialIds):
    """Series of several trials; `sampling=bucket` answers columns, whose `start` and `end` are values of the axis."""

    metric_ids: Annotated[list[str] | None, Meta(description="`<group>.<name>` of each metric.")] = None
    metric_names: Annotated[list[str] | None, Meta(description="Names of metrics of `group`.")] = None
    group: Annotated[str | None, Meta(description="Group of `metricNames`; training and validation by default.")] = None
    metric_type: Annotated[MetricType | None, Meta(description="The same, as older clients say it.")] = None
    start_batches: Annotated[Position | None, Meta(description="First batch.")] = None
    end_batches: Annotated[Position | None, Meta(description="Last batch.")] = None
    max_datapoints: Annotated[Position | None, Meta(description="Points at most.")] = None
    sampling: Annotated[Literal["bucket"] | None, Meta(description="bucket: columns of buckets.")] = None
    x_axis: Annotated[SeriesAxis, Meta(description="What buckets lie along.")] = SeriesAxis.BATCH
    start: Annotated[float | None, Meta(description="First value of the axis.")] = None
    end: Annotated[float | None, Meta(description="Last value of the axis.")] = None
    since: Annotated[
        list[str] | None, Meta(description="What was read before, as `<trial>/<group>/<token>` of an earlier answer.")
    ] = None


class GetCheckpointMetrics(Query):
    trial_source_info_type: TrialSourceInfoType | None = None
    metric_group: str | None = None


Period = Annotated[int, Meta(ge=0, le=86400, description="Seconds between two lines.")]
Batches = Annotated[int, Meta(ge=0, le=2**53)]


class StreamMetricNames(Query):
    ids: Annotated[list[int], Meta(description="Experiments to read.")]
    period_seconds: Period = DEFAULT_PERIOD


class StreamMetricBatches(Query):
    """One metric of an experiment."""

    metric_name: str
    group: str | None = None
    metric_type: MetricType | None = None
    period_seconds: Period = DEFAULT_PERIOD


class StreamTrialsSnapshot(StreamMetricBatches, kw_only=True):
    """The metric of every trial at about one step."""

    batches_processed: Batches
    batches_margin: Batches = 0


class StreamTrialsSample(StreamMetricBatches):
    """Series of the best trials."""

    max_trials: Annotated[int, Meta(ge=0, le=1000)] = 0
    max_datapoints: Position = 0
    start_batches: Position | None = None
    end_batches: Position | None = None


class StreamProfilerMetrics(Query):
    name: str = field(name="labels.name")
    agent_id: str | None = field(name="labels.agentId", default=None)
    gpu_uuid: str | None = field(name="labels.gpuUuid", default=None)
    metric_type: TrialProfilerMetricLabelsProfilerMetricType | None = field(name="labels.metricType", default=None)
    follow: Annotated[bool, Meta(description="Go on with what is new until the trial ends.")] = False
    after: Annotated[
        Annotated[int, Meta(ge=-1, lt=MAX_INT64)] | None, Meta(description="Only points after this one.")
    ] = None


REPORT_METRICS = Operation("POST", "/api/v1/trials/{trial_id:int}/metrics", JsonObject, Nothing)
REPORT_TRAINING_METRICS = Operation("POST", "/api/v1/trials/{trial_id:int}/training_metrics", JsonObject, Nothing)
REPORT_VALIDATION_METRICS = Operation("POST", "/api/v1/trials/{trial_id:int}/validation_metrics", JsonObject, Nothing)
STREAM_METRICS = StreamOperation("GET", "/api/v1/trials/metrics/trial_metrics", StreamMetrics, GetMetricsResponse)
STREAM_TRAINING_METRICS = StreamOperation(
    "GET", "/api/v1/trials/metrics/training_metrics", TrialIds, GetMetricsResponse
)
STREAM_VALIDATION_METRICS = StreamOperation(
    "GET", "/api/v1/trials/metrics/validation_metrics", TrialIds, GetMetricsResponse
)
GET_METRIC_SERIES = Operation(
    "GET", "/api/v1/trials/{trial_id:int}/metrics/series", GetMetricSeries, MetricSeriesResponse
)
COMPARE_TRIALS = Operation(
    "GET",
    "/api/v1/trials/time-series",
    CompareTrials,
    cast(type[CompareTrialsResponse | BucketedTrialsResponse], CompareTrialsResponse | BucketedTrialsResponse),
)
DOWNLOAD_METRICS = Operation("GET", "/api/v1/trials/time-series.csv", DownloadMetrics, str)
GET_CHECKPOINT_METRICS = Operation(
    "GET",
    "/api/v1/checkpoints/{checkpoint_uuid:str}/metrics",
    GetCheckpointMetrics,
    GetTrialMetricsByCheckpointResponse,
)
STREAM_METRIC_NAMES = StreamOperation(
    "GET", "/api/v1/experiments/metrics-stream/metric-names", StreamMetricNames, ExpMetricNamesResponse
)
STREAM_METRIC_BATCHES = StreamOperation(
    "GET", "/api/v1/experiments/{experiment_id:int}/metrics-stream/batches", StreamMetricBatches, MetricBatchesResponse
)
STREAM_TRIALS_SNAPSHOT = StreamOperation(
    "GET",
    "/api/v1/experiments/{experiment_id:int}/metrics-stream/trials-snapshot",
    StreamTrialsSnapshot,
    TrialsSnapshotResponse,
)
STREAM_TRIALS_SAMPLE = StreamOperation(
    "GET",
    "/api/v1/experiments/{experiment_id:int}/metrics-stream/trials-sample",
    StreamTrialsSample,
    TrialsSampleResponse,
)
STREAM_PROFILER_SERIES = StreamOperation(
    "GET", "/api/v1/trials/{trial_id:int}/profiler/available_series", Follow, GetTrialProfilerAvailableSeriesResponse
)
STREAM_PROFILER_METRICS = StreamOperation(
    "GET", "/api/v1/trials/{trial_id:int}/profiler/metrics", StreamProfilerMetrics, GetTrialProfilerMetricsResponse
)
REPORT_PROFILER_METRICS = Operation(
    "POST", "/api/v1/trials/profiler/metrics", PostTrialProfilerMetricsBatchRequest, Nothing
)
