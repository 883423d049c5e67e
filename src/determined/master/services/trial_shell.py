"""Shells beside running trials."""

from sqlalchemy import Connection

from determined.errors import FailedPrecondition
from determined.master.auth import shell_keys
from determined.master.auth.identity import Caller, require_owner
from determined.master.context import MasterContext
from determined.master.db.queries import allocation as allocations
from determined.master.db.queries import trial_access
from determined.master.db.queries.allocation import LiveAllocation
from determined.master.lifecycle import topics
from determined.master.services import shell
from determined.wire.allocation import AllocationState
from determined.wire.codec import convert, rfc3339
from determined.wire.shell import Shell
from determined.wire.shell_settings import ShellSettings
from determined.wire.trial_shell import SERVICE

_SERVER = "asyncssh"


async def open_shell(ctx: MasterContext, caller: Caller, trial_id: int) -> Shell:
    """Have the runner of a trial start a shell server beside it. Raises FailedPrecondition if it does not run."""

    def write(conn: Connection) -> tuple[Shell, list[str]]:
        require_owner(caller, trial_access.of_trial(conn, trial_id).owner_id, f"trial {trial_id}")
        live = next((one for one in allocations.live_with_job(conn) if one.trial_id == trial_id), None)
        if live is None or live.started_at is None:
            raise FailedPrecondition(f"trial {trial_id} does not run now; a shell is opened beside a running trial")
        allocations.update_row(conn, live.id, {"shell_requested": True})
        return _to_wire(conn, ctx, live), topics.of_allocation(conn, live.id)

    opened, changed = await ctx.db.write(write)
    ctx.bus.publish(*changed)
    return opened


async def settings(ctx: MasterContext, allocation_id: str) -> ShellSettings:
    """Return the settings of the server. Raises FailedPrecondition when nobody has asked for one."""
    allocation = await ctx.db.read(lambda conn: allocations.get(conn, allocation_id))
    if not allocation.shell_requested:
        raise FailedPrecondition(f"nobody has asked for a shell beside allocation {allocation_id}")
    made = shell_keys.server_settings(ctx.cluster.secret, _name(allocation.task_id), ctx.config.security.ssh, _SERVER)
    return convert(made, ShellSettings)


def _to_wire(conn: Connection, ctx: MasterContext, live: LiveAllocation) -> Shell:
    name = _name(live.task_id)
    keys = shell_keys.owner_key(ctx.cluster.secret, name, ctx.config.security.ssh)
    return Shell(
        id=name,
        description=f"Shell beside trial {live.trial_id}",
        job_id=live.job_id,
        resource_pool=live.pool,
        start_time=rfc3339(live.requested_at),
        state=AllocationState.RUNNING,
        username=live.username,
        user_id=live.owner_id,
        workspace_id=live.workspace_id,
        agent_user_group=shell.os_user(conn, ctx, live.owner_id, live.workspace_id),
        private_key=keys.private,
        public_key=keys.public,
        host_public_key=shell_keys.host_key(ctx.cluster.secret, name).public,
    )


def _name(task_id: str) -> str:
    """Return the name of the service, by which ssh knows the host too."""
    return f"{task_id}:{SERVICE}"
