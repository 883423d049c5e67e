"""The searches of the suite, every method in every generation, and a driver that lets anything happen to them."""

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from determined.search.method import (
    INVALID_HPARAMS,
    Close,
    Create,
    ExitReason,
    Operation,
    Shutdown,
    Stop,
    ValidateAfter,
)
from determined.search.registry import searchers
from determined.search.rng import Rng
from determined.search.searcher import Searcher
from determined.search.searcher_config import SearcherConfig
from determined.search.simulate import Client, Metric, SimulatedTrial, Simulator

SPACE = {
    "x": {"type": "double", "minval": 0, "maxval": 1, "count": 3},
    "net": {"width": {"type": "int", "minval": 8, "maxval": 64, "count": 2}, "act": "relu"},
    "kind": {"type": "categorical", "vals": ["a", "b"]},
    "lr": {"type": "log", "base": 10, "minval": -4, "maxval": -1, "count": 1},
}
GRID_POINTS = 12


@dataclass(frozen=True, slots=True)
class Case:
    """`trials`: as many as the method promises. `busy`: the most that train at once, where it promises that."""

    config: dict[str, Any]
    trials: int
    classic: bool = True
    busy: int | None = None
    length: int = 16
    replaces_invalid: bool = False
    replaces_quitters: bool = True  # of those that replace at all: also a trial that just ends before its time
    fixed: bool = True  # the number of trials does not fall when some leave

    @property
    def late(self) -> bool:
        return not self.classic

    @property
    def declared(self) -> type[SearcherConfig]:
        return searchers()[self.config["name"]]

    @property
    def compares(self) -> bool:
        """The late methods that compare trials at lengths refuse one that ends without a word."""
        return self.declared.needs_length

    @property
    def custom(self) -> bool:
        return self.declared.driven_by_user

    def searcher(self, seed: int = 0, **changes: Any) -> Searcher:
        return Searcher.create({"metric": "loss", **self.config, **changes}, SPACE, seed=seed, classic=self.classic)

    def simulator(self, metric: Metric, seed: int = 0, **changes: Any) -> Simulator:
        return Simulator(
            self.searcher(seed, **changes),
            metric,
            reports=self.reports(),
            client=tiny_client() if self.custom else None,
        )

    def reports(self) -> list[int] | None:
        """Uneven, so that a report falls short of a rung, hits it, or crosses several."""
        return [1, 3, 4, 9, 16] if self.late else None


def _length(late: bool) -> dict[str, Any]:
    return {"time_metric": "batches", "max_time": 16} if late else {"max_length": {"batches": 16}}


def _asha(trials: int, late: bool = False, busy: int | None = None, promised: int | None = None, **config: Any) -> Case:
    config = {**_length(late), "max_trials": trials, **config}
    return Case(
        config,
        promised or trials,
        classic=not late,
        busy=busy,
        replaces_invalid=True,
        replaces_quitters=not late,
    )


def _basic(late: bool) -> dict[str, Case]:
    end = {} if late else {"max_length": {"batches": 16}}
    few = {"name": "random", "max_trials": 7, "max_concurrent_trials": 3, **end}
    every = {"name": "random", "max_trials": 5, "max_concurrent_trials": 0, **end}
    return {
        "single": Case({"name": "single", **end}, 1, not late, busy=1),
        "random": Case(few, 7, not late, busy=3, replaces_invalid=True),
        "random-all-at-once": Case(every, 5, not late, busy=5, replaces_invalid=True),
        "grid": Case({"name": "grid", "max_concurrent_trials": 4, **end}, GRID_POINTS, not late, busy=4),
    }


def _asynchronous(late: bool) -> dict[str, Case]:
    asha = {"name": "async_halving", "num_rungs": 3, "divisor": 4}
    adaptive = {"name": "adaptive_asha", "divisor": 4, "max_concurrent_trials": 5}
    return {
        "async_halving": _asha(17, late, **asha, max_concurrent_trials=3, busy=3),
        "async_halving-unbounded": _asha(20, late, **asha, max_concurrent_trials=0, busy=16),
        "async_halving-with-equal-rungs": _asha(9, late, **{**asha, "num_rungs": 6, "divisor": 3}, busy=9),
        "adaptive_asha": _asha(16, late, **adaptive, busy=5),
        "adaptive_asha-aggressive": _asha(16, late, **adaptive, mode="aggressive", busy=5),
        "adaptive_asha-conservative": _asha(16, late, **adaptive, mode="conservative", busy=5),
        "adaptive_asha-small": _asha(2, late, **adaptive, bracket_rungs=[1, 2, 3], promised=3),
    }


