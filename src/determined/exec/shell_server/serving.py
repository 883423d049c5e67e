"""Accept connections on the service socket, and look after terminals and the note of use meanwhile."""

import asyncio
import contextlib
import logging
import signal
import socket
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from determined.exec.shell_server.host import Host

_log = logging.getLogger(__name__)
_LOOK_SECONDS = 15.0
_BACKLOG = 100

Serve = Callable[[socket.socket], Awaitable[None]]


def listen(path: Path) -> socket.socket:
    """Listen on the socket of the task, which only its user may open."""
    path.unlink(missing_ok=True)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(path))
    path.chmod(0o600)
    listener.listen(_BACKLOG)
    listener.setblocking(False)
    return listener


async def accept_until_told(listener: socket.socket, serve: Serve, host: Host) -> None:
    """Serve every connection until SIGTERM or SIGINT."""
    loop, stopped = asyncio.get_running_loop(), asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopped.set)
    loops = [asyncio.create_task(_accept(listener, serve, host)), asyncio.create_task(_look_after(host))]
    stopping = asyncio.create_task(stopped.wait())
    done, _ = await asyncio.wait([*loops, stopping], return_when=asyncio.FIRST_COMPLETED)
    for task in (*loops, stopping):
        task.cancel()
    for terminal in list(host.terminals):
        terminal.hang_up()
    for task in done - {stopping}:
        task.result()  # the error of a loop that ended by itself ends the program


async def _accept(listener: socket.socket, serve: Serve, host: Host) -> None:
    loop = asyncio.get_running_loop()
    while True:
        try:
            connected, _ = await loop.sock_accept(listener)
        except OSError as e:  # too many open files, a client that is gone already: others can still come
            _log.warning("cannot accept a connection: %s", e)
            await asyncio.sleep(1.0)
            continue
        host.start(_guarded(serve, connected), "connection")


async def _guarded(serve: Serve, connected: socket.socket) -> None:
    try:
        await serve(connected)
    except Exception:  # noqa: BLE001 - the edge of a connection: others go on
        _log.exception("a connection failed")
        with contextlib.suppress(OSError):
            connected.close()


async def _look_after(host: Host) -> None:
    while True:
        await asyncio.sleep(_LOOK_SECONDS)
        host.detached.expire(time.monotonic())
