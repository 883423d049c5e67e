"""Runs: the flat search, metadata, the start of reporting, and verbs on many."""

from typing import Any

from litestar import Request, Router, get, post

from determined.master.auth.identity import Caller
from determined.master.auth.permission import ANY_USER, OWNER_OF_EACH, OWNER_OR_TRIAL, USER_OR_EXPERIMENT
from determined.master.context import MasterContext
from determined.master.routes.body import read_body
from determined.master.services import run as runs
from determined.wire.run import (
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
    RunPrepareForReportingRequest,
    RunPrepareForReportingResponse,
    SearchRunsRequest,
    SearchRunsResponse,
    UnarchiveRunsRequest,
    UnarchiveRunsResponse,
)

AnyRequest = Request[Any, Any, Any]


@post("/api/v1/runs", status_code=200, opt=ANY_USER)
async def search_runs(request: AnyRequest, ctx: MasterContext) -> SearchRunsResponse:
    return await runs.search(ctx, await read_body(request, SearchRunsRequest))


@post("/api/v1/runs/start", status_code=200, opt=OWNER_OR_TRIAL)
async def prepare_for_reporting(
    request: AnyRequest, ctx: MasterContext, caller: Caller
) -> RunPrepareForReportingResponse:
    asked = await read_body(request, RunPrepareForReportingRequest)
    storage_id = await runs.prepare_reporting(ctx, caller, asked.run_id, asked.checkpoint_storage)
    return RunPrepareForReportingResponse(storage_id=storage_id)


@get("/api/v1/runs/{run_id:int}/metadata", opt=USER_OR_EXPERIMENT)
async def get_metadata(ctx: MasterContext, run_id: int) -> GetRunMetadataResponse:
    return GetRunMetadataResponse(metadata=await runs.metadata(ctx, run_id))


@post("/api/v1/runs/{run_id:int}/metadata", status_code=200, opt=OWNER_OR_TRIAL)
async def post_metadata(
    request: AnyRequest, ctx: MasterContext, caller: Caller, run_id: int
) -> PostRunMetadataResponse:
    asked = await read_body(request, PostRunMetadataRequest)
    return PostRunMetadataResponse(metadata=await runs.set_metadata(ctx, caller, run_id, asked.metadata))


@post("/api/v1/runs/kill", status_code=200, opt=ANY_USER)
async def kill_runs(request: AnyRequest, ctx: MasterContext) -> KillRunsResponse:
    asked = await read_body(request, KillRunsRequest)
    ids = await runs.select(ctx, asked.run_ids, asked.filter, asked.project_id)
    return KillRunsResponse(results=await runs.act(ctx, "kill", ids))


@post("/api/v1/runs/pause", status_code=200, opt=ANY_USER)
async def pause_runs(request: AnyRequest, ctx: MasterContext) -> PauseRunsResponse:
    asked = await read_body(request, PauseRunsRequest)
    ids = await runs.select(ctx, asked.run_ids, asked.filter, asked.project_id)
    return PauseRunsResponse(results=await runs.act(ctx, "pause", ids))


@post("/api/v1/runs/resume", status_code=200, opt=ANY_USER)
async def resume_runs(request: AnyRequest, ctx: MasterContext) -> ResumeRunsResponse:
    asked = await read_body(request, ResumeRunsRequest)
    ids = await runs.select(ctx, asked.run_ids, asked.filter, asked.project_id)
    return ResumeRunsResponse(results=await runs.act(ctx, "resume", ids))


@post("/api/v1/runs/archive", status_code=200, opt=ANY_USER)
async def archive_runs(request: AnyRequest, ctx: MasterContext) -> ArchiveRunsResponse:
    asked = await read_body(request, ArchiveRunsRequest)
    ids = await runs.select(ctx, asked.run_ids, asked.filter, asked.project_id)
    return ArchiveRunsResponse(results=await runs.act(ctx, "archive", ids))


@post("/api/v1/runs/unarchive", status_code=200, opt=ANY_USER)
async def unarchive_runs(request: AnyRequest, ctx: MasterContext) -> UnarchiveRunsResponse:
    asked = await read_body(request, UnarchiveRunsRequest)
    ids = await runs.select(ctx, asked.run_ids, asked.filter, asked.project_id)
    return UnarchiveRunsResponse(results=await runs.act(ctx, "unarchive", ids))


@post("/api/v1/runs/delete", status_code=200, opt=OWNER_OF_EACH)
async def delete_runs(request: AnyRequest, ctx: MasterContext, caller: Caller) -> DeleteRunsResponse:
    asked = await read_body(request, DeleteRunsRequest)
    ids = await runs.select(ctx, asked.run_ids, asked.filter, asked.project_id)
    return DeleteRunsResponse(results=await runs.delete(ctx, caller, ids))


@post("/api/v1/runs/move", status_code=200, opt=ANY_USER)
async def move_runs(request: AnyRequest, ctx: MasterContext) -> MoveRunsResponse:
    asked = await read_body(request, MoveRunsRequest)
    ids = await runs.select(ctx, asked.run_ids, asked.filter, asked.source_project_id)
    results = await runs.move(ctx, asked.destination_project_id, ids, skip_multitrial=bool(asked.skip_multitrial))
    return MoveRunsResponse(results=results)


router = Router(
    path="",
    route_handlers=[
        search_runs,
        prepare_for_reporting,
        get_metadata,
        post_metadata,
        kill_runs,
        pause_runs,
        resume_runs,
        archive_runs,
        unarchive_runs,
        delete_runs,
        move_runs,
    ],
)
