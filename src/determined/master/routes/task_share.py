"""Links to notebooks and TensorBoards."""

from determined.errors import FailedPrecondition
from determined.master.auth.identity import Caller
from determined.master.auth.permission import OWNER
from determined.master.context import MasterContext
from determined.master.routes.serve import serve
from determined.master.services import task_share
from determined.wire.task_share import SHARE_TASK, UNSHARE_TASK, ShareTaskResponse


@serve(SHARE_TASK, OWNER, errors=(FailedPrecondition,))
async def share_task(ctx: MasterContext, caller: Caller, task_id: str) -> ShareTaskResponse:
    """Make a link by which anybody who has it uses this notebook or TensorBoard (ours)."""
    return ShareTaskResponse(address=await task_share.share(ctx, caller, task_id))


@serve(UNSHARE_TASK, OWNER, errors=(FailedPrecondition,))
async def unshare_task(ctx: MasterContext, caller: Caller, task_id: str) -> None:
    """Withdraw the link to a notebook or TensorBoard (ours)."""
    await task_share.unshare(ctx, caller, task_id)
