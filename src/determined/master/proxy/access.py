"""Access to a service: its owner and administrators, by what they show (credentials.py).

Nothing is cached: a logout, a deactivation and the end of the task hold from the next request on.
"""

import hmac
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum, auto

from sqlalchemy import Connection

from determined.config.task_kinds import KINDS
from determined.errors import DeterminedError, Forbidden, NotFound, Unauthenticated, Unavailable
from determined.master.auth import allocation_token
from determined.master.auth.authenticate import user_of_session, user_of_token
from determined.master.auth.identity import Caller, require_owner
from determined.master.context import MasterContext
from determined.master.db.queries import session as sessions
from determined.master.db.queries import task_service as targets
from determined.master.db.queries.task_service import ServiceTarget
from determined.master.proxy.credentials import Given
from determined.master.proxy.tickets import Pass
from determined.master.proxy.tunnels import Tunnels
from determined.master.proxy.visit_request import ServiceAddress, VisitRequest
from determined.master.services import task_service
from determined.wire.report import Service

_NOBODY = "no credentials were sent; log in with `det user login`"


class Shown(Enum):
    """Credentials that a visitor has shown. Only a cookie is sent by a browser on its own."""

    HEADER = auto()
    QUERY = auto()
    COOKIE = auto()
    NOTHING = auto()


@dataclass(frozen=True, slots=True)
class Admission:
    """Visitor who was admitted. `caller`: user who is charged with the visit. `shown`: credential that was accepted."""

    address: ServiceAddress
    allocation_id: str
    task_type: str
    service: Service
    caller: Caller
    shown: Shown
    valid_link: int = 0  # number of the link by which the owner shares the service now
    share_link: int = 0  # the one that was shown


class Access:
    def __init__(self, ctx: MasterContext, tunnels: Tunnels) -> None:
        self._ctx = ctx
        self._tunnels = tunnels

    async def by_token(self, given: Given, request: VisitRequest) -> Admission:
        """Admit who shows a token, or comes to a service that is open to all.

        Raises:
            Unauthenticated: no token, or a bad one. Forbidden: somebody else's task. NotFound: no such service.
            Unavailable: the task waits in the queue, or is paused.
        """
        if given.is_task or given.bearer.startswith(allocation_token.PREFIX):
            raise Forbidden("a task may not use the proxy; log in as a user")
        if given.bearer:
            return await self._admit(request, lambda conn: user_of_token(conn, self._ctx, given.bearer), Shown.HEADER)
        if given.app_token:
            shown = Shown.HEADER if given.has_token_header else Shown.QUERY
            return replace(await self._admit_holder(given.app_token, request), shown=shown)
        return await self._admit_anybody(request)

    async def by_session(self, given: Given, request: VisitRequest) -> Admission:
        """Admit the user of a session cookie. Raises as `by_token`."""
        token = given.session_cookie
        return await self._admit(
            request, lambda conn: user_of_token(conn, self._ctx, token, from_cookie=True), Shown.COOKIE
        )

    async def by_pass(self, right: Pass, request: VisitRequest) -> Admission:
        """Admit who has the cookie of an app. Raises as `by_token`."""
        now = self._ctx.clock.now()
        if right.expires < now.timestamp() or right.service != request.address().text:
            raise Unauthenticated("this visit has expired; open the app from the master's page again")

        def find_user(conn: Connection) -> Caller | None:
            if right.session_id is None:
                return None
            holder = sessions.live(conn, now, right.session_id)
            if holder is None:
                raise Unauthenticated("the login has ended; log in and open the app again")
            return user_of_session(holder)

        admission = await self._admit(request, find_user, Shown.COOKIE)
        if admission.allocation_id != right.allocation_id:
            raise Unauthenticated("the task has been started again; open the app from the master's page again")
        if right.share_link and right.share_link != admission.valid_link:
            raise Unauthenticated("this link was withdrawn; ask the owner of the task for another one")
        return admission

    async def _admit_holder(self, token: str, request: VisitRequest) -> Admission:
        refusal = Unauthenticated(f"invalid notebook session token for task ({_name(request)})")
        try:
            admission = await self._admit(request, _owner)
        except DeterminedError:
            raise refusal from None
        secret, allocation_id, link = self._ctx.cluster.secret, admission.allocation_id, admission.valid_link
        if _same(token, allocation_token.app_token(secret, allocation_id)):
            return admission
        is_default = not admission.service.id
        if link and is_default and _same(token, allocation_token.share_token(secret, allocation_id, link)):
            return replace(admission, share_link=link)
        raise refusal

    async def _admit_anybody(self, request: VisitRequest) -> Admission:
        rules = self._ctx.config.proxy
        if not (rules.allow_unauthenticated_ports or rules.allow_unauthenticated_shells):
            raise Unauthenticated(_NOBODY)
        try:
            admission = await self._admit(request, _owner)
        except DeterminedError:
            raise Unauthenticated(_NOBODY) from None
        is_shell = KINDS[admission.task_type].is_raw and not admission.service.id
        is_open = rules.allow_unauthenticated_ports and admission.service.unauthenticated
        if not (is_open or (is_shell and rules.allow_unauthenticated_shells)):
            raise Unauthenticated(_NOBODY)
        return admission

    async def _admit(
        self,
        request: VisitRequest,
        find_user: Callable[[Connection], Caller | None],
        shown: Shown = Shown.NOTHING,
    ) -> Admission:
        """Find the service for a user; None is somebody who shows otherwise that he may, and counts as its owner."""

        def read(conn: Connection) -> tuple[Caller | None, ServiceAddress, ServiceTarget | None]:
            caller, address = find_user(conn), request.address()
            return caller, address, targets.find(conn, address.task_id)

        caller, address, target = await self._ctx.db.read(read)
        if target is None:
            raise NotFound(f"service not found: {address.text}")
        if caller is not None:
            require_owner(caller, target.owner_id, f"task {address.task_id}")
        if target.allocation_id is None:
            if target.end_time is not None:
                raise NotFound(f"service not found: {address.text}; the task has ended")
            raise Unavailable(f"task {address.task_id} does not run at the moment")
        service = (await self._services(target.allocation_id, address.task_id)).get(address.service_id)
        if service is None:
            raise NotFound(f"service not found: {address.text}; the task declares no such port")
        visitor = caller or Caller(user_id=target.owner_id, username="", admin=False)
        link = target.share_links if target.is_shared and target.share_links else 0
        return Admission(address, target.allocation_id, target.task_type, service, visitor, shown, valid_link=link)

    async def _services(self, allocation_id: str, task_id: str) -> dict[str, Service]:
        connected = self._tunnels.services(allocation_id)
        if connected is not None:
            return connected
        return {one.id: one for one in await task_service.of_task(self._ctx, task_id)}


def _same(token: str, expected: str) -> bool:
    return hmac.compare_digest(expected.encode(), token.encode(errors="replace"))


def _owner(_conn: Connection) -> Caller | None:
    return None


def _name(request: VisitRequest) -> str:
    try:
        return request.address().task_id
    except NotFound:
        return "?"
