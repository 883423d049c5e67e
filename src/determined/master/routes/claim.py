"""Claims: how runners on other hosts begin. The ticket is the credential."""

from determined.errors import Conflict, Gone
from determined.master.auth.permission import PUBLIC
from determined.master.context import MasterContext
from determined.master.routes.limits import PUBLIC_BODY
from determined.master.routes.serve import INTERNAL, serve
from determined.master.services import claim as claims
from determined.wire.claim import CLAIM_RUNNER, Claimed, ClaimRequest


@serve(CLAIM_RUNNER, PUBLIC, max_body=PUBLIC_BODY, tags=INTERNAL, errors=(Conflict, Gone))
async def claim(payload: ClaimRequest, ctx: MasterContext) -> Claimed:
    return await claims.claim(ctx, payload)
