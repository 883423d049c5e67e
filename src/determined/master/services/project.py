"""Projects: made and noted by everybody; changed by their owner, the workspace's owner or an administrator."""

import msgspec
from sqlalchemy import Connection

from determined.errors import AlreadyExists, Conflict, FailedPrecondition, Forbidden
from determined.master.auth.identity import Caller
from determined.master.context import MasterContext
from determined.master.db import fetch
from determined.master.db.queries import metric_range
from determined.master.db.queries import project as projects
from determined.master.db.queries.place_deletion import Place
from determined.master.db.queries.project import ProjectDetail
from determined.master.db.rows.workspaces import ProjectValues
from determined.master.services import place_deletion
from determined.master.services import workspace as workspaces
from determined.master.services.naming import checked_key, checked_name, checked_text, new_key
from determined.wire.codec import rfc3339_or_none
from determined.wire.project import (
    MetricsRange,
    Note,
    PatchProject,
    PostProjectRequest,
    Project,
    WorkspaceState,
)
from determined.wire.user import PostUserActivityRequest


def to_wire(row: ProjectDetail) -> Project:
    return Project(
        id=row.id,
        name=row.name,
        key=row.key or "",
        description=row.description,
        notes=[Note(name=note["name"], contents=note["contents"]) for note in row.notes],
        archived=row.archived or row.workspace_archived,
        immutable=row.immutable,
        user_id=row.user_id,
        username=row.username,
        workspace_id=row.workspace_id,
        workspace_name=row.workspace_name,
        num_experiments=row.num_experiments,
        num_active_experiments=row.num_active,
        num_runs=row.num_runs,
        last_experiment_started_at=rfc3339_or_none(row.last_started_at),
        state=WorkspaceState(f"WORKSPACE_STATE_{row.state}"),
        error_message=row.error_message,
    )


async def get(ctx: MasterContext, project_id: int) -> Project:
    return to_wire(await ctx.db.read(lambda conn: existing(conn, project_id)))


async def get_by_key(ctx: MasterContext, key: str) -> Project:
    row = fetch.existing(
        await ctx.db.read(lambda conn: projects.by_key(conn, key)), f"there is no project with key '{key}'"
    )
    return to_wire(row)


async def list_rows(ctx: MasterContext, caller: Caller, workspace_id: int) -> list[ProjectDetail]:
    """List the projects of one workspace; id 0 means of all."""

    def read(conn: Connection) -> list[ProjectDetail]:
        if workspace_id:
            workspaces.existing(conn, caller, workspace_id)
        return projects.list_all(conn, workspace_id or None)

    return await ctx.db.read(read)


async def create(ctx: MasterContext, caller: Caller, workspace_id: int, request: PostProjectRequest) -> Project:
    name = checked_name(request.name, "project")
    now = ctx.clock.now()

    def write(conn: Connection) -> ProjectDetail:
        workspace = workspaces.existing(conn, caller, workspace_id)
        if workspace.immutable:
            raise FailedPrecondition(f"workspace '{workspace.name}' is built in; make a workspace for new projects")
        if workspace.archived:
            raise FailedPrecondition(f"workspace '{workspace.name}' is archived; unarchive it first")
        _refuse_taken_name(conn, workspace_id, name)
        values: ProjectValues = {
            "name": name,
            "workspace_id": workspace_id,
            "user_id": caller.user_id,
            "description": request.description or "",
            "notes": [],
            "key": _free_key(conn, request.key, name),
        }
        return existing(conn, projects.create(conn, now, values))

    return to_wire(await ctx.db.write(write))


async def patch(ctx: MasterContext, caller: Caller, project_id: int, request: PatchProject) -> Project:
    def write(conn: Connection) -> ProjectDetail:
        before = _changeable(conn, caller, project_id)
        if before.archived or before.workspace_archived:
            raise FailedPrecondition(f"project '{before.name}' is archived; unarchive it to change it")
        projects.change(conn, project_id, _changes(conn, before, request))
        return existing(conn, project_id)

    return to_wire(await ctx.db.write(write))


async def set_archived(ctx: MasterContext, caller: Caller, project_id: int, archived: bool) -> None:
    def write(conn: Connection) -> None:
        before = _changeable(conn, caller, project_id)
        if before.workspace_archived:
            raise FailedPrecondition(
                f"workspace '{before.workspace_name}' is archived; unarchive it to change its projects"
            )
        projects.change(conn, project_id, {"archived": archived})

    await ctx.db.write(write)


async def delete(ctx: MasterContext, caller: Caller, project_id: int) -> bool:
    """Delete a project; False where it goes later, with the experiments in it (services/place_deletion.py)."""

    def write(conn: Connection) -> bool:
        row = _changeable(conn, caller, project_id)
        empty = place_deletion.begin(conn, caller, Place(project_id=project_id), f"project '{row.name}'")
        if empty:
            projects.remove(conn, project_id)
        return empty

    completed = await ctx.db.write(write)
    ctx.bus.publish("deletion")
    return completed


