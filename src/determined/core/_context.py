"""core.Context: the parts of Core API under one roof, started and closed in the right order."""

import logging
import sys
from types import TracebackType

from determined._info import ClusterInfo
from determined.core._checkpoint import CheckpointContext
from determined.core._distributed import DistributedContext
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

logger = logging.getLogger("determined.core")

_LEVELS = {"debug": logging.DEBUG, "info": logging.INFO, "warn": logging.WARNING, "error": logging.ERROR}


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
        self._has_warned_of_alerts = False

    def start(self) -> "Context":
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
        """Reports outlive this: the runner ships what is in the journal."""
        self.preempt.close()
        if exc_type is None:
            self.distributed.close()
        else:
            self.distributed.__exit__(exc_type, exc_val, exc_tb)  # its peers are told what went wrong
        self.profiler._close()
        if self._events is not None:
            self._events.close()
        if self._tensorboard is not None:
            self._tensorboard.close()
        if self._reporter is not None:
            self._reporter.close()
        if self._master is not None:
            self._master.close()

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
        """Write an alert to the log. It never ends a training.

        Webhooks are not implemented yet: the first alert adds a warning that nobody else is told.

        Args:
            title: what happened, in a few words.
            description: the details.
            level: debug, info, warn or error; anything else is written as a warning.
        """
        text = ": ".join(str(part) for part in (title, description) if part) or "(no text)"
        logger.log(_LEVELS.get(str(level), logging.WARNING), "alert: %s", text)
        if not self._has_warned_of_alerts:
            self._has_warned_of_alerts = True
            logger.warning("alert() writes to this log only: webhooks are not implemented yet, so nobody else is told")
