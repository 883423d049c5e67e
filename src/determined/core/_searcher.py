"""SearcherContext: how long to train, in both generations.

Classic: the master hands out operations one by one and gets a metric for each. Late: training length is the script's
own affair, and `operations()` yields one made-up operation so that older scripts run.
"""

import logging
import warnings
from collections.abc import Callable, Iterator

from determined._json import JsonObject
from determined.core._distributed import DistributedContext
from determined.core._master import Master
from determined.core._modes import SearcherMode, Unit
from determined.core._operation import TrainOperation
from determined.core._reporter import Reporter
from determined.search.generations import generation
from determined.wire.report import PreemptAck, Progress
from determined.wire.userdata import to_plain

logger = logging.getLogger("determined.core")


class SearcherOperation(TrainOperation):
    """Train until `length` in total, then report. Made by `SearcherContext.operations`."""

    def __init__(self, context: "SearcherContext", length: int, is_chief: bool) -> None:
        super().__init__(length, is_chief)
        self._context = context

    def report_progress(self, length: float) -> None:
        """Report how far training has come, in the searcher's units. Chief only."""
        self._only_chief("report_progress")
        if self._completed and length != self._length:
            raise RuntimeError(f"report_progress({length}) after the operation of length {self._length} was completed")
        self._context._progress(length, self._length)

    def report_completed(self, searcher_metric: object) -> None:
        """The searcher metric after training for `length`. Chief only, once.

        Args:
            searcher_metric: a number; with several metrics in the config a map of their names; for a custom search
                anything JSON can carry.
        """
        self._complete()
        self._context._complete(self._length, to_plain(searcher_metric))


