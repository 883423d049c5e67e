"""The proxy: how browsers and programs reach the services of tasks. See docs/architecture/proxy.md."""

from determined.master.auth.request_limits import RequestLimits
from determined.master.context import MasterContext
from determined.master.proxy.access import Access
from determined.master.proxy.app_origin import AppOrigin
from determined.master.proxy.forwarder import Forwarder
from determined.master.proxy.main_origin import MainOrigin
from determined.master.proxy.origins import Origins
from determined.master.proxy.tickets import Tickets
from determined.master.proxy.tunnels import Tunnels
from determined.master.proxy.visit_request import VisitRequest


class Proxy:
    def __init__(self, ctx: MasterContext, tunnels: Tunnels, limits: RequestLimits) -> None:
        self._origins = Origins(ctx.config.proxy.domain, ctx.config.proxy.listen)
        access, tickets, forwarder = Access(ctx, tunnels), Tickets(), Forwarder(ctx, tunnels, limits)
        self.main_origin = MainOrigin(ctx, access, tickets, self._origins, forwarder)
        self.app_origin = AppOrigin(ctx, access, tickets, self._origins, forwarder)

    def is_for_app(self, request: VisitRequest) -> bool:
        """Check whether a request came to the origin of an app."""
        server = request.scope.get("server")
        return self._origins.is_of_app(request.host, server[1] if server else None)
