"""Authentication of a Caller: user tokens by their session row, allocation tokens by the state of the allocation.

No right is cached: a logout, a deactivation and the end of an allocation hold from the next request on. Only who sends
the reports of an allocation is: the transaction that stores them reads whether they are still wanted.
"""

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from weakref import WeakKeyDictionary

from sqlalchemy import Connection

from determined.config import task_kinds
from determined.constants import ALLOCATION_TOKEN_HEADER
from determined.errors import Forbidden, Gone, Unauthenticated
from determined.master.auth import allocation_token
from determined.master.auth.identity import Caller
from determined.master.auth.session_token import SECURE_SESSION_COOKIE, SESSION_COOKIE, digest
from determined.master.context import MasterContext
from determined.master.db.database import Database
from determined.master.db.queries import session as sessions

_ENDED = "TERMINATED"
_MAX_REPORTERS = 4096  # allocations that report in turns
# Of each database, because several masters may live in one test process; one event loop looks at it.
_reporters: WeakKeyDictionary[Database, OrderedDict[str, Caller]] = WeakKeyDictionary()


@dataclass(frozen=True, slots=True)
class Credentials:
    """Credentials of a request. A user token wins over an allocation token; a header wins over the cookie."""

    user_token: str | None = field(default=None, repr=False)
    allocation_token: str | None = field(default=None, repr=False)
    from_cookie: bool = False


def credentials_of(headers: Mapping[str, str], cookies: Mapping[str, str]) -> Credentials:
    bearer = _bearer(headers.get("authorization", ""))
    task = _bearer(headers.get(ALLOCATION_TOKEN_HEADER.lower(), ""))
    if bearer and bearer.startswith(allocation_token.PREFIX):
        return Credentials(allocation_token=bearer)
    if bearer:
        return Credentials(user_token=bearer)
    if task:
        return Credentials(allocation_token=task)
    cookie = cookies.get(SECURE_SESSION_COOKIE) or cookies.get(SESSION_COOKIE)
    return Credentials(user_token=cookie, from_cookie=True) if cookie else Credentials()


async def authenticate(ctx: MasterContext, given: Credentials, *, reporting: bool) -> Caller:
    """`reporting`: a runner's report or signal poll, open to allocations that ended but have not drained.

    Raises:
        Unauthenticated: no valid token. Gone: a runner of an allocation that is over. Forbidden: the user is inactive.
    """
    if given.user_token:
        return await _user(ctx, given.user_token, from_cookie=given.from_cookie)
    if given.allocation_token:
        return await _task(ctx, given.allocation_token, reporting)
    raise Unauthenticated("no credentials were sent; log in with `det user login`")


async def _user(ctx: MasterContext, token: str, *, from_cookie: bool) -> Caller:
    return await ctx.db.read(lambda conn: user_of_token(conn, ctx, token, from_cookie=from_cookie))


def user_of_token(conn: Connection, ctx: MasterContext, token: str, *, from_cookie: bool = False) -> Caller:
    """Authenticate a user in a transaction that reads more. Raises as `authenticate`."""
    if token.startswith(allocation_token.OWNER_PREFIX) and not from_cookie:
        return _owner(conn, ctx, token)
    holder = sessions.holder(conn, ctx.clock.now(), digest(token))
    if holder is None:
        raise Unauthenticated("the token is unknown, expired or revoked; log in again with `det user login`")
    return user_of_session(holder, from_cookie=from_cookie)


def user_of_session(holder: sessions.Holder, *, from_cookie: bool = False) -> Caller:
    """Return the user of a live session. Raises Forbidden for an inactive one."""
    if not holder.active:
        raise Forbidden("user is not active")
    return Caller(
        user_id=holder.user_id,
        username=holder.username,
        admin=holder.admin,
        session_id=holder.session_id,
        access_token=holder.is_access_token,
        from_cookie=from_cookie,
    )


def _owner(conn: Connection, ctx: MasterContext, token: str) -> Caller:
    """Authenticate a program in a notebook or shell as its owner, without administration, while the task lives."""
    allocation_id = allocation_token.verify(ctx.cluster.secret, token, allocation_token.OWNER_PREFIX)
    found = sessions.allocation_auth(conn, allocation_id) if allocation_id is not None else None
    if found is None or found.state == _ENDED or not task_kinds.KINDS[found.task_type].acts_for_owner:
        raise Unauthenticated("the token is not valid, or its task has ended; log in with `det user login`")
    if not found.active:
        raise Forbidden("user is not active")
    return Caller(user_id=found.user_id, username=found.username, admin=False, access_token=True)


async def _task(ctx: MasterContext, token: str, reporting: bool) -> Caller:
    allocation_id = allocation_token.verify(ctx.cluster.secret, token)
    if allocation_id is None:
        raise Unauthenticated("the allocation token was not made by this cluster")
    reporters = _reporters.setdefault(ctx.db, OrderedDict())
    if reporting and allocation_id in reporters:
        reporters.move_to_end(allocation_id)
        return reporters[allocation_id]
    allocation = await ctx.db.read(lambda conn: sessions.allocation_auth(conn, allocation_id))
    if allocation is None or (allocation.state == _ENDED and (allocation.drained or not reporting)):
        message = f"allocation {allocation_id} is over; its token is no longer valid"
        raise Gone(message) if reporting else Unauthenticated(message)
    caller = Caller(
        user_id=allocation.user_id,
        username=allocation.username,
        admin=False,  # whoever its owner is: what a task may do must not depend on that
        kind="task",
        allocation_id=allocation_id,
        task_id=allocation.task_id,
        trial_id=allocation.trial_id,
        experiment_id=allocation.experiment_id,
    )
    if reporting:
        reporters[allocation_id] = caller
        if len(reporters) > _MAX_REPORTERS:
            reporters.popitem(last=False)
    return caller


def _bearer(header: str) -> str | None:
    scheme, _, token = header.strip().partition(" ")
    return token.strip() or None if scheme.lower() == "bearer" else None
