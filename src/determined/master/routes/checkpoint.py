"""Checkpoints: report, list, describe, change, delete, download."""

from typing import Annotated, Any

from litestar import Request, Router, delete, get, patch, post
from litestar.params import Parameter
from litestar.response import Stream

from determined.master.auth.identity import Caller
from determined.master.auth.permission import OWNER, OWNER_OR_TRIAL, USER_OR_EXPERIMENT, USER_OR_TASK
from determined.master.context import MasterContext
from determined.master.routes.body import read_body
from determined.master.routes.limits import REPORT_BODY
from determined.master.routes.params import Limit, Offset
from determined.master.services import checkpoint as checkpoints
from determined.master.services import checkpoint_download
from determined.master.services.checkpoint import CheckpointQuery
from determined.master.services.checkpoint_download import Archive
from determined.wire.base import OrderBy
from determined.wire.checkpoint import (
    CheckpointsRemoveFilesRequest,
    CheckpointState,
    DeleteCheckpointsRequest,
    GetCheckpointResponse,
    PatchCheckpointsRequest,
    PostCheckpointMetadataRequest,
    PostCheckpointMetadataResponse,
    ReportCheckpointRequest,
)
from determined.wire.experiment import GetExperimentCheckpointsResponse
from determined.wire.trial import GetTrialCheckpointsResponse, SortBy

AnyRequest = Request[Any, Any, Any]
States = Annotated[list[CheckpointState] | None, Parameter(query="states")]
Order = Annotated[OrderBy | None, Parameter(query="orderBy")]
SortAttribute = Annotated[SortBy | None, Parameter(query="sortByAttr")]
SortMetric = Annotated[str | None, Parameter(query="sortByMetric")]

_SUFFIXES = {Archive.TGZ: "tgz", Archive.TAR: "tar", Archive.ZIP: "zip"}


@post("/api/v1/checkpoints", status_code=200, request_max_body_size=REPORT_BODY, opt=OWNER_OR_TRIAL)
async def report_checkpoint(request: AnyRequest, ctx: MasterContext, caller: Caller) -> dict[str, Any]:
    await checkpoints.report(ctx, caller, await read_body(request, ReportCheckpointRequest))
    return {}


@patch("/api/v1/checkpoints", status_code=200, opt=OWNER_OR_TRIAL)
async def patch_checkpoints(request: AnyRequest, ctx: MasterContext, caller: Caller) -> dict[str, Any]:
    asked = await read_body(request, PatchCheckpointsRequest)
    await checkpoints.patch(ctx, caller, asked.checkpoints)
    return {}


@delete("/api/v1/checkpoints", status_code=200, opt=OWNER)
async def delete_checkpoints(request: AnyRequest, ctx: MasterContext, caller: Caller) -> dict[str, Any]:
    asked = await read_body(request, DeleteCheckpointsRequest)
    await checkpoints.delete(ctx, caller, asked.checkpoint_uuids)
    return {}


@post("/api/v1/checkpoints/rm", status_code=200, opt=OWNER)
async def remove_checkpoint_files(request: AnyRequest, ctx: MasterContext, caller: Caller) -> dict[str, Any]:
    asked = await read_body(request, CheckpointsRemoveFilesRequest)
    await checkpoints.remove_files(ctx, caller, asked.checkpoint_uuids, asked.checkpoint_globs)
    return {}


@get("/api/v1/checkpoints/{checkpoint_uuid:str}", opt=USER_OR_TASK)
async def get_checkpoint(ctx: MasterContext, checkpoint_uuid: str) -> GetCheckpointResponse:
    return GetCheckpointResponse(checkpoint=await checkpoints.get(ctx, checkpoint_uuid))


@post("/api/v1/checkpoints/{checkpoint_uuid:str}/metadata", status_code=200, opt=OWNER_OR_TRIAL)
async def post_checkpoint_metadata(
    request: AnyRequest, ctx: MasterContext, caller: Caller, checkpoint_uuid: str
) -> PostCheckpointMetadataResponse:
    asked = await read_body(request, PostCheckpointMetadataRequest)
    changed = await checkpoints.set_metadata(ctx, caller, checkpoint_uuid, asked.checkpoint.metadata)
    return PostCheckpointMetadataResponse(checkpoint=changed)


@get("/api/v1/experiments/{experiment_id:int}/checkpoints", opt=USER_OR_EXPERIMENT)
async def list_experiment_checkpoints(
    ctx: MasterContext,
    experiment_id: int,
    limit: Limit = None,
    offset: Offset = None,
    states: States = None,
    order_by: Order = None,
    sort_attribute: SortAttribute = None,
    sort_metric: SortMetric = None,
) -> GetExperimentCheckpointsResponse:
    wanted = CheckpointQuery(
        experiment_id=experiment_id,
        states=states or (),
        sort=sort_attribute,
        metric=sort_metric,
        descending=order_by is OrderBy.DESC,
    )
    found, pagination = await checkpoints.list_checkpoints(ctx, wanted, limit, offset)
    return GetExperimentCheckpointsResponse(checkpoints=found, pagination=pagination)


@get("/api/v1/trials/{trial_id:int}/checkpoints", opt=USER_OR_EXPERIMENT)
async def list_trial_checkpoints(
    ctx: MasterContext,
    trial_id: int,
    limit: Limit = None,
    offset: Offset = None,
    states: States = None,
    order_by: Order = None,
    sort_attribute: SortAttribute = None,
    sort_metric: SortMetric = None,
) -> GetTrialCheckpointsResponse:
    wanted = CheckpointQuery(
        trial_id=trial_id,
        states=states or (),
        sort=sort_attribute,
        metric=sort_metric,
        descending=order_by is OrderBy.DESC,
    )
    found, pagination = await checkpoints.list_checkpoints(ctx, wanted, limit, offset)
    return GetTrialCheckpointsResponse(checkpoints=found, pagination=pagination)


@get("/checkpoints/{checkpoint_uuid:str}", opt=USER_OR_TASK)
async def download_checkpoint(request: AnyRequest, ctx: MasterContext, checkpoint_uuid: str) -> Stream:
    """An archive of the files: zip, tar or (else) tgz, as Accept says."""
    kind = _archive(request.headers.get("accept", ""))
    found = await checkpoint_download.download(ctx, checkpoint_uuid, kind)
    disposition = f'attachment; filename="{found.uuid}.{_SUFFIXES[kind]}"'
    return Stream(found.chunks, media_type=kind.value, headers={"Content-Disposition": disposition})


def _archive(accept: str) -> Archive:
    if "application/zip" in accept:
        return Archive.ZIP
    return Archive.TAR if "application/x-tar" in accept else Archive.TGZ


router = Router(
    path="",
    route_handlers=[
        report_checkpoint,
        patch_checkpoints,
        delete_checkpoints,
        remove_checkpoint_files,
        get_checkpoint,
        post_checkpoint_metadata,
        list_experiment_checkpoints,
        list_trial_checkpoints,
        download_checkpoint,
    ],
)