def _auto(late: bool) -> dict[str, Case]:
    auto = {"name": "auto", **_length(late)}
    common = {"replaces_invalid": True, "classic": not late}
    return {
        "auto": Case({**auto, "max_trials": 17, "max_concurrent_trials": 3}, 17, busy=3, **common),
        "auto-all-at-once": Case({**auto, "max_trials": 5, "max_concurrent_trials": 0}, 5, busy=5, **common),
    }


def _older() -> dict[str, Case]:
    end = {"max_length": {"batches": 16}}
    sync = {"name": "sync_halving", "num_rungs": 3, "divisor": 2, **end}
    pbt = {"name": "pbt", "population_size": 6, "num_rounds": 4, "length_per_round": {"batches": 4}}
    half = {"replace_function": {"truncate_fraction": 0.5}}
    return {
        "sync_halving": Case({**sync, "budget": {"batches": 96}}, 12),
        "sync_halving-with-equal-rungs": Case(
            {**sync, "num_rungs": 5, "budget": {"batches": 20}, "max_length": {"batches": 3}}, 13, length=3
        ),
        "adaptive": Case({"name": "adaptive", "divisor": 2, "max_rungs": 3, "budget": {"batches": 160}, **end}, 16),
        "adaptive_simple": Case({"name": "adaptive_simple", "max_trials": 11, "max_rungs": 3, "divisor": 3, **end}, 11),
        "pbt": Case(pbt, 6 + 3, busy=6, fixed=False),
        "pbt-half": Case({**pbt, **half}, 6 + 3 * 3, busy=6, fixed=False),
        "custom": Case({"name": "custom"}, 3),
    }


def _sampled() -> dict[str, Case]:
    """Few trials: a model takes its time."""
    end = {"max_length": {"batches": 16}}
    optuna = {"name": "optuna", "max_trials": 4, "max_concurrent_trials": 2}
    adaptive = {"name": "adaptive_asha", "divisor": 4, "max_concurrent_trials": 3, "sampler": "tpe"}
    return {
        "optuna-tpe-late": Case({**optuna, "sampler": "tpe"}, 4, classic=False, busy=2, replaces_invalid=True),
        "optuna-random": Case({**optuna, "sampler": "random", **end}, 4, busy=2, replaces_invalid=True),
        "optuna-cmaes": Case({**optuna, "sampler": "cmaes", **end}, 4, busy=2, replaces_invalid=True),
        "adaptive_asha-tpe": _asha(5, **adaptive, busy=3),
        "adaptive_asha-tpe-late": _asha(5, late=True, **adaptive, busy=3),
    }


CASES = {
    **_auto(late=False),
    **{f"{name}-late": case for name, case in _auto(late=True).items()},
    **_basic(late=False),
    **{f"{name}-late": case for name, case in _basic(late=True).items()},
    **_asynchronous(late=False),
    **{f"{name}-late": case for name, case in _asynchronous(late=True).items()},
    "async_halving-stop-once": _asha(
        10, name="async_halving", num_rungs=3, max_concurrent_trials=3, stop_once=True, busy=3
    ),
    "adaptive_asha-stop-once": _asha(16, name="adaptive_asha", max_concurrent_trials=5, stop_once=True, busy=5),
    **_older(),
}
SAMPLED = _sampled()


def tiny_client() -> Client:
    """A custom search of three trials to 5 and then to 9 units, over when all have ended."""
    ids = [f"00000000-0000-4000-8000-00000000000{n}" for n in range(3)]
    open_trials = set(ids)

    def answer(event: dict[str, Any]) -> list[dict[str, Any]]:
        match event:
            case {"initialOperations": _}:
                return [op for one in ids for op in (_create(one), _validate(one, 5))]
            case {"validationCompleted": {"requestId": one, "validateAfterLength": length}}:
                return [_validate(one, 9)] if length == "5" else [{"closeTrial": {"requestId": one}}]
            case {"trialClosed": {"requestId": one}}:
                open_trials.discard(one)
        return [] if open_trials else [{"shutDown": {}}]

    return answer


def _create(one: str) -> dict[str, Any]:
    return {"createTrial": {"requestId": one, "hyperparams": '{"x": 0.5}'}}


def _validate(one: str, length: int) -> dict[str, Any]:
    return {"trialOperation": {"validateAfter": {"requestId": one, "length": str(length)}}}


