"""The search box."""

from determined.master.auth.permission import ANY_USER
from determined.master.context import MasterContext
from determined.master.routes.serve import serve
from determined.master.services import lookup
from determined.wire.lookup import LOOK_UP, LookUp, LookupResponse


@serve(LOOK_UP, ANY_USER)
async def look_up(ctx: MasterContext, params: LookUp) -> LookupResponse:
    limit = params.limit if params.limit and params.limit > 0 else None
    return LookupResponse(hits=await lookup.find(ctx, params.q, limit))
