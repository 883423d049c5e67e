"""Base of what serves visits at an origin, the master's own or that of an app."""

from determined.master.context import MasterContext
from determined.master.proxy.access import Access
from determined.master.proxy.forwarder import Forwarder
from determined.master.proxy.origins import Origins
from determined.master.proxy.tickets import Tickets


class Origin:
    def __init__(
        self, ctx: MasterContext, access: Access, tickets: Tickets, origins: Origins, forwarder: Forwarder
    ) -> None:
        self._ctx = ctx
        self._access = access
        self._tickets = tickets
        self._origins = origins
        self._forwarder = forwarder
