"""Trials: show, list, kill, what their tasks say of themselves, and the unmanaged ones."""

from typing import Annotated, Any

from litestar import Request, Router, get, patch, post, put
from litestar.params import Parameter

from determined.errors import InvalidArgument
from determined.master.auth.identity import Caller
from determined.master.auth.permission import ANY_USER, OWNER, OWNER_OR_TRIAL, USER_OR_EXPERIMENT
from determined.master.context import MasterContext
from determined.master.routes.body import read_body
from determined.master.routes.params import Limit, Offset
from determined.master.services import trial as trials
from determined.master.services import trial_workloads, unmanaged
from determined.master.services.own_trial import require_own_trial
from determined.master.services.trial_workloads import WorkloadQuery
from determined.wire.base import OrderBy
from determined.wire.codec import camelize_keys
from determined.wire.experiment import GetExperimentTrialsRequestSortBy, GetExperimentTrialsResponse
from determined.wire.trial import (
    CompleteTrialSearcherOperationRequest,
    CreateTrialRequest,
    CreateTrialResponse,
    GetCurrentTrialSearcherOperationResponse,
    GetTrialByExternalIDResponse,
    GetTrialRemainingLogRetentionDaysResponse,
    GetTrialResponse,
    GetTrialWorkloadsRequestFilterOption,
    GetTrialWorkloadsResponse,
    MetricType,
    PatchTrialRequest,
    PatchTrialResponse,
    PutTrialRequest,
    PutTrialResponse,
    PutTrialRetainLogsRequest,
    ReportTrialSourceInfoRequest,
    ReportTrialSourceInfoResponse,
    StartTrialRequest,
    StartTrialResponse,
    TrialRunnerMetadata,
    TrialState,
)

AnyRequest = Request[Any, Any, Any]


@get("/api/v1/experiments/{experiment_id:int}/trials", opt=USER_OR_EXPERIMENT)
async def list_trials(
    ctx: MasterContext,
    experiment_id: int,
    limit: Limit = None,
    offset: Offset = None,
    states: list[TrialState] | None = None,
    order_by: Annotated[OrderBy | None, Parameter(query="orderBy")] = None,
    sort_by: Annotated[GetExperimentTrialsRequestSortBy | None, Parameter(query="sortBy")] = None,
) -> GetExperimentTrialsResponse:
    return await trials.list_of_experiment(
        ctx,
        experiment_id,
        states=[state.removeprefix("STATE_") for state in states or ()],
        sort_by=sort_by,
        descending=order_by is OrderBy.DESC,
        limit=limit,
        offset=offset,
    )


@get("/api/v1/trials/{trial_id:int}", opt=USER_OR_EXPERIMENT)
async def get_trial(ctx: MasterContext, trial_id: int) -> GetTrialResponse:
    return GetTrialResponse(trial=await trials.get(ctx, trial_id))


@post("/api/v1/trials/{trial_id:int}/kill", status_code=200, opt=ANY_USER)
async def kill_trial(ctx: MasterContext, trial_id: int) -> dict[str, Any]:
    await trials.kill(ctx, trial_id)
    return {}


@get("/api/v1/trials/{trial_id:int}/workloads", opt=USER_OR_EXPERIMENT)
async def get_workloads(
    ctx: MasterContext,
    trial_id: int,
    limit: Limit = None,
    offset: Offset = None,
    order_by: Annotated[OrderBy | None, Parameter(query="orderBy")] = None,
    sort_key: Annotated[str | None, Parameter(query="sortKey")] = None,
    option: Annotated[GetTrialWorkloadsRequestFilterOption | None, Parameter(query="filter")] = None,
    metric_type: Annotated[MetricType | None, Parameter(query="metricType")] = None,
    group: str | None = None,
    remove_deleted: Annotated[bool, Parameter(query="removeDeletedCheckpoints")] = False,
) -> GetTrialWorkloadsResponse:
    wanted = WorkloadQuery(
        filter=option or GetTrialWorkloadsRequestFilterOption.UNSPECIFIED,
        metric_type=metric_type or MetricType.UNSPECIFIED,
        group=group,
        sort_key=sort_key or "batches",
        descending=order_by is OrderBy.DESC,
        remove_deleted=remove_deleted,
    )
    return await trial_workloads.workloads(ctx, trial_id, wanted, limit, offset)


@post("/api/v1/trials/{trial_id:int}/runner/metadata", status_code=200, opt=OWNER_OR_TRIAL)
async def post_runner_metadata(
    request: AnyRequest, ctx: MasterContext, caller: Caller, trial_id: int
) -> dict[str, Any]:
    await require_own_trial(ctx, caller, trial_id)
    asked = await read_body(request, TrialRunnerMetadata)
    await trials.set_runner_state(ctx, trial_id, asked.state)
    return {}


@post("/api/v1/trials/{trial_id:int}/progress", status_code=200, opt=OWNER_OR_TRIAL)
async def report_progress(request: AnyRequest, ctx: MasterContext, caller: Caller, trial_id: int) -> dict[str, Any]:
    """A bare number counts units of the classic operation; an object may say `isRaw`: a fraction of the whole."""
    await require_own_trial(ctx, caller, trial_id)
    body = camelize_keys(await read_body(request, Any))
    raw = bool(body.get("isRaw")) if isinstance(body, dict) else False
    value = body.get("progress") if isinstance(body, dict) else body
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InvalidArgument(f"progress={value!r} must be a number")
    await trials.report_progress(ctx, trial_id, float(value), raw=raw)
    return {}


