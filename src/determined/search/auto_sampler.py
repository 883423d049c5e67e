"""The sampler of `auto`: a Gaussian process over configurations, which weighs a result by how far the trial got.

A trial's value is its place in the order of all (fidelity.py) as a normal score. Where early ranks predict late ones
badly, the score of a trial that was stopped early is noise, and the process is told how much (rank_correlation.py).
"""

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from determined._json import JsonObject
from determined.search.axes import Axes, Axis, AxisKind
from determined.search.evidence import Numbers
from determined.search.fidelity import level_at, ordered
from determined.search.method import INVALID_HPARAMS, WORST, ExitReason
from determined.search.rank_correlation import NEIGHBORS, NORMAL, correlation, normal_score
from determined.search.rng import Rng
from determined.search.sampler import Sampler
from determined.search.surrogate import Observations, Point, Process, fitted

_FIRST = 6  # trials that spread evenly before the process is asked
_SKIPPED = 20  # at most, points of the even sequence that were there before: whole numbers and categories repeat
_FEWEST = 3  # results that the process wants
_BLIND = 0.08  # of the points afterwards, so that no region is forgotten
_MOST = 80  # observations: the process costs their cube
_FITTED = 32  # of them from which its scales are taken
_CANDIDATES = 80
_NEAR = 0.5  # of the candidates lie near the best points
_NO_GOOD = INVALID_HPARAMS | {ExitReason.ERRORED}


@dataclass(slots=True)
class _Trial:
    numbers: Numbers
    running: bool = True
    best: float = WORST
    results: dict[int, float] = field(default_factory=dict)  # by level, the best until there


class AutoSampler(Sampler):
    def __init__(self, space: JsonObject, levels: Sequence[int]) -> None:
        self._axes = Axes(space)
        self._levels = levels
        self._trials: dict[str, _Trial] = {}
        self._steps = 0  # of the even sequence

    def at_once(self) -> JsonObject | None:
        """Return one of the first points: the middle of the space, then such as fill it evenly."""
        if len(self._trials) >= _FIRST or self._steps >= _FIRST + _SKIPPED:
            return None  # every new trial of a large search would look at all its trials, or all its steps
        axes, seen = self._axes.each, {_key(self._axes.each, trial.numbers) for trial in self._trials.values()}
        seen |= {_key(axes, _spread(axes, step)) for step in range(self._steps)}
        last = self._steps + _SKIPPED
        while self._steps < last and len(seen) < _FIRST:
            self._steps += 1
            numbers = _spread(axes, self._steps - 1)
            if _key(axes, numbers) not in seen:
                return self._axes.point(numbers)
        return None

    def propose(self, seed: int) -> JsonObject:
        rng = Rng(seed)
        axes = self._axes.each
        if not axes:
            return self._axes.point({})
        tried = {_key(axes, trial.numbers) for trial in self._trials.values()}
        known = [trial for trial in self._trials.values() if trial.results]
        if len(known) < _FEWEST or rng.uniform(0, 1) < _BLIND:
            return self._axes.point(self._fresh(tried, rng))
        return self._axes.point(self._asked(known, tried, rng))

    def created(self, request_id: str, hparams: JsonObject) -> None:
        numbers = self._axes.numbers(hparams)
        if numbers is not None:
            self._trials[request_id] = _Trial(numbers)

    def observed(self, request_id: str, values: Sequence[float], length: float) -> None:
        trial = self._trials.get(request_id)
        level = level_at(self._levels, length)
        if trial is None:
            return
        trial.best = min(trial.best, values[0])
        if level is not None:
            trial.results.setdefault(level, values[0] if values[0] == WORST else trial.best)

    def ended(self, request_id: str, reason: ExitReason | None) -> None:
        trial = self._trials.get(request_id)
        if trial is None or not trial.running:
            return
        if not trial.results and reason in _NO_GOOD:
            trial.results[0] = WORST
        if not trial.results:
            del self._trials[request_id]
            return
        trial.running = False

    def snapshot(self) -> JsonObject:
        return {
            "steps": self._steps,
            "trials": {
                request_id: [
                    trial.numbers,
                    trial.running,
                    trial.best,
                    {str(n): value for n, value in trial.results.items()},
                ]
                for request_id, trial in self._trials.items()
            },
        }

    def restore(self, state: JsonObject) -> None:
        self._steps = state["steps"]
        self._trials = {
            request_id: _Trial(dict(numbers), running, best, {int(n): value for n, value in results.items()})
            for request_id, (numbers, running, best, results) in state["trials"].items()
        }

    def _fresh(self, tried: set[Point], rng: Rng) -> Numbers:
        numbers = _drawn(self._axes.each, rng)
        for _ in range(20):
            if _key(self._axes.each, numbers) not in tried:
                break
            numbers = _drawn(self._axes.each, rng)
        return numbers

    def _asked(self, known: list[_Trial], tried: set[Point], rng: Rng) -> Numbers:
        axes = self._axes.each
        categories = [axis.kind is AxisKind.CATEGORY for axis in axes]
        observations = self._observations(known)
        scales = fitted(_part(observations, _FITTED), categories)
        process = Process(_part(observations, _MOST), categories, scales)
        ranked = sorted(((process.mean(point), point) for point in set(observations.points)), reverse=True)
        best = ranked[0][0]
        running = [_key(axes, trial.numbers) for trial in self._trials.values() if not trial.results]
        if running:
            process = Process(_believed(_part(observations, _MOST), process, running[-_MOST:]), categories, scales)
        chosen, reached = self._fresh(tried, rng), -1.0
        for number in range(_CANDIDATES):
            if number < _CANDIDATES * _NEAR:
                numbers = _moved(axes, ranked[number % min(len(ranked), 5)][1], rng)
            else:
                numbers = _drawn(axes, rng)
            key = _key(axes, numbers)
            if key in tried:
                continue
            gain = _expected_gain(*process.mean_and_deviation(key), best)
            if gain > reached:
                chosen, reached = numbers, gain
        return chosen

    def _observations(self, known: list[_Trial]) -> Observations:
        records = [trial.results for trial in known]
        scores = [0.0] * len(known)
        for place, index in enumerate(ordered(records)):
            scores[index] = normal_score(place, len(known))
        doubts = self._doubts(records)
        noise = [doubts[max(record)] for record in records]
        points = [_key(self._axes.each, trial.numbers) for trial in known]
        return Observations(points, scores, noise)

    def _doubts(self, records: list[dict[int, float]]) -> list[float]:
        """Return the variance that a score has at each level beyond that of a whole training."""
        top = len(self._levels) - 1
        doubts, chained = [0.0] * (top + 1), 1.0
        for level in range(top - 1, -1, -1):
            chained *= correlation(_pairs(records, level, level + 1), NEIGHBORS)
            trust = min(max(correlation(_pairs(records, level, top), chained), 0.1), 0.98)
            doubts[level] = 1 / trust**2 - 1
        return doubts


