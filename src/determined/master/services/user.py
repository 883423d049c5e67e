"""Users: list, create, change. Some changes are open to the user, the others to administrators alone."""

import asyncio

from sqlalchemy import Connection

from determined.errors import DeterminedError, FailedPrecondition, Forbidden, InvalidArgument
from determined.master.auth import password
from determined.master.auth.identity import Caller, require_admin, require_login, require_user
from determined.master.context import MasterContext
from determined.master.db import fetch
from determined.master.db.queries import session as sessions
from determined.master.db.queries import user as users
from determined.master.db.rows.users import User as UserRow
from determined.master.db.rows.users import UserValues
from determined.master.services import agent_user
from determined.master.services.user_name import (
    checked_display_name,
    checked_username,
    require_free_username,
    require_own_display_name,
)
from determined.wire.codec import rfc3339, rfc3339_or_none
from determined.wire.password_rule import is_client_hash, unmet
from determined.wire.user import (
    PatchUser,
    PatchUsersRequest,
    PatchUsersResponse,
    PostUserRequest,
    User,
    UserActionResult,
    UserWebSetting,
)

_OWN_FIELDS = frozenset({"display_name", "username", "password_hash"})


def to_wire(row: UserRow) -> User:
    return User(
        id=row.id,
        username=row.username,
        display_name=row.display_name,
        admin=row.admin,
        active=row.active,
        remote=row.remote,
        modified_at=rfc3339(row.modified_at),
        last_auth_at=rfc3339_or_none(row.last_auth_at),
        agent_user_group=agent_user.to_wire(row),
    )


async def get(ctx: MasterContext, user_id: int) -> User:
    return to_wire(await ctx.db.read(lambda conn: _existing(conn, user_id)))


async def get_by_name(ctx: MasterContext, username: str) -> User:
    row = fetch.existing(
        await ctx.db.read(lambda conn: users.by_name(conn, username)),
        f"there is no user '{username}'; `det user list` shows all",
    )
    return to_wire(row)


async def list_all(ctx: MasterContext) -> list[User]:
    return [to_wire(row) for row in await ctx.db.read(users.list_all)]


async def create(ctx: MasterContext, caller: Caller, request: PostUserRequest) -> User:
    require_admin(caller)
    if request.user is None:
        raise InvalidArgument("user is missing; send {'user': {'username': ...}}")
    wanted = request.user
    if wanted.admin:
        require_login(caller, "administrators are appointed")
    username, display_name = checked_username(wanted.username), checked_display_name(wanted.display_name or "")
    values: UserValues = {
        "username": username,
        "display_name": display_name,
        "admin": wanted.admin,
        "active": wanted.active,
        "remote": bool(wanted.remote),
        "password_hash": await _new_password(ctx, request.password, bool(request.is_hashed), bool(wanted.remote)),
        **agent_user.of_user(wanted.agent_user_group),
    }
    now = ctx.clock.now()

    def write(conn: Connection) -> UserRow:
        require_free_username(conn, username, admin=wanted.admin)
        require_own_display_name(conn, display_name, None)
        return _existing(conn, users.create(conn, now, values))

    return to_wire(await ctx.db.write(write))


async def patch(ctx: MasterContext, caller: Caller, user_id: int, request: PatchUser) -> User:
    """Change a user: an administrator anybody; others their own name, display name and password."""
    require_user(caller)
    changes = await _changes(ctx, request)
    _check_may_change(caller, user_id, changes)
    if request.password is not None:
        require_login(caller, "passwords are changed")
    if request.admin:
        require_login(caller, "administrators are appointed")
    return to_wire(await ctx.db.write(lambda conn: _apply(ctx, conn, caller, user_id, changes)))


def asks_old_password(caller: Caller, user_id: int, request: PatchUser) -> bool:
    """Say if the old password must be right: a browser that somebody left open is no proof of who sits there.

    The official client never sends it, so that a login from a terminal is believed without.
    """
    if request.password is None or user_id != caller.user_id:
        return False
    return caller.from_cookie or request.old_password is not None


async def activate_many(ctx: MasterContext, caller: Caller, request: PatchUsersRequest) -> PatchUsersResponse:
    """Activate or deactivate several; each has its own result."""
    require_admin(caller)
    ids = request.user_ids or await _matching(ctx, request)
    results = [await _activate_one(ctx, caller, user_id, request.activate) for user_id in ids]
    return PatchUsersResponse(results=results)


async def settings(ctx: MasterContext, caller: Caller) -> list[UserWebSetting]:
    rows = await ctx.db.read(lambda conn: users.settings(conn, caller.user_id))
    return [UserWebSetting(storage_path=path, key=key, value=value) for path, key, value in rows]


