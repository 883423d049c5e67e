"""Fork server as its engine sees it (docs/architecture/fork_server.md). Blocking; all methods are thread-safe."""

import logging
import os
import socket
import subprocess
import tempfile
import threading
import time
from pathlib import Path

import msgspec

from determined.engines.host import environment, untrusted
from determined.engines.host.runner_process import ForkedRunner, is_readable
from determined.rundir import fork_protocol as protocol
from determined.rundir.layout import RunDir
from determined.rundir.preload import PreloadList

logger = logging.getLogger(__name__)

# The interpreter must be started as that of a script is, but without a directory of ours on its path.
_PROGRAM = "import sys; del sys.path[0]; from determined.exec.fork_server.server import main; main()"
_ANSWER_SECONDS = 2  # a fork takes milliseconds; a server that is stopped must not hold a launch
_DEATH_REST_SECONDS = 5.0  # after one that died without a word: the next may die as well
_OWN_CODE = str(Path(__file__).resolve().parents[2])


class ForkServer:
    """Server of our own user. It starts at once, and is ready when its imports are done.

    `ended`: why it serves no more, once it does not, and `rest_seconds`: for how long none is to take its place;
    `unsuitable`: what it found in its preload list.
    """

    def __init__(self, python: str, preload: PreloadList | None, log: Path) -> None:
        self.ended: str | None = None
        self.rest_seconds: float = _DEATH_REST_SECONDS
        self.unsuitable: protocol.Unsuitable | None = None
        self._ready = False
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._reaper: threading.Thread | None = None
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            self._process = _start(python, theirs, log)
            # One that ends by itself must not stay a zombie until the next launch asks for it.
            self._reaper = threading.Thread(target=self._process.wait, name="fork-server-reaper", daemon=True)
            self._reaper.start()
            self._set_up(preload)
        except OSError as e:
            self._end(f"it cannot be started: {e}")
        finally:
            theirs.close()

    @property
    def pid(self) -> int:
        return self._process.pid if self._process is not None else 0

    def is_ready(self) -> bool:
        """Check whether it forks now. Its imports are not waited for."""
        with self._lock:
            self._hear(0)
            return self._ready and self.ended is None

    def fork(self, run_dir: RunDir) -> ForkedRunner | None:
        """Fork a runner on a directory; None when the server serves no more.

        A runner that is forked although we have given up waiting does no harm: it finds the lock taken, or the one that
        is started in its place does.
        """
        with self._lock:
            if self.ended is not None:
                return None
            log = untrusted.open_log(run_dir.runner_log, None)
            try:
                socket.send_fds(self._control, [msgspec.json.encode(protocol.ForkRequest(str(run_dir.path)))], [log])
            except OSError:
                self._hear(0)
                self._end("it is gone")
                return None
            finally:
                os.close(log)
            runner = self._hear(_ANSWER_SECONDS)
            if runner is None:
                self._end("it does not answer")
            return runner

    def close(self) -> None:
        """Have it end; runners go on."""
        with self._lock:
            self._end("its engine has ended it")

    def _set_up(self, preload: PreloadList | None) -> None:
        with tempfile.TemporaryFile() as file:
            file.write(b"" if preload is None else msgspec.json.encode(preload))
            file.seek(0)
            socket.send_fds(self._control, [msgspec.json.encode(protocol.Setup())], [file.fileno()])

    def _hear(self, seconds: int) -> ForkedRunner | None:
        """Take what the server says; return the runner that it has forked."""
        deadline = time.monotonic() + seconds  # for all that it says
        while self.ended is None and is_readable(
            self._control.fileno(), max(0, int(1000 * (deadline - time.monotonic())))
        ):
            try:
                message, descriptors, _, _ = socket.recv_fds(self._control, protocol.PACKET_BYTES, 1)
                answer = msgspec.json.decode(message, type=protocol.Answer) if message else None
            except (OSError, msgspec.DecodeError):
                answer, descriptors = None, []
            match answer:
                case protocol.Forked(pid):
                    return ForkedRunner(pid, descriptors[0] if descriptors else None)
                case protocol.Ready(code):
                    self._ready = code == _OWN_CODE
                    if not self._ready:
                        self.rest_seconds = float("inf")
                        self._end(f"its interpreter imports another determined, {code}")
                case protocol.Unsuitable(module, why):
                    self.unsuitable, self.rest_seconds = answer, 0.0
                    self._end(f"{module or 'it'} {why}")
                case protocol.Retired(why, rest_seconds):
                    self.rest_seconds = rest_seconds
                    self._end(why)
                case None:
                    self._end("it is gone")
        return None

    def _end(self, why: str) -> None:
        if self.ended is not None:
            return
        self.ended = why
        logger.info("fork server %s has ended: %s", self.pid, why)
        self._control.close()
        if self._process is None or self._reaper is None:
            return
        self._process.kill()  # it holds nothing that matters, and may be stopped, or in the midst of its imports
        self._reaper.join()


def _start(python: str, control: socket.socket, log: Path) -> "subprocess.Popen[bytes]":
    with log.open("ab") as output:
        return subprocess.Popen(
            [python, "-c", _PROGRAM, protocol.ROOM],
            stdin=control.fileno(),
            stdout=output,
            stderr=output,
            cwd="/",
            start_new_session=True,
            env=environment.of_fork_server(),
        )
