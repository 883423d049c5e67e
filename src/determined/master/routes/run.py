"""Runs: the flat search, metadata, the start of reporting, and verbs on many."""

from determined.master.auth.identity import Caller
from determined.master.auth.permission import ANY_USER, OWNER_OF_EACH, OWNER_OR_TRIAL, USER_OR_EXPERIMENT
from determined.master.context import MasterContext
from determined.master.routes.serve import serve
from determined.master.services import run as runs
from determined.wire.run import (
    ARCHIVE_RUNS,
    DELETE_RUNS,
    GET_RUN_METADATA,
    KILL_RUNS,
    MOVE_RUNS,
    PAUSE_RUNS,
    POST_RUN_METADATA,
    PREPARE_FOR_REPORTING,
    RESUME_RUNS,
    SEARCH_RUNS,
    UNARCHIVE_RUNS,
    ArchiveRunsRequest,
    ArchiveRunsResponse,
    DeleteRunsRequest,
    DeleteRunsResponse,
    GetRunMetadataResponse,
    KillRunsRequest,
    KillRunsResponse,
    MoveRunsRequest,
    MoveRunsResponse,
    PauseRunsRequest,
    PauseRunsResponse,
    PostRunMetadataRequest,
    PostRunMetadataResponse,
    ResumeRunsRequest,
    ResumeRunsResponse,
    RunActionResult,
    RunPrepareForReportingRequest,
    RunPrepareForReportingResponse,
    RunSelection,
    SearchRunsRequest,
    SearchRunsResponse,
    UnarchiveRunsRequest,
    UnarchiveRunsResponse,
)


@serve(SEARCH_RUNS, ANY_USER)
async def search_runs(payload: SearchRunsRequest, ctx: MasterContext) -> SearchRunsResponse:
    return await runs.search(ctx, payload)


@serve(PREPARE_FOR_REPORTING, OWNER_OR_TRIAL)
async def prepare_for_reporting(
    payload: RunPrepareForReportingRequest, ctx: MasterContext, caller: Caller
) -> RunPrepareForReportingResponse:
    storage_id = await runs.prepare_reporting(ctx, caller, payload.run_id, payload.checkpoint_storage)
    return RunPrepareForReportingResponse(storage_id=storage_id)


@serve(GET_RUN_METADATA, USER_OR_EXPERIMENT)
async def get_metadata(ctx: MasterContext, run_id: int) -> GetRunMetadataResponse:
    return GetRunMetadataResponse(metadata=await runs.metadata(ctx, run_id))


@serve(POST_RUN_METADATA, OWNER_OR_TRIAL)
async def post_metadata(
    payload: PostRunMetadataRequest, ctx: MasterContext, caller: Caller, run_id: int
) -> PostRunMetadataResponse:
    return PostRunMetadataResponse(metadata=await runs.set_metadata(ctx, caller, run_id, payload.metadata))


@serve(KILL_RUNS, ANY_USER)
async def kill_runs(payload: KillRunsRequest, ctx: MasterContext) -> KillRunsResponse:
    return KillRunsResponse(results=await _act(ctx, "kill", payload))


@serve(PAUSE_RUNS, ANY_USER)
async def pause_runs(payload: PauseRunsRequest, ctx: MasterContext) -> PauseRunsResponse:
    return PauseRunsResponse(results=await _act(ctx, "pause", payload))


@serve(RESUME_RUNS, ANY_USER)
async def resume_runs(payload: ResumeRunsRequest, ctx: MasterContext) -> ResumeRunsResponse:
    return ResumeRunsResponse(results=await _act(ctx, "resume", payload))


@serve(ARCHIVE_RUNS, ANY_USER)
async def archive_runs(payload: ArchiveRunsRequest, ctx: MasterContext) -> ArchiveRunsResponse:
    return ArchiveRunsResponse(results=await _act(ctx, "archive", payload))


@serve(UNARCHIVE_RUNS, ANY_USER)
async def unarchive_runs(payload: UnarchiveRunsRequest, ctx: MasterContext) -> UnarchiveRunsResponse:
    return UnarchiveRunsResponse(results=await _act(ctx, "unarchive", payload))


@serve(DELETE_RUNS, OWNER_OF_EACH)
async def delete_runs(payload: DeleteRunsRequest, ctx: MasterContext, caller: Caller) -> DeleteRunsResponse:
    ids = await runs.select(ctx, payload.run_ids, payload.filter, payload.project_id)
    return DeleteRunsResponse(results=await runs.delete(ctx, caller, ids))


@serve(MOVE_RUNS, ANY_USER)
async def move_runs(payload: MoveRunsRequest, ctx: MasterContext) -> MoveRunsResponse:
    ids = await runs.select(ctx, payload.run_ids, payload.filter, payload.source_project_id)
    results = await runs.move(ctx, payload.destination_project_id, ids, skip_multitrial=bool(payload.skip_multitrial))
    return MoveRunsResponse(results=results)


async def _act(ctx: MasterContext, verb: str, payload: RunSelection) -> list[RunActionResult]:
    ids = await runs.select(ctx, payload.run_ids, payload.filter, payload.project_id)
    return await runs.act(ctx, verb, ids)
