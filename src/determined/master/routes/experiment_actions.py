"""Verbs on experiments, one by one and many at once."""

from typing import Any, Protocol

from litestar import Request, Router, delete, post, put

from determined.master.auth.identity import Caller
from determined.master.auth.permission import ANY_USER, OWNER_OF_EACH
from determined.master.context import MasterContext
from determined.master.routes.body import read_body
from determined.master.services import experiment as experiments
from determined.master.services import experiment_bulk as bulk
from determined.master.services import experiment_reproduce
from determined.wire.experiment import CreateExperimentResponse, ReproduceExperimentRequest
from determined.wire.experiment_bulk import (
    ActivateExperimentsRequest,
    ActivateExperimentsResponse,
    ArchiveExperimentsRequest,
    ArchiveExperimentsResponse,
    BulkExperimentFilters,
    CancelExperimentsRequest,
    CancelExperimentsResponse,
    DeleteExperimentsRequest,
    DeleteExperimentsResponse,
    KillExperimentsRequest,
    KillExperimentsResponse,
    MoveExperimentsRequest,
    MoveExperimentsResponse,
    PauseExperimentsRequest,
    PauseExperimentsResponse,
    PutExperimentsRetainLogsRequest,
    PutExperimentsRetainLogsResponse,
    UnarchiveExperimentsRequest,
    UnarchiveExperimentsResponse,
)

AnyRequest = Request[Any, Any, Any]


@post("/api/v1/experiments/{experiment_id:int}/activate", status_code=200, opt=ANY_USER)
async def activate(ctx: MasterContext, experiment_id: int) -> dict[str, Any]:
    return await _act(ctx, "activate", experiment_id)


@post("/api/v1/experiments/{experiment_id:int}/pause", status_code=200, opt=ANY_USER)
async def pause(ctx: MasterContext, experiment_id: int) -> dict[str, Any]:
    return await _act(ctx, "pause", experiment_id)


@post("/api/v1/experiments/{experiment_id:int}/cancel", status_code=200, opt=ANY_USER)
async def cancel(ctx: MasterContext, experiment_id: int) -> dict[str, Any]:
    return await _act(ctx, "cancel", experiment_id)


@post("/api/v1/experiments/{experiment_id:int}/kill", status_code=200, opt=ANY_USER)
async def kill(ctx: MasterContext, experiment_id: int) -> dict[str, Any]:
    return await _act(ctx, "kill", experiment_id)


@post("/api/v1/experiments/{experiment_id:int}/archive", status_code=200, opt=ANY_USER)
async def archive(ctx: MasterContext, experiment_id: int) -> dict[str, Any]:
    return await _act(ctx, "archive", experiment_id)


@post("/api/v1/experiments/{experiment_id:int}/unarchive", status_code=200, opt=ANY_USER)
async def unarchive(ctx: MasterContext, experiment_id: int) -> dict[str, Any]:
    return await _act(ctx, "unarchive", experiment_id)


@post("/api/v1/experiments/{experiment_id:int}/reproduce", status_code=200, opt=ANY_USER)
async def reproduce(
    request: AnyRequest, ctx: MasterContext, caller: Caller, experiment_id: int
) -> CreateExperimentResponse:
    """Ours: a new experiment that runs as this one did."""
    asked = await read_body(request, ReproduceExperimentRequest)
    return await experiment_reproduce.reproduce(ctx, caller, experiment_id, asked)


@post("/api/v1/projects/{project_id:int}/experiments/activate", status_code=200, opt=ANY_USER)
async def activate_many(request: AnyRequest, ctx: MasterContext, project_id: int) -> ActivateExperimentsResponse:
    ids = await _selected(ctx, await read_body(request, ActivateExperimentsRequest), project_id, "activate")
    return ActivateExperimentsResponse(results=await bulk.act(ctx, "activate", ids))


@post("/api/v1/projects/{project_id:int}/experiments/pause", status_code=200, opt=ANY_USER)
async def pause_many(request: AnyRequest, ctx: MasterContext, project_id: int) -> PauseExperimentsResponse:
    ids = await _selected(ctx, await read_body(request, PauseExperimentsRequest), project_id, "pause")
    return PauseExperimentsResponse(results=await bulk.act(ctx, "pause", ids))


