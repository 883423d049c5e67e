"""Starts the ranks of one node, passes their output and our signals on, and ends all when one fails.

The first one that fails is the cause: its status becomes the launcher's, its last lines are shown and kept.
"""

import selectors
import signal
import socket
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import BinaryIO

from determined.constants import PEER_GRACE_SECONDS
from determined.launch._worker import Work, Worker
from determined.rundir.failure import Failure
from determined.rundir.signal_socket import signal_socket

_FORWARDED = frozenset(
    {signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2, signal.SIGWINCH}
)  # fmt: skip
_ENDING = frozenset({signal.SIGINT, signal.SIGTERM, signal.SIGHUP})
# A shell dies of a TERM at once while the program it ran still saves; whoever sent the TERM has a deadline of its own.
_LEAVE_SECONDS = 15.0
_LOOK_SECONDS = 0.05
_MUST_END_SECONDS = 0.2
_LAST_OUTPUT_SECONDS = 1.0
_CAUSE_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Outcome:
    """End of all processes. `failure` is None when every one ended well.

    `was_signalled`: a signal asked for the end; nothing failed by itself.
    """

    failure: Failure | None
    was_signalled: bool
    code: int = 0  # of the failed process: its status, or -n when signal n ended it

    @property
    def status(self) -> int:
        return 0 if self.failure is None else self.failure.status


def supervise(
    work: Sequence[Work],
    *,
    on_failure: Callable[[Failure], None] = lambda _: None,
    outputs: tuple[BinaryIO, BinaryIO] | None = None,
    must_end: Callable[[], bool] | None = None,
    ignores_failure: Callable[[], bool] = lambda: False,
) -> Outcome:
    """Run all until they have ended. Call it in the main thread: it takes over the process's signals.

    Args:
        on_failure: called with the first failure, before the others are ended.
        outputs: where stdout and stderr of the processes go; our own by default.
        must_end: asked again and again; once true, those that do not end by themselves are killed as peers are.
        ignores_failure: asked when one fails; if true, that is no failure, and the others leave at their own pace.
    """
    with signal_socket(*_FORWARDED, signal.SIGCHLD) as signals:
        targets = outputs or (sys.stdout.buffer, sys.stderr.buffer)
        supervisor = _Supervisor(signals, targets, on_failure, must_end, ignores_failure)
        try:
            return supervisor.run(work)
        finally:
            supervisor.close()


