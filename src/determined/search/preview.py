"""What a search will cost before it runs: how many trials train how long.

Counts that follow from the config are computed; methods that hand out operations by metrics are simulated.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from determined.errors import FailedPrecondition, InvalidArgument
from determined.search.async_halving import Halving
from determined.search.build import asha_brackets, max_length, required, sync_brackets
from determined.search.grid import Grid
from determined.search.rng import Rng
from determined.search.searcher import Searcher
from determined.search.simulate import simulate

_SEED = 0
_MAX_EVENTS = 1_000_000  # of a simulation, which takes seconds
_EVENTS_PER_TRIAL = 3  # at least: it is created, reports, exits
_SAMPLED = frozenset({"random", "optuna"})
_BUDGETED = frozenset({"sync_halving", "adaptive"})
_ASHA = frozenset({"async_halving", "adaptive_asha"})


@dataclass(frozen=True, slots=True)
class TrialGroup:
    """`count` trials that train to each of `lengths` in turn. Empty: to an end that the trial alone knows."""

    count: int
    lengths: tuple[int, ...]

    @property
    def units(self) -> int:
        """What they train together."""
        return self.count * self.lengths[-1] if self.lengths else 0


@dataclass(frozen=True, slots=True)
class Preview:
    """Groups ordered by their lengths. `unit`: batches, records, epochs, or the time metric; None is not known."""

    groups: tuple[TrialGroup, ...]
    unit: str | None

    @property
    def trials(self) -> int:
        return sum(group.count for group in self.groups)

    @property
    def total_units(self) -> int | None:
        """An estimate of all training; None where trials decide by themselves how long they train."""
        if not all(group.lengths for group in self.groups):
            return None
        return sum(group.units for group in self.groups)


def preview(searcher: dict[str, Any], hyperparameters: dict[str, Any], *, classic: bool) -> Preview:
    """The trials of a search, of which an ASHA's are an estimate: what it cuts depends on metrics.

    Args:
        searcher: the active config's `searcher` section; initial points and a sampler change no count.
        hyperparameters: the active config's `hyperparameters`.
        classic: the generation.

    Raises:
        InvalidConfig: the searcher is unknown or incomplete, or its hyperparameters are unusable.
        InvalidArgument: the searcher is a custom one, or too large to be simulated.
    """
    name = searcher.get("name")
    if name == "custom":
        raise InvalidArgument(
            "searcher 'custom' cannot be previewed: its own program decides on trials as it runs; start it and watch"
        )
    counts: Counter[tuple[int, ...]] = Counter()
    if name in _SAMPLED or name in ("single", "grid"):
        counts[_whole_length(searcher, classic=classic)] = _trials(searcher, hyperparameters)
    elif name in _ASHA and not classic:
        counts = _cut(asha_brackets(searcher, classic=classic))
    else:
        counts = _simulated(searcher, hyperparameters)
    groups = tuple(TrialGroup(count, lengths) for lengths, count in sorted(counts.items()))
    return Preview(groups, _unit(searcher, classic=classic))


def _trials(searcher: dict[str, Any], hyperparameters: dict[str, Any]) -> int:
    match searcher["name"]:
        case "single":
            return 1
        case "grid":
            return len(Grid(hyperparameters))
    return int(required(searcher, "max_trials"))


def _whole_length(searcher: dict[str, Any], *, classic: bool) -> tuple[int, ...]:
    """Of a trial that nothing cuts short."""
    if classic or searcher.get("max_length") is not None:
        return (max_length(searcher),)
    return () if searcher.get("max_time") is None else (int(searcher["max_time"]),)


def _cut(brackets: Sequence[Halving]) -> "Counter[tuple[int, ...]]":
    """Each rung keeps its share of the trials that reach it; the others end there."""
    counts: Counter[tuple[int, ...]] = Counter()
    for bracket in brackets:
        left = bracket.max_trials
        *cuts, top = bracket.lengths()
        for length in cuts:
            kept = max(int(left / bracket.divisor), 1)
            counts[(length,)] += left - kept
            left = kept
        counts[(top,)] += left
    return +counts  # without the rungs at which nobody ends


def _simulated(searcher: dict[str, Any], hyperparameters: dict[str, Any]) -> "Counter[tuple[int, ...]]":
    """As it goes with random metrics, trials reporting in random order."""
    _check_size(searcher)
    undirected = {key: value for key, value in searcher.items() if key not in ("initial_points", "sampler", "metrics")}
    search = Searcher.create(undirected, hyperparameters, seed=_SEED, classic=True)
    rng = Rng(_SEED)
    try:
        result = simulate(search, lambda hparams, length: rng.uniform(0, 1), rng, max_events=_MAX_EVENTS)
    except FailedPrecondition as e:
        raise _too_large("its trials report too often; lower their number, or that of rungs or rounds") from e
    return Counter(tuple(int(length) for length in trial.lengths) for trial in result.trials)


def _check_size(searcher: dict[str, Any]) -> None:
    """Before anything is built: what cannot be simulated to its end is not begun."""
    largest = _MAX_EVENTS // _EVENTS_PER_TRIAL
    if searcher["name"] in _BUDGETED:
        planned = {"budget": sum(stages[0].start for stages in sync_brackets(searcher))}
    else:
        planned = {name: int(searcher[name]) for name in ("max_trials", "population_size") if searcher.get(name)}
    for name, trials in planned.items():
        if trials > largest:
            raise _too_large(f"{name} makes {trials} trials, {largest} at most can be simulated; lower it")


def _too_large(why: str) -> InvalidArgument:
    return InvalidArgument(f"this search cannot be previewed: {why}")


def _unit(searcher: dict[str, Any], *, classic: bool) -> str | None:
    if not classic and searcher.get("time_metric") is not None:
        return str(searcher["time_metric"])
    for name in ("max_length", "length_per_round", "budget"):
        if isinstance(searcher.get(name), dict):
            return next(iter(searcher[name]), None)
    return None
