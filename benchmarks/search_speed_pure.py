"""Cost of one event for our searchers once they know 100,000 trials: as the master calls them, without its database."""

import time
from dataclasses import dataclass
from typing import Any

import machine
from determined.search.method import Operation
from determined.search.rng import Rng
from determined.search.searcher import Searcher
from determined.search.simulate import simulate

KNOWN = 100_000
CONCURRENT = 64
RUNGS = [1, 4, 16, 64, 256]  # divisor 4; peers have the same
SPACE: dict[str, Any] = {
    "rate": {"type": "log", "base": 10, "minval": -5, "maxval": 0},
    "width": {"type": "int", "minval": 8, "maxval": 512},
    "dropout": {"type": "double", "minval": 0, "maxval": 0.9},
    "act": {"type": "categorical", "vals": ["relu", "tanh", "gelu"]},
}
_MORE = 1_000  # trials during which it is measured
_METHODS = ("random", "grid", "async_halving", "adaptive_asha")


@dataclass(frozen=True, slots=True)
class Cost:
    """Seconds an event, of `events` that were measured when `trials` were known."""

    what: str
    median: float
    p99: float
    mean: float
    events: int
    trials: int
    snapshot: float | None = None  # seconds for a whole one; the master takes them so seldom that it hardly counts


def ours(known: int = KNOWN) -> list[Cost]:
    return [measure(name, known, classic=classic) for name in _METHODS for classic in (False, True)]


def measure(name: str, known: int, *, classic: bool) -> Cost:
    searcher = Searcher.create(_config(name, known, classic=classic), _space(name, known), seed=1, classic=classic)
    timed = TimedSearcher(searcher, known)
    reports = None if classic else RUNGS if name in ("async_halving", "adaptive_asha") else [RUNGS[-1]]
    chance = Rng(2)
    simulate(
        timed,  # type: ignore[arg-type]  # the methods of a Searcher that a simulation calls
        lambda hparams, length: chance.uniform(0, 1),
        Rng(3),
        reports=reports,
        max_events=100 * known,
    )
    begin = time.perf_counter()
    searcher.snapshot()
    snapshot = time.perf_counter() - begin
    generation = "classic" if classic else "late"
    took = timed.took
    p99 = machine.quantile(took, 0.99)
    return Cost(f"{name}, {generation}", machine.median(took), p99, sum(took) / len(took), len(took), known, snapshot)


class TimedSearcher:
    """Searcher that handles events as the master does: the method, then the progress and who waits for a point."""

    def __init__(self, searcher: Searcher, known: int) -> None:
        self._searcher, self._known = searcher, known
        self.took: list[float] = []

    def start(self) -> list[Operation]:
        return self._searcher.start()

    def trial_created(self, request_id: str) -> list[Operation]:
        return self._timed(self._searcher.trial_created, request_id)

    def validation(self, request_id: str, metric: Any, length: float) -> list[Operation]:
        return self._timed(self._searcher.validation, request_id, metric, length)

    def exited(self, request_id: str) -> list[Operation]:
        return self._timed(self._searcher.exited, request_id)

    def proposals(self) -> list[str]:
        return self._searcher.proposals()

    def _timed(self, handle: Any, *event: Any) -> list[Operation]:
        begin = time.perf_counter()
        operations: list[Operation] = handle(*event)
        self._searcher.progress()
        self._searcher.proposals()
        took = time.perf_counter() - begin
        if self._searcher.trials_requested >= self._known:
            self.took.append(took)
        return operations


def _config(name: str, known: int, *, classic: bool) -> dict[str, Any]:
    searcher: dict[str, Any] = {"name": name, "metric": "loss", "max_concurrent_trials": CONCURRENT}
    searcher |= {"max_length": RUNGS[-1]} if classic else {"time_metric": "epoch", "max_time": RUNGS[-1]}
    if name != "grid":
        searcher["max_trials"] = known + _MORE
    if name == "async_halving":
        searcher["num_rungs"] = len(RUNGS)
    return searcher | ({"divisor": 4} if name in ("async_halving", "adaptive_asha") else {})


def _space(name: str, known: int) -> dict[str, Any]:
    if name != "grid":
        return SPACE
    side = int((known + _MORE) ** 0.5) + 1
    axis = {"type": "double", "minval": 0, "maxval": 1, "count": side}
    return {"x": axis, "y": axis}
