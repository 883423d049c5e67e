"""Links by which the owner of a notebook or TensorBoard lets others use it. The last link of a task counts."""

from sqlalchemy import Connection

from determined.config.task_kinds import KINDS
from determined.errors import FailedPrecondition
from determined.master.auth import allocation_token
from determined.master.auth.identity import Caller, require_owner
from determined.master.context import MasterContext
from determined.master.db.queries import submitted_task as submitted_tasks
from determined.master.db.queries import trial_access
from determined.master.db.queries.submitted_task import TaskDetail


async def share(ctx: MasterContext, caller: Caller, task_id: str) -> str:
    """Make a link and return its address; links made before are void."""

    def write(conn: Connection) -> tuple[TaskDetail, int]:
        task = _own(conn, caller, task_id)
        if task.end_time is not None:
            raise FailedPrecondition(f"task {task_id} has ended; there is nothing to share")
        link = task.share_links + 1
        submitted_tasks.update_row(conn, task_id, {"share_links": link, "is_shared": True})
        return task, link

    task, link = await ctx.db.write(write)
    token = allocation_token.share_token(ctx.cluster.secret, task.allocation_id, link)
    return f"/proxy/{task_id}/?token={token}"


async def unshare(ctx: MasterContext, caller: Caller, task_id: str) -> None:
    """Withdraw the link; who came by it is out at the next request."""

    def write(conn: Connection) -> None:
        _own(conn, caller, task_id)
        submitted_tasks.update_row(conn, task_id, {"is_shared": False})

    await ctx.db.write(write)


def _own(conn: Connection, caller: Caller, task_id: str) -> TaskDetail:
    require_owner(caller, trial_access.of_task(conn, task_id).owner_id, f"task {task_id}")
    task = submitted_tasks.detail(conn, task_id)
    if task is None or not KINDS[task.type].program or KINDS[task.type].is_raw:
        raise FailedPrecondition(f"task {task_id} has no page to share; only notebooks and TensorBoards have one")
    return task
