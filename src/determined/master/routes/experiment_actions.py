"""Verbs on experiments, one by one and many at once."""

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
    CancelExperimentsRequest,
    CancelExperimentsResponse,
    DeleteExperimentsRequest,
    DeleteExperimentsResponse,
    ExperimentActionResult,
    ExperimentSelection,
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


@serve(ACTIVATE_EXPERIMENT, ANY_USER, errors=(FailedPrecondition,))
async def activate(ctx: MasterContext, experiment_id: int) -> None:
    await experiments.act(ctx, "activate", experiment_id)


@serve(PAUSE_EXPERIMENT, ANY_USER, errors=(FailedPrecondition,))
async def pause(ctx: MasterContext, experiment_id: int) -> None:
    await experiments.act(ctx, "pause", experiment_id)


@serve(CANCEL_EXPERIMENT, ANY_USER)
async def cancel(ctx: MasterContext, experiment_id: int) -> None:
    await experiments.act(ctx, "cancel", experiment_id)


@serve(KILL_EXPERIMENT, ANY_USER)
async def kill(ctx: MasterContext, experiment_id: int) -> None:
    await experiments.act(ctx, "kill", experiment_id)


@serve(ARCHIVE_EXPERIMENT, ANY_USER, errors=(FailedPrecondition,))
async def archive(ctx: MasterContext, experiment_id: int) -> None:
    await experiments.act(ctx, "archive", experiment_id)


@serve(UNARCHIVE_EXPERIMENT, ANY_USER)
async def unarchive(ctx: MasterContext, experiment_id: int) -> None:
    await experiments.act(ctx, "unarchive", experiment_id)


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
    return ActivateExperimentsResponse(results=await _act_on_many(ctx, "activate", payload, project_id))


@serve(PAUSE_EXPERIMENTS, ANY_USER)
async def pause_many(payload: PauseExperimentsRequest, ctx: MasterContext, project_id: int) -> PauseExperimentsResponse:
    return PauseExperimentsResponse(results=await _act_on_many(ctx, "pause", payload, project_id))


@serve(CANCEL_EXPERIMENTS, ANY_USER)
async def cancel_many(
    payload: CancelExperimentsRequest, ctx: MasterContext, project_id: int
) -> CancelExperimentsResponse:
    return CancelExperimentsResponse(results=await _act_on_many(ctx, "cancel", payload, project_id))


@serve(KILL_EXPERIMENTS, ANY_USER)
async def kill_many(payload: KillExperimentsRequest, ctx: MasterContext, project_id: int) -> KillExperimentsResponse:
    return KillExperimentsResponse(results=await _act_on_many(ctx, "kill", payload, project_id))


@serve(ARCHIVE_EXPERIMENTS, ANY_USER)
async def archive_many(
    payload: ArchiveExperimentsRequest, ctx: MasterContext, project_id: int
) -> ArchiveExperimentsResponse:
    return ArchiveExperimentsResponse(results=await _act_on_many(ctx, "archive", payload, project_id))


@serve(UNARCHIVE_EXPERIMENTS, ANY_USER)
async def unarchive_many(
    payload: UnarchiveExperimentsRequest, ctx: MasterContext, project_id: int
) -> UnarchiveExperimentsResponse:
    return UnarchiveExperimentsResponse(results=await _act_on_many(ctx, "unarchive", payload, project_id))


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


async def _act_on_many(
    ctx: MasterContext, verb: str, payload: ExperimentSelection, project_id: int
) -> list[ExperimentActionResult]:
    return await bulk.act(ctx, verb, await _selected(ctx, payload, project_id, verb))


async def _selected(ctx: MasterContext, payload: ExperimentSelection, project_id: int, verb: str = "") -> list[int]:
    return await bulk.select(ctx, payload.experiment_ids, payload.filters, project_id, verb)
