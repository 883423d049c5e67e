"""Signs of life of a run outside of the cluster, and what the master answers to them."""

import logging
import threading

from determined.errors import DeterminedError, Gone
from determined.exec.detached.link import DetachedLink
from determined.rundir.control import Control
from determined.rundir.layout import RunDir
from determined.wire.codec import to_msgpack
from determined.wire.report import ReportBatch

logger = logging.getLogger(__name__)

_PERIOD_SECONDS = 20.0  # the master takes a run for dead after five minutes
_RETRY_SECONDS = 5.0
_NO_RECORDS = to_msgpack(ReportBatch([]))  # asks only whether this run is still the trial's latest
_ENDED_BY_SOMEBODY = ("CANCELED", "STOPPING_CANCELED", "STOPPING_KILLED")


class Heartbeat:
    """Thread that gives them. A run that somebody cancels or kills is told: `should_preempt()` turns true."""

    def __init__(self, link: DetachedLink, run_dir: RunDir, control: Control) -> None:
        self._link = link
        self._run_dir = run_dir
        self._control = control
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="signs of life", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Give no more: a late one would open a trial again that has ended."""
        self._over.set()
        if self._thread.ident is not None:
            self._thread.join()

    def _run(self) -> None:
        pause = _PERIOD_SECONDS
        while not self._over.wait(pause):
            pause = self._give()

    def _give(self) -> float:
        """Give one and return the seconds until the next."""
        try:
            self._link.report(_NO_RECORDS)
            state = self._link.set_state(None)
            if state == "ERROR":  # the master has taken our silence for death
                state = self._link.set_state("RUNNING")
        except Gone as e:
            # Ours would hold up the end of the run that has taken the trial over, or open the trial again after it.
            logger.warning("no more signs of life: %s", e)
            self._over.set()
            return _PERIOD_SECONDS
        except DeterminedError as e:
            logger.warning("no sign of life could be given: %s", e)
            return _RETRY_SECONDS
        except Exception:
            # An unforeseen fault must not end the thread: the master would take the run for dead.
            logger.exception("no sign of life could be given")
            return _RETRY_SECONDS
        if state in _ENDED_BY_SOMEBODY and not self._control.preempt:
            self._control.preempt = True
            self._run_dir.canceled.touch()
        return _PERIOD_SECONDS
