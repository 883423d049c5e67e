"""PreemptContext: whether the platform wants this script to save and leave. A flag in shared memory; no HTTP."""

import logging

from determined.core._distributed import DistributedContext
from determined.core._modes import PreemptMode
from determined.core._reporter import Reporter
from determined.wire.report import PreemptAck

logger = logging.getLogger("determined.core")


class PreemptContext:
    """Ask once per batch or so; leave with status 0 after a True, and training goes on later from the checkpoint."""

    def __init__(
        self,
        reporter: Reporter | None,
        dist: DistributedContext,
        preempt_mode: PreemptMode = PreemptMode.WorkersAskChief,
    ) -> None:
        self._reporter = reporter
        self._dist = dist
        self._preempt_mode = PreemptMode(preempt_mode)
        self._started = False
        self._acknowledged = False

    def start(self) -> "PreemptContext":
        """Start to watch for preemption. Raises RuntimeError when started twice."""
        if self._started:
            raise RuntimeError("PreemptContext is already started; start it once")
        self._started = True
        if self._reporter is not None:
            self._reporter.control.attached = True
            if self._preempt_mode is PreemptMode.ChiefOnly and self._dist.cross_rank != 0:
                # A node without the chief learns it from the script itself; it does not ignore preemption.
                self._reporter.control.aware = True
        return self

    def close(self) -> None:
        return

    def __enter__(self) -> "PreemptContext":
        return self.start()

    def __exit__(self, *exc: object) -> None:
        self.close()

    def should_preempt(self, auto_ack: bool = True) -> bool:
        """Return whether to save a checkpoint and exit now. True stays True.

        Args:
            auto_ack: acknowledge the first True, so that exiting with status 0 means "restart me later" and not "done".

        Raises:
            RuntimeError: not started, or a worker asks in ChiefOnly mode.
        """
        if not self._started:
            raise RuntimeError("should_preempt needs a started context; use `with core.init() as core_context`")
        is_wanted = self._ask()
        if is_wanted and auto_ack and not self._acknowledged and self._asks_itself():
            self.acknowledge_preemption_signal()
        return is_wanted

    def acknowledge_preemption_signal(self) -> None:
        """Say that this script will exit because it was asked to."""
        self._acknowledged = True
        self._acknowledge()

    def _ask(self) -> bool:
        if self._preempt_mode is PreemptMode.WorkersAskMaster:
            return self._is_flagged()
        is_chief = self._dist.rank == 0
        if self._preempt_mode is PreemptMode.ChiefOnly:
            if not is_chief:
                raise RuntimeError(
                    f"rank {self._dist.rank} called should_preempt in ChiefOnly mode; ask on rank 0 only"
                )
            return self._is_flagged()
        # Workers look too, for nothing but to be known as watching: their node may be another than the chief's.
        return bool(self._dist.broadcast(self._is_flagged()))

    def _asks_itself(self) -> bool:
        return self._dist.rank == 0 or self._preempt_mode is PreemptMode.WorkersAskMaster

    def _is_flagged(self) -> bool:
        if self._reporter is None:
            return False
        self._reporter.control.aware = True
        self._reporter.pulse.beat()
        return self._reporter.control.preempt

    def _acknowledge(self) -> None:
        if self._reporter is not None:
            self._reporter.report(PreemptAck())