def _x(hparams: dict[str, Any], length: float) -> float:
    return float(hparams["x"])


METRICS: dict[str, Metric] = {
    "own": _x,
    "all equal": lambda hparams, length: 1.0,
    "better with length": lambda hparams, length: float(hparams["x"]) / length,
    "worse with length": lambda hparams, length: float(hparams["x"]) * length,
    "often nan": lambda hparams, length: math.nan if hparams["x"] < 0.6 else float(hparams["x"]),
    "infinite": lambda hparams, length: math.inf if hparams["x"] < 0.6 else -math.inf,
}
STEPS = (*["step"] * 8, "report again", "quit", *ExitReason)
Move = tuple[str, int]


@dataclass(slots=True)
class Play:
    """Simulate one search: first a list of moves, then everything goes its normal way."""

    case: Case
    simulator: Simulator
    busiest: int = 0
    invalid_while_idle: int = 0
    quitters: int = 0
    _limit: int = field(default=20_000)

    def run(self, moves: Iterable[Move], rng: Rng) -> None:
        self.simulator.start()
        self._count()
        for kind, which in moves:
            if self.simulator.shutdown is not None:
                return
            self._answer_proposals(which)
            self._move(kind, which)
            self._count()
        while self.simulator.shutdown is None:
            assert len(self.simulator.events) < self._limit, "the search does not end"
            self._answer_proposals(0)
            self.simulator.step(self.simulator.pick(rng))
            self._count()

    def _answer_proposals(self, which: int) -> None:
        """Sometimes a sampler is slow and other things happen first; but never so that all stands still."""
        while waiting := self.simulator.search.proposals():
            if which % 2 and self.simulator.runnable():
                return
            self.simulator.propose(waiting[which % len(waiting)])

    def _move(self, kind: str, which: int) -> None:
        simulator = self.simulator
        living = [trial for trial in simulator.trials.values() if not trial.over]
        if kind == "step":
            if runnable := simulator.runnable():
                simulator.step(runnable[which % len(runnable)])
            return
        if not living:
            return
        trial = living[which % len(living)]
        if kind == "quit":
            self._quit(trial)
        elif kind == "report again":
            self._report_again(trial)
        else:
            self._leave(trial, ExitReason(kind))

    def _quit(self, trial: SimulatedTrial) -> None:
        """End without a reason, perhaps before its time."""
        if self.case.late and self.case.compares and not trial.lengths and trial.reason is None:
            return
        self.quitters += trial.reason is None and not trial.told_to_end
        self.simulator.exit(trial)

    def _report_again(self, trial: SimulatedTrial) -> None:
        """Report for a trial that was told to end: another rank's reason; late, another validation."""
        if trial.reason is not None:
            self.simulator.leave(trial, ExitReason.ERRORED)
        elif self.case.late and trial.told_to_end:
            self.simulator.report(trial, trial.reached + 1)

    def _leave(self, trial: SimulatedTrial, reason: ExitReason) -> None:
        if trial.reason is not None:
            return
        self.invalid_while_idle += reason in INVALID_HPARAMS and not self.simulator.trains(trial)
        self.simulator.leave(trial, reason)

    def _count(self) -> None:
        busy = sum(self._busy(trial) for trial in self.simulator.trials.values())
        self.busiest = max(self.busiest, busy + len(self.simulator.search.proposals()))

    def _busy(self, trial: SimulatedTrial) -> bool:
        return not trial.over and self.simulator.trains(trial)


def said_to(operations: Iterable[list[Operation]]) -> dict[str, list[Operation]]:
    """Return what each trial was told, in order."""
    told: dict[str, list[Operation]] = {}
    for batch in operations:
        for operation in batch:
            if not isinstance(operation, Shutdown):
                told.setdefault(operation.request_id, []).append(operation)
    return told


def check_orders(case: Case, told: list[Operation]) -> None:
    """Created once and first; lengths grow up to the longest; told to end once, and nothing after that."""
    first, *rest = told
    assert isinstance(first, Create)
    lengths = [op.length for op in rest if isinstance(op, ValidateAfter)]
    assert lengths == sorted(set(lengths)), f"lengths must grow: {lengths}"
    assert all(1 <= length <= case.length for length in lengths)
    ends = [op for op in rest if isinstance(op, Close | Stop)]
    assert len(ends) <= 1
    assert not ends or rest[-1] == ends[0]
    assert len(lengths) + len(ends) == len(rest)
    assert not (case.late and lengths)
