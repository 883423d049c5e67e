"""Preview of a search: how many trials train how long.

Counts that follow from the config are computed; methods that hand out operations by metrics are simulated.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from determined._json import JsonObject
from determined.errors import FailedPrecondition, InvalidArgument
from determined.search.registry import load_searcher
from determined.search.rng import Rng
from determined.search.searcher import Searcher
from determined.search.searcher_config import Lengths, SearcherConfig
from determined.search.simulate import SimulatedTrial, simulate

_SEED = 0
_MAX_EVENTS = 1_000_000  # of a simulation, which takes seconds
_UNKNOWN_END = 1
_EVENTS_PER_TRIAL = 3  # at least: it is created, reports, exits


@dataclass(frozen=True, slots=True)
class TrialGroup:
    """`count` trials that train to each of `lengths` in turn. Empty: to an end that the trial alone knows."""

    count: int
    lengths: tuple[int, ...]

    @property
    def units(self) -> int:
        """Training of all of them together."""
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


def preview(searcher: JsonObject, hyperparameters: JsonObject, *, classic: bool) -> Preview:
    """Return the trials of a search, of which an ASHA's are an estimate: what it cuts depends on metrics.

    Args:
        searcher: the active config's `searcher` section; initial points and a sampler change no count.
        hyperparameters: the active config's `hyperparameters`.
        classic: the generation.

    Raises:
        InvalidConfig: the searcher is unknown or incomplete, or its hyperparameters are unusable.
        InvalidArgument: the searcher is a custom one, or too large to be simulated.
    """
    declared = load_searcher(searcher)
    counts = declared.plan(hyperparameters, classic=classic)
    if counts is None:
        _check_size(declared)
        counts = _simulated(searcher, hyperparameters, _reports(declared, classic=classic))
    groups = tuple(TrialGroup(count, lengths) for lengths, count in sorted(counts.items()))
    return Preview(groups, _unit(declared, classic=classic))


def _reports(searcher: SearcherConfig, *, classic: bool) -> Sequence[int] | None:
    """List where a late trial reports: where trials are compared, and at its end. None: the search gives lengths."""
    if classic:
        return None
    return sorted({length for length in (*searcher.levels(), *searcher.full_length(classic=False)) if length > 0})


def _simulated(searcher: JsonObject, hyperparameters: JsonObject, reports: Sequence[int] | None) -> Counter[Lengths]:
    """Run it with random metrics, trials reporting in random order."""
    undirected = {key: value for key, value in searcher.items() if key not in ("initial_points", "sampler", "metrics")}
    search = Searcher.create(undirected, hyperparameters, seed=_SEED, classic=reports is None)
    rng = Rng(_SEED)
    # A late trial whose end it alone knows reports once: a search without any report would be refused.
    at = reports if reports is None else reports or [_UNKNOWN_END]
    try:
        result = simulate(search, lambda hparams, length: rng.uniform(0, 1), rng, reports=at, max_events=_MAX_EVENTS)
    except FailedPrecondition as e:
        raise _too_large("its trials report too often; lower their number, or that of rungs or rounds") from e
    return Counter(_trained(trial, reports) for trial in result.trials)


def _trained(trial: SimulatedTrial, reports: Sequence[int] | None) -> Lengths:
    """Return the lengths of a classic trial, where a late one ended, or nothing where nobody knows that."""
    lengths = tuple(int(length) for length in trial.lengths)
    if reports is None:
        return lengths
    return lengths[-1:] if reports else ()


def _check_size(searcher: SearcherConfig) -> None:
    """Refuse, before anything is built, what cannot be simulated to its end."""
    most = _MAX_EVENTS // _EVENTS_PER_TRIAL
    parameter, trials = searcher.first_trials()
    if trials > most:
        raise _too_large(f"{parameter} makes {trials} trials, {most} at most can be simulated; lower it")


def _too_large(why: str) -> InvalidArgument:
    return InvalidArgument(f"this search cannot be previewed: {why}")


def _unit(searcher: SearcherConfig, *, classic: bool) -> str | None:
    time_metric: str | None = getattr(searcher, "time_metric", None)
    return time_metric if time_metric is not None and not classic else searcher.length_unit()
