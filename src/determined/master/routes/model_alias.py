"""Aliases of model versions."""

from determined.errors import Conflict, FailedPrecondition, InvalidArgument
from determined.master.auth.identity import Caller
from determined.master.auth.permission import ANY_USER
from determined.master.context import MasterContext
from determined.master.routes.serve import serve
from determined.master.services import model_alias as aliases
from determined.wire.model_alias import (
    LIST_MODEL_ALIAS_HISTORY,
    LIST_MODEL_ALIASES,
    PUT_MODEL_ALIAS,
    REMOVE_MODEL_ALIAS,
    ListModelAliasesResponse,
    ListModelAliasHistory,
    ModelAliasHistoryResponse,
    PutModelAliasRequest,
    PutModelAliasResponse,
)


@serve(LIST_MODEL_ALIASES, ANY_USER)
async def list_model_aliases(ctx: MasterContext, model_name: str) -> ListModelAliasesResponse:
    return ListModelAliasesResponse(aliases=await aliases.list_aliases(ctx, model_name))


@serve(PUT_MODEL_ALIAS, ANY_USER, errors=(Conflict, FailedPrecondition, InvalidArgument))
async def put_model_alias(
    payload: PutModelAliasRequest, ctx: MasterContext, caller: Caller, model_name: str, alias: str
) -> PutModelAliasResponse:
    return PutModelAliasResponse(alias=await aliases.put(ctx, caller, model_name, alias, payload))


@serve(REMOVE_MODEL_ALIAS, ANY_USER, errors=(FailedPrecondition,))
async def remove_model_alias(ctx: MasterContext, caller: Caller, model_name: str, alias: str) -> None:
    await aliases.remove(ctx, caller, model_name, alias)


@serve(LIST_MODEL_ALIAS_HISTORY, ANY_USER)
async def list_model_alias_history(
    ctx: MasterContext, model_name: str, params: ListModelAliasHistory
) -> ModelAliasHistoryResponse:
    return await aliases.history(ctx, model_name, params)
