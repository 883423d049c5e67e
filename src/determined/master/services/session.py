"""Logging in and out, by password and by one-time link."""

import asyncio
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import Connection

from determined.errors import Forbidden, Unauthenticated
from determined.master.auth import password, session_token, upstream_password
from determined.master.auth.identity import Caller, require_user
from determined.master.auth.login_link import LINK_LIFETIME, LoginLinks
from determined.master.auth.login_throttle import LoginThrottle
from determined.master.context import MasterContext
from determined.master.db.queries import session as sessions
from determined.master.db.queries import user as users
from determined.master.db.rows.users import User
from determined.master.services.user import to_wire
from determined.wire.codec import rfc3339
from determined.wire.user import LoginLinkResponse, LoginRequest, LoginResponse


async def login(ctx: MasterContext, throttle: LoginThrottle, request: LoginRequest, peer: str) -> LoginResponse:
    """Open a session for a name and password; `peer` is the address that the request came from.

    Raises:
        Unauthenticated: a wrong name or password alike.
        Forbidden: an inactive user.
        TooManyRequests: too many attempts from this address wait already.
    """
    async with throttle.one_at_a_time(request.username.lower(), peer):
        user = await _user_with_password(ctx, throttle, request, peer)
    if not user.active:
        raise Forbidden("user is not active")
    token = await open_session(ctx, user)
    return LoginResponse(token=token, user=to_wire(user))


async def _user_with_password(ctx: MasterContext, throttle: LoginThrottle, request: LoginRequest, peer: str) -> User:
    username = request.username.lower()
    await asyncio.sleep(throttle.wait(username, ctx.clock.now().timestamp(), peer))
    user = await ctx.db.read(lambda conn: users.by_name(conn, username))
    is_slow = user is not None and upstream_password.is_of_upstream(user.password_hash)
    async with throttle.hashing(peer, slow=is_slow):
        fits = await asyncio.to_thread(_password_fits, user, request)
    if not fits or user is None:
        throttle.failed(username, ctx.clock.now().timestamp(), peer)
        raise Unauthenticated(f"wrong user name or password for '{request.username}'")
    throttle.succeeded(username, peer)
    if upstream_password.is_of_upstream(user.password_hash):
        await _store_anew(ctx, user, request)
    return user


async def _store_anew(ctx: MasterContext, user: User, request: LoginRequest) -> None:
    """Replace an imported hash by ours, now that the password is known; a change made meanwhile stays."""
    stored = await asyncio.to_thread(password.stored_hash, request.password, is_hashed=bool(request.is_hashed))

    def write(conn: Connection) -> None:
        current = users.get(conn, user.id)
        if current is not None and current.password_hash == user.password_hash:
            users.change(conn, ctx.clock.now(), user.id, {"password_hash": stored})

    await ctx.db.write(write)


@dataclass(frozen=True, slots=True)
class Opened:
    """A login and how long it lasts."""

    answer: LoginResponse
    lifetime: timedelta


async def issue_link(ctx: MasterContext, links: LoginLinks, caller: Caller) -> LoginLinkResponse:
    """Issue a link. Raises Forbidden for a task."""
    require_user(caller)
    if caller.session_id is None:
        raise Forbidden("a link opens the page for somebody who is logged in; log in with `det user login` first")
    now = ctx.clock.now()
    code = links.issue(caller.user_id, caller.session_id, now)
    return LoginLinkResponse(code=code, expires_at=rfc3339(now + LINK_LIFETIME))


async def redeem_link(ctx: MasterContext, links: LoginLinks, code: str) -> Opened:
    """Return a session of its own, which ends with the login or token that asked for the link, if not before.

    Raises: Unauthenticated for a link that was used, is too old, or whose login has ended; Forbidden for an
    inactive user.
    """
    now = ctx.clock.now()
    link = links.redeem(code, now)
    behind = await ctx.db.read(lambda conn: sessions.live(conn, now, link.session_id)) if link else None
    user = await ctx.db.read(lambda conn: users.get(conn, behind.user_id)) if behind else None
    if behind is None or user is None:
        raise Unauthenticated("this link was used before or is too old; ask for a new one with `det open`")
    if not user.active:
        raise Forbidden("user is not active")
    ends = min(behind.expires_at or datetime.max.replace(tzinfo=now.tzinfo), now + session_token.SESSION_LIFETIME)
    # of one credential all links hang on it directly: a link's own links end with it as well
    token = await open_session(ctx, user, ends=ends, parent_id=behind.parent_id or behind.session_id)
    return Opened(LoginResponse(token=token, user=to_wire(user)), ends - now)


async def open_session(
    ctx: MasterContext, user: User, *, ends: datetime | None = None, parent_id: int | None = None
) -> str:
    """Return a new login session of this user, without asking for a password."""
    token = session_token.new_token()
    now = ctx.clock.now()

    def write(conn: Connection) -> None:
        sessions.create(
            conn,
            now,
            user_id=user.id,
            token_hash=session_token.digest(token),
            kind=sessions.SessionKind.SESSION,
            expires_at=ends or now + session_token.SESSION_LIFETIME,
            parent_id=parent_id,
        )
        users.touch_login(conn, now, user.id)

    await ctx.db.write(write)
    return token


async def logout(ctx: MasterContext, caller: Caller) -> None:
    """End the session the caller used; a task has none."""
    session_id = caller.session_id
    if session_id is not None:
        await ctx.db.write(lambda conn: sessions.end(conn, session_id))


async def confirm_password(
    ctx: MasterContext, throttle: LoginThrottle, caller: Caller, given: str | None, peer: str, *, is_hashed: bool
) -> None:
    """Check that this is the caller's own password; guesses are slowed down as at the login. Raises Forbidden."""
    asked = LoginRequest(username=caller.username, password=given or "", is_hashed=is_hashed)
    try:
        async with throttle.one_at_a_time(caller.username, peer):
            await _user_with_password(ctx, throttle, asked, peer)
    except Unauthenticated as e:
        why = "is wrong" if given else "is missing; send it as `oldPassword`"
        raise Forbidden(f"the old password {why}; nothing is changed") from e


async def sweep(ctx: MasterContext) -> int:
    """Remove expired logins."""
    now: datetime = ctx.clock.now()
    return await ctx.db.write(lambda conn: sessions.sweep(conn, now))


def _password_fits(user: User | None, request: LoginRequest) -> bool:
    if user is None or user.remote:
        password.verify_dummy(request.password)
        return False
    if user.password_hash is None or not request.password:
        password.verify_dummy(request.password)
    return password.matches(user.password_hash, request.password, is_hashed=bool(request.is_hashed))
