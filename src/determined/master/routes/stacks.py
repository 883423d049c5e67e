"""Stacks of running trials."""

from determined.errors import FailedPrecondition
from determined.master.auth.identity import Caller
from determined.master.auth.permission import OWNER
from determined.master.context import MasterContext
from determined.master.routes.serve import serve
from determined.master.services import stacks
from determined.wire.stacks import REQUEST_STACKS, RequestStacksResponse


@serve(REQUEST_STACKS, OWNER, errors=(FailedPrecondition,))
async def request_stacks(ctx: MasterContext, caller: Caller, trial_id: int) -> RequestStacksResponse:
    """Write the stacks of all ranks of a running trial to its log (ours)."""
    return await stacks.request(ctx, caller, trial_id)
