"""Checkpoints: report, list, describe, change, delete, download."""

from litestar.response import Stream

from determined.errors import CheckpointDamaged, Conflict, FailedPrecondition
from determined.master.auth.identity import Caller
from determined.master.auth.permission import OWNER, OWNER_OR_TRIAL, USER_OR_EXPERIMENT, USER_OR_TASK
from determined.master.context import MasterContext
from determined.master.routes.archive import archive_response, wanted_archive
from determined.master.routes.limits import REPORT_BODY
from determined.master.routes.request import AnyRequest
from determined.master.routes.serve import serve
from determined.master.services import checkpoint as checkpoints
from determined.master.services import checkpoint_download
from determined.wire.checkpoint import (
    DELETE_CHECKPOINTS,
    DOWNLOAD_CHECKPOINT,
    GET_CHECKPOINT,
    PATCH_CHECKPOINTS,
    POST_CHECKPOINT_METADATA,
    REMOVE_CHECKPOINT_FILES,
    REPORT_CHECKPOINT,
    CheckpointsRemoveFilesRequest,
    DeleteCheckpointsRequest,
    GetCheckpointResponse,
    ListCheckpoints,
    PatchCheckpointsRequest,
    PostCheckpointMetadataRequest,
    PostCheckpointMetadataResponse,
    ReportCheckpointRequest,
)
from determined.wire.experiment import LIST_EXPERIMENT_CHECKPOINTS, GetExperimentCheckpointsResponse
from determined.wire.trial import LIST_TRIAL_CHECKPOINTS, GetTrialCheckpointsResponse


@serve(REPORT_CHECKPOINT, OWNER_OR_TRIAL, max_body=REPORT_BODY, errors=(Conflict, FailedPrecondition))
async def report_checkpoint(payload: ReportCheckpointRequest, ctx: MasterContext, caller: Caller) -> None:
    await checkpoints.report(ctx, caller, payload)


@serve(PATCH_CHECKPOINTS, OWNER_OR_TRIAL, errors=(FailedPrecondition,))
async def patch_checkpoints(payload: PatchCheckpointsRequest, ctx: MasterContext, caller: Caller) -> None:
    await checkpoints.patch(ctx, caller, payload.checkpoints)


@serve(DELETE_CHECKPOINTS, OWNER, errors=(FailedPrecondition,))
async def delete_checkpoints(payload: DeleteCheckpointsRequest, ctx: MasterContext, caller: Caller) -> None:
    await checkpoints.delete(ctx, caller, payload.checkpoint_uuids)


@serve(REMOVE_CHECKPOINT_FILES, OWNER, errors=(FailedPrecondition,))
async def remove_checkpoint_files(payload: CheckpointsRemoveFilesRequest, ctx: MasterContext, caller: Caller) -> None:
    await checkpoints.remove_files(ctx, caller, payload.checkpoint_uuids, payload.checkpoint_globs)


@serve(GET_CHECKPOINT, USER_OR_TASK)
async def get_checkpoint(ctx: MasterContext, checkpoint_uuid: str) -> GetCheckpointResponse:
    return GetCheckpointResponse(checkpoint=await checkpoints.get(ctx, checkpoint_uuid))


@serve(POST_CHECKPOINT_METADATA, OWNER_OR_TRIAL)
async def post_checkpoint_metadata(
    payload: PostCheckpointMetadataRequest, ctx: MasterContext, caller: Caller, checkpoint_uuid: str
) -> PostCheckpointMetadataResponse:
    changed = await checkpoints.set_metadata(ctx, caller, checkpoint_uuid, payload.checkpoint.metadata)
    return PostCheckpointMetadataResponse(checkpoint=changed)


@serve(LIST_EXPERIMENT_CHECKPOINTS, USER_OR_EXPERIMENT)
async def list_experiment_checkpoints(
    ctx: MasterContext, experiment_id: int, params: ListCheckpoints
) -> GetExperimentCheckpointsResponse:
    shown, pagination = await checkpoints.list_of_experiment(ctx, experiment_id, params)
    return GetExperimentCheckpointsResponse(checkpoints=shown, pagination=pagination)


@serve(LIST_TRIAL_CHECKPOINTS, USER_OR_EXPERIMENT)
async def list_trial_checkpoints(
    ctx: MasterContext, trial_id: int, params: ListCheckpoints
) -> GetTrialCheckpointsResponse:
    shown, pagination = await checkpoints.list_of_trial(ctx, trial_id, params)
    return GetTrialCheckpointsResponse(checkpoints=shown, pagination=pagination)


@serve(DOWNLOAD_CHECKPOINT, USER_OR_TASK, errors=(CheckpointDamaged, FailedPrecondition))
async def download_checkpoint(request: AnyRequest, ctx: MasterContext, checkpoint_uuid: str) -> Stream:
    """Download the files as zip, tar or (else) tgz, as Accept says."""
    archive = await checkpoint_download.download(ctx, checkpoint_uuid, wanted_archive(request))
    return archive_response(archive, archive.uuid)
