"""Terminals of the web page, beside SSH on the same socket (wire/terminal.py)."""

import asyncio
import hmac
import logging
import socket

import msgspec

from determined.exec.shell_server.host import Host, Request
from determined.exec.shell_server.serving import Serve
from determined.exec.shell_server.terminal import Size, Terminal
from determined.exec.shell_server.terminal_session import open_terminal
from determined.wire.codec import from_json, to_json
from determined.wire.terminal import GREETING, BadFrame, Ended, FrameReader, Kind, WindowSize, data_frames, frame

_log = logging.getLogger(__name__)
_TERMINAL_TYPE = "xterm-256color"
_FIRST_WORD_SECONDS = 5.0  # SSH clients begin at once; one that waits for the server's word gets it then
_PROBE_SECONDS = 0.01
_CHUNK = 64 * 1024
_FULL = 1024 * 1024  # bytes that wait for the page, from which on the program is not read
_MAX_GREETING = 256


def beside_ssh(ssh: Serve, host: Host, key: str) -> Serve:
    """Serve SSH, and terminals to those who greet with the key. An empty key: SSH alone."""

    async def serve(connected: socket.socket) -> None:
        if key and await _greets(connected):
            await _serve_terminal(connected, host, key)
        else:
            await ssh(connected)

    return serve


async def _greets(connected: socket.socket) -> bool:
    """Look at the first bytes without taking them."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + _FIRST_WORD_SECONDS
    connected.setblocking(False)
    while loop.time() < deadline:
        try:
            first = connected.recv(len(GREETING), socket.MSG_PEEK)
        except BlockingIOError:
            first = None
        except OSError:
            return False
        if first == GREETING or (first is not None and not (first and GREETING.startswith(first))):
            return first == GREETING
        await asyncio.sleep(_PROBE_SECONDS)
    return False


async def _serve_terminal(connected: socket.socket, host: Host, key: str) -> None:
    reader, writer = await asyncio.open_unix_connection(sock=connected, limit=_CHUNK)
    try:
        greeting = await reader.readuntil(b"\n")
        if len(greeting) > _MAX_GREETING or not hmac.compare_digest(greeting[len(GREETING) : -1], key.encode()):
            _log.info("Terminal refused: it has another key")
            return
        _log.info("Accepted a terminal of the web page")
        await _Page(reader, writer, host).run()
    except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, BadFrame, OSError, msgspec.DecodeError) as e:
        _log.info("a terminal of the web page ended: %s", e)
    finally:
        writer.close()


class _Page:
    """A page that shows a terminal. It leaves the terminal to the next client when its connection ends."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, host: Host) -> None:
        self._reader = reader
        self._writer = writer
        self._host = host
        self._terminal: Terminal | None = None
        self._may_type = asyncio.Event()
        self._may_type.set()
        self._is_paused = False
        self._has_ended = False

    async def run(self) -> None:
        frames = FrameReader()
        try:
            while not self._has_ended and (data := await self._reader.read(_CHUNK)):
                for kind, payload in frames.feed(data):
                    self._take(kind, payload)
                await self._may_type.wait()
        finally:
            if self._terminal is not None and self._terminal in self._host.terminals:
                self._host.detached.add(self._terminal)

    def show(self, output: bytes) -> None:
        self._host.activity.note()
        if self._writer.is_closing():
            return
        for part in data_frames(output):
            self._writer.write(part)
        if not self._is_paused and self._writer.transport.get_write_buffer_size() > _FULL:
            self._is_paused = True
            self._host.start(self._resume(), "output of a terminal")

    def pause_input(self, is_full: bool) -> None:
        if is_full:
            self._may_type.clear()
        else:
            self._may_type.set()

    def ended(self, status: int) -> None:
        self._has_ended = True
        if not self._writer.is_closing():
            self._writer.write(frame(Kind.ENDED, to_json(Ended(status=status))))
            self._writer.close()

    def _take(self, kind: Kind, payload: bytes) -> None:
        if kind is Kind.WINDOW:
            self._resize(from_json(payload, WindowSize))
        elif kind is Kind.DATA and self._terminal is not None:
            self._host.activity.note()
            self._terminal.write(payload)

    def _resize(self, window: WindowSize) -> None:
        """Open the terminal with the first size that is known; change its size with the next ones."""
        size: Size = (max(window.columns, 1), max(window.rows, 1), 0, 0)
        if self._terminal is not None:
            self._terminal.resize(size)
            return
        self._terminal = open_terminal(self._host, self, Request(None, {}, _TERMINAL_TYPE), size, {})

    async def _resume(self) -> None:
        """Leave the program's output where it is until the page has taken what is on its way."""
        assert self._terminal is not None
        self._terminal.pause_output(True)
        try:
            await self._writer.drain()
        except ConnectionError:
            return
        finally:
            self._is_paused = False
            self._terminal.pause_output(False)
