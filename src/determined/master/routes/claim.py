"""Claims: how runners on other hosts begin. The ticket is the credential."""

from typing import Any

from litestar import Request, Router, post

from determined.master.auth.permission import PUBLIC
from determined.master.context import MasterContext
from determined.master.routes.body import read_body
from determined.master.routes.limits import PUBLIC_BODY
from determined.master.services import claim as claims
from determined.wire.claim import Claimed, ClaimRequest

AnyRequest = Request[Any, Any, Any]


@post("/api/v1/claims", status_code=200, request_max_body_size=PUBLIC_BODY, opt=PUBLIC)
async def claim(request: AnyRequest, ctx: MasterContext) -> Claimed:
    return await claims.claim(ctx, await read_body(request, ClaimRequest))


router = Router(path="/", route_handlers=[claim], tags=["Internal"])