async def move(ctx: MasterContext, caller: Caller, project_id: int, destination_id: int) -> None:
    def write(conn: Connection) -> None:
        row = _changeable(conn, caller, project_id)
        target = workspaces.existing(conn, caller, destination_id)
        if target.immutable:
            raise FailedPrecondition(f"workspace '{target.name}' is built in; nothing moves into it")
        if target.archived or row.archived or row.workspace_archived:
            raise FailedPrecondition(
                f"project '{row.name}' cannot move to workspace '{target.name}': one of them is archived"
            )
        if destination_id != row.workspace_id:
            _refuse_taken_name(conn, destination_id, row.name)
        projects.move(conn, project_id, destination_id)

    await ctx.db.write(write)


async def add_note(ctx: MasterContext, project_id: int, note: Note) -> list[Note]:
    def write(conn: Connection) -> list[Note]:
        return _store_notes(conn, project_id, [*to_wire(existing(conn, project_id)).notes, note])

    return await ctx.db.write(write)


async def put_notes(
    ctx: MasterContext, project_id: int, notes: list[Note], expected: list[Note] | None = None
) -> list[Note]:
    """Replace the notes. Raises Conflict, with the pages as they are, when they are not those that the author saw."""

    def write(conn: Connection) -> list[Note]:
        current = to_wire(existing(conn, project_id)).notes
        if expected is not None and expected != current:
            raise Conflict(
                f"the notes of project {project_id} have changed meanwhile; look at them and save again",
                current=msgspec.to_builtins(current),
            )
        return _store_notes(conn, project_id, notes)

    return await ctx.db.write(write)


async def metric_ranges(ctx: MasterContext, project_id: int) -> list[MetricsRange]:
    def read(conn: Connection) -> list[tuple[str, str, float, float]]:
        existing(conn, project_id)
        return metric_range.of_project(conn, project_id)

    return [
        MetricsRange(metrics_name=f"{group}.{name}", min=low, max=high)
        for group, name, low, high in await ctx.db.read(read)
    ]


async def record_view(ctx: MasterContext, caller: Caller, request: PostUserActivityRequest) -> None:
    now = ctx.clock.now()

    def write(conn: Connection) -> None:
        existing(conn, request.entity_id)
        projects.viewed(conn, now, request.entity_id, caller.user_id)

    await ctx.db.write(write)


async def recent(ctx: MasterContext, caller: Caller, limit: int | None) -> list[Project]:
    rows = await ctx.db.read(lambda conn: projects.recently_viewed(conn, caller.user_id, limit or None))
    return [to_wire(row) for row in rows]


def existing(conn: Connection, project_id: int) -> ProjectDetail:
    return fetch.existing(
        projects.get(conn, project_id),
        f"there is no project with id {project_id}; `det project list WORKSPACE` shows all",
    )


def _changeable(conn: Connection, caller: Caller, project_id: int) -> ProjectDetail:
    row = existing(conn, project_id)
    if not caller.admin and caller.user_id not in (row.user_id, row.workspace_owner_id):
        raise Forbidden(f"only the owner of project '{row.name}', of its workspace, or an administrator may change it")
    if row.immutable:
        raise FailedPrecondition(f"project '{row.name}' is built in and cannot be changed")
    return row


def _changes(conn: Connection, before: ProjectDetail, request: PatchProject) -> ProjectValues:
    changes: ProjectValues = {}
    name = checked_name(request.name, "project") if request.name is not None else before.name
    if name != before.name:
        changes["name"] = name
        _refuse_taken_name(conn, before.workspace_id, name)
    if request.description is not None:
        changes["description"] = request.description
    if request.key is not None and request.key.upper() != before.key:
        changes["key"] = _free_key(conn, request.key, before.name)
    return changes


def _refuse_taken_name(conn: Connection, workspace_id: int, name: str) -> None:
    if projects.by_name(conn, workspace_id, name) is not None:
        raise AlreadyExists(f"there is already a project '{name}' in this workspace; pick another name")


def _free_key(conn: Connection, wanted: str | None, name: str) -> str:
    taken = projects.keys(conn)
    if not wanted:
        return new_key(name, taken)
    key = checked_key(wanted)
    if key in taken:
        raise AlreadyExists(f"project key '{key}' is taken; pick another")
    return key


def _store_notes(conn: Connection, project_id: int, notes: list[Note]) -> list[Note]:
    for note in notes:
        checked_text(note.name, "name of a note")
    projects.change(conn, project_id, {"notes": msgspec.to_builtins(notes)})
    return notes
