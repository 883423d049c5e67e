"""The peer that a request comes from, for what is counted by peer."""

import asyncio

from determined.master.auth import peer
from determined.master.routes.request import AnyRequest


async def peer_of(request: AnyRequest) -> str:
    """Name the address, with the user of a process on this machine (auth/peer.py)."""
    if request.client is None:
        return ""
    return await asyncio.to_thread(peer.name_of, request.client.host, request.client.port)
