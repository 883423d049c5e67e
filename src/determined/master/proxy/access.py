"""Who may reach a service: its owner and administrators, by what they show (credentials.py)."""

import hmac
from dataclasses import dataclass

from determined.config.task_kinds import KINDS
from determined.errors import Forbidden, NotFound, Unauthenticated, Unavailable
from determined.master.auth import allocation_token
from determined.master.auth.authenticate import Credentials, authenticate
from determined.master.auth.identity import Caller, require_owner
from determined.master.context import MasterContext
from determined.master.db.queries import session as sessions
from determined.master.proxy.credentials import Given
from determined.master.proxy.tickets import Pass
from determined.master.proxy.tunnels import Tunnels
from determined.master.proxy.visit_request import ServiceAddress, VisitRequest
from determined.master.services import task_service
from determined.wire.report import Service


@dataclass(frozen=True, slots=True)
class Admission:
    """Somebody who was let in. `caller`: for whom the visit counts."""

    address: ServiceAddress
    allocation_id: str
    service: Service
    caller: Caller
    is_user: bool = True  # not only a holder of the app's own token, or anybody


class Access:
    def __init__(self, ctx: MasterContext, tunnels: Tunnels) -> None:
        self._ctx = ctx
        self._tunnels = tunnels

    async def by_token(self, given: Given, request: VisitRequest) -> Admission:
        """Admit who shows a token, or comes to a service that is open to all.

        Raises:
            Unauthenticated, Forbidden, NotFound: in this order.
            Unavailable: the task does not run at the moment.
        """
        if given.is_task:
            raise Forbidden("a task may not use the proxy; log in as a user")
        if given.bearer:
            return await self._find(await self._user(given.bearer), request.address())
        if given.app_token:
            return await self._admit_holder(given.app_token, request.address())
        return await self._admit_anybody(request)

    async def by_session(self, given: Given, request: VisitRequest) -> Admission:
        """Admit the user of a session cookie. Raises as `by_token`."""
        caller = await authenticate(
            self._ctx, Credentials(user_token=given.session_cookie, from_cookie=True), reporting=False
        )
        return await self._find(caller, request.address())

    async def by_pass(self, right: Pass, request: VisitRequest) -> Admission:
        """Admit who has the cookie of an app. Raises as `by_token`."""
        address = request.address()
        now = self._ctx.clock.now()
        if right.expires < now.timestamp() or right.service != address.text:
            raise Unauthenticated("this visit has expired; open the app from the master's page again")
        caller = await self._user_of_session(right.session_id) if right.session_id is not None else None
        admission = await self._find(caller, address)
        if admission.allocation_id != right.allocation_id:
            raise Unauthenticated("the task has been started again; open the app from the master's page again")
        return admission

    async def _user(self, bearer: str) -> Caller:
        if bearer.startswith(allocation_token.PREFIX):
            raise Forbidden("a task may not use the proxy; log in as a user")
        return await authenticate(self._ctx, Credentials(user_token=bearer), reporting=False)

    async def _user_of_session(self, session_id: int) -> Caller:
        now = self._ctx.clock.now()
        holder = await self._ctx.db.read(lambda conn: sessions.live(conn, now, session_id))
        if holder is None or not holder.active:
            raise Unauthenticated("the login has ended; log in and open the app again")
        return Caller(user_id=holder.user_id, username=holder.username, admin=holder.admin, session_id=session_id)

    async def _admit_holder(self, token: str, address: ServiceAddress) -> Admission:
        refusal = Unauthenticated(f"invalid notebook session token for task ({address.task_id})")
        try:
            admission = await self._find(None, address)
        except (NotFound, Unavailable):
            raise refusal from None
        expected = allocation_token.app_token(self._ctx.cluster.secret, admission.allocation_id)
        if not hmac.compare_digest(expected.encode(), token.encode(errors="replace")):
            raise refusal
        return admission

    async def _admit_anybody(self, request: VisitRequest) -> Admission:
        refusal = Unauthenticated("no credentials were sent; log in with `det user login`")
        proxy = self._ctx.config.proxy
        if not (proxy.allow_unauthenticated_ports or proxy.allow_unauthenticated_shells):
            raise refusal
        try:
            address = request.address()
            target = await task_service.target(self._ctx, address.task_id)
            admission = await self._find(None, address)
        except (NotFound, Unavailable):
            raise refusal from None
        is_shell = target is not None and KINDS[target.task_type].is_raw and not address.service_id
        is_open = proxy.allow_unauthenticated_ports and admission.service.unauthenticated
        if not (is_open or (is_shell and proxy.allow_unauthenticated_shells)):
            raise refusal
        return admission

    async def _find(self, caller: Caller | None, address: ServiceAddress) -> Admission:
        """Find the service; `caller` None has shown by other means that he may use it, and counts as its owner."""
        target = await task_service.target(self._ctx, address.task_id)
        if target is None:
            raise NotFound(f"service not found: {address.text}")
        if caller is not None:
            require_owner(caller, target.owner_id, f"task {address.task_id}")
        if target.allocation_id is None:
            raise NotFound(f"service not found: {address.text}; the task does not run")
        services = self._tunnels.services(target.allocation_id)
        if services is None:
            services = {one.id: one for one in await task_service.of_task(self._ctx, address.task_id)}
        service = services.get(address.service_id)
        if service is None:
            raise NotFound(f"service not found: {address.text}; the task declares no such port")
        visitor = caller or Caller(user_id=target.owner_id, username="", admin=False)
        return Admission(address, target.allocation_id, service, visitor, is_user=caller is not None)
