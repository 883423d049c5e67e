"""Requests for the stacks of a running trial."""

from sqlalchemy import Connection

from determined.errors import FailedPrecondition
from determined.master.auth.identity import Caller, require_owner
from determined.master.context import MasterContext
from determined.master.db.queries import allocation as allocations
from determined.master.db.queries import runner as runners
from determined.master.db.queries import trial_access
from determined.master.lifecycle import topics
from determined.wire.stacks import RequestStacksResponse


async def request(ctx: MasterContext, caller: Caller, trial_id: int) -> RequestStacksResponse:
    """Have the runners of a trial write all ranks' stacks to its log. Raises FailedPrecondition if it does not run."""

    def write(conn: Connection) -> tuple[RequestStacksResponse, list[str]]:
        require_owner(caller, trial_access.of_trial(conn, trial_id).owner_id, f"trial {trial_id}")
        live = allocations.live_of_trial(conn, trial_id)
        if live is None or live.started_at is None:
            raise FailedPrecondition(f"trial {trial_id} does not run now; only a running trial has stacks")
        number = live.stacks_requested + 1
        allocations.update_row(conn, live.id, {"stacks_requested": number})
        nodes = sum(runner.exited_at is None for runner in runners.of_allocation(conn, live.id))
        return RequestStacksResponse(request=number, nodes=nodes), topics.of_allocation(conn, live.id)

    answer, changed = await ctx.db.write(write)
    ctx.bus.publish(*changed)
    return answer
