"""Trials: show, list, kill, what their tasks say of themselves, and the unmanaged ones."""

from typing import Any

from determined._json import JsonObject
from determined.errors import FailedPrecondition, InvalidArgument
from determined.master.auth.identity import Caller
from determined.master.auth.permission import ANY_USER, OWNER, OWNER_OR_TRIAL, USER_OR_EXPERIMENT
from determined.master.context import MasterContext
from determined.master.routes.serve import serve
from determined.master.services import model_lineage, trial_workloads, unmanaged
from determined.master.services import trial as trials
from determined.master.services.own_trial import require_own_trial
from determined.wire.codec import camelize_keys
from determined.wire.experiment import LIST_TRIALS, GetExperimentTrialsResponse, ListTrials
from determined.wire.trial import (
    COMPLETE_SEARCHER_OPERATION,
    CREATE_TRIAL,
    GET_REMAINING_LOG_DAYS,
    GET_SEARCHER_OPERATION,
    GET_TRIAL,
    GET_TRIAL_BY_EXTERNAL_ID,
    KILL_TRIAL,
    LIST_TRIAL_WORKLOADS,
    PATCH_TRIAL,
    POST_RUNNER_METADATA,
    PUT_TRIAL,
    REPORT_EARLY_EXIT,
    REPORT_PROGRESS,
    REPORT_TRIAL_SOURCE,
    RETAIN_TRIAL_LOGS,
    START_TRIAL,
    CompleteTrialSearcherOperationRequest,
    CreateTrialRequest,
    CreateTrialResponse,
    GetCurrentTrialSearcherOperationResponse,
    GetTrialByExternalIDResponse,
    GetTrialRemainingLogRetentionDaysResponse,
    GetTrialResponse,
    GetTrialWorkloadsResponse,
    ListTrialWorkloads,
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


@serve(LIST_TRIALS, USER_OR_EXPERIMENT)
async def list_trials(ctx: MasterContext, experiment_id: int, params: ListTrials) -> GetExperimentTrialsResponse:
    return await trials.list_of_experiment(ctx, experiment_id, params)


@serve(GET_TRIAL, USER_OR_EXPERIMENT)
async def get_trial(ctx: MasterContext, trial_id: int) -> GetTrialResponse:
    return GetTrialResponse(trial=await trials.get(ctx, trial_id))


@serve(KILL_TRIAL, ANY_USER)
async def kill_trial(ctx: MasterContext, trial_id: int) -> None:
    await trials.kill(ctx, trial_id)


@serve(LIST_TRIAL_WORKLOADS, USER_OR_EXPERIMENT)
async def get_workloads(ctx: MasterContext, trial_id: int, params: ListTrialWorkloads) -> GetTrialWorkloadsResponse:
    return await trial_workloads.workloads(ctx, trial_id, params)


@serve(POST_RUNNER_METADATA, OWNER_OR_TRIAL)
async def post_runner_metadata(payload: TrialRunnerMetadata, ctx: MasterContext, caller: Caller, trial_id: int) -> None:
    await require_own_trial(ctx, caller, trial_id)
    await trials.set_runner_state(ctx, trial_id, payload.state)


@serve(REPORT_PROGRESS, OWNER_OR_TRIAL)
async def report_progress(payload: Any, ctx: MasterContext, caller: Caller, trial_id: int) -> None:
    """Report progress: a bare number counts units of the classic operation, an object may say `isRaw`, a fraction."""
    await require_own_trial(ctx, caller, trial_id)
    body = camelize_keys(payload)
    raw = bool(body.get("isRaw")) if isinstance(body, dict) else False
    value = body.get("progress") if isinstance(body, dict) else body
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InvalidArgument(f"progress={value!r} must be a number")
    await trials.report_progress(ctx, trial_id, float(value), raw=raw)


@serve(REPORT_EARLY_EXIT, OWNER_OR_TRIAL)
async def report_early_exit(payload: JsonObject, ctx: MasterContext, caller: Caller, trial_id: int) -> None:
    await require_own_trial(ctx, caller, trial_id)
    await trials.report_early_exit(ctx, trial_id, str(payload.get("reason")))


@serve(GET_SEARCHER_OPERATION, USER_OR_EXPERIMENT)
async def get_operation(ctx: MasterContext, trial_id: int) -> GetCurrentTrialSearcherOperationResponse:
    return await trials.current_operation(ctx, trial_id)


@serve(COMPLETE_SEARCHER_OPERATION, OWNER_OR_TRIAL)
async def complete_operation(
    payload: CompleteTrialSearcherOperationRequest, ctx: MasterContext, caller: Caller, trial_id: int
) -> None:
    await require_own_trial(ctx, caller, trial_id)
    await trials.complete_operation(ctx, trial_id, payload.op.length if payload.op else None, payload.searcher_metric)


@serve(RETAIN_TRIAL_LOGS, OWNER)
async def retain_trial_logs(
    payload: PutTrialRetainLogsRequest, ctx: MasterContext, caller: Caller, trial_id: int
) -> None:
    await trials.retain_logs(ctx, caller, trial_id, payload.num_days)


@serve(GET_REMAINING_LOG_DAYS, ANY_USER)
async def remaining_log_days(ctx: MasterContext, trial_id: int) -> GetTrialRemainingLogRetentionDaysResponse:
    days = await trials.remaining_log_days(ctx, trial_id)
    return GetTrialRemainingLogRetentionDaysResponse(remaining_days=days)


@serve(REPORT_TRIAL_SOURCE, OWNER_OR_TRIAL)
async def report_source_info(
    payload: ReportTrialSourceInfoRequest, ctx: MasterContext, caller: Caller
) -> ReportTrialSourceInfoResponse:
    info = payload.trial_source_info
    await require_own_trial(ctx, caller, info.trial_id)
    await model_lineage.report(ctx, info)
    return ReportTrialSourceInfoResponse(trial_id=info.trial_id, checkpoint_uuid=info.checkpoint_uuid)


@serve(CREATE_TRIAL, OWNER, errors=(FailedPrecondition,))
async def create_trial(payload: CreateTrialRequest, ctx: MasterContext, caller: Caller) -> CreateTrialResponse:
    return CreateTrialResponse(trial=await unmanaged.create_trial(ctx, caller, payload))


@serve(PUT_TRIAL, OWNER)
async def put_trial(payload: PutTrialRequest, ctx: MasterContext, caller: Caller) -> PutTrialResponse:
    return PutTrialResponse(trial=await unmanaged.put_trial(ctx, caller, payload))


@serve(GET_TRIAL_BY_EXTERNAL_ID, ANY_USER)
async def get_trial_by_external_id(
    ctx: MasterContext, external_experiment_id: str, external_trial_id: str
) -> GetTrialByExternalIDResponse:
    trial = await unmanaged.get_trial(ctx, external_experiment_id, external_trial_id)
    return GetTrialByExternalIDResponse(trial=trial)


@serve(PATCH_TRIAL, OWNER, errors=(FailedPrecondition,))
async def patch_trial(
    payload: PatchTrialRequest, ctx: MasterContext, caller: Caller, trial_id: int
) -> PatchTrialResponse:
    known = payload.state is not None and payload.state is not TrialState.UNSPECIFIED
    state = payload.state.removeprefix("STATE_") if payload.state and known else None
    return PatchTrialResponse(trial=await unmanaged.patch_trial(ctx, caller, trial_id, state))


@serve(START_TRIAL, OWNER, errors=(FailedPrecondition,))
async def start_trial(
    payload: StartTrialRequest, ctx: MasterContext, caller: Caller, trial_id: int
) -> StartTrialResponse:
    return await unmanaged.start_trial(ctx, caller, trial_id, resume=bool(payload.resume))