@post("/api/v1/trials/{trial_id:int}/early_exit", status_code=200, opt=OWNER_OR_TRIAL)
async def report_early_exit(request: AnyRequest, ctx: MasterContext, caller: Caller, trial_id: int) -> dict[str, Any]:
    await require_own_trial(ctx, caller, trial_id)
    body = await read_body(request, dict[str, Any])
    await trials.report_early_exit(ctx, trial_id, str(body.get("reason")))
    return {}


@get("/api/v1/trials/{trial_id:int}/searcher/operation", opt=USER_OR_EXPERIMENT)
async def get_operation(ctx: MasterContext, trial_id: int) -> GetCurrentTrialSearcherOperationResponse:
    return await trials.current_operation(ctx, trial_id)


@post("/api/v1/trials/{trial_id:int}/searcher/completed_operation", status_code=200, opt=OWNER_OR_TRIAL)
async def complete_operation(request: AnyRequest, ctx: MasterContext, caller: Caller, trial_id: int) -> dict[str, Any]:
    await require_own_trial(ctx, caller, trial_id)
    asked = await read_body(request, CompleteTrialSearcherOperationRequest)
    await trials.complete_operation(ctx, trial_id, asked.op.length if asked.op else None, asked.searcher_metric)
    return {}


@put("/api/v1/trials/{trial_id:int}/retain_logs", status_code=200, opt=OWNER)
async def retain_trial_logs(request: AnyRequest, ctx: MasterContext, caller: Caller, trial_id: int) -> dict[str, Any]:
    asked = await read_body(request, PutTrialRetainLogsRequest)
    await trials.retain_logs(ctx, caller, trial_id, asked.num_days)
    return {}


@get("/api/v1/trials/{trial_id:int}/remaining_log_retention_days", opt=ANY_USER)
async def remaining_log_days(ctx: MasterContext, trial_id: int) -> GetTrialRemainingLogRetentionDaysResponse:
    days = await trials.remaining_log_days(ctx, trial_id)
    return GetTrialRemainingLogRetentionDaysResponse(remaining_days=days)


@post("/api/v1/trial-source-info", status_code=200, opt=OWNER_OR_TRIAL)
async def report_source_info(request: AnyRequest, ctx: MasterContext, caller: Caller) -> ReportTrialSourceInfoResponse:
    info = (await read_body(request, ReportTrialSourceInfoRequest)).trial_source_info
    await require_own_trial(ctx, caller, info.trial_id)
    await trials.report_source(ctx, info)
    return ReportTrialSourceInfoResponse(trial_id=info.trial_id, checkpoint_uuid=info.checkpoint_uuid)


@post("/api/v1/trials", status_code=200, opt=OWNER)
async def create_trial(request: AnyRequest, ctx: MasterContext, caller: Caller) -> CreateTrialResponse:
    asked = await read_body(request, CreateTrialRequest)
    return CreateTrialResponse(trial=await unmanaged.create_trial(ctx, caller, asked))


@put("/api/v1/trials", status_code=200, opt=OWNER)
async def put_trial(request: AnyRequest, ctx: MasterContext, caller: Caller) -> PutTrialResponse:
    asked = await read_body(request, PutTrialRequest)
    return PutTrialResponse(trial=await unmanaged.put_trial(ctx, caller, asked))


@get("/api/v1/trials/by-external-id/{external_experiment_id:str}/{external_trial_id:str}", opt=ANY_USER)
async def get_trial_by_external_id(
    ctx: MasterContext, external_experiment_id: str, external_trial_id: str
) -> GetTrialByExternalIDResponse:
    trial = await unmanaged.get_trial(ctx, external_experiment_id, external_trial_id)
    return GetTrialByExternalIDResponse(trial=trial)


@patch("/api/v1/trials/{trial_id:int}", status_code=200, opt=OWNER)
async def patch_trial(request: AnyRequest, ctx: MasterContext, caller: Caller, trial_id: int) -> PatchTrialResponse:
    asked = await read_body(request, PatchTrialRequest)
    known = asked.state is not None and asked.state is not TrialState.UNSPECIFIED
    state = asked.state.removeprefix("STATE_") if asked.state and known else None
    return PatchTrialResponse(trial=await unmanaged.patch_trial(ctx, caller, trial_id, state))


@post("/api/v1/trials/{trial_id:int}/start", status_code=200, opt=OWNER)
async def start_trial(request: AnyRequest, ctx: MasterContext, caller: Caller, trial_id: int) -> StartTrialResponse:
    asked = await read_body(request, StartTrialRequest)
    return await unmanaged.start_trial(ctx, caller, trial_id, resume=bool(asked.resume))


router = Router(
    path="",
    route_handlers=[
        list_trials,
        get_trial,
        kill_trial,
        get_workloads,
        post_runner_metadata,
        report_progress,
        report_early_exit,
        get_operation,
        complete_operation,
        retain_trial_logs,
        remaining_log_days,
        report_source_info,
        create_trial,
        put_trial,
        get_trial_by_external_id,
        patch_trial,
        start_trial,
    ],
)
