"""Registered models: made, changed and moved by everybody, deleted by their owner or an administrator."""

from typing import cast

from sqlalchemy import Connection

from determined.errors import AlreadyExists, Conflict, FailedPrecondition, Forbidden
from determined.master.auth.identity import Caller
from determined.master.context import MasterContext
from determined.master.db import fetch
from determined.master.db.queries import model as models
from determined.master.db.queries import model_list
from determined.master.db.queries import workspace as workspaces
from determined.master.db.queries.model import ModelDetail
from determined.master.db.rows.models import ModelValues
from determined.master.db.rows.workspaces import Workspace
from determined.master.services import model_annotation, model_view
from determined.master.services.experiment_list import rows_of
from determined.master.services.given import given
from determined.master.services.model_name import checked_model_name, existing_model
from determined.master.services.naming import checked_labels
from determined.master.services.paging import window
from determined.wire.base import Pagination
from determined.wire.model import GetModelsResponse, ListModels, Model, PatchModel, PostModelRequest


async def get(ctx: MasterContext, name: str) -> Model:
    return await ctx.db.read(lambda conn: model_view.model(conn, existing_model(conn, name)))


async def list_models(ctx: MasterContext, params: ListModels) -> GetModelsResponse:
    def read(conn: Connection) -> tuple[list[Model], Pagination]:
        page = window(model_list.count(conn, params), params.limit, params.offset)
        start, size = rows_of(page)
        ids = model_list.find(conn, params, limit=size, offset=start)
        return model_view.models(conn, model_list.load(conn, ids)), page

    shown, pagination = await ctx.db.read(read)
    return GetModelsResponse(models=shown, pagination=pagination)


async def labels(ctx: MasterContext, workspace_id: int | None) -> list[str]:
    return await ctx.db.read(lambda conn: model_list.labels_by_popularity(conn, workspace_id))


async def create(ctx: MasterContext, caller: Caller, request: PostModelRequest) -> Model:
    values: ModelValues = {
        "name": checked_model_name(request.name),
        "description": request.description or "",
        "notes": request.notes or "",
        "metadata": request.metadata or {},
        "labels": checked_labels(request.labels or []),
        "user_id": caller.user_id,
    }

    def write(conn: Connection) -> Model:
        place: ModelValues = {"workspace_id": workspaces.DEFAULT_ID}
        place.update(_place(conn, request.workspace_id, request.workspace_name))
        _refuse_taken(conn, request.name)
        model_id = models.create(conn, ctx.clock.now(), {**values, **place})
        return model_view.model(conn, existing_model(conn, str(model_id)))

    return await ctx.db.write(write)


async def patch(ctx: MasterContext, name: str, request: PatchModel) -> Model:
    """Change what was sent. An archived model can only be moved."""
    texts = _changes(request)

    def write(conn: Connection) -> Model:
        before = existing_model(conn, name)
        place = _place(conn, given(request.workspace_id), given(request.workspace_name))
        changes = _effective(before, {**texts, **place})
        if before.archived and texts:
            raise FailedPrecondition(
                f'model "{before.name}" is archived and cannot have attributes updated; unarchive it'
            )
        refuse_other_notes(f'model "{before.name}"', before.notes, given(request.expected_notes))
        if "name" in changes:
            _refuse_taken(conn, changes["name"])
        if changes:
            models.change(conn, ctx.clock.now(), before.id, changes)
        return model_view.model(conn, existing_model(conn, str(before.id)))

    return await ctx.db.write(write)


async def set_archived(ctx: MasterContext, name: str, archived: bool) -> None:
    def write(conn: Connection) -> None:
        before = existing_model(conn, name)
        if before.archived != archived:
            models.change(conn, ctx.clock.now(), before.id, {"archived": archived})

    await ctx.db.write(write)


async def move(ctx: MasterContext, name: str, workspace_id: int) -> None:
    def write(conn: Connection) -> None:
        before = existing_model(conn, name)
        target = _open_workspace(conn, workspace_id)
        if target.id != before.workspace_id:
            models.change(conn, ctx.clock.now(), before.id, {"workspace_id": target.id})

    await ctx.db.write(write)


async def delete(ctx: MasterContext, caller: Caller, name: str) -> None:
    """Delete a model and its versions. Checkpoints stay."""

    def write(conn: Connection) -> None:
        row = existing_model(conn, name)
        require_deleter(caller, {row.user_id}, "models")
        models.remove(conn, row.id)

    await ctx.db.write(write)


def require_deleter(caller: Caller, owners: set[int], what: str) -> None:
    """Raise Forbidden for anybody but the owners and administrators. `what`: `models`."""
    if caller.user_id not in owners and not caller.admin:
        raise Forbidden(f"non-admin users may not delete other users' {what}; ask its owner or an administrator")


def refuse_other_notes(what: str, stored: str | None, expected: str | None) -> None:
    """Raise Conflict, with the notes as they are, when their author began with others. `what`: `model "m"`."""
    current = stored or ""
    if expected is not None and expected != current:
        raise Conflict(f"the notes of {what} have changed meanwhile; look at them and save again", current=current)


def refuse_to_delete_workspace(conn: Connection, workspace_id: int, what: str) -> None:
    """Raise FailedPrecondition while a workspace has models. `what`: `workspace 'vision'`."""
    names = models.names_in_workspace(conn, workspace_id, 3)
    if names:
        raise FailedPrecondition(f"{what} contains models; move or delete models first ({', '.join(names)})")


def _changes(request: PatchModel) -> ModelValues:
    changes: ModelValues = {}
    if (name := given(request.name)) is not None:
        changes["name"] = checked_model_name(name)
    if (description := given(request.description)) is not None:
        changes["description"] = description
    model_annotation.add_changes(changes, request)
    return changes


def _effective(before: ModelDetail, changes: ModelValues) -> ModelValues:
    """Leave out what is so already: a change without effect writes nothing."""
    return cast(ModelValues, {name: value for name, value in changes.items() if getattr(before, name) != value})


def _place(conn: Connection, workspace_id: int | None, workspace_name: str | None) -> ModelValues:
    """Return the workspace that a request names by id or by name; empty where it names none. Raises NotFound."""
    if not workspace_id and workspace_name:
        workspace_id = fetch.existing(
            workspaces.by_name(conn, workspace_name), f"workspace '{workspace_name}' not found"
        )
    return {"workspace_id": _open_workspace(conn, workspace_id).id} if workspace_id else {}


def _open_workspace(conn: Connection, workspace_id: int) -> Workspace:
    """Return a workspace that takes models. Raises NotFound, and FailedPrecondition for one that is archived."""
    row = workspaces.existing(conn, workspace_id)
    if row.archived:  # as is one that is being deleted
        raise FailedPrecondition(
            f"workspace '{row.name}' is archived and takes no models; unarchive it or name another"
        )
    return row


def _refuse_taken(conn: Connection, name: str) -> None:
    if models.by_name(conn, name) is not None:
        raise AlreadyExists(f"model '{name}' exists already; avoid names equal to other models")
