"""Saved views: seen by everybody, changed by their author or an administrator."""

from sqlalchemy import Connection

from determined.errors import AlreadyExists, FailedPrecondition, Forbidden, InvalidArgument
from determined.master.auth.identity import Caller
from determined.master.context import MasterContext
from determined.master.db import fetch
from determined.master.db.queries import view as rows
from determined.master.db.queries.view import AuthoredView
from determined.master.db.rows.workspaces import SavedViewValues
from determined.master.services import project as projects
from determined.master.services.naming import checked_name
from determined.wire.codec import rfc3339
from determined.wire.view import PatchSavedViewRequest, PostSavedViewRequest, SavedView

_LONGEST_STATE = 32 * 1024
_MOST = 500  # of one project


async def list_views(ctx: MasterContext, project_id: int) -> list[SavedView]:
    def read(conn: Connection) -> list[AuthoredView]:
        projects.existing(conn, project_id)
        return rows.list_all(conn, project_id)

    return [_to_wire(row) for row in await ctx.db.read(read)]


async def create(ctx: MasterContext, caller: Caller, project_id: int, request: PostSavedViewRequest) -> SavedView:
    name, state = checked_name(request.name, "view"), _checked_state(request.state)
    now = ctx.clock.now()

    def write(conn: Connection) -> SavedView:
        projects.existing(conn, project_id)
        _refuse_taken_name(conn, project_id, name)
        if len(rows.list_all(conn, project_id)) >= _MOST:
            raise FailedPrecondition(f"project {project_id} has {_MOST} views; delete some first")
        values: SavedViewValues = {"project_id": project_id, "user_id": caller.user_id, "name": name, "state": state}
        return _to_wire(_existing(conn, project_id, rows.create(conn, now, values)))

    return await ctx.db.write(write)


async def change(
    ctx: MasterContext, caller: Caller, project_id: int, view_id: int, request: PatchSavedViewRequest
) -> SavedView:
    changes: SavedViewValues = {}
    if request.name is not None:
        changes["name"] = checked_name(request.name, "view")
    if request.state is not None:
        changes["state"] = _checked_state(request.state)

    def write(conn: Connection) -> SavedView:
        before = _changeable(conn, caller, project_id, view_id)
        if changes.get("name", before.name) != before.name:
            _refuse_taken_name(conn, project_id, changes["name"])
        rows.change(conn, view_id, changes)
        return _to_wire(_existing(conn, project_id, view_id))

    return await ctx.db.write(write)


async def remove(ctx: MasterContext, caller: Caller, project_id: int, view_id: int) -> None:
    def write(conn: Connection) -> None:
        _changeable(conn, caller, project_id, view_id)
        rows.remove(conn, view_id)

    await ctx.db.write(write)


def _existing(conn: Connection, project_id: int, view_id: int) -> AuthoredView:
    return fetch.existing(
        rows.get(conn, project_id, view_id), f"project {project_id} has no view {view_id}; somebody may have deleted it"
    )


def _changeable(conn: Connection, caller: Caller, project_id: int, view_id: int) -> AuthoredView:
    row = _existing(conn, project_id, view_id)
    if not caller.admin and caller.user_id != row.user_id:
        raise Forbidden(f"view '{row.name}' is {row.username}'s; save one of your own under another name")
    return row


def _refuse_taken_name(conn: Connection, project_id: int, name: str) -> None:
    if rows.by_name(conn, project_id, name) is not None:
        raise AlreadyExists(f"there is already a view '{name}' in this project; pick another name")


def _checked_state(state: str) -> str:
    if len(state) > _LONGEST_STATE:
        raise InvalidArgument(f"the view has {len(state)} characters; at most {_LONGEST_STATE} are kept")
    return state.removeprefix("?")


def _to_wire(row: AuthoredView) -> SavedView:
    return SavedView(
        id=row.id,
        project_id=row.project_id,
        name=row.name,
        state=row.state,
        user_id=row.user_id,
        username=row.username,
        created_at=rfc3339(row.created_at),
    )
