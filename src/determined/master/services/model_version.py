"""Versions of registered models: a number that is never given twice, and a checkpoint that is kept for it."""

from typing import cast

from sqlalchemy import Connection

from determined.errors import FailedPrecondition, Forbidden, NotFound
from determined.master.auth.identity import Caller
from determined.master.context import MasterContext
from determined.master.db.queries import checkpoint_list, model_alias
from determined.master.db.queries import experiment as experiments
from determined.master.db.queries import model as models
from determined.master.db.queries import model_version as rows
from determined.master.db.queries.model import ModelDetail
from determined.master.db.queries.model_version import VersionDetail
from determined.master.db.rows.models import ModelVersionValues
from determined.master.lifecycle.states import DELETION
from determined.master.services import model_annotation, model_view
from determined.master.services.experiment_list import rows_of
from determined.master.services.given import given
from determined.master.services.model import refuse_other_notes, require_deleter
from determined.master.services.model_name import existing_model
from determined.master.services.naming import checked_labels, checked_text
from determined.master.services.paging import window
from determined.wire.model_version import (
    LATEST,
    GetModelVersionsResponse,
    ListModelVersions,
    ModelVersion,
    PatchModelVersion,
    PostModelVersionRequest,
)

_LARGEST = 2**31 - 1


async def get(ctx: MasterContext, name: str, version: str) -> ModelVersion:
    def read(conn: Connection) -> ModelVersion:
        return model_view.version(conn, existing_version(conn, existing_model(conn, name), version))

    return await ctx.db.read(read)


async def list_versions(ctx: MasterContext, name: str, params: ListModelVersions) -> GetModelVersionsResponse:
    def read(conn: Connection) -> GetModelVersionsResponse:
        model = existing_model(conn, name)
        page = window(model.num_versions, params.limit, params.offset)
        start, size = rows_of(page)
        shown = model_view.versions(conn, rows.find(conn, model.id, params, limit=size, offset=start))
        return GetModelVersionsResponse(model=model_view.model(conn, model), model_versions=shown, pagination=page)

    return await ctx.db.read(read)


async def of_checkpoint(ctx: MasterContext, uuid: str) -> list[ModelVersion]:
    """List versions that a checkpoint is registered as. Raises NotFound for an unknown checkpoint."""

    def read(conn: Connection) -> list[ModelVersion]:
        if not checkpoint_list.load(conn, [uuid]):
            raise NotFound(f"checkpoint {uuid} not found")
        return model_view.versions(conn, rows.of_checkpoint(conn, uuid))

    return await ctx.db.read(read)


async def register(ctx: MasterContext, caller: Caller, name: str, request: PostModelVersionRequest) -> ModelVersion:
    """Register a checkpoint as the next version of a model; the checkpoint is kept from now on."""
    values: ModelVersionValues = {
        "checkpoint_uuid": request.checkpoint_uuid,
        "user_id": caller.user_id,
        "name": checked_text(request.name or "", "name of the version"),
        "comment": request.comment or "",
        "notes": request.notes or "",
        "metadata": request.metadata or {},
        "labels": checked_labels(request.labels or []),
    }
    now = ctx.clock.now()

    def write(conn: Connection) -> ModelVersion:
        model = existing_model(conn, name)
        if model.archived:
            raise FailedPrecondition(f'model "{model.name}" is archived and cannot register new versions; unarchive it')
        _require_usable(conn, caller, request.checkpoint_uuid)
        version = models.next_version(conn, now, model.id)
        rows.create(conn, now, {**values, "model_id": model.id, "version": version})
        return model_view.version(conn, existing_version(conn, model, str(version)))

    return await ctx.db.write(write)


async def patch(ctx: MasterContext, name: str, version: str, request: PatchModelVersion) -> ModelVersion:
    """Change what was sent, also of an archived model."""
    changes = _changes(request)

    def write(conn: Connection) -> ModelVersion:
        model = existing_model(conn, name)
        before = existing_version(conn, model, version)
        what = f'version {before.version} of model "{model.name}"'
        refuse_other_notes(what, before.notes, given(request.expected_notes))
        effective = cast(ModelVersionValues, {k: v for k, v in changes.items() if getattr(before, k) != v})
        if effective:
            rows.change(conn, ctx.clock.now(), before.id, effective)
        return model_view.version(conn, existing_version(conn, model, str(before.version)))

    return await ctx.db.write(write)


async def delete(ctx: MasterContext, caller: Caller, name: str, version: str) -> None:
    """Delete a version and the aliases that point to it. Its checkpoint stays, its number is not given again."""
    now = ctx.clock.now()

    def write(conn: Connection) -> None:
        model = existing_model(conn, name)
        row = existing_version(conn, model, version)
        # Whoever trained the checkpoint too, or a stranger's version would hold their storage for ever.
        trained = {
            one.owner_id for one in checkpoint_list.load(conn, [row.checkpoint_uuid]) if one.owner_id is not None
        }
        require_deleter(caller, {row.user_id, model.user_id} | trained, "model versions")
        for alias in model_alias.list_all(conn, model.id):
            if alias.version == row.version:
                model_alias.remove(conn, now, alias, caller.user_id)
        rows.remove(conn, row.id)
        models.count_down(conn, now, model.id)

    await ctx.db.write(write)


def existing_version(conn: Connection, model: ModelDetail, word: str) -> VersionDetail:
    """Find a version by its number, by an alias, or the latest. Raises NotFound."""
    number = _number(conn, model, word)
    row = rows.get(conn, model.id, number) if number is not None else None
    if row is None:
        raise NotFound(f'version {word[:100]} for model "{model.name}" not found')
    return row


def _number(conn: Connection, model: ModelDetail, word: str) -> int | None:
    if word == LATEST:
        return rows.highest(conn, model.id)
    if word.isascii() and word.isdigit():
        return int(word) if len(word) <= 10 and int(word) <= _LARGEST else None
    alias = model_alias.get(conn, model.id, word)
    return alias.version if alias is not None else None


def _require_usable(conn: Connection, caller: Caller, uuid: str) -> None:
    """Raise NotFound for an unknown checkpoint, FailedPrecondition for one whose files are not all there to stay."""
    checkpoints = checkpoint_list.load(conn, [uuid])
    if not checkpoints:
        raise NotFound(f"checkpoint {uuid[:100]} not found")
    row = checkpoints[0]
    if caller.kind == "task" and row.experiment_id != caller.experiment_id:
        raise Forbidden(f"allocation {caller.allocation_id} may register checkpoints of its own experiment only")
    if row.state != "COMPLETED":
        raise FailedPrecondition(f"checkpoint {uuid} is {row.state}; it must be in a COMPLETED state to be registered")
    if row.delete_requested_at is not None:
        raise FailedPrecondition(
            f"checkpoint {uuid} is being deleted; it must be in a COMPLETED state to be registered"
        )
    if row.experiment_id is not None and experiments.get(conn, row.experiment_id).state in DELETION:
        raise FailedPrecondition(f"experiment {row.experiment_id} is being deleted, and checkpoint {uuid} with it")


def _changes(request: PatchModelVersion) -> ModelVersionValues:
    changes: ModelVersionValues = {}
    if (name := given(request.name)) is not None:
        changes["name"] = checked_text(name, "name of the version")
    if (comment := given(request.comment)) is not None:
        changes["comment"] = comment
    model_annotation.add_changes(changes, request)
    return changes
