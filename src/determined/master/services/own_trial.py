"""What a task says about a trial must come from the task of that trial: its token is worth nothing for another."""

from determined.errors import Forbidden
from determined.master.auth.identity import Caller
from determined.master.context import MasterContext
from determined.master.db.queries import metric_trial


async def require_own_trial(ctx: MasterContext, caller: Caller, trial_id: int) -> None:
    """Users pass: everybody may edit any experiment."""
    if caller.kind != "task":
        return
    allocation_id = caller.allocation_id or ""
    own = await ctx.db.read(lambda conn: metric_trial.trial_of_allocation(conn, allocation_id))
    if own != trial_id:
        raise Forbidden(f"allocation {allocation_id} may not report for trial {trial_id}")
