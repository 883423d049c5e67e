"""Metrics: reported by older harnesses, read as reports, charts and streams."""

from typing import Annotated, Any

from litestar import Request, Router, get, post
from litestar.di import Provide
from litestar.params import Parameter
from litestar.response import Stream

from determined.errors import InvalidArgument
from determined.master.auth.identity import Caller
from determined.master.auth.permission import ANY_USER, OWNER_OR_TRIAL, USER_OR_EXPERIMENT
from determined.master.context import MasterContext
from determined.master.routes.body import read_body
from determined.master.routes.limits import REPORT_BODY
from determined.master.routes.metric_body import Reported, profiled, reported
from determined.master.routes.metric_params import read_buckets, read_compare, read_metric_key, read_series
from determined.master.routes.params import MAX_INT64
from determined.master.routes.streaming import ndjson
from determined.master.services import metric as metrics
from determined.master.services import metric_buckets, metric_compare, metric_csv, metric_profiler, metric_streams
from determined.master.services.metric import SeriesQuery
from determined.master.services.metric_buckets import BucketQuery
from determined.master.services.metric_compare import CompareQuery
from determined.master.services.metric_streams import DEFAULT_PERIOD, MetricKey, SampleQuery
from determined.wire.metric import (
    BucketedTrialsResponse,
    CompareTrialsResponse,
    GetMetricsResponse,
    GetTrialMetricsByCheckpointResponse,
    MetricSeriesResponse,
    PostTrialProfilerMetricsBatchRequest,
    TrialProfilerMetricLabels,
    TrialProfilerMetricLabelsProfilerMetricType,
)
from determined.wire.trial import TrialSourceInfoType

AnyRequest = Request[Any, Any, Any]
TrialIds = Annotated[list[int], Parameter(query="trialIds")]
Period = Annotated[int, Parameter(query="periodSeconds", ge=0, le=86400, required=False)]


@post("/api/v1/trials/{trial_id:int}/metrics", status_code=200, request_max_body_size=REPORT_BODY, opt=OWNER_OR_TRIAL)
async def report_metrics(request: AnyRequest, ctx: MasterContext, caller: Caller, trial_id: int) -> dict[str, Any]:
    body = await read_body(request, dict[str, Any])
    group = body.get("group")
    if not isinstance(group, str) or not isinstance(body.get("metrics"), dict):
        raise InvalidArgument("the report needs a `group` and `metrics`")
    return await _report(ctx, caller, trial_id, reported(group, body["metrics"], ctx.clock.now()))


@post(
    "/api/v1/trials/{trial_id:int}/training_metrics",
    status_code=200,
    request_max_body_size=REPORT_BODY,
    opt=OWNER_OR_TRIAL,
)
async def report_training(request: AnyRequest, ctx: MasterContext, caller: Caller, trial_id: int) -> dict[str, Any]:
    body = await read_body(request, dict[str, Any])
    return await _report(ctx, caller, trial_id, reported("training", body, ctx.clock.now()))


@post(
    "/api/v1/trials/{trial_id:int}/validation_metrics",
    status_code=200,
    request_max_body_size=REPORT_BODY,
    opt=OWNER_OR_TRIAL,
)
async def report_validation(request: AnyRequest, ctx: MasterContext, caller: Caller, trial_id: int) -> dict[str, Any]:
    body = await read_body(request, dict[str, Any])
    return await _report(ctx, caller, trial_id, reported("validation", body, ctx.clock.now()))


@get("/api/v1/trials/metrics/trial_metrics", opt=ANY_USER)
async def get_metrics(ctx: MasterContext, trial_ids: TrialIds, group: str | None = None) -> Stream:
    return await _reports(ctx, trial_ids, group or None)


@get("/api/v1/trials/metrics/training_metrics", opt=ANY_USER)
async def get_training_metrics(ctx: MasterContext, trial_ids: TrialIds) -> Stream:
    return await _reports(ctx, trial_ids, "training")


@get("/api/v1/trials/metrics/validation_metrics", opt=ANY_USER)
async def get_validation_metrics(ctx: MasterContext, trial_ids: TrialIds) -> Stream:
    return await _reports(ctx, trial_ids, "validation")


@get(
    "/api/v1/trials/{trial_id:int}/metrics/series",
    dependencies={"series_query": Provide(read_series)},
    opt=USER_OR_EXPERIMENT,
)
async def get_series(ctx: MasterContext, trial_id: int, series_query: SeriesQuery) -> MetricSeriesResponse:
    return await metrics.series(ctx, trial_id, series_query)


@get(
    "/api/v1/trials/time-series",
    dependencies={"compare_query": Provide(read_compare), "bucket_query": Provide(read_buckets)},
    opt=ANY_USER,
)
async def compare_trials(
    ctx: MasterContext, compare_query: CompareQuery, bucket_query: BucketQuery | None
) -> CompareTrialsResponse | BucketedTrialsResponse:
    if bucket_query is not None:
        return await metric_buckets.bucketed(ctx, bucket_query)
    return await metric_compare.compare(ctx, compare_query)


@get("/api/v1/trials/time-series.csv", opt=ANY_USER)
async def all_points(
    ctx: MasterContext,
    trial_ids: TrialIds,
    ids: Annotated[list[str], Parameter(query="metricIds")],
) -> Stream:
    """Every point as a file; `metricIds` are `<group>.<name>`."""
    lines = await metric_csv.points(ctx, trial_ids, metric_compare.metric_ids(ids, [], None))
    headers = {"Content-Disposition": 'attachment; filename="metrics.csv"', "X-Accel-Buffering": "no"}
    return Stream(lines, media_type="text/csv; charset=utf-8", headers=headers)


