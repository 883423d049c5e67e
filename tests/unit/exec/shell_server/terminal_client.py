"""`ssh` in a window of its own: a terminal on this side, which a test types into and reads."""

import contextlib
import fcntl
import os
import select
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Iterator

PATIENCE = 60.0


class TerminalClient:
    """A program in a terminal. `seen` is all that it has shown so far."""

    def __init__(self, argv: list[str], rows: int = 24, columns: int = 80) -> None:
        self._master, slave = os.openpty()
        self.seen = b""
        self._set_size(rows, columns)
        # A session of its own, whose terminal is this one: ssh asks /dev/tty, and gets a signal when the size changes.
        words = ["sh", "-c", 'exec "$@" <>"$0" >&0 2>&0', os.ttyname(slave), *argv]
        self.process = subprocess.Popen(words, start_new_session=True, env=os.environ | {"TERM": "xterm-256color"})
        self._slave = slave  # held open: until ssh has opened it, the other side would be at its end

    def type(self, text: str) -> None:
        os.write(self._master, text.encode())

    def resize(self, rows: int, columns: int) -> None:
        self._set_size(rows, columns)
        os.kill(self.process.pid, signal.SIGWINCH)

    def wait_for(self, text: str, *, count: int = 1) -> bytes:
        """Read until the text was shown so often; return what was shown up to now."""
        deadline = time.monotonic() + PATIENCE
        while self.seen.count(text.encode()) < count:
            assert time.monotonic() < deadline, f"{text!r} did not appear in {self.seen!r}"
            self._read()
        return self.seen

    def wait(self) -> int:
        """Read to the end and return the status."""
        deadline = time.monotonic() + PATIENCE
        while self.process.poll() is None:
            assert time.monotonic() < deadline, f"still open: {self.seen!r}"
            self._read()
        self._read()
        return self.process.returncode

    def close(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(PATIENCE)
        os.close(self._slave)
        os.close(self._master)

    def _read(self) -> None:
        if select.select([self._master], [], [], 0.1)[0]:
            self.seen += os.read(self._master, 65536)

    def _set_size(self, rows: int, columns: int) -> None:
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


@contextlib.contextmanager
def window(argv: list[str], rows: int = 24, columns: int = 80) -> Iterator[TerminalClient]:
    client = TerminalClient(argv, rows, columns)
    try:
        yield client
    finally:
        client.close()
