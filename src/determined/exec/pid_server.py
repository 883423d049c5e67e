"""`python -m determined.exec.pid_server [options] ADDR N -- CMD...`: runs CMD, which starts N workers somewhere below.

Each worker runs under a pid_client, which reports here. One that dies without a word ends CMD, which might else wait
for it for ever. For launchers of one's own that were written for it; ours need neither.
"""

import argparse
import contextlib
import selectors
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from types import FrameType

import psutil

# The command ended well before every worker had; a worker died and the command, asked to end, says that all is well;
# a worker died and the command left by itself with status 0.
TOO_EARLY, DIED_AND_ENDED, DIED_UNNOTICED = 77, 78, 79
_STEP_SECONDS = 0.1
_KILL_SECONDS = 10.0
_WAIT = "WAIT"


def main(words: list[str]) -> int:
    options = _parser().parse_args(words)
    command = options.command[1:] if options.command[:1] == ["--"] else options.command
    if not command:
        sys.stderr.write(f"{_parser().format_usage()}error: empty command is not allowed\n")
        return 1
    with listen(options.address) as listener, contextlib.closing(_Server(listener, options)) as server:
        return server.run(command)


def listen(address: str) -> socket.socket:
    """Listen on a path (it has a slash), host:port, or a port of this host alone."""
    if "/" in address:
        Path(address).unlink(missing_ok=True)
        unix = socket.socket(socket.AF_UNIX)
        unix.bind(address)
        unix.listen()
        return unix
    host, port = host_and_port(address)
    return socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)


def connect(address: str) -> socket.socket:
    if "/" in address:
        unix = socket.socket(socket.AF_UNIX)
        unix.connect(address)
        return unix
    return socket.create_connection(host_and_port(address))


def host_and_port(address: str) -> tuple[str, int]:
    """Split an address; IPv6 is in brackets: [::1]:70."""
    host, _, port = address.rpartition(":")
    return host.strip("[]") or "127.0.0.1", int(port)


def start(command: list[str]) -> "subprocess.Popen[bytes]":
    """Start the command and pass our signals on to it; signals that come while it starts are sent once it runs."""
    child: subprocess.Popen[bytes] | None = None
    early: list[int] = []

    def pass_on(number: int, _: FrameType | None) -> None:
        if child is None:
            early.append(number)
        else:
            child.send_signal(number)

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2, signal.SIGWINCH):
        signal.signal(number, pass_on)
    child = subprocess.Popen(command)
    for received in early:
        child.send_signal(received)
    return child


class _Server:
    def __init__(self, listener: socket.socket, options: argparse.Namespace) -> None:
        self._options = options
        self._selector = selectors.DefaultSelector()
        self._selector.register(listener, selectors.EVENT_READ)
        self._listener = listener
        self._finished = 0
        self._signalled = False
        self._died_at: float | None = None

    def run(self, command: list[str]) -> int:
        child = start(command)
        while child.poll() is None:
            self._step(_STEP_SECONDS)
            self._end_if_needed(child)
        while self._step(_STEP_SECONDS):
            pass  # read the last messages of workers that had connected and ended by then
        return self._status(child.returncode)

    def close(self) -> None:
        for key in list(self._selector.get_map().values()):
            if isinstance(key.fileobj, socket.socket):
                key.fileobj.close()
        self._selector.close()

    def _step(self, seconds: float) -> bool:
        """Wait for messages of workers and return whether there was one."""
        ready = self._selector.select(seconds)
        for key, _ in ready:
            if key.fileobj is self._listener:
                worker, _ = self._listener.accept()
                self._selector.register(worker, selectors.EVENT_READ)
            elif isinstance(key.fileobj, socket.socket):
                self._read(key.fileobj)
        return bool(ready)

    def _read(self, worker: socket.socket) -> None:
        try:
            received = worker.recv(4096)
        except OSError:
            received = b""
        if received and not received.endswith(b"q"):
            return
        self._selector.unregister(worker)
        worker.close()
        if received:
            self._finished += 1
        elif self._died_at is None:
            self._died_at = time.monotonic()

    def _end_if_needed(self, child: "subprocess.Popen[bytes]") -> None:
        if self._died_at is not None:
            self._end(child, self._options.on_fail, self._died_at + self._options.grace_period)
        elif self._finished >= self._options.workers and self._options.on_exit != _WAIT:
            self._end(child, self._options.on_exit, time.monotonic())

    def _end(self, child: "subprocess.Popen[bytes]", name: str | None, since: float) -> None:
        """Signal the command once, when it is time; kill it if it still runs ten seconds later."""
        if name is None or self._signalled or time.monotonic() < since:
            return
        self._signalled = True
        targets = psutil.Process(child.pid).children() if self._options.signal_children else [child]
        for target in targets:
            with contextlib.suppress(psutil.NoSuchProcess, ProcessLookupError):
                target.send_signal(signal.Signals[name])
        try:
            child.wait(_KILL_SECONDS)
        except subprocess.TimeoutExpired:
            child.kill()

    def _status(self, code: int) -> int:
        if code != 0:
            return 128 - code if code < 0 else code
        if self._died_at is not None:
            return DIED_AND_ENDED if self._signalled else DIED_UNNOTICED
        return TOO_EARLY if self._finished < self._options.workers else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="pid_server", description="Run CMD and end it when one of its workers dies.")
    names = [number.name for number in signal.Signals]
    parser.add_argument("-x", "--on-fail", metavar="SIG", choices=names, help="to CMD when a worker died")
    parser.add_argument(
        "-e", "--on-exit", metavar="SIG|WAIT", choices=[*names, _WAIT], default=_WAIT, help="when all workers are done"
    )
    parser.add_argument("--grace-period", type=float, default=3.0, help="seconds before --on-fail")
    parser.add_argument("--signal-children", action="store_true", help="signal the children of CMD instead of CMD")
    parser.add_argument("address", metavar="ADDR", help="a path, host:port or port")
    parser.add_argument("workers", metavar="N", type=int)
    parser.add_argument("command", metavar="CMD", nargs=argparse.REMAINDER)
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
