"""Keystroke echo of a shell: from a key that is typed into `ssh` until its echo is on the screen.

    python benchmarks/tasks_echo.py [--count 300]

By itself it measures the server of shells without a master in between: AsyncSSH beside OpenSSH's sshd, both over the
same Unix socket and the same small proxy. tasks.py measures `det shell open` with `measure`.
"""

import argparse
import contextlib
import os
import select
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]
HOLD_MS = 15.0
_PATIENCE = 60.0
_PAUSE = 0.02  # between keys: a fast typist has 0.1 s
_LINE = 40  # keys until the line is cleared
_CLEAR = b"\x15"  # Ctrl-U


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=300, help="keys to type")
    options = parser.parse_args()
    for server in ("asyncssh", "openssh"):
        with _server(server) as argv:
            print(row(server, measure(argv, options.count)))
    return 0


def measure(argv: Sequence[str], count: int) -> list[float]:
    """Type letters at the prompt of an interactive shell that `argv` opens; the seconds until each is echoed."""
    window = _Window(argv)
    try:
        window.type(b"PS1=RE''ADY'>'\n")
        window.wait_for(b"READY>")
        return [_key(window, number) for number in range(count)]
    finally:
        window.close()


def row(name: str, seconds: Sequence[float]) -> str:
    """Return a line of a table."""
    p50, p95 = (_quantile(seconds, share) * 1000 for share in (0.5, 0.95))
    return f"| {name} | {p50:.2f} ms | {p95:.2f} ms | {max(seconds) * 1000:.2f} ms |"


def without_master(count: int) -> dict[str, float]:
    """Return the p95 in milliseconds of each server of shells by itself."""
    found = {}
    for server in ("asyncssh", "openssh"):
        with _server(server) as argv:
            found[server] = p95_ms(measure(argv, count))
    return found


def p95_ms(seconds: Sequence[float]) -> float:
    return _quantile(seconds, 0.95) * 1000


def _quantile(seconds: Sequence[float], share: float) -> float:
    return statistics.quantiles(seconds, n=100, method="inclusive")[round(share * 100) - 1]


def _key(window: "_Window", number: int) -> float:
    if number % _LINE == 0:
        window.type(_CLEAR)
        time.sleep(_PAUSE)
        window.read(_PAUSE)
    letter = bytes([ord("a") + number % 26])
    began = time.perf_counter()
    window.type(letter)
    window.wait_for(letter)
    taken = time.perf_counter() - began
    time.sleep(_PAUSE)
    return taken


class _Window:
    """A terminal on this side with a program in it."""

    def __init__(self, argv: Sequence[str]) -> None:
        self._master, slave = os.openpty()
        words = ["sh", "-c", 'exec "$@" <>"$0" >&0 2>&0', os.ttyname(slave), *argv]
        self._process = subprocess.Popen(words, start_new_session=True)
        self._slave = slave

    def type(self, keys: bytes) -> None:
        os.write(self._master, keys)

    def read(self, seconds: float) -> bytes:
        return os.read(self._master, 65536) if select.select([self._master], [], [], seconds)[0] else b""

    def wait_for(self, text: bytes) -> None:
        """Wait until a text is shown; what was shown before it is forgotten."""
        shown, deadline = b"", time.monotonic() + _PATIENCE
        while text not in shown:
            if time.monotonic() > deadline:
                raise TimeoutError(f"{text!r} did not appear in {shown!r}")
            shown += self.read(1.0)

    def close(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        os.close(self._slave)
        os.close(self._master)


@contextlib.contextmanager
def _server(kind: str) -> Iterator[list[str]]:
    """The server of a shell without a master; yields the words that open it."""
    sys.path.insert(0, str(ROOT / "tests" / "unit" / "exec" / "shell_server"))
    from shell_rig import ShellRig

    with tempfile.TemporaryDirectory(prefix="shell-") as directory:
        rig = ShellRig(Path(directory), kind)
        try:
            rig.wait_until_ready()
            yield rig.argv()
        finally:
            rig.close()


if __name__ == "__main__":
    sys.exit(main())