class _Supervisor:
    def __init__(
        self,
        signals: socket.socket,
        outputs: tuple[BinaryIO, BinaryIO],
        on_failure: Callable[[Failure], None],
        must_end: Callable[[], bool] | None,
        ignores_failure: Callable[[], bool],
    ) -> None:
        self._signals = signals
        self._outputs = outputs
        self._on_failure = on_failure
        self._must_end = must_end
        self._ignores_failure = ignores_failure
        self._selector = selectors.DefaultSelector()
        self._selector.register(signals, selectors.EVENT_READ)
        self._workers: list[Worker] = []
        self._running: list[Worker] = []
        self._failure: Failure | None = None
        self._code = 0
        self._was_signalled = False
        self._signalled_at = float("inf")
        self._kill_at = float("inf")
        self._failed: list[tuple[Worker, float, float]] = []  # when, and silent since; while the first is not known
        self._judge_at = float("inf")

    def run(self, work: Sequence[Work]) -> Outcome:
        for item in work:
            if not self._start(item):
                break
        while self._running:
            look_at = float("inf") if self._must_end is None else time.monotonic() + _MUST_END_SECONDS
            self._step(min(self._kill_at, self._judge_at, look_at))
            self._reap()
            self._end_if_needed()
            if time.monotonic() >= self._kill_at:
                self._signal_all(signal.SIGKILL)
                self._kill_at = float("inf")
        self._clear_away()
        return Outcome(self._failure, self._was_signalled, self._code)

    def close(self) -> None:
        for worker in self._workers:
            worker.close()
        self._selector.close()

    def _start(self, work: Work) -> bool:
        try:
            worker = Worker(work, self._outputs)
        except OSError as e:
            text = f"cannot start {work.argv[0]!r}: {e.strerror}"
            self._outputs[1].write(f"ERROR: {text}\n".encode())
            self._fail(work.rank, 127 if isinstance(e, FileNotFoundError) else 126, [text])
            return False
        self._workers.append(worker)
        self._running.append(worker)
        for source in worker.sources:
            self._selector.register(source, selectors.EVENT_READ, worker)
        return True

    def _step(self, until: float) -> None:
        """Pass on output and signals, once, waiting for them until then at most."""
        wait = None if until == float("inf") else max(0.0, until - time.monotonic())
        for key, _ in self._selector.select(wait):
            if key.data is None:
                self._forward(self._signals.recv(4096))
            elif key.fd not in key.data.sources or not key.data.take(key.fd):
                self._selector.unregister(key.fd)

    def _forward(self, numbers: bytes) -> None:
        for number in numbers:
            if number in _FORWARDED:
                if number in _ENDING and not self._was_signalled:
                    self._was_signalled, self._signalled_at = True, time.monotonic()
                self._signal_all(number)

    def _signal_all(self, number: int) -> None:
        for worker in self._workers:
            worker.signal(number)

    def _reap(self) -> None:
        gone = [worker for worker in self._running if worker.code is not None]
        if gone:
            self._step(0.0)  # what they said, in that order
        for worker in gone:
            self._running.remove(worker)
            worker.take_all()
        self._failed += [(worker, worker.failed_at, worker.silent_at) for worker in gone if worker.code]
        if not self._failed or self._failure is not None:
            return
        if self._is_cause_leaving() and time.monotonic() < self._judge_at:
            self._judge_at = min(self._judge_at, time.monotonic() + _CAUSE_SECONDS)
            return
        self._judge_at = float("inf")
        if self._ignores_failure():
            self._failed.clear()
            return
        # Of several that are found dead at one look, the one that fell silent first.
        first, at, _ = min(self._failed, key=lambda one: one[2])
        self._fail(first.rank, first.code or 0, list(first.last_lines), at)

    def _is_cause_leaving(self) -> bool:
        """Return whether another raised before, and is still on its way out: that is waited for, a moment.

        Not where one was killed: that is nobody's exception, and a traceback may be of one that was handled.
        """
        if any(worker.code == -signal.SIGKILL for worker, _, _ in self._failed):
            return False
        silent = min(since for _, _, since in self._failed)
        raised = [at for worker in self._running if (at := worker.raised_at) is not None]
        return not self._was_signalled and any(at < silent for at in raised)

    def _end_if_needed(self) -> None:
        if self._must_end is None or self._was_signalled or self._kill_at < float("inf"):
            return
        if self._must_end() or any(worker.alarmed for worker in self._running):
            self._kill_at = time.monotonic() + PEER_GRACE_SECONDS
            for worker in self._running:
                worker.signal_followers(signal.SIGTERM)

    def _fail(self, rank: int | None, code: int, lines: list[str], at: float | None = None) -> None:
        """Record a failure. `at`: when, by the monotonic clock, if that is not now."""
        seconds_ago = 0.0 if at is None else time.monotonic() - at
        self._code = code
        self._failure = Failure(rank, 128 - code if code < 0 else code, time.time() - seconds_ago, lines)
        if self._was_signalled:
            # They leave because they were asked to, each at its own pace; but who had failed before has failed.
            if at is not None and at < self._signalled_at:
                self._on_failure(self._failure)
            return
        self._on_failure(self._failure)
        self._kill_at = time.monotonic() + PEER_GRACE_SECONDS
        self._signal_all(signal.SIGTERM)

    def _clear_away(self) -> None:
        """Kill what the ended processes have started, and pass on its last output."""
        if self._was_signalled:
            deadline = time.monotonic() + _LEAVE_SECONDS
            while time.monotonic() < deadline and any(worker.is_group_alive() for worker in self._workers):
                self._step(time.monotonic() + _LOOK_SECONDS)
        self._signal_all(signal.SIGKILL)
        deadline = time.monotonic() + _LAST_OUTPUT_SECONDS
        while time.monotonic() < deadline and any(worker.sources for worker in self._workers):
            self._step(time.monotonic() + _LOOK_SECONDS)
