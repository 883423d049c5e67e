"""The search box."""

from litestar import Router, get

from determined.master.auth.permission import ANY_USER
from determined.master.context import MasterContext
from determined.master.routes.params import Limit
from determined.master.services import lookup
from determined.wire.lookup import LookupResponse


@get("/api/v1/search", opt=ANY_USER)
async def find(ctx: MasterContext, q: str = "", limit: Limit = None) -> LookupResponse:
    return LookupResponse(hits=await lookup.find(ctx, q, limit if limit and limit > 0 else None))


router = Router(path="", route_handlers=[find])
