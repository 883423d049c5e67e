"""`/stream`: a WebSocket that tells what changes (docs/architecture/stream.md)."""

import asyncio

import msgspec
from litestar import websocket
from litestar.exceptions import WebSocketDisconnect

from determined.errors import DeterminedError, Unavailable
from determined.master import supervise
from determined.master.auth.guard import caller_of
from determined.master.auth.permission import ANY_USER
from determined.master.context import MasterContext
from determined.master.routes.socket import SEND_SECONDS, Socket, hang_up, still_authorised
from determined.master.services.stream import REFUSED, TOO_SLOW, StreamHub, Subscriber
from determined.master.services.stream_spec import subscription
from determined.wire.stream import StartupMsg

MAX_MESSAGE_CHARS = 1024 * 1024
_QUIET_SECONDS = 15.0  # after so long without anything to say the client hears that we are there
_AUTHORISED_SECONDS = 60.0  # commits end the streams of ended sessions; time alone ends what expires


@websocket("/stream", opt=ANY_USER)
async def stream(socket: Socket, ctx: MasterContext, streams: StreamHub) -> None:
    await socket.accept()
    try:
        client = streams.join(caller_of(socket).session_id)
    except Unavailable as e:
        await _hang_up(socket, TOO_SLOW, e.message)
        return
    sending = supervise.spawn(_send(socket, ctx, client), name="stream to a client")
    try:
        await _receive(socket, streams, client)
    finally:
        streams.leave(client)
        await supervise.stop(sending)


async def _receive(socket: Socket, streams: StreamHub, client: Subscriber) -> None:
    """Receive until the client leaves or says something that makes no sense."""
    while True:
        try:
            text = await socket.receive_data(mode="text")
        except WebSocketDisconnect:
            return
        try:
            if len(text) > MAX_MESSAGE_CHARS:
                raise msgspec.ValidationError(f"a subscription of {len(text)} characters is too long")
            streams.subscribe(client, subscription(msgspec.json.decode(text, type=StartupMsg)))
        except (msgspec.DecodeError, DeterminedError) as e:
            await _hang_up(socket, REFUSED, str(e))
            return


async def _send(socket: Socket, ctx: MasterContext, client: Subscriber) -> None:
    loop = asyncio.get_running_loop()
    checked = loop.time()
    while True:
        frame = await client.frame(_QUIET_SECONDS) or client.alive()
        if client.failure is not None:
            await _hang_up(socket, client.close_code, client.failure)
            return
        if loop.time() - checked > _AUTHORISED_SECONDS:
            checked = loop.time()
            if not await still_authorised(socket, ctx):
                await _hang_up(socket, REFUSED, "the session ended; log in again")
                return
        if frame is not None and not await _sent(socket, frame):
            return


async def _sent(socket: Socket, frame: bytes) -> bool:
    """Send a frame; return False when the client is gone, or takes so long that it may as well be."""
    try:
        async with asyncio.timeout(SEND_SECONDS):
            await socket.send_data(frame.decode(), mode="text")
    except TimeoutError:
        await _hang_up(socket, TOO_SLOW, "nothing was read for too long; connect again and say `since`")
        return False
    except (WebSocketDisconnect, OSError, RuntimeError):
        return False  # the other half of the connection hears of it, too
    return True


async def _hang_up(socket: Socket, code: int, reason: str) -> None:
    await hang_up(socket, code, reason, client="a client of /stream")
