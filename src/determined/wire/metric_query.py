"""Requests for metrics as charts and as streams. Only the master and the page use them: clients need not load this."""

from typing import Annotated, Literal, cast

from msgspec import Meta, field

from determined.wire.base import MAX_INT64, Position
from determined.wire.log import Follow
from determined.wire.metric import (
    BucketedTrialsResponse,
    CompareTrialsResponse,
    ExpMetricNamesResponse,
    GetMetricsResponse,
    GetTrialProfilerAvailableSeriesResponse,
    GetTrialProfilerMetricsResponse,
    MetricBatchesResponse,
    MetricSeriesResponse,
    SeriesAxis,
    TrialIds,
    TrialProfilerMetricLabelsProfilerMetricType,
)
from determined.wire.operation import Operation, Query, StreamOperation
from determined.wire.trial import MetricType, TrialsSampleResponse, TrialsSnapshotResponse
from determined.wire.upstream import Ours, UpstreamOptional

MAX_POINTS = 2000  # a chart of more would be larger than 200 KB and finer than any screen
DEFAULT_POINTS = 1000
DEFAULT_PERIOD = 30  # seconds


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
    sampling: Ours[Annotated[Literal["bucket"] | None, Meta(description="bucket: columns of buckets.")]] = None
    x_axis: Ours[Annotated[SeriesAxis, Meta(description="What buckets lie along.")]] = SeriesAxis.BATCH
    start: Ours[Annotated[float | None, Meta(description="First value of the axis.")]] = None
    end: Ours[Annotated[float | None, Meta(description="Last value of the axis.")]] = None
    since: Ours[
        Annotated[
            list[str] | None,
            Meta(description="What was read before, as `<trial>/<group>/<token>` of an earlier answer."),
        ]
    ] = None


Period = Annotated[int, Meta(ge=0, le=86400, description="Seconds between two lines.")]
Batches = Annotated[int, Meta(ge=0, le=2**53)]


class StreamMetricNames(Query):
    ids: Annotated[list[int], Meta(description="Experiments to read.")]
    period_seconds: Period = DEFAULT_PERIOD


class StreamMetricBatches(Query):
    """Query of one metric of an experiment."""

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
    name: UpstreamOptional[str] = field(name="labels.name")
    agent_id: str | None = field(name="labels.agentId", default=None)
    gpu_uuid: str | None = field(name="labels.gpuUuid", default=None)
    metric_type: TrialProfilerMetricLabelsProfilerMetricType | None = field(name="labels.metricType", default=None)
    follow: Annotated[bool, Meta(description="Go on with what is new until the trial ends.")] = False
    after: Ours[
        Annotated[Annotated[int, Meta(ge=-1, lt=MAX_INT64)] | None, Meta(description="Only points after this one.")]
    ] = None


GET_METRIC_SERIES = Operation(
    "GET", "/api/v1/trials/{trial_id:int}/metrics/series", GetMetricSeries, MetricSeriesResponse, ours=True
)
COMPARE_TRIALS = Operation(
    "GET",
    "/api/v1/trials/time-series",
    CompareTrials,
    cast(type[CompareTrialsResponse | BucketedTrialsResponse], CompareTrialsResponse | BucketedTrialsResponse),
    rpc="CompareTrials",
)
DOWNLOAD_METRICS = Operation("GET", "/api/v1/trials/time-series.csv", DownloadMetrics, str, ours=True)
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
    "GET",
    "/api/v1/trials/{trial_id:int}/profiler/metrics",
    StreamProfilerMetrics,
    GetTrialProfilerMetricsResponse,
    id_names=("labels_trialId",),
)
STREAM_TRAINING_METRICS = StreamOperation(
    "GET", "/api/v1/trials/metrics/training_metrics", TrialIds, GetMetricsResponse, rpc="GetTrainingMetrics"
)
STREAM_VALIDATION_METRICS = StreamOperation(
    "GET", "/api/v1/trials/metrics/validation_metrics", TrialIds, GetMetricsResponse, rpc="GetValidationMetrics"
)
