"""Terminals in the browser: of shells, and of shells beside trials. Who may have one, and the stream to its program
(wire/terminal.py).
"""

import asyncio

from determined.config.task_kinds import SHELL, TRIAL
from determined.errors import FailedPrecondition, NotFound, Unavailable
from determined.master.auth import shell_keys
from determined.master.auth.identity import Caller, require_owner
from determined.master.context import MasterContext
from determined.master.db.queries import task_service
from determined.master.proxy.tunnel_connection import Stream
from determined.master.proxy.tunnels import Tunnels
from determined.wire.terminal import GREETING
from determined.wire.trial_shell import SERVICE

_ANSWER_SECONDS = 30.0


async def connect(ctx: MasterContext, tunnels: Tunnels, caller: Caller, name: str) -> Stream:
    """Open a stream to the program of a shell and greet it; the caller closes the stream.

    `name`: the id of a shell, or `<task id>:shell` for one beside a trial, which has been asked for (wire/trial_shell).

    Raises:
        NotFound: no such shell. Forbidden: somebody else's. FailedPrecondition: it does not run.
        Unavailable: its node or its program does not answer (yet).
    """
    task_id, _, service = name.partition(":")
    target = await ctx.db.read(lambda conn: task_service.find(conn, task_id))
    if target is None or (target.task_type, service) not in ((SHELL.name, ""), (TRIAL.name, SERVICE)):
        raise NotFound(f"shell '{name}' not found")
    require_owner(caller, target.owner_id, f"shell {name}")
    if target.allocation_id is None:
        raise FailedPrecondition(f"shell {name} has ended; start another one")
    stream = await tunnels.open(target.allocation_id, service)
    try:
        async with asyncio.timeout(_ANSWER_SECONDS):
            await stream.accepted()
            key = shell_keys.terminal_key(ctx.cluster.secret, name)
            await stream.write(GREETING + key.encode() + b"\n")
    except (ConnectionError, TimeoutError) as e:
        stream.close()
        raise Unavailable("the program of the shell does not answer; try again in a moment") from e
    except BaseException:
        stream.close()
        raise
    return stream
