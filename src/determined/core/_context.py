"""core.Context: the parts of Core API under one roof, started and closed in the right order."""

import contextlib
import logging
import sys
from types import TracebackType
from typing import Protocol

from determined._info import ClusterInfo
from determined.core._checkpoint import CheckpointContext
from determined.core._distributed import DistributedContext, is_failure
from determined.core._experimental import ExperimentalCoreContext
from determined.core._master import Master
from determined.core._modes import EarlyExitReason
from determined.core._offcluster import (
    DummyDistributedContext,
    DummyExperimentalCoreContext,
    DummyPreemptContext,
    DummyProfilerContext,
    DummySearcherContext,
    DummyTrainContext,
)
from determined.core._preempt import PreemptContext
from determined.core._profiler import ProfilerContext
from determined.core._reporter import Reporter
from determined.core._searcher import SearcherContext, SearcherContextMissing
from determined.core._train import TrainContext
from determined.errors import InvalidHP
from determined.tensorboard import MetricEvents, TensorboardManager
from determined.wire.report import Alert

logger = logging.getLogger("determined.core")

_LEVELS = {
    "debug": logging.DEBUG,
    "info": logging.INFO,
    "warn": logging.WARNING,
    "warning": logging.WARNING,
    "error": logging.ERROR,
}


class Delivery(Protocol):
    """Delivery of what a process reports, where no runner does it (detached mode)."""

    def start(self) -> None: ...

    def close(self, error: BaseException | None) -> None: ...


class Context:
    """Core API of this process, made by `core.init`; use it in a `with` block.

    Attributes:
        checkpoint, distributed, preempt, train, searcher, profiler, experimental: the parts.
        info: the task this process runs in, None off cluster.
    """

    def __init__(
        self,
        checkpoint: CheckpointContext,
        *,
        distributed: DistributedContext | None = None,
        preempt: PreemptContext | None = None,
        train: TrainContext | DummyTrainContext | None = None,
        searcher: SearcherContext | SearcherContextMissing | DummySearcherContext | None = None,
        info: ClusterInfo | None = None,
        experimental: ExperimentalCoreContext | DummyExperimentalCoreContext | None = None,
        profiler: ProfilerContext | DummyProfilerContext | None = None,
        _reporter: Reporter | None = None,
        _master: Master | None = None,
        _events: MetricEvents | None = None,
        _tensorboard: TensorboardManager | None = None,
        _delivery: "Delivery | None" = None,
    ) -> None:
        self.checkpoint = checkpoint
        self.distributed = distributed or DummyDistributedContext()
        self.preempt = preempt or DummyPreemptContext(self.distributed)
        self.train = train or DummyTrainContext()
        self.searcher = searcher or DummySearcherContext(self.distributed)
        self.info = info
        self.experimental = experimental or DummyExperimentalCoreContext()
        self.profiler = profiler or DummyProfilerContext()
        self._reporter = _reporter
        self._master = _master
        self._events = _events
        self._tensorboard = _tensorboard
        self._delivery = _delivery

    def start(self) -> "Context":
        if self._delivery is not None:
            self._delivery.start()
        self.preempt.start()
        if self._events is not None:
            self._events.start()
        if self._tensorboard is not None:
            self._tensorboard.start()
        return self

    def close(
        self,
        exc_type: type[BaseException] | None = None,
        exc_val: BaseException | None = None,
        exc_tb: TracebackType | None = None,
    ) -> None:
        """Close every part, also after one that fails.

        Reports outlive this: the runner ships what is in the journal.
        """
        error = exc_val
        try:
            self._close_checkpoint(exc_type, exc_val, exc_tb)
        except BaseException as e:
            error = error or e
            raise
        finally:
            if self._delivery is not None:
                self._delivery.close(error)

    def _close_checkpoint(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: TracebackType | None,
    ) -> None:
        """Wait for a save in the background before anything is closed that it needs. Its failure is one of the script,
        unless that has failed by itself."""
        if exc_val is None or not is_failure(exc_val):
            try:
                self.checkpoint._wait()
            except BaseException as err:
                self._close_parts(type(err), err, err.__traceback__)
                raise
        self._close_parts(exc_type, exc_val, exc_tb)

    def _close_parts(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: TracebackType | None,
    ) -> None:
        with contextlib.ExitStack() as parts:  # closes them from the last to the first
            for part in (self._master, self._reporter, self._tensorboard, self._events):
                if part is not None:
                    parts.callback(part.close)
            parts.callback(self.profiler._close)
            parts.callback(self.checkpoint._close)  # after the peers were told, who may save with it
            if exc_type is None:
                parts.callback(self.distributed.close)
            else:  # its peers are told what went wrong
                parts.callback(self.distributed.__exit__, exc_type, exc_val, exc_tb)
            parts.callback(self.preempt.close)

    def __enter__(self) -> "Context":
        return self.start()

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: TracebackType | None,
    ) -> None:
        is_invalid = isinstance(exc_val, InvalidHP)
        if is_invalid:
            self.train.report_early_exit(EarlyExitReason.INVALID_HP)
            if self._reporter is not None:
                self._reporter.control.invalid_hp = True  # before our peers miss us, and fail of it
        self.close(exc_type, exc_val, exc_tb)
        if is_invalid:
            logger.info("Invalid hyperparameter exception raised: %s; exiting", exc_val)
            sys.exit(0)

    def alert(self, title: str | None = None, description: str | None = None, level: str | None = "info") -> None:
        """Send an alert to the webhooks that the experiment's config names, and write it to the log.

        It returns at once: the alert travels with the other reports of the trial. It never ends a training.

        Args:
            title: what happened, in a few words.
            description: the details.
            level: debug, info, warn or error; anything else is sent as a warning.

        Raises:
            ValueError: this process is not part of a trial.
        """
        if self._reporter is None:
            raise ValueError("alert() needs a trial: webhooks are chosen by the experiment's config")
        text = ": ".join(str(part) for part in (title, description) if part) or "(no text)"
        number = _LEVELS.get(str(level).lower(), logging.WARNING)
        logger.log(number, "alert: %s", text)
        try:
            self._reporter.report(Alert(str(title or ""), str(description or ""), logging.getLevelName(number)))
        except OSError as e:
            logger.warning("the alert is in this log only: %s", e)
