"""Versions of registered models: register, show, change, delete, who used them."""

from determined.errors import Conflict, FailedPrecondition
from determined.master.auth.identity import Caller
from determined.master.auth.permission import ANY_USER, OWNER, USER_OR_TASK, USER_OR_TRIAL, noted
from determined.master.context import MasterContext
from determined.master.routes.serve import serve
from determined.master.services import model_lineage
from determined.master.services import model_version as versions
from determined.wire.metric import GetCheckpointMetrics
from determined.wire.model_version import (
    DELETE_MODEL_VERSION,
    GET_MODEL_VERSION,
    GET_MODEL_VERSION_METRICS,
    LIST_CHECKPOINT_VERSIONS,
    LIST_MODEL_VERSIONS,
    LIST_TRIALS_USING_CHECKPOINT,
    LIST_TRIALS_USING_VERSION,
    PATCH_MODEL_VERSION,
    REGISTER_MODEL_VERSION,
    CheckpointVersionsResponse,
    GetModelVersionResponse,
    GetModelVersionsResponse,
    GetTrialMetricsByModelVersionResponse,
    ListModelVersions,
    ListTrialsUsing,
    PatchModelVersion,
    PatchModelVersionResponse,
    PostModelVersionRequest,
    PostModelVersionResponse,
    TrialsUsingResponse,
)


@serve(LIST_MODEL_VERSIONS, USER_OR_TASK)
async def list_model_versions(
    ctx: MasterContext, model_name: str, params: ListModelVersions
) -> GetModelVersionsResponse:
    return await versions.list_versions(ctx, model_name, params)


@serve(
    REGISTER_MODEL_VERSION,
    noted(USER_OR_TRIAL, "a task: checkpoints of its own experiment"),
    errors=(FailedPrecondition,),
)
async def register_model_version(
    payload: PostModelVersionRequest, ctx: MasterContext, caller: Caller, model_name: str
) -> PostModelVersionResponse:
    return PostModelVersionResponse(model_version=await versions.register(ctx, caller, model_name, payload))


@serve(GET_MODEL_VERSION, USER_OR_TASK)
async def get_model_version(ctx: MasterContext, model_name: str, version: str) -> GetModelVersionResponse:
    return GetModelVersionResponse(model_version=await versions.get(ctx, model_name, version))


@serve(PATCH_MODEL_VERSION, ANY_USER, errors=(Conflict,))
async def patch_model_version(
    payload: PatchModelVersion, ctx: MasterContext, model_name: str, version: str
) -> PatchModelVersionResponse:
    return PatchModelVersionResponse(model_version=await versions.patch(ctx, model_name, version, payload))


@serve(DELETE_MODEL_VERSION, noted(OWNER, "owner of the version or of its model"))
async def delete_model_version(ctx: MasterContext, caller: Caller, model_name: str, version: str) -> None:
    await versions.delete(ctx, caller, model_name, version)


@serve(GET_MODEL_VERSION_METRICS, ANY_USER)
async def get_model_version_metrics(
    ctx: MasterContext, model_name: str, version: str, params: GetCheckpointMetrics
) -> GetTrialMetricsByModelVersionResponse:
    reports = await model_lineage.metrics_of_version(ctx, model_name, version, params)
    return GetTrialMetricsByModelVersionResponse(metrics=reports)


@serve(LIST_TRIALS_USING_VERSION, ANY_USER)
async def list_trials_using_version(
    ctx: MasterContext, model_name: str, version: str, params: ListTrialsUsing
) -> TrialsUsingResponse:
    trials = await model_lineage.using_version(ctx, model_name, version, params.trial_source_info_type)
    return TrialsUsingResponse(trials=trials)


@serve(LIST_TRIALS_USING_CHECKPOINT, ANY_USER)
async def list_trials_using_checkpoint(
    ctx: MasterContext, checkpoint_uuid: str, params: ListTrialsUsing
) -> TrialsUsingResponse:
    trials = await model_lineage.using_checkpoint(ctx, checkpoint_uuid, params.trial_source_info_type)
    return TrialsUsingResponse(trials=trials)


@serve(LIST_CHECKPOINT_VERSIONS, ANY_USER)
async def list_checkpoint_versions(ctx: MasterContext, checkpoint_uuid: str) -> CheckpointVersionsResponse:
    return CheckpointVersionsResponse(model_versions=await versions.of_checkpoint(ctx, checkpoint_uuid))
