"""The model-based samplers: remember what each trial was and how it did, and ask a model for the next point.

Their whole state is a snapshot of our own; the model is built anew for every question.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from determined._json import JsonObject
from determined.search.axes import Axes
from determined.search.evidence import Evidence, Numbers
from determined.search.fidelity import level_at, ordered
from determined.search.method import INVALID_HPARAMS, WORST, ExitReason
from determined.search.rng import Rng
from determined.search.sampler import Sampler
from determined.search.sampler_config import SamplerConfig
from determined.search.sampling import sample

# Behind early stopping a model mostly sees the beginnings of trials, and would settle on what begins well.
_BLIND = 0.25  # of the points are drawn without it
_REDRAWS = 20  # for a point that no trial has had; a small space may have none left
_NO_GOOD = INVALID_HPARAMS | {ExitReason.ERRORED}


@dataclass(slots=True)
class _Trial:
    numbers: Numbers
    generation: int
    running: bool = True
    results: dict[int, list[float]] = field(default_factory=dict)  # by level: the objectives there


class ModelSampler(Sampler):
    """The memory of a model, whichever it is."""

    def __init__(self, model: SamplerConfig, space: JsonObject, *, objectives: int, levels: Sequence[int]) -> None:
        """Begin with nothing known.

        Args:
            model: The sampler with its options.
            space: The config's `hyperparameters`.
            objectives: The number of metrics.
            levels: The lengths at which the searcher compares trials.
        """
        self._model = model
        self._objectives = objectives
        self._space = space
        self._axes = Axes(space)
        self._levels = levels
        self._trials: dict[str, _Trial] = {}
        self._generation = 0
        self._in_generation = 0

    def propose(self, seed: int) -> JsonObject:
        rng = Rng(seed)
        tried = {_key(trial.numbers) for trial in self._trials.values()}
        blind = not self._axes.each or (len(self._levels) > 1 and rng.uniform(0, 1) < _BLIND)
        if not blind:
            numbers = self._model.suggest(self._axes.each, self._evidence(), objectives=self._objectives, seed=seed)
            if _key(numbers) not in tried:
                return self._axes.point(numbers)
        # The model would like to see a point again that it knows. Whole numbers and categories make that common.
        for _ in range(_REDRAWS):
            point = sample(self._space, rng)
            if _key(self._axes.numbers(point) or {}) not in tried:
                return point
        return point

    def created(self, request_id: str, hparams: JsonObject) -> None:
        numbers = self._axes.numbers(hparams)
        if numbers is not None:  # a point of another space teaches nothing about this one
            self._trials[request_id] = _Trial(numbers, self._generation)

    def observed(self, request_id: str, values: Sequence[float], length: float) -> None:
        trial = self._trials.get(request_id)
        level = level_at(self._levels, length)
        if trial is None or level is None:
            return
        if len(self._levels) > 1:
            # The first result at a level is the one that compares with others' at that level.
            trial.results.setdefault(level, list(values))
        elif self._objectives > 1 or not trial.results:
            trial.results[level] = list(values)  # of several objectives the last, which one checkpoint has
        else:
            trial.results[level] = [min(trial.results[level][0], values[0])]

    def ended(self, request_id: str, reason: ExitReason | None) -> None:
        trial = self._trials.get(request_id)
        if trial is None or not trial.running:
            return
        if not trial.results and reason in _NO_GOOD:
            trial.results[0] = [WORST] * self._objectives
        if not trial.results:
            del self._trials[request_id]  # canceled, or it never reported: nothing is known of this point
            return
        trial.running = False
        self._count(trial)

    def snapshot(self) -> JsonObject:
        return {
            "trials": {
                request_id: {
                    "numbers": trial.numbers,
                    "generation": trial.generation,
                    "running": trial.running,
                    "results": {str(level): values for level, values in trial.results.items()},
                }
                for request_id, trial in self._trials.items()
            },
            "generation": self._generation,
            "in_generation": self._in_generation,
        }

    def restore(self, state: JsonObject) -> None:
        self._trials = {
            request_id: _Trial(
                dict(trial["numbers"]),
                trial["generation"],
                trial["running"],
                {int(level): list(values) for level, values in trial["results"].items()},
            )
            for request_id, trial in state["trials"].items()
        }
        self._generation = state["generation"]
        self._in_generation = state["in_generation"]

    def _count(self, trial: _Trial) -> None:
        """Generations, for the samplers that evolve: enough trials of this one have ended, so the next begins."""
        if trial.generation != self._generation:
            return
        self._in_generation += 1
        if self._in_generation >= self._model.population(self._axes.each):
            self._generation += 1
            self._in_generation = 0

    def _evidence(self) -> list[Evidence]:
        """Return trials in the order of creation; behind early stopping a running trial's results count already."""
        trials = list(self._trials.values())
        if len(self._levels) > 1:
            evidence = _by_order(trials)
        else:
            evidence = _finite([Evidence(t.numbers, None if t.running else t.results[0], t.generation) for t in trials])
        most = self._model.most_evidence
        return evidence if most is None else _best_of(evidence, most)


def _key(numbers: Numbers) -> tuple[tuple[str, float | int], ...]:
    return tuple(sorted(numbers.items()))


def _by_order(trials: Sequence[_Trial]) -> list[Evidence]:
    """Return places in the order of all trials for values: results of different levels have no common scale."""
    known = [trial for trial in trials if trial.results]
    records = [{level: values[0] for level, values in trial.results.items()} for trial in known]
    place = {id(known[n]): float(rank) for rank, n in enumerate(ordered(records))}
    return [
        Evidence(trial.numbers, [place[id(trial)]] if trial.results else None, trial.generation) for trial in trials
    ]


def _finite(evidence: Sequence[Evidence]) -> list[Evidence]:
    """WORST (NaN, a failed trial) as somewhat worse than the worst number seen: models add and square values."""
    known = [one.values for one in evidence if one.values is not None]
    limits = [_limits([v for v in column if abs(v) < WORST]) for column in zip(*known, strict=True)]
    return [
        one
        if one.values is None
        else Evidence(
            one.numbers,
            [min(max(v, low), high) for v, (low, high) in zip(one.values, limits, strict=True)],
            one.generation,
        )
        for one in evidence
    ]


def _limits(numbers: Sequence[float]) -> tuple[float, float]:
    if not numbers:
        return 0.0, 1.0
    low, high = min(numbers), max(numbers)
    margin = (high - low) or 1.0
    return low - margin, high + margin


def _best_of(evidence: list[Evidence], count: int) -> list[Evidence]:
    """Running trials, and of the others the best by the first objective, in their old order."""
    known = sorted((list(one.values), place) for place, one in enumerate(evidence) if one.values is not None)
    dropped = {place for _, place in known[count:]}
    return [one for place, one in enumerate(evidence) if place not in dropped]
