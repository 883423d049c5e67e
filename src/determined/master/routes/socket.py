"""WebSockets: how one is closed, and whether its caller may still have it."""

import asyncio
import logging
from typing import Any

from litestar import WebSocket
from litestar.exceptions import WebSocketDisconnect

from determined.errors import DeterminedError, Unavailable
from determined.master.auth.authenticate import authenticate, credentials_of
from determined.master.context import MasterContext

logger = logging.getLogger(__name__)

Socket = WebSocket[Any, Any, Any]

SEND_SECONDS = 30.0
_REASON_BYTES = 120  # a close frame holds 123


async def still_authorised(socket: Socket, ctx: MasterContext) -> bool:
    """Return False when the session of the caller has ended."""
    try:
        await authenticate(ctx, credentials_of(socket.headers, socket.cookies), reporting=False)
    except Unavailable:
        return True  # the database is away: nobody can tell now
    except DeterminedError:
        return False
    return True


async def hang_up(socket: Socket, code: int, reason: str, *, client: str) -> None:
    """Close, and say why. `client`: who it is, for the log."""
    short = reason.encode()[:_REASON_BYTES].decode(errors="ignore")
    try:
        async with asyncio.timeout(SEND_SECONDS):
            await socket.close(code=code, reason=short)
    except (WebSocketDisconnect, OSError, RuntimeError, TimeoutError):
        logger.debug("%s left before it heard: %s", client, reason)
