"""Verbs on experiments, one by one and many at once."""

from typing import Protocol

from determined.errors import FailedPrecondition
from determined.master.auth.identity import Caller
from determined.master.auth.permission import ANY_USER, OWNER_OF_EACH
from determined.master.context import MasterContext
from determined.master.routes.serve import serve
from determined.master.services import experiment as experiments
from determined.master.services import experiment_bulk as bulk
from determined.master.services import experiment_reproduce
from determined.wire.experiment import REPRODUCE_EXPERIMENT, CreateExperimentResponse, ReproduceExperimentRequest
from determined.wire.experiment_bulk import (
    ACTIVATE_EXPERIMENT,
    ACTIVATE_EXPERIMENTS,
    ARCHIVE_EXPERIMENT,
    ARCHIVE_EXPERIMENTS,
    CANCEL_EXPERIMENT,
    CANCEL_EXPERIMENTS,
    DELETE_EXPERIMENTS,
    KILL_EXPERIMENT,
    KILL_EXPERIMENTS,
    MOVE_EXPERIMENTS,
    PAUSE_EXPERIMENT,
    PAUSE_EXPERIMENTS,
    RETAIN_EXPERIMENTS_LOGS,
    UNARCHIVE_EXPERIMENT,
    UNARCHIVE_EXPERIMENTS,
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
from determined.wire.operation import Nothing


@serve(ACTIVATE_EXPERIMENT, ANY_USER, errors=(FailedPrecondition,))
async def activate(ctx: MasterContext, experiment_id: int) -> Nothing:
    return await _act(ctx, "activate", experiment_id)


@serve(PAUSE_EXPERIMENT, ANY_USER, errors=(FailedPrecondition,))
async def pause(ctx: MasterContext, experiment_id: int) -> Nothing:
    return await _act(ctx, "pause", experiment_id)


@serve(CANCEL_EXPERIMENT, ANY_USER)
async def cancel(ctx: MasterContext, experiment_id: int) -> Nothing:
    return await _act(ctx, "cancel", experiment_id)


@serve(KILL_EXPERIMENT, ANY_USER)
async def kill(ctx: MasterContext, experiment_id: int) -> Nothing:
    return await _act(ctx, "kill", experiment_id)


@serve(ARCHIVE_EXPERIMENT, ANY_USER, errors=(FailedPrecondition,))
async def archive(ctx: MasterContext, experiment_id: int) -> Nothing:
    return await _act(ctx, "archive", experiment_id)


@serve(UNARCHIVE_EXPERIMENT, ANY_USER)
async def unarchive(ctx: MasterContext, experiment_id: int) -> Nothing:
    return await _act(ctx, "unarchive", experiment_id)


@serve(REPRODUCE_EXPERIMENT, ANY_USER, errors=(FailedPrecondition,))
async def reproduce(
    payload: ReproduceExperimentRequest, ctx: MasterContext, caller: Caller, experiment_id: int
) -> CreateExperimentResponse:
    """Submit a new experiment that runs as this one did (ours)."""
    return await experiment_reproduce.reproduce(ctx, caller, experiment_id, payload)


@serve(ACTIVATE_EXPERIMENTS, ANY_USER)
async def activate_many(
    payload: ActivateExperimentsRequest, ctx: MasterContext, project_id: int
) -> ActivateExperimentsResponse:
    ids = await _selected(ctx, payload, project_id, "activate")
    return ActivateExperimentsResponse(results=await bulk.act(ctx, "activate", ids))


@serve(PAUSE_EXPERIMENTS, ANY_USER)
async def pause_many(payload: PauseExperimentsRequest, ctx: MasterContext, project_id: int) -> PauseExperimentsResponse:
    ids = await _selected(ctx, payload, project_id, "pause")
    return PauseExperimentsResponse(results=await bulk.act(ctx, "pause", ids))


@serve(CANCEL_EXPERIMENTS, ANY_USER)
async def cancel_many(
    payload: CancelExperimentsRequest, ctx: MasterContext, project_id: int
) -> CancelExperimentsResponse:
    ids = await _selected(ctx, payload, project_id, "cancel")
    return CancelExperimentsResponse(results=await bulk.act(ctx, "cancel", ids))


@serve(KILL_EXPERIMENTS, ANY_USER)
async def kill_many(payload: KillExperimentsRequest, ctx: MasterContext, project_id: int) -> KillExperimentsResponse:
    ids = await _selected(ctx, payload, project_id, "kill")
    return KillExperimentsResponse(results=await bulk.act(ctx, "kill", ids))


@serve(ARCHIVE_EXPERIMENTS, ANY_USER)
async def archive_many(
    payload: ArchiveExperimentsRequest, ctx: MasterContext, project_id: int
) -> ArchiveExperimentsResponse:
    ids = await _selected(ctx, payload, project_id, "archive")
    return ArchiveExperimentsResponse(results=await bulk.act(ctx, "archive", ids))


@serve(UNARCHIVE_EXPERIMENTS, ANY_USER)
async def unarchive_many(
    payload: UnarchiveExperimentsRequest, ctx: MasterContext, project_id: int
) -> UnarchiveExperimentsResponse:
    ids = await _selected(ctx, payload, project_id, "unarchive")
    return UnarchiveExperimentsResponse(results=await bulk.act(ctx, "unarchive", ids))


@serve(DELETE_EXPERIMENTS, OWNER_OF_EACH)
async def delete_many(
    payload: DeleteExperimentsRequest, ctx: MasterContext, caller: Caller, project_id: int
) -> DeleteExperimentsResponse:
    ids = await _selected(ctx, payload, project_id)
    return DeleteExperimentsResponse(results=await bulk.delete(ctx, caller, ids))


@serve(MOVE_EXPERIMENTS, ANY_USER)
async def move_many(payload: MoveExperimentsRequest, ctx: MasterContext, project_id: int) -> MoveExperimentsResponse:
    ids = await _selected(ctx, payload, project_id)
    return MoveExperimentsResponse(results=await bulk.move(ctx, payload.destination_project_id, ids))


@serve(RETAIN_EXPERIMENTS_LOGS, OWNER_OF_EACH)
async def retain_logs_many(
    payload: PutExperimentsRetainLogsRequest, ctx: MasterContext, caller: Caller, project_id: int
) -> PutExperimentsRetainLogsResponse:
    ids = await _selected(ctx, payload, project_id)
    return PutExperimentsRetainLogsResponse(results=await bulk.retain_logs(ctx, caller, payload.num_days, ids))


class _BulkRequest(Protocol):
    experiment_ids: list[int]
    filters: BulkExperimentFilters | None


async def _act(ctx: MasterContext, verb: str, experiment_id: int) -> Nothing:
    await experiments.act(ctx, verb, experiment_id)
    return Nothing()


async def _selected(ctx: MasterContext, payload: _BulkRequest, project_id: int, verb: str = "") -> list[int]:
    return await bulk.select(ctx, payload.experiment_ids, payload.filters, project_id, verb)