@get("/api/v1/checkpoints/{checkpoint_uuid:str}/metrics", opt=ANY_USER)
async def checkpoint_metrics(
    ctx: MasterContext,
    checkpoint_uuid: str,
    source: Annotated[TrialSourceInfoType | None, Parameter(query="trialSourceInfoType", required=False)] = None,
    group: Annotated[str | None, Parameter(query="metricGroup", required=False)] = None,
) -> GetTrialMetricsByCheckpointResponse:
    any_kind = source is None or source == TrialSourceInfoType.UNSPECIFIED
    kind = None if any_kind else str(source).removeprefix("TRIAL_SOURCE_INFO_TYPE_")
    return GetTrialMetricsByCheckpointResponse(
        metrics=await metrics.using_checkpoint(ctx, checkpoint_uuid, kind, group or None)
    )


@get("/api/v1/experiments/metrics-stream/metric-names", opt=ANY_USER)
async def metric_names(
    ctx: MasterContext, ids: Annotated[list[int], Parameter(query="ids")], period: Period = DEFAULT_PERIOD
) -> Stream:
    return ndjson(await metric_streams.names(ctx, ids, period))


@get("/api/v1/experiments/{experiment_id:int}/metrics-stream/batches", opt=ANY_USER)
async def metric_batches(ctx: MasterContext, metric_key: MetricKey, period: Period = DEFAULT_PERIOD) -> Stream:
    return ndjson(await metric_streams.batches(ctx, metric_key, period))


@get("/api/v1/experiments/{experiment_id:int}/metrics-stream/trials-snapshot", opt=ANY_USER)
async def trials_snapshot(
    ctx: MasterContext,
    metric_key: MetricKey,
    batches: Annotated[int, Parameter(query="batchesProcessed", ge=0, le=2**53)],
    margin: Annotated[int, Parameter(query="batchesMargin", ge=0, le=2**53, required=False)] = 0,
    period: Period = DEFAULT_PERIOD,
) -> Stream:
    return ndjson(await metric_streams.snapshot(ctx, metric_key, batches, margin, period))


@get("/api/v1/experiments/{experiment_id:int}/metrics-stream/trials-sample", opt=ANY_USER)
async def trials_sample(
    ctx: MasterContext,
    metric_key: MetricKey,
    *,
    max_trials: Annotated[int, Parameter(query="maxTrials", ge=0, le=1000, required=False)] = 0,
    max_points: Annotated[int, Parameter(query="maxDatapoints", ge=0, le=MAX_INT64, required=False)] = 0,
    start: Annotated[int | None, Parameter(query="startBatches", ge=0, le=MAX_INT64, required=False)] = None,
    end: Annotated[int | None, Parameter(query="endBatches", ge=0, le=MAX_INT64, required=False)] = None,
    period: Period = DEFAULT_PERIOD,
) -> Stream:
    query = SampleQuery(metric_key, max_trials or 25, max_points or 1000, start or None, end or None)
    return ndjson(await metric_streams.sample(ctx, query, period))


@get("/api/v1/trials/{trial_id:int}/profiler/available_series", opt=ANY_USER)
async def profiler_series(ctx: MasterContext, trial_id: int, follow: bool = False) -> Stream:
    return ndjson(await metric_profiler.available(ctx, trial_id, follow=follow))


@get("/api/v1/trials/{trial_id:int}/profiler/metrics", opt=ANY_USER)
async def profiler_metrics(
    ctx: MasterContext,
    trial_id: int,
    *,
    name: Annotated[str, Parameter(query="labels.name")],
    agent_id: Annotated[str | None, Parameter(query="labels.agentId", required=False)] = None,
    gpu_uuid: Annotated[str | None, Parameter(query="labels.gpuUuid", required=False)] = None,
    metric_type: Annotated[
        TrialProfilerMetricLabelsProfilerMetricType | None, Parameter(query="labels.metricType", required=False)
    ] = None,
    follow: bool = False,
    after: Annotated[int | None, Parameter(query="after", ge=-1, lt=MAX_INT64, required=False)] = None,
) -> Stream:
    wanted = TrialProfilerMetricLabels(
        name=name, trial_id=trial_id, agent_id=agent_id, gpu_uuid=gpu_uuid, metric_type=metric_type
    )
    return ndjson(await metric_profiler.metrics(ctx, wanted, follow=follow, after=after))


@post("/api/v1/trials/profiler/metrics", status_code=200, request_max_body_size=REPORT_BODY, opt=OWNER_OR_TRIAL)
async def report_profiler_metrics(request: AnyRequest, ctx: MasterContext, caller: Caller) -> dict[str, Any]:
    body = await read_body(request, PostTrialProfilerMetricsBatchRequest)
    for batch in body.batches or []:
        await metrics.report(ctx, caller, batch.labels.trial_id, None, profiled(batch, ctx.clock.now()))
    return {}


async def _report(ctx: MasterContext, caller: Caller, trial_id: int, given: Reported) -> dict[str, Any]:
    await metrics.report(ctx, caller, trial_id, given.run_id, [given.report])
    return {}


async def _reports(ctx: MasterContext, trial_ids: list[int], group: str | None) -> Stream:
    pages = await metrics.reports(ctx, trial_ids, group)
    return ndjson(GetMetricsResponse(metrics=page) async for page in pages)


router = Router(
    path="",
    route_handlers=[
        report_metrics,
        report_training,
        report_validation,
        get_metrics,
        get_training_metrics,
        get_validation_metrics,
        get_series,
        compare_trials,
        all_points,
        checkpoint_metrics,
        metric_names,
        metric_batches,
        trials_snapshot,
        trials_sample,
        profiler_series,
        profiler_metrics,
        report_profiler_metrics,
    ],
    dependencies={"metric_key": Provide(read_metric_key)},
)
