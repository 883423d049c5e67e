"""core.Context: the parts of Core API under one roof, started and closed in the right order."""

import logging
import sys
from types import TracebackType
from typing import Any

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

_LEVELS = {name: f"LOG_LEVEL_{name.upper()}" for name in ("debug", "info", "error")} | {"warn": "LOG_LEVEL_WARNING"}


class Context:
    """What `core.init` returns; use it in a `with` block.

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
        """Fire the experiment's custom webhooks.

        Raises:
            ValueError: outside of a trial, or a level other than debug, info, warn, error.
        """
        if self.info is None or self._master is None or self.info.task_type != "TRIAL":
            raise ValueError("alert() needs a trial on a cluster; submit this script with det experiment create")
        if level not in _LEVELS:
            raise ValueError(f"level={level!r} is not one of {sorted(_LEVELS)}")
        trial = self.info.trial
        data = {"title": title, "description": description, "level": _LEVELS[level]}
        body: dict[str, Any] = {"experimentId": trial.experiment_id, "trialId": trial.trial_id, "data": data}
        self._master.insist(lambda session: session.post("/api/v1/webhooks/custom", body), "alert")
