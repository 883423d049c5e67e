"""Access tokens: long-lived credentials a user makes for scripts, described and revocable."""

from datetime import datetime, timedelta

from sqlalchemy import Connection

from determined.config import parse_duration
from determined.errors import FailedPrecondition, Forbidden, InvalidArgument, NotFound
from determined.master.auth import session_token
from determined.master.auth.identity import Caller, require_login, require_user
from determined.master.context import MasterContext
from determined.master.db.queries import session as sessions
from determined.master.db.queries import user as users
from determined.master.db.queries.session import AccessToken, SessionKind
from determined.master.services.naming import checked_text
from determined.wire.base import OrderBy
from determined.wire.codec import rfc3339, rfc3339_or_none
from determined.wire.token import GetAccessTokensRequestSortBy as SortBy
from determined.wire.token import (
    ListTokens,
    PatchAccessTokenRequest,
    PostAccessTokenRequest,
    PostAccessTokenResponse,
    TokenInfo,
    TokenType,
)

_WITHOUT_END = -1


async def create(ctx: MasterContext, caller: Caller, request: PostAccessTokenRequest) -> PostAccessTokenResponse:
    """Create a token. It is in this answer and nowhere else, ever."""
    require_login(caller, "access tokens are made")
    if request.user_id != caller.user_id and not caller.admin:
        raise Forbidden(f"user '{caller.username}' may make access tokens only for themselves")
    checked_text(request.description or "", "description")
    now = ctx.clock.now()
    expires_at = _expiry(ctx, now, request.lifespan)
    token = session_token.new_token()

    def write(conn: Connection) -> int:
        owner = users.get(conn, request.user_id)
        if owner is None:
            raise NotFound(f"there is no user with id {request.user_id}; `det user list` shows all")
        if not owner.active:
            raise FailedPrecondition(f"user '{owner.username}' is not active; activate it first")
        return sessions.create(
            conn,
            now,
            user_id=owner.id,
            token_hash=session_token.digest(token),
            kind=SessionKind.ACCESS,
            expires_at=expires_at,
            description=request.description or "",
        )

    return PostAccessTokenResponse(token=token, token_id=await ctx.db.write(write))


async def list_tokens(ctx: MasterContext, caller: Caller, params: ListTokens) -> list[TokenInfo]:
    """List tokens: an administrator sees all, others their own."""
    require_user(caller)
    now = ctx.clock.now()
    rows = [row for row in await ctx.db.read(sessions.access_tokens) if _visible(row, caller, params, now)]
    rows.sort(key=lambda row: _sort_key(row, params.sort_by), reverse=params.order_by == OrderBy.DESC)
    return [_to_wire(row) for row in rows]


async def patch(ctx: MasterContext, caller: Caller, token_id: int, request: PatchAccessTokenRequest) -> TokenInfo:
    require_user(caller)
    checked_text(request.description or "", "description")
    now = ctx.clock.now()

    def write(conn: Connection) -> AccessToken:
        row = _own(conn, caller, token_id)
        if not _active(row, now):
            raise FailedPrecondition(f"access token {token_id} is expired or revoked and cannot change any more")
        if request.description is not None:
            sessions.change_access_token(conn, token_id, {"description": request.description})
        if request.set_revoked:
            sessions.change_access_token(conn, token_id, {"revoked_at": now})
        return _own(conn, caller, token_id)

    return _to_wire(await ctx.db.write(write))


def _expiry(ctx: MasterContext, now: datetime, lifespan: str | None) -> datetime | None:
    """`720h` as the clients write it, `-1` for no end; the config's default and limit apply."""
    limits = ctx.config.security.token
    longest = limits.max_lifespan_days
    days = float(limits.default_lifespan_days) if not lifespan else _days(lifespan)
    if days == _WITHOUT_END:
        if longest != _WITHOUT_END:
            raise InvalidArgument(f"a token without end is not allowed; the limit here is {longest} days")
        return None
    if days <= 0 or (longest != _WITHOUT_END and days > longest):
        raise InvalidArgument(f"a lifespan of {days:g} days is not allowed; the limit here is {longest} days")
    try:
        return now + timedelta(days=days)
    except OverflowError as e:
        raise InvalidArgument(f"a lifespan of {days:g} days is too long; use -1 for a token without end") from e


def _days(lifespan: str) -> float:
    return _WITHOUT_END if lifespan == "-1" else parse_duration(lifespan) / 86400


def _own(conn: Connection, caller: Caller, token_id: int) -> AccessToken:
    row = sessions.access_token(conn, token_id)
    if row is None or (row.user_id != caller.user_id and not caller.admin):
        raise NotFound(f"you have no access token with id {token_id}; `det token list` shows yours")
    return row


def _active(row: AccessToken, now: datetime) -> bool:
    return row.revoked_at is None and (row.expires_at is None or row.expires_at > now)


def _visible(row: AccessToken, caller: Caller, params: ListTokens, now: datetime) -> bool:
    if not caller.admin and row.user_id != caller.user_id:
        return False
    if params.username and row.username != params.username.lower():
        return False
    if params.token_ids and row.id not in params.token_ids:
        return False
    return params.show_inactive or _active(row, now)


def _sort_key(row: AccessToken, sort_by: SortBy | None) -> tuple[float | str, int]:
    keys: dict[SortBy, float | str] = {
        SortBy.USER_ID: row.user_id,
        SortBy.EXPIRY: row.expires_at.timestamp() if row.expires_at else float("inf"),
        SortBy.CREATED_AT: row.created_at.timestamp(),
        SortBy.REVOKED: row.revoked_at is not None,
        SortBy.DESCRIPTION: row.description,
    }
    return keys.get(sort_by or SortBy.UNSPECIFIED, 0), row.id


def _to_wire(row: AccessToken) -> TokenInfo:
    return TokenInfo(
        id=row.id,
        user_id=row.user_id,
        created_at=rfc3339(row.created_at),
        description=row.description,
        expiry=rfc3339_or_none(row.expires_at),
        revoked=row.revoked_at is not None,
        token_type=TokenType.ACCESS_TOKEN,
    )
