"""Registered models."""

from determined.errors import AlreadyExists, Conflict, FailedPrecondition
from determined.master.auth.identity import Caller
from determined.master.auth.permission import ANY_USER, OWNER, USER_OR_TASK
from determined.master.context import MasterContext
from determined.master.routes.serve import serve
from determined.master.services import model as models
from determined.wire.model import (
    ARCHIVE_MODEL,
    CREATE_MODEL,
    DELETE_MODEL,
    GET_MODEL,
    LIST_MODEL_LABELS,
    LIST_MODELS,
    MOVE_MODEL,
    PATCH_MODEL,
    UNARCHIVE_MODEL,
    GetModelLabelsResponse,
    GetModelResponse,
    GetModelsResponse,
    ListModelLabels,
    ListModels,
    MoveModelRequest,
    PatchModel,
    PatchModelResponse,
    PostModelRequest,
    PostModelResponse,
)


@serve(LIST_MODELS, USER_OR_TASK)
async def list_models(ctx: MasterContext, params: ListModels) -> GetModelsResponse:
    return await models.list_models(ctx, params)


@serve(LIST_MODEL_LABELS, ANY_USER)
async def list_model_labels(ctx: MasterContext, params: ListModelLabels) -> GetModelLabelsResponse:
    return GetModelLabelsResponse(labels=await models.labels(ctx, params.workspace_id))


@serve(CREATE_MODEL, ANY_USER, errors=(AlreadyExists, FailedPrecondition))
async def create_model(payload: PostModelRequest, ctx: MasterContext, caller: Caller) -> PostModelResponse:
    return PostModelResponse(model=await models.create(ctx, caller, payload))


@serve(GET_MODEL, USER_OR_TASK)
async def get_model(ctx: MasterContext, model_name: str) -> GetModelResponse:
    return GetModelResponse(model=await models.get(ctx, model_name))


@serve(PATCH_MODEL, ANY_USER, errors=(AlreadyExists, Conflict, FailedPrecondition))
async def patch_model(payload: PatchModel, ctx: MasterContext, model_name: str) -> PatchModelResponse:
    return PatchModelResponse(model=await models.patch(ctx, model_name, payload))


@serve(DELETE_MODEL, OWNER)
async def delete_model(ctx: MasterContext, caller: Caller, model_name: str) -> None:
    await models.delete(ctx, caller, model_name)


@serve(ARCHIVE_MODEL, ANY_USER)
async def archive_model(ctx: MasterContext, model_name: str) -> None:
    await models.set_archived(ctx, model_name, True)


@serve(UNARCHIVE_MODEL, ANY_USER)
async def unarchive_model(ctx: MasterContext, model_name: str) -> None:
    await models.set_archived(ctx, model_name, False)


@serve(MOVE_MODEL, ANY_USER, errors=(FailedPrecondition,))
async def move_model(payload: MoveModelRequest, ctx: MasterContext, model_name: str) -> None:
    await models.move(ctx, model_name, payload.destination_workspace_id)
