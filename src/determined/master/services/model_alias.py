"""Aliases of model versions: set, moved and removed, each change kept with who and when."""

from sqlalchemy import Connection

from determined.errors import Conflict, FailedPrecondition
from determined.master.auth.identity import Caller
from determined.master.context import MasterContext
from determined.master.db import fetch
from determined.master.db.queries import model as models
from determined.master.db.queries import model_alias as rows
from determined.master.db.queries.model import ModelDetail
from determined.master.db.queries.model_alias import AliasChangeDetail, AliasDetail
from determined.master.db.rows.models import ModelAliasValues
from determined.master.services.experiment_list import rows_of
from determined.master.services.model_name import checked_alias, existing_model
from determined.master.services.model_version import existing_version
from determined.master.services.paging import window
from determined.wire.codec import rfc3339
from determined.wire.model_alias import (
    ListModelAliasHistory,
    ModelAlias,
    ModelAliasChange,
    ModelAliasHistoryResponse,
    PutModelAliasRequest,
)


async def list_aliases(ctx: MasterContext, name: str) -> list[ModelAlias]:
    def read(conn: Connection) -> list[AliasDetail]:
        return rows.list_all(conn, existing_model(conn, name).id)

    return [_alias(row) for row in await ctx.db.read(read)]


async def put(ctx: MasterContext, caller: Caller, name: str, alias: str, request: PutModelAliasRequest) -> ModelAlias:
    """Point an alias to a version. The same version again changes nothing."""
    checked_alias(alias)

    def write(conn: Connection) -> AliasDetail:
        model = _changeable(conn, name)
        version = existing_version(conn, model, str(request.version)).version
        before = rows.get(conn, model.id, alias)
        previous = before.version if before is not None else None
        _require_expected(alias, request.expected_version, previous)
        if previous != version:
            row = ModelAliasValues(model_id=model.id, alias=alias, version=version, user_id=caller.user_id)
            rows.put(conn, ctx.clock.now(), row, previous)
            models.change(conn, ctx.clock.now(), model.id, {})  # aliases are not streamed, models are
        return _existing(conn, model, alias)

    return _alias(await ctx.db.write(write))


async def remove(ctx: MasterContext, caller: Caller, name: str, alias: str) -> None:
    def write(conn: Connection) -> None:
        model = _changeable(conn, name)
        rows.remove(conn, ctx.clock.now(), _existing(conn, model, alias), caller.user_id)
        models.change(conn, ctx.clock.now(), model.id, {})

    await ctx.db.write(write)


async def history(ctx: MasterContext, name: str, params: ListModelAliasHistory) -> ModelAliasHistoryResponse:
    def read(conn: Connection) -> ModelAliasHistoryResponse:
        model = existing_model(conn, name)
        page = window(rows.count_changes(conn, model.id, params), params.limit, params.offset)
        start, size = rows_of(page)
        changes = rows.changes(conn, model.id, params, limit=size, offset=start)
        return ModelAliasHistoryResponse(changes=[_change(row) for row in changes], pagination=page)

    return await ctx.db.read(read)


def _changeable(conn: Connection, name: str) -> ModelDetail:
    model = existing_model(conn, name)
    if model.archived:
        raise FailedPrecondition(f'model "{model.name}" is archived and its aliases cannot be changed; unarchive it')
    return model


def _existing(conn: Connection, model: ModelDetail, alias: str) -> AliasDetail:
    return fetch.existing(rows.get(conn, model.id, alias), f'alias {alias[:100]} for model "{model.name}" not found')


def _require_expected(alias: str, expected: int | None, previous: int | None) -> None:
    """Raise Conflict where somebody has moved the alias since the caller looked."""
    if expected is not None and expected != (previous or 0):
        now = f"version {previous}" if previous is not None else "no version"
        raise Conflict(f"alias {alias} points to {now}, not to version {expected}; look again before you move it")


def _alias(row: AliasDetail) -> ModelAlias:
    return ModelAlias(
        alias=row.alias,
        version=row.version,
        user_id=row.user_id,
        username=row.username,
        set_time=rfc3339(row.set_at),
    )


def _change(row: AliasChangeDetail) -> ModelAliasChange:
    return ModelAliasChange(
        id=row.id,
        alias=row.alias,
        user_id=row.user_id,
        username=row.username,
        time=rfc3339(row.changed_at),
        version=row.version,
        previous_version=row.previous_version,
    )
