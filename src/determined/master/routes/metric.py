"""Metrics: reported by older harnesses, read as reports, charts and streams."""

from litestar.response import Stream

from determined._json import JsonObject
from determined.errors import Conflict, FailedPrecondition, InvalidArgument
from determined.master.auth.identity import Caller
from determined.master.auth.permission import ANY_USER, OWNER_OR_TRIAL, USER_OR_EXPERIMENT
from determined.master.context import MasterContext
from determined.master.routes.limits import REPORT_BODY
from determined.master.routes.metric_body import Reported, profiled, reported
from determined.master.routes.metric_params import bucket_query, compare_query, metric_of, sample_query
from determined.master.routes.request import AnyRequest
from determined.master.routes.serve import serve
from determined.master.routes.streaming import ndjson
from determined.master.services import metric as metrics
from determined.master.services import (
    metric_buckets,
    metric_compare,
    metric_csv,
    metric_profiler,
    metric_streams,
    model_lineage,
)
from determined.wire.log import Follow
from determined.wire.metric import (
    GET_CHECKPOINT_METRICS,
    REPORT_METRICS,
    REPORT_PROFILER_METRICS,
    REPORT_TRAINING_METRICS,
    REPORT_VALIDATION_METRICS,
    STREAM_METRICS,
    BucketedTrialsResponse,
    CompareTrialsResponse,
    GetCheckpointMetrics,
    GetMetricsResponse,
    GetTrialMetricsByCheckpointResponse,
    MetricSeriesResponse,
    PostTrialProfilerMetricsBatchRequest,
    StreamMetrics,
    TrialIds,
    TrialProfilerMetricLabels,
)
from determined.wire.metric_query import (
    COMPARE_TRIALS,
    DOWNLOAD_METRICS,
    GET_METRIC_SERIES,
    STREAM_METRIC_BATCHES,
    STREAM_METRIC_NAMES,
    STREAM_PROFILER_METRICS,
    STREAM_PROFILER_SERIES,
    STREAM_TRAINING_METRICS,
    STREAM_TRIALS_SAMPLE,
    STREAM_TRIALS_SNAPSHOT,
    STREAM_VALIDATION_METRICS,
    CompareTrials,
    DownloadMetrics,
    GetMetricSeries,
    StreamMetricBatches,
    StreamMetricNames,
    StreamProfilerMetrics,
    StreamTrialsSample,
    StreamTrialsSnapshot,
)


@serve(REPORT_METRICS, OWNER_OR_TRIAL, max_body=REPORT_BODY, errors=(Conflict, FailedPrecondition))
async def report_metrics(payload: JsonObject, ctx: MasterContext, caller: Caller, trial_id: int) -> None:
    group = payload.get("group")
    if not isinstance(group, str) or not isinstance(payload.get("metrics"), dict):
        raise InvalidArgument("the report needs a `group` and `metrics`")
    await _report(ctx, caller, trial_id, reported(group, payload["metrics"], ctx.clock.now()))


@serve(REPORT_TRAINING_METRICS, OWNER_OR_TRIAL, max_body=REPORT_BODY, errors=(Conflict, FailedPrecondition))
async def report_training(payload: JsonObject, ctx: MasterContext, caller: Caller, trial_id: int) -> None:
    await _report(ctx, caller, trial_id, reported("training", payload, ctx.clock.now()))


@serve(REPORT_VALIDATION_METRICS, OWNER_OR_TRIAL, max_body=REPORT_BODY, errors=(Conflict, FailedPrecondition))
async def report_validation(payload: JsonObject, ctx: MasterContext, caller: Caller, trial_id: int) -> None:
    await _report(ctx, caller, trial_id, reported("validation", payload, ctx.clock.now()))


@serve(STREAM_METRICS, ANY_USER)
async def get_metrics(ctx: MasterContext, params: StreamMetrics) -> Stream:
    return await _reports(ctx, params.trial_ids, params.group or None)


@serve(STREAM_TRAINING_METRICS, ANY_USER)
async def get_training_metrics(ctx: MasterContext, params: TrialIds) -> Stream:
    return await _reports(ctx, params.trial_ids, "training")


@serve(STREAM_VALIDATION_METRICS, ANY_USER)
async def get_validation_metrics(ctx: MasterContext, params: TrialIds) -> Stream:
    return await _reports(ctx, params.trial_ids, "validation")


