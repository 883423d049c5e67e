"""The peer that a request comes from, for what is counted by peer."""

import asyncio
from typing import Any

from litestar import Request

from determined.master.auth import peer


async def peer_of(request: Request[Any, Any, Any]) -> str:
    """Name the address, with the user of a process on this machine (auth/peer.py)."""
    if request.client is None:
        return ""
    return await asyncio.to_thread(peer.name_of, request.client.host, request.client.port)