def _pairs(records: list[dict[int, float]], low: int, high: int) -> list[tuple[float, float]]:
    below = sorted(record[low] for record in records if low in record)
    both = [record for record in records if low in record and high in record]
    above = sorted(record[high] for record in both)
    return [
        (normal_score(below.index(one[low]), len(below)), normal_score(above.index(one[high]), len(above)))
        for one in both
    ]


def _part(observations: Observations, count: int) -> Observations:
    """Return the best half of `count` observations and of the others the newest."""
    if len(observations.points) <= count:
        return observations
    order = sorted(range(len(observations.points)), key=lambda place: observations.values[place], reverse=True)
    rest = sorted(order[count // 2 :])[-(count - count // 2) :]
    places = sorted(order[: count // 2] + rest)
    return Observations(
        [observations.points[place] for place in places],
        [observations.values[place] for place in places],
        [observations.extra_noise[place] for place in places],
    )


def _believed(observations: Observations, process: Process, running: list[Point]) -> Observations:
    """Add running trials as if they had come out as expected, so that no second one is begun beside them."""
    return Observations(
        observations.points + running,
        observations.values + [process.mean(point) for point in running],
        observations.extra_noise + [0.0] * len(running),
    )


def _expected_gain(mean: float, deviation: float, best: float) -> float:
    over = (mean - best) / deviation
    return deviation * (over * NORMAL.cdf(over) + math.exp(-0.5 * over * over) / math.sqrt(2 * math.pi))


@functools.cache
def _plastic(axes: int) -> float:
    """Return the root of x^(axes+1) = x + 1: steps of its inverse powers fill a cube evenly."""
    root = 2.0
    for _ in range(60):
        root = (1 + root) ** (1 / (axes + 1))
    return root


def _spread(axes: Sequence[Axis], step: int) -> Numbers:
    """Return the middle of the space with the first of all categories, then points that fill it evenly (Kronecker)."""
    root = _plastic(len(axes))
    starts = (0.0 if axis.kind is AxisKind.CATEGORY else 0.5 for axis in axes)
    shares = ((start + step * root ** -(axis + 1)) % 1 for axis, start in enumerate(starts))
    return {axis.name: _at(axis, share) for axis, share in zip(axes, shares, strict=True)}


def _key(axes: Sequence[Axis], numbers: Numbers) -> Point:
    """Return a point in the unit cube; a category is its place, whatever that is."""
    return tuple((numbers[axis.name] - axis.low) / (axis.high - axis.low) for axis in axes)


def _at(axis: Axis, share: float) -> float | int:
    if axis.kind is AxisKind.FLOAT:
        return axis.low + share * (axis.high - axis.low)
    return int(axis.low) + min(int(share * (axis.high - axis.low + 1)), int(axis.high - axis.low))


def _drawn(axes: Sequence[Axis], rng: Rng) -> Numbers:
    return {axis.name: _at(axis, rng.uniform(0, 1)) for axis in axes}


def _moved(axes: Sequence[Axis], point: Point, rng: Rng) -> Numbers:
    """Return a neighbor: one axis or two are moved, a category is drawn anew."""
    numbers: Numbers = {}
    share = max(1.5 / len(axes), 0.2)
    for axis, here in zip(axes, point, strict=True):
        place = here
        if rng.uniform(0, 1) < share:
            wide = axis.kind is AxisKind.CATEGORY
            place = rng.uniform(0, 1) if wide else min(max(here + _bell(rng) * 0.15, 0.0), 1.0)
            numbers[axis.name] = _at(axis, place) if wide else _nearest(axis, place)
        else:
            numbers[axis.name] = _nearest(axis, place)
    return numbers


def _nearest(axis: Axis, place: float) -> float | int:
    number = axis.low + place * (axis.high - axis.low)
    return number if axis.kind is AxisKind.FLOAT else round(number)


def _bell(rng: Rng) -> float:
    return sum(rng.uniform(-1, 1) for _ in range(3))
