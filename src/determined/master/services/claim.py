"""Launch files for runners on other hosts."""

from sqlalchemy import Connection

from determined.errors import Unauthenticated
from determined.master.auth import allocation_token
from determined.master.context import MasterContext
from determined.master.db.rows.allocations import Runner
from determined.master.lifecycle import claiming
from determined.master.lifecycle.identity import advertised_url, own_addresses
from determined.wire.claim import Claimed, ClaimRequest, answer_proof, claim_proof, is_proven
from determined.wire.report import LaunchFile


async def claim(ctx: MasterContext, request: ClaimRequest) -> Claimed:
    """Claim an allocation. Raises Unauthenticated for whoever has not its ticket, and what `claiming.claim` raises."""
    ticket = allocation_token.ticket(ctx.cluster.secret, request.allocation_id)
    expected = (claim_proof(ticket, request.claimant, request.rank, at) for at in own_addresses(ctx.config))
    if not any(is_proven(proof, request.proof) for proof in expected):
        raise Unauthenticated("this ticket is not of that allocation, or the claim was sent to another address")

    def write(conn: Connection) -> Runner:
        return claiming.claim(conn, ctx.clock.now(), request)

    runner = await ctx.db.write(write)
    launch = LaunchFile(
        master_url=advertised_url(ctx.config),
        token=allocation_token.mint(ctx.cluster.secret, request.allocation_id),
        allocation_id=request.allocation_id,
        resource_id=runner.resource_id,
        container_id=runner.container_id,
        node_id=runner.node_id,
        rank=runner.rank,
        slot_ids=runner.slot_ids,
        device=runner.device,
    )
    return Claimed(launch=launch, proof=answer_proof(ticket, request.claimant))
