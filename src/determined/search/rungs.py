"""Rungs: the lengths at which halving methods compare trials, and the sorted results at each of them."""

from bisect import bisect_left, bisect_right

from determined._json import JsonObject


def rung_lengths(length: int, divisor: float, rungs: int) -> list[int]:
    """Ascending lengths of at most `rungs` rungs, the top one at `length`.

    Each rung is the one above divided by `divisor`, never below 1. Small lengths repeat (length 4, divisor 4, 5 rungs:
    1, 1, 1, 1, 4); equal ones are merged into a single rung, so there may be fewer rungs than asked for (1, 4), trials
    are compared once at each length, and no trial is sent to a length it has already reached.
    """
    lengths = [max(length, 1)]
    for below in range(1, rungs):
        if lengths[-1] == 1:
            break  # all rungs below are 1 as well
        shorter = max(int(length / divisor**below), 1)
        if shorter < lengths[-1]:
            lengths.append(shorter)
    return lengths[::-1]


class Rung:
    """The results at one length, best (lowest) first. Looking one up by trial costs no search of the list."""

    def __init__(self, length: int) -> None:
        self.length = length
        self._metrics: list[float] = []
        self._trials: list[str] = []
        self._metric_of: dict[str, float] = {}

    def __len__(self) -> int:
        return len(self._trials)

    def __contains__(self, request_id: str) -> bool:
        return request_id in self._metric_of

    def trials(self) -> list[str]:
        """Request ids, best first."""
        return list(self._trials)

    def trial_at(self, place: int) -> str:
        return self._trials[place]

    def metric_of(self, request_id: str) -> float:
        return self._metric_of[request_id]

    def best(self) -> float:
        return self._metrics[0]

    def middle_place(self, metric: float) -> float:
        """Return the place of a metric that is among the results; equal ones share the middle of their places."""
        return (bisect_left(self._metrics, metric) + bisect_right(self._metrics, metric) - 1) / 2

    def insert_ahead(self, request_id: str, metric: float) -> int:
        """Rank a trial, before older equals. Returns its place."""
        return self._insert(bisect_left(self._metrics, metric), request_id, metric)

    def insert_behind(self, request_id: str, metric: float) -> int:
        """Rank a trial, behind older equals. Returns its place."""
        return self._insert(bisect_right(self._metrics, metric), request_id, metric)

    def remove(self, request_id: str) -> None:
        """Forget a trial's result, where there is one."""
        metric = self._metric_of.pop(request_id, None)
        if metric is None:
            return
        place = self._trials.index(request_id, bisect_left(self._metrics, metric))
        del self._metrics[place], self._trials[place]

    def snapshot(self) -> JsonObject:
        return {
            "units_needed": self.length,
            "request_ids": list(self._trials),
            "metrics": list(self._metrics),
        }

    @classmethod
    def restore(cls, state: JsonObject) -> "Rung":
        rung = cls(state["units_needed"])
        rung._trials = list(state["request_ids"])
        rung._metrics = list(state["metrics"])
        rung._metric_of = dict(zip(rung._trials, rung._metrics, strict=True))
        return rung

    def _insert(self, place: int, request_id: str, metric: float) -> int:
        self._metrics.insert(place, metric)
        self._trials.insert(place, request_id)
        self._metric_of[request_id] = metric
        return place
