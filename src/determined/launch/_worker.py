"""Process that a launcher starts: in a group of its own, its output read and marked, its last lines kept."""

import contextlib
import ctypes
import os
import re
import select
import signal
import subprocess
import sys
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from determined.rundir.failure import LAST_LINES
from determined.rundir.line_splitter import LineSplitter, Piece

_CHUNK_BYTES = 64 * 1024
_FOR_USER_CODE = (signal.SIGUSR1, signal.SIGUSR2, signal.SIGWINCH)
_TRACEBACK = "Traceback (most recent call last)"
_TRACEBACK_SECONDS = 1.0
_LEAVING_SECONDS = 15.0
_PR_SET_PDEATHSIG = 1
# Loaded before any fork: a child between fork and exec must not open libraries.
_libc = ctypes.CDLL(None)


@dataclass(frozen=True, slots=True)
class Work:
    """Process to start. Lines of a `rank` of None are passed on as they are.

    `ignores_user_signals`: a program that would die of the signals which only user code can know does not get them.
    `noise`: what is taken away where a line begins with it. `alarm`: a line by which it tells that a rank failed.
    `followers`: a directory named after each process that came by another way than ours and gets our signals too.
    """

    argv: Sequence[str]
    environment: dict[str, str]
    rank: int | None
    ignores_user_signals: bool = False
    noise: re.Pattern[str] | None = None
    alarm: re.Pattern[str] | None = None
    followers: Path | None = None


@dataclass(slots=True)
class _Stream:
    source: int
    target: BinaryIO
    lines: LineSplitter


class Worker:
    """Started on creation; raises OSError when there is no such program."""

    def __init__(self, work: Work, outputs: tuple[BinaryIO, BinaryIO]) -> None:
        self.rank = work.rank
        self.last_output_at = time.monotonic()
        self.alarmed = False
        self._raised_at = float("-inf")
        self.last_lines: deque[str] = deque(maxlen=LAST_LINES)
        self._mark = b"" if work.rank is None else f"[rank={work.rank}] ".encode()
        self._ignores_user_signals = work.ignores_user_signals
        self._noise = work.noise
        self._alarm = work.alarm
        self._followers = work.followers
        self._process = subprocess.Popen(
            work.argv,
            env=work.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            process_group=0,
            preexec_fn=_ignore_user_signals if work.ignores_user_signals else _die_with_launcher,  # noqa: PLW1509 (nothing but system calls)
        )
        assert self._process.stdout is not None and self._process.stderr is not None
        self._streams: dict[int, _Stream] = {}
        for pipe, target in zip((self._process.stdout, self._process.stderr), outputs, strict=True):
            os.set_blocking(pipe.fileno(), False)
            self._streams[pipe.fileno()] = _Stream(pipe.fileno(), target, LineSplitter())

    @property
    def sources(self) -> list[int]:
        """Descriptors that may have output."""
        return list(self._streams)

    @property
    def code(self) -> int | None:
        """Return its exit status, -n when signal n ended it; None while it runs."""
        return self._process.poll()

    @property
    def failed_at(self) -> float:
        """Return when a process that has just exited failed: the time of its last lines, if they are a traceback.

        Frameworks take seconds to leave, and tell their peers first: those are gone before the one that raised.
        """
        raised = self.raised_at
        return time.monotonic() if raised is None else raised

    @property
    def silent_at(self) -> float:
        """Return since when there is no new output: of its traceback, or of its last lines."""
        raised = self.raised_at
        return self.last_output_at if raised is None else raised

    @property
    def raised_at(self) -> float | None:
        """Return when it raised, if its last lines are a recent traceback: it has ended, or is about to."""
        is_last = self.last_output_at - self._raised_at < _TRACEBACK_SECONDS
        return self._raised_at if is_last and time.monotonic() - self.last_output_at < _LEAVING_SECONDS else None

    def take(self, source: int) -> bool:
        """Pass on what can be read now; False once the stream has ended."""
        stream = self._streams[source]
        try:
            while chunk := os.read(source, _CHUNK_BYTES):
                self._say(stream.lines.feed(chunk), stream.target)
                if len(chunk) < _CHUNK_BYTES:
                    return True
        except BlockingIOError:
            return True
        self._say(stream.lines.end(), stream.target)
        del self._streams[source]
        return False

    def take_all(self) -> None:
        """Take its output until now: asked when it has exited, before its last lines are read."""
        for source in self.sources:
            self.take(source)

    def signal(self, number: int) -> None:
        """Send a signal to everything it started; one that only user code can know goes to the program alone."""
        self.signal_followers(number)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if number not in _FOR_USER_CODE:
                os.killpg(self._process.pid, number)
            elif not self._ignores_user_signals:
                self._process.send_signal(number)

    def signal_followers(self, number: int) -> None:
        for pid in self._following():
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, number)

    def is_group_alive(self) -> bool:
        try:
            os.killpg(self._process.pid, 0)
        except OSError:
            return bool(self._following())
        return True

    def close(self) -> None:
        """Pass on an unfinished last line and close the pipes, after its exit."""
        for stream in list(self._streams.values()):
            self._say(stream.lines.end(), stream.target)
        self._streams.clear()
        for pipe in (self._process.stdout, self._process.stderr):
            assert pipe is not None
            pipe.close()

    def _following(self) -> list[int]:
        return [int(path.name) for path in self._followers.iterdir()] if self._followers is not None else []

    def _say(self, pieces: list[Piece], target: BinaryIO) -> None:
        if not pieces:
            return
        lines = [piece.decode("utf-8", "replace") for piece, _ in pieces]
        if self._noise is not None:
            lines = [line[match.end() :] if (match := self._noise.match(line)) else line for line in lines]
        self.last_output_at = time.monotonic()
        if any(line.startswith(_TRACEBACK) for line in lines):
            self._raised_at = self.last_output_at
        if self._alarm is not None:
            self.alarmed = self.alarmed or any(self._alarm.match(line) for line in lines)
        self.last_lines.extend(line for line in lines if line.strip())
        with contextlib.suppress(BrokenPipeError):  # nobody reads any more; the ranks need not end for that
            _write(target, b"".join(self._mark + line.encode() + b"\n" for line in lines))
            target.flush()


def _write(target: BinaryIO, text: bytes) -> None:
    """Write all of it: our streams have no buffer under PYTHONUNBUFFERED, and then a signal cuts a write short."""
    rest = memoryview(text)
    while rest:
        written: int | None = target.write(rest)
        if written is None:  # it does not block, and is full
            room = select.poll()
            room.register(target, select.POLLOUT)
            room.poll()
        rest = rest[written or 0 :]


def _die_with_launcher() -> None:
    """End with the launcher: nobody else would end the ranks of one that is killed, and torchrun restarts it beside
    them."""
    if sys.platform == "linux":
        _libc.prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)


def _ignore_user_signals() -> None:
    _die_with_launcher()
    for number in _FOR_USER_CODE:
        signal.signal(number, signal.SIG_IGN)
