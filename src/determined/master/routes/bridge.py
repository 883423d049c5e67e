"""Bridges of engines in other clusters. A ticket, then the seal of each message, is the credential."""

from typing import Any

from litestar import Request, Router, post

from determined.master.auth.permission import PUBLIC
from determined.master.context import MasterContext
from determined.master.routes.body import read_body
from determined.master.routes.limits import BRIDGE_BODY, PUBLIC_BODY
from determined.master.services import bridge as bridges
from determined.wire.bridge import Enrolment, EnrolRequest, Sealed

AnyRequest = Request[Any, Any, Any]


@post("/api/v1/bridges/{engine:str}/enrol", status_code=200, request_max_body_size=PUBLIC_BODY, opt=PUBLIC)
async def enrol(request: AnyRequest, ctx: MasterContext, engine: str) -> Enrolment:
    return await bridges.enrol(ctx, engine, await read_body(request, EnrolRequest))


@post("/api/v1/bridges/{engine:str}/exchange", status_code=200, request_max_body_size=BRIDGE_BODY, opt=PUBLIC)
async def exchange(request: AnyRequest, ctx: MasterContext, engine: str) -> Sealed:
    return await bridges.exchange(ctx, engine, await read_body(request, Sealed))


router = Router(path="/", route_handlers=[enrol, exchange], tags=["Internal"])
