"""ASHA that promotes: trials wait at their rung without a slot, and the best go on when a place opens.

Classic generation only: a waiting trial is resumed from its checkpoint by the next operation it is given.
"""

from determined._json import JsonObject
from determined.search.asha_base import AshaSearch, Halving
from determined.search.asha_stopping import check_operation
from determined.search.method import (
    INVALID_HPARAMS,
    WORST,
    Close,
    ExitReason,
    Operation,
    SearchContext,
    ValidateAfter,
)


class PromotionAsha(AshaSearch):
    """ASHA by promotion: a completion gives work to one trial at most, so the number that run at once never grows."""

    def __init__(self, plan: Halving) -> None:
        super().__init__(plan)
        self._outstanding = [0] * len(self._rungs)  # operations given and not completed, by rung
        self._waiting: list[dict[str, None]] = [{} for _ in self._rungs]  # trials that may still be promoted
        self._closed: dict[str, None] = {}

    def validation_completed(
        self, ctx: SearchContext, request_id: str, metric: float, length: float
    ) -> list[Operation]:
        if request_id in self._early_exits:
            return []
        check_operation(request_id, length, self._operation(request_id))
        return self._complete(ctx, request_id, metric)

    def exited_early(self, ctx: SearchContext, request_id: str, reason: ExitReason) -> list[Operation]:
        if reason in INVALID_HPARAMS:
            return self._replace(ctx, request_id)
        return self._drop(ctx, request_id)

    def exited(self, ctx: SearchContext, request_id: str) -> list[Operation]:
        self._completed += 1
        return self._drop(ctx, request_id)  # unless closed, it left a search that still counted on it

    def snapshot(self) -> JsonObject:
        return {
            "search_method_type": "asha_promotion",
            **super().snapshot(),
            "outstanding_trials": list(self._outstanding),
            "waiting_trials": [list(waiting) for waiting in self._waiting],
            "closed_trials": list(self._closed),
        }

    def restore(self, state: JsonObject) -> None:
        super().restore(state)
        self._outstanding = list(state["outstanding_trials"])
        self._waiting = [dict.fromkeys(waiting) for waiting in state["waiting_trials"]]
        self._closed = dict.fromkeys(state["closed_trials"])

    def _running(self) -> int:
        return sum(self._outstanding)

    def _open(self, ctx: SearchContext) -> list[Operation]:
        create = ctx.create()
        return [create, self._send(create.request_id, 0)]

    def _send(self, request_id: str, rung: int) -> ValidateAfter:
        self._trial_rungs[request_id] = rung
        self._outstanding[rung] += 1
        return ValidateAfter(request_id, self._rungs[rung].length)

    def _operation(self, request_id: str) -> int | None:
        """Return the length the trial is training to; None while it waits or is over."""
        rung = self._rungs[self._trial_rungs[request_id]]
        return None if request_id in rung or request_id in self._closed else rung.length

    def _complete(self, ctx: SearchContext, request_id: str, metric: float) -> list[Operation]:
        """Record a result at its rung: promote somebody, or open a trial; close what nothing can promote."""
        at_top = self._trial_rungs[request_id] == len(self._rungs) - 1
        closing = self._close(request_id) if at_top else []
        going_on = self._promote(self._record_and_choose(request_id, metric)) or self._fill(ctx, 1)
        return [*closing, *going_on, *self._close_decided()]

    def _promote(self, request_id: str | None) -> list[Operation]:
        """Send a trial to the next rung. One that is gone takes the worst place there, which may promote another."""
        while request_id is not None:
            send = self._send(request_id, self._trial_rungs[request_id] + 1)
            if request_id not in self._early_exits:
                return [send]
            request_id = self._record_and_choose(request_id, WORST)
        return []

    def _record_and_choose(self, request_id: str, metric: float) -> str | None:
        """Enter a result; return the trial that it promotes to the next rung: one among the best 1/divisor, if any."""
        number = self._trial_rungs[request_id]
        rung = self._rungs[number]
        self._outstanding[number] -= 1
        before, after = int(len(rung) / self._divisor), int((len(rung) + 1) / self._divisor)
        place = rung.insert_behind(request_id, metric)
        if number == len(self._rungs) - 1:
            return None
        if place < after:
            return request_id
        if request_id not in self._early_exits:
            self._waiting[number][request_id] = None
        return self._next_best(number, before) if after != before else None

    def _next_best(self, number: int, place: int) -> str | None:
        """Find the trial at the place that has just been opened, unless it was promoted before or is over."""
        candidate = self._rungs[number].trial_at(place)
        if self._trial_rungs[candidate] > number:
            return None
        if candidate in self._early_exits:
            return candidate
        if candidate not in self._waiting[number]:
            return None
        del self._waiting[number][candidate]
        return candidate

    def _close_decided(self) -> list[Operation]:
        """Close, once all trials have been through the first rung, those on rungs that nobody can enter any more."""
        if len(self._rungs[0]) != self._max_trials:
            return []
        operations: list[Operation] = []
        for rung, outstanding, waiting in zip(self._rungs, self._outstanding, self._waiting, strict=True):
            if outstanding:
                break
            if waiting:
                operations += [op for trial in rung.trials() if trial in waiting for op in self._close(trial)]
                waiting.clear()
        return operations

    def _close(self, request_id: str) -> list[Operation]:
        if request_id in self._closed:
            return []
        self._closed[request_id] = None
        return [Close(request_id)]

    def _replace(self, ctx: SearchContext, request_id: str) -> list[Operation]:
        """Invalid hyperparameters: as if the trial had never been, and another in its place."""
        number = self._trial_rungs[request_id]
        if self._operation(request_id) is not None:
            self._outstanding[number] -= 1
        self._waiting[number].pop(request_id, None)
        self._early_exits[request_id] = None
        self._forget_results(request_id)
        return [*self._close(request_id), *self._open(ctx)]

    def _drop(self, ctx: SearchContext, request_id: str) -> list[Operation]:
        """Drop a trial that is gone with the results it has; an operation it had counts as completed with the worst."""
        if request_id in self._closed:
            return []
        unfinished = self._operation(request_id) is not None
        self._waiting[self._trial_rungs[request_id]].pop(request_id, None)
        self._early_exits[request_id] = None
        self._closed[request_id] = None
        return self._complete(ctx, request_id, WORST) if unfinished else []