@serve(GET_METRIC_SERIES, USER_OR_EXPERIMENT)
async def get_series(ctx: MasterContext, trial_id: int, params: GetMetricSeries) -> MetricSeriesResponse:
    return await metrics.series(ctx, trial_id, params)


@serve(COMPARE_TRIALS, ANY_USER)
async def compare_trials(
    request: AnyRequest, ctx: MasterContext, params: CompareTrials
) -> CompareTrialsResponse | BucketedTrialsResponse:
    query = compare_query(params, list(request.query_params.multi_items()))
    if params.sampling is not None:
        return await metric_buckets.bucketed(ctx, bucket_query(params, query))
    return await metric_compare.compare(ctx, query)


@serve(DOWNLOAD_METRICS, ANY_USER)
async def all_points(ctx: MasterContext, params: DownloadMetrics) -> Stream:
    """Download every point as CSV; `metricIds` are `<group>.<name>`."""
    lines = await metric_csv.points(ctx, params.trial_ids, metric_compare.metric_ids(params.metric_ids, [], None))
    headers = {"Content-Disposition": 'attachment; filename="metrics.csv"', "X-Accel-Buffering": "no"}
    return Stream(lines, media_type="text/csv; charset=utf-8", headers=headers)


@serve(GET_CHECKPOINT_METRICS, ANY_USER)
async def checkpoint_metrics(
    ctx: MasterContext, checkpoint_uuid: str, params: GetCheckpointMetrics
) -> GetTrialMetricsByCheckpointResponse:
    reports = await model_lineage.metrics_of_checkpoint(ctx, checkpoint_uuid, params)
    return GetTrialMetricsByCheckpointResponse(metrics=reports)


@serve(STREAM_METRIC_NAMES, ANY_USER)
async def metric_names(ctx: MasterContext, params: StreamMetricNames) -> Stream:
    return ndjson(await metric_streams.names(ctx, params.ids, params.period_seconds))


@serve(STREAM_METRIC_BATCHES, ANY_USER)
async def metric_batches(ctx: MasterContext, experiment_id: int, params: StreamMetricBatches) -> Stream:
    return ndjson(await metric_streams.batches(ctx, metric_of(experiment_id, params), params.period_seconds))


@serve(STREAM_TRIALS_SNAPSHOT, ANY_USER)
async def trials_snapshot(ctx: MasterContext, experiment_id: int, params: StreamTrialsSnapshot) -> Stream:
    key, at, margin = metric_of(experiment_id, params), params.batches_processed, params.batches_margin
    return ndjson(await metric_streams.snapshot(ctx, key, at, margin, params.period_seconds))


@serve(STREAM_TRIALS_SAMPLE, ANY_USER)
async def trials_sample(ctx: MasterContext, experiment_id: int, params: StreamTrialsSample) -> Stream:
    return ndjson(await metric_streams.sample(ctx, sample_query(experiment_id, params), params.period_seconds))


@serve(STREAM_PROFILER_SERIES, ANY_USER)
async def profiler_series(ctx: MasterContext, trial_id: int, params: Follow) -> Stream:
    return ndjson(await metric_profiler.available(ctx, trial_id, follow=params.follow))


@serve(STREAM_PROFILER_METRICS, ANY_USER)
async def profiler_metrics(ctx: MasterContext, trial_id: int, params: StreamProfilerMetrics) -> Stream:
    labels = TrialProfilerMetricLabels(
        name=params.name,
        trial_id=trial_id,
        agent_id=params.agent_id,
        gpu_uuid=params.gpu_uuid,
        metric_type=params.metric_type,
    )
    return ndjson(await metric_profiler.metrics(ctx, labels, follow=params.follow, after=params.after))


@serve(REPORT_PROFILER_METRICS, OWNER_OR_TRIAL, max_body=REPORT_BODY)
async def report_profiler_metrics(
    payload: PostTrialProfilerMetricsBatchRequest, ctx: MasterContext, caller: Caller
) -> None:
    for batch in payload.batches or []:
        await metrics.report(ctx, caller, batch.labels.trial_id, None, profiled(batch, ctx.clock.now()))


async def _report(ctx: MasterContext, caller: Caller, trial_id: int, body: Reported) -> None:
    await metrics.report(ctx, caller, trial_id, body.run_id, [body.report])


async def _reports(ctx: MasterContext, trial_ids: list[int], group: str | None) -> Stream:
    pages = await metrics.reports(ctx, trial_ids, group)
    return ndjson(GetMetricsResponse(metrics=page) async for page in pages)
