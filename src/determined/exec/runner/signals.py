"""Thread that polls the master for preempt, kill and the end of the allocation. One long poll after the other."""

import logging
import threading
import time
from collections.abc import Callable

from determined.errors import DeterminedError, Unavailable
from determined.exec.master_link import STALE, MasterLink
from determined.exec.runner.master_retry import MASTER_AWAY
from determined.rundir.control import Control
from determined.wire.codec import from_json
from determined.wire.report import RunnerSignals

logger = logging.getLogger(__name__)

_POLL_SECONDS = 60
# A master that answers the same at once (shutting down, or older than us) is not asked in a tight loop.
_PAUSE_SECONDS = 0.5


class SignalListener:
    """Listener that calls `on_change` with the master's signals, each time that they have changed."""

    def __init__(self, link: MasterLink, control: Control, on_change: Callable[[RunnerSignals], None]) -> None:
        self._link = link
        self._control = control
        self._on_change = on_change
        self._known = RunnerSignals()

    def start(self, after: float = 0.0) -> None:
        """Begin to listen, after so many seconds."""
        threading.Thread(target=self._run, args=(after,), name="signals", daemon=True).start()

    def _run(self, after: float) -> None:
        time.sleep(after)
        delays = MASTER_AWAY.delays()
        while not self._known.ended:
            try:
                self._poll()
                delays = MASTER_AWAY.delays()
            except STALE as e:
                logger.warning("no signals for a stale runner: %s", e)
                self._update(RunnerSignals(preempt=self._known.preempt, kill=self._known.kill, ended=True))
            except DeterminedError as e:
                logger.warning("signals: %s", e)
                self._control.master_away = isinstance(e, Unavailable)
                time.sleep(next(delays))
            except Exception:
                # An unforeseen fault must not end this thread: the runner could then only be killed by its engine.
                logger.exception("listening failed; trying again")
                time.sleep(MASTER_AWAY.limit)

    def _poll(self) -> None:
        started = time.monotonic()
        raw = self._link.signals(self._known, _POLL_SECONDS)
        answer = from_json(raw, RunnerSignals)
        self._control.master_away = False
        if answer != self._known:
            self._update(answer)
        elif time.monotonic() - started < _PAUSE_SECONDS:
            time.sleep(_PAUSE_SECONDS)

    def _update(self, answer: RunnerSignals) -> None:
        self._known = answer
        self._on_change(answer)