async def put_settings(ctx: MasterContext, caller: Caller, given: list[UserWebSetting]) -> None:
    rows = [(one.storage_path or "", one.key, one.value) for one in given]
    await ctx.db.write(lambda conn: users.put_settings(conn, caller.user_id, rows))


async def reset_settings(ctx: MasterContext, caller: Caller) -> None:
    await ctx.db.write(lambda conn: users.reset_settings(conn, caller.user_id))


def _existing(conn: Connection, user_id: int) -> UserRow:
    return fetch.existing(users.get(conn, user_id), f"there is no user with id {user_id}; `det user list` shows all")


async def _new_password(ctx: MasterContext, text: str | None, is_hashed: bool, remote: bool) -> str | None:
    """Hash a password. A blank one only where the config chose it; a remote user gets one that nothing matches."""
    if remote and text:
        raise InvalidArgument("a remote user logs in elsewhere and has no password here; leave it out")
    if remote:
        return password.UNUSABLE
    if not text and ctx.config.security.initial_user_password != "":
        raise InvalidArgument("the password is blank; send one of at least 8 characters")
    if text:
        _check_password(text, is_hashed=is_hashed)
    return await asyncio.to_thread(password.stored_hash, text or "", is_hashed=is_hashed)


def _check_password(text: str, *, is_hashed: bool) -> None:
    """Raise InvalidArgument for a weak password. A hash is only checked to be one: the client checked the password."""
    if is_hashed and not is_client_hash(text):
        raise InvalidArgument("isHashed is set, but the password is no SHA-512 in hexadecimal; send the plain password")
    lacking = [] if is_hashed else unmet(text)
    if lacking:
        raise InvalidArgument(f"the password is too weak; it needs {', '.join(lacking)}")


async def _changes(ctx: MasterContext, request: PatchUser) -> UserValues:
    """Return the columns to change; a field that was not sent or is null stays as it is."""
    changes: UserValues = {**agent_user.of_user(request.agent_user_group)}
    if request.active is not None:
        changes["active"] = request.active
    if request.admin is not None:
        changes["admin"] = request.admin
    if request.display_name is not None:
        changes["display_name"] = checked_display_name(request.display_name)
    if request.remote is not None:
        changes["remote"] = request.remote
    if request.username is not None:
        changes["username"] = checked_username(request.username)
    if request.password is not None:
        changes["password_hash"] = await _new_password(ctx, request.password, bool(request.is_hashed), False)
    return changes


def _check_may_change(caller: Caller, user_id: int, changes: UserValues) -> None:
    if caller.admin:
        return
    beyond = sorted(changes.keys() - _OWN_FIELDS)
    if user_id != caller.user_id or beyond:
        what = ", ".join(beyond) or "other users"
        raise Forbidden(f"user '{caller.username}' may not change {what}; ask an administrator")


def _apply(ctx: MasterContext, conn: Connection, caller: Caller, user_id: int, changes: UserValues) -> UserRow:
    before = _existing(conn, user_id)
    if changes.get("username", before.username) != before.username:
        require_free_username(conn, changes["username"], admin=changes.get("admin", before.admin))
    if changes.get("display_name", before.display_name) != before.display_name:
        require_own_display_name(conn, changes["display_name"], user_id)
    users.change(conn, ctx.clock.now(), user_id, changes)
    if before.admin and before.active and users.active_admins(conn) == 0:
        raise FailedPrecondition(f"'{before.username}' is the last active administrator; appoint another first")
    if changes.get("active") is False or "password_hash" in changes:
        # whoever else holds a login or token of this user must give the new password
        keep = caller.session_id if caller.user_id == user_id else None
        sessions.end_all(conn, ctx.clock.now(), user_id, keep=keep)
    return _existing(conn, user_id)


async def _matching(ctx: MasterContext, request: PatchUsersRequest) -> list[int]:
    if request.filters is None:
        return []
    name, admin = (request.filters.name or "").lower(), request.filters.admin
    return [
        row.id
        for row in await ctx.db.read(users.list_all)
        if name in row.username and (admin is None or row.admin == admin)
    ]


async def _activate_one(ctx: MasterContext, caller: Caller, user_id: int, active: bool) -> UserActionResult:
    try:
        await ctx.db.write(lambda conn: _apply(ctx, conn, caller, user_id, {"active": active}))
    except DeterminedError as e:
        return UserActionResult(id=user_id, error=e.message)
    return UserActionResult(id=user_id, error="")
