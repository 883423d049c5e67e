"""Shells as clients see them: their keys go to those who may use them."""

from collections.abc import Sequence

from sqlalchemy import Connection

from determined._json import JsonObject
from determined.master.auth import shell_keys
from determined.master.auth.identity import Caller
from determined.master.context import MasterContext
from determined.master.db.queries import runner as runners
from determined.master.db.queries.submitted_task import TaskDetail
from determined.master.lifecycle.identity import run_as
from determined.master.services import submitted_task_view as view
from determined.wire.shell import Shell


async def to_wire(ctx: MasterContext, caller: Caller, task: TaskDetail) -> Shell:
    [shell] = await all_to_wire(ctx, caller, [task])
    return shell


async def all_to_wire(ctx: MasterContext, caller: Caller, tasks: Sequence[TaskDetail]) -> list[Shell]:
    """Show shells, in a thread: keys of some kinds take long to derive."""
    return await ctx.db.read(lambda conn: [_to_wire(conn, ctx, caller, task) for task in tasks])


def _to_wire(conn: Connection, ctx: MasterContext, caller: Caller, task: TaskDetail) -> Shell:
    who = os_user(conn, ctx, task.owner_id, task.workspace_id)
    shell = Shell(**view.fields_of(task), addresses=[], agent_user_group=who)
    if task.end_time is None and (caller.admin or caller.user_id == task.owner_id):
        keys = shell_keys.owner_key(ctx.cluster.secret, task.task_id, ctx.config.security.ssh)
        shell.private_key, shell.public_key = keys.private, keys.public
    if task.end_time is None:
        shell.host_public_key = shell_keys.host_key(ctx.cluster.secret, task.task_id).public
    return shell


def os_user(conn: Connection, ctx: MasterContext, owner_id: int, workspace_id: int) -> JsonObject:
    """Return whom a task of this user in this workspace runs as."""
    who = run_as(runners.identity(conn, owner_id, workspace_id), ctx.config)
    return {"user": who.user, "uid": who.uid, "group": who.group, "gid": who.gid}
