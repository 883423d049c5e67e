"""A terminal with a program in it. It lives on while nobody watches it, and shows its last output to who comes next."""

import asyncio
import contextlib
import fcntl
import os
import signal
import struct
import termios
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from determined.exec.shell_server.descriptors import Reader, Writer
from determined.exec.shell_server.login_shell import on_terminal
from determined.exec.shell_server.screen_history import ScreenHistory
from determined.exec.shell_server.terminal_modes import set_modes

Size = tuple[int, int, int, int]  # columns, rows, and the same in pixels
_REDRAW_SECONDS = 0.1  # between two sizes: a program that saw only the second would find that nothing has changed


class Viewer(Protocol):
    """Client of a terminal."""

    def show(self, output: bytes) -> None: ...

    def pause_input(self, is_full: bool) -> None:
        """Hear that too much input waits for the program, or that it no longer does."""

    def ended(self, status: int) -> None:
        """Hear the status of the program, negative for a signal."""


class Terminal:
    """A pseudo-terminal and its program.

    Attributes:
        path: the device, such as /dev/pts/3.
        lost_at: when its last viewer was lost, by the monotonic clock; None while it has one.
    """

    def __init__(self, size: Size, modes: Mapping[int, int], *, is_login: bool) -> None:
        master, self._slave = os.openpty()
        self.path = os.ttyname(self._slave)
        self.lost_at: float | None = None
        self._is_login = is_login
        self._size = size
        self._viewer: Viewer | None = None
        self._history = ScreenHistory()
        self._process: asyncio.subprocess.Process | None = None
        self._control = os.dup(master)
        set_modes(self._slave, modes)
        self.resize(size)
        self._writer = Writer(os.dup(master), self._tell_full)
        self._reader = Reader(master, self._show, lambda: None)

    async def run(self, argv: Sequence[str], variables: Mapping[str, str], ended: Callable[[], None]) -> None:
        """Run a program to its end; then `ended` is called. OSError: it cannot be started."""
        try:
            self._process = await asyncio.create_subprocess_exec(
                *on_terminal(self.path, argv), env=variables, start_new_session=True
            )
            status = await self._process.wait()
        finally:
            os.close(self._slave)
            self._reader.drain()
            self.hang_up()
            ended()
        if self._viewer is not None:
            self._viewer.ended(status)

    @property
    def is_busy(self) -> bool:
        """Check whether a program runs in the foreground. A shell that waits for a command is none."""
        if self._process is None or self._process.returncode is not None:
            return False
        try:
            return not self._is_login or os.tcgetpgrp(self._control) != self._process.pid
        except OSError:
            return False

    def attach(self, viewer: Viewer) -> None:
        """Show the output to a client from now on."""
        self._viewer = viewer
        self.lost_at = None

    def return_to(self, viewer: Viewer, size: Size) -> None:
        """Show a client that comes back what it last saw, and the output from now on."""
        viewer.show(self._history.replay(rows=size[1] or 24))
        self.attach(viewer)
        self.resize(size)
        if self._history.is_alternate:
            self._redraw(size)

    def detach(self) -> None:
        """Go on without a client. The output is read all the same: a program would wait for that for ever."""
        self._viewer = None
        self.lost_at = time.monotonic()
        self._reader.resume()

    def write(self, data: bytes) -> None:
        """Type."""
        self._writer.write(data)

    def pause_output(self, is_full: bool) -> None:
        if is_full and self._viewer is not None:
            self._reader.pause()
        else:
            self._reader.resume()

    def resize(self, size: Size) -> None:
        columns, rows, width, height = (min(value, 0xFFFF) for value in size)
        self._size = size
        with contextlib.suppress(OSError):
            fcntl.ioctl(self._control, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, width, height))

    def send_signal(self, name: str) -> None:
        """Send a signal, by its name without SIG, to the program in the foreground."""
        number = getattr(signal, f"SIG{name}", None)
        with contextlib.suppress(OSError):
            if number is not None and self._process is not None:
                os.killpg(os.tcgetpgrp(self._control), number)

    def hang_up(self) -> None:
        """Close the terminal. Programs in it get SIGHUP, as when a window is closed."""
        self._reader.close()
        self._writer.close()
        if self._control >= 0:
            os.close(self._control)
            self._control = -1

    def _show(self, output: bytes) -> None:
        self._history.add(output)
        if self._viewer is not None:
            self._viewer.show(output)

    def _tell_full(self, is_full: bool) -> None:
        if self._viewer is not None:
            self._viewer.pause_input(is_full)

    def _redraw(self, size: Size) -> None:
        columns, rows, *pixels = size
        self.resize((columns, max(rows - 1, 1), pixels[0], pixels[1]))
        asyncio.get_running_loop().call_later(_REDRAW_SECONDS, self._restore_size, size, self._size)

    def _restore_size(self, size: Size, smaller: Size) -> None:
        if self._size == smaller:  # unless the client has changed it meanwhile
            self.resize(size)