class SearcherContext:
    """Operations of one trial. `is_driven`: the master hands them out.

    `before_end`: called before an operation is over, by whose end the trial may be over as well.
    """

    def __init__(
        self,
        *,
        reporter: Reporter,
        master: Master,
        dist: DistributedContext,
        trial_id: int,
        searcher: JsonObject,
        is_driven: bool,
        before_end: Callable[[], None] = lambda: None,
    ) -> None:
        self._reporter = reporter
        self._master = master
        self._dist = dist
        self._trial_id = trial_id
        self._made_up_length = parse_max_length(searcher)
        self._units = parse_units(searcher)
        self._classic = is_driven
        self._before_end = before_end
        self._trained_length = 0
        self._was_aware: bool | None = None  # of preemption, before the operation was completed

    def operations(
        self, searcher_mode: SearcherMode = SearcherMode.WorkersAskChief, auto_ack: bool = True
    ) -> Iterator[SearcherOperation]:
        """Yield what to train, until the searcher has nothing more for this trial.

        Args:
            searcher_mode: whether every rank iterates or the chief alone.
            auto_ack: at the end, tell the master that the script exits for want of operations and may be restarted.

        Raises:
            RuntimeError: a worker iterates in ChiefOnly mode, or the body went on without completing its operation.
        """
        mode = SearcherMode(searcher_mode)
        if mode is SearcherMode.ChiefOnly and self._dist.rank != 0:
            raise RuntimeError(f"rank {self._dist.rank} iterates over operations in ChiefOnly mode; do so on rank 0")
        return self._operations(mode is SearcherMode.WorkersAskChief, auto_ack)

    def acknowledge_out_of_ops(self) -> None:
        """Say that the script will exit because there is nothing more to train, and may be restarted for more.

        In the late generation there never is more: a trial that said so would be restarted without end.
        """
        if self._classic:
            self._reporter.report(PreemptAck())

    def get_configured_units(self) -> Unit | None:
        """Return what lengths count; None when the config gives a bare number."""
        return self._units

    def get_trained_length(self) -> int:
        """The length of the last operation that `operations()` found completed on the chief; 0 before that."""
        return self._trained_length

    def _operations(self, shared: bool, auto_ack: bool) -> Iterator[SearcherOperation]:
        if not self._classic:
            yield self._made_up()
            return
        is_chief = self._dist.rank == 0
        while True:
            length = self._next_length() if is_chief else None
            length = self._shared(length) if shared else length
            if length is None:
                break
            operation = SearcherOperation(self, length, is_chief)
            yield operation
            if is_chief and not operation._completed:
                raise RuntimeError("call op.report_completed() before going on to the next operation")
        if is_chief and auto_ack:
            self.acknowledge_out_of_ops()

    def _shared(self, length: int | None) -> int | None:
        """The chief's answer. A worker that waits for it is leaving, if it is None: it does not ignore the signal."""
        control = self._reporter.control
        was_aware = control.aware
        control.aware = True
        answer: int | None = self._dist.broadcast(length)
        if answer is not None:
            control.aware = was_aware
        return answer

    def _made_up(self) -> SearcherOperation:
        warnings.warn(
            "searcher.operations() is a thing of the past: training length belongs in the script", FutureWarning, 3
        )
        return SearcherOperation(self, self._made_up_length, self._dist.rank == 0)

    def _next_length(self) -> int | None:
        from determined.wire.trial import GET_SEARCHER_OPERATION

        self._before_end()
        own, settled = self._trial_id, self._reporter.settle
        answer = self._master.insist(
            lambda s: s.call(GET_SEARCHER_OPERATION, trial_id=own), "searcher.operations", after=settled
        )
        operation = answer.op.validate_after if answer.op else None
        length = int(operation.length or 0) if operation else 0
        if answer.completed:
            self._trained_length = length
            return None
        if self._was_aware is not None:
            self._reporter.control.aware, self._was_aware = self._was_aware, None
        return length

    def _progress(self, length: float, total: int) -> None:
        if self._classic:
            self._reporter.report(Progress(float(length), raw=False))
            return
        self._reporter.report(Progress(min(max(float(length) / total, 0.0), 1.0)))

    def _complete(self, length: int, metric: object) -> None:
        self._before_end()
        if not self._classic:
            return
        # The answer may end the trial: a script that then saves its last state does not ignore the signal.
        control = self._reporter.control
        self._was_aware, control.aware = control.aware, True
        from determined.wire import trial as wire

        operation, own = wire.ValidateAfterOperation(length=length), self._trial_id
        request = wire.CompleteTrialSearcherOperationRequest(op=operation, searcher_metric=metric)
        self._master.insist(
            lambda s: s.call(wire.COMPLETE_SEARCHER_OPERATION, request, trial_id=own),
            "op.report_completed",
            after=self._reporter.settle,
        )


class SearcherContextMissing:
    """Searcher of an experiment without `searcher.max_length`: there is no operation to ask for."""

    def operations(self, *_args: object, **_how: object) -> Iterator[SearcherOperation]:
        raise self._missing("operations")

    def acknowledge_out_of_ops(self) -> None:
        raise self._missing("acknowledge_out_of_ops")

    def get_configured_units(self) -> Unit | None:
        raise self._missing("get_configured_units")

    def _missing(self, call: str) -> ValueError:
        return ValueError(
            f"searcher.{call}() needs searcher.max_length in the experiment config; "
            "add it, or keep the training length in the script"
        )


def is_classic(searcher: JsonObject) -> bool:
    """Return whether the master drives operations."""
    return generation({"searcher": searcher}) == "classic"


def parse_max_length(searcher: JsonObject) -> int:
    """`100` or `{"batches": 100}`; 0 for the classic methods that have lengths of their own."""
    length = searcher.get("max_length") or 0
    if isinstance(length, dict):
        (length,) = length.values()
    return int(length)


def parse_units(searcher: JsonObject) -> Unit | None:
    """Read the unit of whichever length the method has, or the unit a custom search names."""
    lengths = (searcher.get(key) for key in ("max_length", "length_per_round"))
    named = next((next(iter(length)) for length in lengths if isinstance(length, dict) and length), None)
    named = named or searcher.get("unit")
    return Unit[str(named).upper()] if named else None
