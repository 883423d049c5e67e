"""Terminals of shells in the browser: who may have one, and the stream to the shell (wire/terminal.py)."""

import asyncio

from determined.config.task_kinds import SHELL
from determined.errors import FailedPrecondition, NotFound, Unavailable
from determined.master.auth import shell_keys
from determined.master.auth.identity import Caller, require_owner
from determined.master.context import MasterContext
from determined.master.db.queries import task_service
from determined.master.proxy.tunnel_connection import Stream
from determined.master.proxy.tunnels import Tunnels
from determined.wire.terminal import GREETING

_ANSWER_SECONDS = 30.0
_DEFAULT_SERVICE = ""


async def connect(ctx: MasterContext, tunnels: Tunnels, caller: Caller, task_id: str) -> Stream:
    """Open a stream to the program of a shell and greet it; the caller closes the stream.

    Raises:
        NotFound: no such shell. Forbidden: somebody else's. FailedPrecondition: it does not run.
        Unavailable: its node or its program does not answer.
    """
    target = await ctx.db.read(lambda conn: task_service.find(conn, task_id))
    if target is None or target.task_type != SHELL.name:
        raise NotFound(f"shell '{task_id}' not found")
    require_owner(caller, target.owner_id, f"shell {task_id}")
    if target.allocation_id is None:
        raise FailedPrecondition(f"shell {task_id} has ended; start another one")
    stream = await tunnels.open(target.allocation_id, _DEFAULT_SERVICE)
    try:
        async with asyncio.timeout(_ANSWER_SECONDS):
            await stream.accepted()
            key = shell_keys.terminal_key(ctx.cluster.secret, task_id)
            await stream.write(GREETING + key.encode() + b"\n")
    except (ConnectionError, TimeoutError) as e:
        stream.close()
        raise Unavailable("the program of the shell does not answer; try again in a moment") from e
    except BaseException:
        stream.close()
        raise
    return stream
