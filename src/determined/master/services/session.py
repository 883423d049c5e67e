"""Logging in and out."""

import asyncio
from datetime import datetime

from sqlalchemy import Connection

from determined.errors import Forbidden, Unauthenticated
from determined.master.auth import password, session_token
from determined.master.auth.identity import Caller
from determined.master.auth.throttle import LoginThrottle
from determined.master.context import MasterContext
from determined.master.db.queries import session as sessions
from determined.master.db.queries import user as users
from determined.master.db.queries.user import UserRow
from determined.master.services.user import to_wire
from determined.wire.user import LoginRequest, LoginResponse


async def login(ctx: MasterContext, throttle: LoginThrottle, asked: LoginRequest) -> LoginResponse:
    """Raises: Unauthenticated for a wrong name or password alike, Forbidden for an inactive user."""
    username = asked.username.lower()
    await asyncio.sleep(throttle.wait(username, ctx.clock.now().timestamp()))
    found = await ctx.db.read(lambda conn: users.by_name(conn, username))
    if not await asyncio.to_thread(_password_fits, found, asked) or found is None:
        throttle.failed(username, ctx.clock.now().timestamp())
        raise Unauthenticated(f"wrong user name or password for '{asked.username}'")
    throttle.succeeded(username)
    if not found.active:
        raise Forbidden("user is not active")
    token = await open_session(ctx, found)
    return LoginResponse(token=token, user=to_wire(found))


async def open_session(ctx: MasterContext, user: UserRow) -> str:
    """A new login session of this user, without asking for a password."""
    token = session_token.new_token()
    now = ctx.clock.now()

    def write(conn: Connection) -> None:
        sessions.create(
            conn,
            now,
            user_id=user.id,
            token_hash=session_token.digest(token),
            kind=sessions.SessionKind.SESSION,
            expires_at=now + session_token.SESSION_LIFETIME,
        )
        users.touch_login(conn, now, user.id)

    await ctx.db.write(write)
    return token


async def logout(ctx: MasterContext, caller: Caller) -> None:
    """End the session the caller used; a task has none."""
    session_id = caller.session_id
    if session_id is not None:
        await ctx.db.write(lambda conn: sessions.end(conn, session_id))


async def sweep(ctx: MasterContext) -> int:
    """Remove expired logins."""
    now: datetime = ctx.clock.now()
    return await ctx.db.write(lambda conn: sessions.sweep(conn, now))


def _password_fits(user: UserRow | None, asked: LoginRequest) -> bool:
    if user is None or user.remote:
        password.waste_time(asked.password)
        return False
    if user.password_hash is None or not asked.password:
        password.waste_time(asked.password)
    return password.matches(user.password_hash, asked.password, is_hashed=bool(asked.is_hashed))
