"""ASHA that stops trials: at each rung a trial goes on while it is among the best so far.

The late form watches validation reports; the classic one (`stop_once`) hands out each rung's length as an operation.
"""

from abc import abstractmethod

from determined._json import JsonObject
from determined.errors import FailedPrecondition
from determined.search.asha_base import AshaSearch, Halving
from determined.search.method import (
    INVALID_HPARAMS,
    WORST,
    Close,
    ExitReason,
    Operation,
    SearchContext,
    Stop,
    ValidateAfter,
)


class StoppingAsha(AshaSearch):
    """ASHA that stops trials at rungs.

    A trial is open from its Create until it is told to end or exits; later reports are ignored.
    """

    def __init__(self, plan: Halving) -> None:
        super().__init__(plan)
        self._open_trials: dict[str, bool] = {}  # the value: whether it has reported a validation

    def validation_completed(
        self, ctx: SearchContext, request_id: str, metric: float, length: float
    ) -> list[Operation]:
        """Cross one rung or several; at the first that it does not survive, and at the top, the trial ends."""
        if request_id not in self._open_trials:
            return []
        self._open_trials[request_id] = True
        for number in range(self._trial_rungs[request_id], len(self._rungs)):
            self._trial_rungs[request_id] = number
            if not length >= self._rungs[number].length:  # not `<`: a NaN has reached nothing
                return self._go_on(request_id, number)
            if not self._survives(number, request_id, metric):
                break
        del self._open_trials[request_id]
        return [self._end(request_id), *self._fill(ctx, 1)]

    def exited_early(self, ctx: SearchContext, request_id: str, reason: ExitReason) -> list[Operation]:
        was_open = self._open_trials.pop(request_id, None) is not None
        self._early_exits[request_id] = None
        if reason in INVALID_HPARAMS:
            self._forget_results(request_id)
            return [*([self._end(request_id)] if was_open else []), *self._open(ctx)]
        if not was_open:
            return []  # it was told to end, and its place is taken
        self._rungs[self._trial_rungs[request_id]].insert_ahead(request_id, WORST)
        return self._fill(ctx, 1)

    def snapshot(self) -> JsonObject:
        return {"search_method_type": "asha", **super().snapshot(), "open_trials": dict(self._open_trials)}

    def restore(self, state: JsonObject) -> None:
        super().restore(state)
        self._open_trials = dict(state["open_trials"])

    @abstractmethod
    def _go_on(self, request_id: str, rung: int) -> list[Operation]:
        """Let the trial train up to `rung`."""

    @abstractmethod
    def _end(self, request_id: str) -> Operation: ...

    def _running(self) -> int:
        return len(self._open_trials)

    def _open(self, ctx: SearchContext) -> list[Operation]:
        create = ctx.create()
        self._trial_rungs[create.request_id] = 0
        self._open_trials[create.request_id] = False
        return [create, *self._go_on(create.request_id, 0)]

    def _survives(self, number: int, request_id: str, metric: float) -> bool:
        """Rank the trial on a rung: does it belong to the part that goes on? Nobody goes on from the top."""
        rung = self._rungs[number]
        place = rung.insert_ahead(request_id, metric)
        return number < len(self._rungs) - 1 and place < max(int(len(rung) / self._divisor), 1)


class LateAsha(StoppingAsha):
    """ASHA of the late generation: trials report, and are told to stop. One that finishes unasked is not replaced."""

    def __init__(self, plan: Halving, *, metric: str, time_metric: str) -> None:
        super().__init__(plan)
        self._metric = metric
        self._time_metric = time_metric

    def exited(self, ctx: SearchContext, request_id: str) -> list[Operation]:
        """Fail a search whose trial finished without a usable validation report.

        Raises:
            FailedPrecondition: the trial finished without one usable validation report.
        """
        self._completed += 1
        if self._open_trials.pop(request_id, True):
            return []
        raise FailedPrecondition(
            f"trial {request_id} finished without ever reporting searcher.metric {self._metric!r} together with"
            f" searcher.time_metric {self._time_metric!r}; report both as numbers with every validation, or name the"
            " metrics that it does report"
        )

    def _go_on(self, request_id: str, rung: int) -> list[Operation]:
        return []

    def _end(self, request_id: str) -> Operation:
        return Stop(request_id)


class ClassicStoppingAsha(StoppingAsha):
    """`stop_once`: every completed operation is followed by the next rung's length, or by Close."""

    def validation_completed(
        self, ctx: SearchContext, request_id: str, metric: float, length: float
    ) -> list[Operation]:
        if request_id in self._early_exits:
            return []
        rung = self._rungs[self._trial_rungs[request_id]]
        check_operation(request_id, length, rung.length if request_id in self._open_trials else None)
        return super().validation_completed(ctx, request_id, metric, length)

    def exited(self, ctx: SearchContext, request_id: str) -> list[Operation]:
        self._completed += 1
        if request_id not in self._open_trials:
            return []
        return self.exited_early(ctx, request_id, ExitReason.USER_REQUESTED_STOP)

    def _go_on(self, request_id: str, rung: int) -> list[Operation]:
        return [ValidateAfter(request_id, self._rungs[rung].length)]

    def _end(self, request_id: str) -> Operation:
        return Close(request_id)


def check_operation(request_id: str, length: float, expected: float | None) -> None:
    """Refuse the completion of anything but the trial's current operation; None: it has none.

    Raises:
        FailedPrecondition: the operation was completed before, or never given.
    """
    if length != expected:
        raise FailedPrecondition(
            f"trial {request_id} completed an operation of length {length:g}, but its current operation is"
            f" {expected}; complete each operation once, in the order given"
        )
