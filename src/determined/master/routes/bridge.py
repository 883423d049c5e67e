"""Bridges of engines in other clusters. A ticket, then the seal of each message, is the credential."""

from determined.master.auth.permission import PUBLIC
from determined.master.context import MasterContext
from determined.master.routes.limits import BRIDGE_BODY, PUBLIC_BODY
from determined.master.routes.serve import INTERNAL, serve
from determined.master.services import bridge as bridges
from determined.wire.bridge import ENROL_BRIDGE, EXCHANGE_WITH_BRIDGE, Enrolment, EnrolRequest, Sealed


@serve(ENROL_BRIDGE, PUBLIC, max_body=PUBLIC_BODY, tags=INTERNAL)
async def enrol(payload: EnrolRequest, ctx: MasterContext, engine: str) -> Enrolment:
    return await bridges.enrol(ctx, engine, payload)


@serve(EXCHANGE_WITH_BRIDGE, PUBLIC, max_body=BRIDGE_BODY, tags=INTERNAL)
async def exchange(payload: Sealed, ctx: MasterContext, engine: str) -> Sealed:
    return await bridges.exchange(ctx, engine, payload)
