"""Metrics, progress and profiler series."""

from enum import StrEnum
from typing import Annotated, Any

from msgspec import Meta

from determined._json import JsonObject
from determined.wire.codec import Wire
from determined.wire.operation import Nothing, Operation, Query, StreamOperation
from determined.wire.trial import (
    DataPoint,
    MetricType,
    Trial,
    TrialSourceInfoType,
)
from determined.wire.upstream import UpstreamRequired


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
    """Series as columns of equal length. A bucket stands for `count` points: the last of them and their extremes.

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
    """Position in the reports of a group. Sent back as `since=<trial>/<group>/<token>`, only what is new comes.

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
    __upstream__ = "TrialProfilerMetricLabelsProfilerMetricType"

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
    """Metric as columns of equal length, our own. Point i is a bucket: `last` was reported at steps[i] and
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
    group: UpstreamRequired[
        Annotated[str | None, Meta(description="training, validation or a group of your own; all by default.")]
    ] = None


class GetCheckpointMetrics(Query):
    trial_source_info_type: TrialSourceInfoType | None = None
    metric_group: str | None = None


REPORT_METRICS = Operation(
    "POST",
    "/api/v1/trials/{trial_id:int}/metrics",
    JsonObject,
    Nothing,
    rpc="ReportTrialMetrics",
    id_names=("metrics_trialId",),
)
REPORT_TRAINING_METRICS = Operation(
    "POST",
    "/api/v1/trials/{trial_id:int}/training_metrics",
    JsonObject,
    Nothing,
    rpc="ReportTrialTrainingMetrics",
    id_names=("trainingMetrics_trialId",),
)
REPORT_VALIDATION_METRICS = Operation(
    "POST",
    "/api/v1/trials/{trial_id:int}/validation_metrics",
    JsonObject,
    Nothing,
    rpc="ReportTrialValidationMetrics",
    id_names=("validationMetrics_trialId",),
)
STREAM_METRICS = StreamOperation("GET", "/api/v1/trials/metrics/trial_metrics", StreamMetrics, GetMetricsResponse)
GET_CHECKPOINT_METRICS = Operation(
    "GET",
    "/api/v1/checkpoints/{checkpoint_uuid:str}/metrics",
    GetCheckpointMetrics,
    GetTrialMetricsByCheckpointResponse,
)
REPORT_PROFILER_METRICS = Operation(
    "POST",
    "/api/v1/trials/profiler/metrics",
    PostTrialProfilerMetricsBatchRequest,
    Nothing,
    rpc="PostTrialProfilerMetricsBatch",
)
