"""`/terminal/<id of a shell or of one beside a trial>`: a WebSocket with a terminal of it (wire/terminal.py)."""

import asyncio

from litestar import websocket
from litestar.exceptions import WebSocketDisconnect

from determined.errors import DeterminedError, Unavailable
from determined.master.auth.guard import caller_of
from determined.master.auth.permission import OWNER
from determined.master.context import MasterContext
from determined.master.proxy import shell_terminal
from determined.master.proxy.splice import until_one_ends
from determined.master.proxy.tunnel_connection import Stream
from determined.master.proxy.tunnels import Tunnels
from determined.master.routes.socket import SEND_SECONDS, Socket, hang_up, still_authorised
from determined.wire.terminal import MAX_PAYLOAD, FrameReader, Kind, data_frames, frame

_OVER, _REFUSED, _TRY_AGAIN = 1000, 1008, 1013
_AUTHORISED_SECONDS = 15.0  # how long a terminal may outlive its session


@websocket("/terminal/{task_id:str}", opt=OWNER)
async def open_terminal(socket: Socket, ctx: MasterContext, tunnels: Tunnels, task_id: str) -> None:
    """Carry what is typed to the shell, and its output back, until one of them ends or the session does."""
    await socket.accept()
    try:
        stream = await shell_terminal.connect(ctx, tunnels, caller_of(socket), task_id)
    except DeterminedError as e:
        await _hang_up(socket, _TRY_AGAIN if isinstance(e, Unavailable) else _REFUSED, e.message)
        return
    visit = _Visit(socket, ctx, stream, task_id)
    try:
        await until_one_ends(visit.to_shell, visit.to_page, visit.while_authorised)
    finally:
        stream.close()
    await _hang_up(socket, visit.code, visit.reason)


class _Visit:
    def __init__(self, socket: Socket, ctx: MasterContext, stream: Stream, task_id: str) -> None:
        self._socket, self._ctx, self._stream, self._task_id = socket, ctx, stream, task_id
        self.code, self.reason = _OVER, "the connection to the shell ended"

    async def to_shell(self) -> None:
        while (message := await self._socket.receive())["type"] == "websocket.receive":
            self._ctx.activity.note(self._task_id, self._ctx.clock.now())
            typed, text = message.get("bytes") or b"", message.get("text") or ""
            for part in data_frames(typed):
                await self._stream.write(part)
            if 0 < len(text) <= MAX_PAYLOAD // 4:
                await self._stream.write(frame(Kind.WINDOW, text.encode()))

    async def to_page(self) -> None:
        frames = FrameReader()
        while data := await self._stream.read():
            self._ctx.activity.note(self._task_id, self._ctx.clock.now())
            for kind, payload in frames.feed(data):
                if not await self._sent(kind, payload):
                    return

    async def while_authorised(self) -> None:
        """Return when the session of the caller has ended."""
        while True:
            await asyncio.sleep(_AUTHORISED_SECONDS)
            if not await still_authorised(self._socket, self._ctx):
                self.code, self.reason = _REFUSED, "the session ended; log in again"
                return

    async def _sent(self, kind: Kind, payload: bytes) -> bool:
        """Send to the page. Return False when it is gone."""
        try:
            async with asyncio.timeout(SEND_SECONDS):
                if kind is Kind.DATA:
                    await self._socket.send_data(payload, mode="binary")
                else:
                    await self._socket.send_data(payload.decode(errors="replace"), mode="text")
        except (WebSocketDisconnect, OSError, RuntimeError, TimeoutError):
            return False
        return True


async def _hang_up(socket: Socket, code: int, reason: str) -> None:
    await hang_up(socket, code, reason, client="the page of a terminal")