@post("/api/v1/projects/{project_id:int}/experiments/cancel", status_code=200, opt=ANY_USER)
async def cancel_many(request: AnyRequest, ctx: MasterContext, project_id: int) -> CancelExperimentsResponse:
    ids = await _selected(ctx, await read_body(request, CancelExperimentsRequest), project_id, "cancel")
    return CancelExperimentsResponse(results=await bulk.act(ctx, "cancel", ids))


@post("/api/v1/projects/{project_id:int}/experiments/kill", status_code=200, opt=ANY_USER)
async def kill_many(request: AnyRequest, ctx: MasterContext, project_id: int) -> KillExperimentsResponse:
    ids = await _selected(ctx, await read_body(request, KillExperimentsRequest), project_id, "kill")
    return KillExperimentsResponse(results=await bulk.act(ctx, "kill", ids))


@post("/api/v1/projects/{project_id:int}/experiments/archive", status_code=200, opt=ANY_USER)
async def archive_many(request: AnyRequest, ctx: MasterContext, project_id: int) -> ArchiveExperimentsResponse:
    ids = await _selected(ctx, await read_body(request, ArchiveExperimentsRequest), project_id, "archive")
    return ArchiveExperimentsResponse(results=await bulk.act(ctx, "archive", ids))


@post("/api/v1/projects/{project_id:int}/experiments/unarchive", status_code=200, opt=ANY_USER)
async def unarchive_many(request: AnyRequest, ctx: MasterContext, project_id: int) -> UnarchiveExperimentsResponse:
    ids = await _selected(ctx, await read_body(request, UnarchiveExperimentsRequest), project_id, "unarchive")
    return UnarchiveExperimentsResponse(results=await bulk.act(ctx, "unarchive", ids))


@delete("/api/v1/projects/{project_id:int}/experiments/delete", status_code=200, opt=OWNER_OF_EACH)
async def delete_many(
    request: AnyRequest, ctx: MasterContext, caller: Caller, project_id: int
) -> DeleteExperimentsResponse:
    ids = await _selected(ctx, await read_body(request, DeleteExperimentsRequest), project_id)
    return DeleteExperimentsResponse(results=await bulk.delete(ctx, caller, ids))


@post("/api/v1/projects/{project_id:int}/experiments/move", status_code=200, opt=ANY_USER)
async def move_many(request: AnyRequest, ctx: MasterContext, project_id: int) -> MoveExperimentsResponse:
    asked = await read_body(request, MoveExperimentsRequest)
    ids = await _selected(ctx, asked, project_id)
    return MoveExperimentsResponse(results=await bulk.move(ctx, asked.destination_project_id, ids))


@put("/api/v1/projects/{project_id:int}/experiments/retain_logs", status_code=200, opt=OWNER_OF_EACH)
async def retain_logs_many(
    request: AnyRequest, ctx: MasterContext, caller: Caller, project_id: int
) -> PutExperimentsRetainLogsResponse:
    asked = await read_body(request, PutExperimentsRetainLogsRequest)
    ids = await _selected(ctx, asked, project_id)
    return PutExperimentsRetainLogsResponse(results=await bulk.retain_logs(ctx, caller, asked.num_days, ids))


class _BulkRequest(Protocol):
    experiment_ids: list[int]
    filters: BulkExperimentFilters | None


async def _act(ctx: MasterContext, verb: str, experiment_id: int) -> dict[str, Any]:
    await experiments.act(ctx, verb, experiment_id)
    return {}


async def _selected(ctx: MasterContext, asked: _BulkRequest, project_id: int, verb: str = "") -> list[int]:
    return await bulk.select(ctx, asked.experiment_ids, asked.filters, project_id, verb)


router = Router(
    path="",
    route_handlers=[
        activate,
        pause,
        cancel,
        kill,
        archive,
        unarchive,
        reproduce,
        activate_many,
        pause_many,
        cancel_many,
        kill_many,
        archive_many,
        unarchive_many,
        delete_many,
        move_many,
        retain_logs_many,
    ],
)
