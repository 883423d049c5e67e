"""Gaussian process over points of a search space, in plain Python: some hundred trials, a few milliseconds an answer.

A point is a tuple of numbers between 0 and 1, one per axis. The kernel is Matérn 5/2 with a length scale of each axis;
a category is either equal or not. Every observation has a noise of its own, so a result that says little counts little.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from operator import mul

Point = tuple[float, ...]
Matrix = list[list[float]]

_FIRST_SCALE = 0.5
_SCALES = (0.125, 4.0)  # the shortest and the longest that are tried: an axis of the longest hardly matters
_FIRST_NOISE = 0.05
_NOISES = (0.002, 0.5)
_STEPS = (2.0, 0.5)
_PRIOR = 0.5  # width, in doublings squared, of what a scale is expected to be


@dataclass(frozen=True, slots=True)
class Scales:
    """Parameters that follow from data: a length per axis, and the noise that even a whole training has."""

    lengths: tuple[float, ...]
    noise: float

    @classmethod
    def first(cls, axes: int) -> "Scales":
        return cls((_FIRST_SCALE,) * axes, _FIRST_NOISE)


@dataclass(frozen=True, slots=True)
class Observations:
    """`extra_noise`: variance of each value beyond that of a whole training."""

    points: list[Point]
    values: list[float]
    extra_noise: list[float]


class Process:
    """Posterior of the process, given observations."""

    def __init__(self, observations: Observations, categories: Sequence[bool], scales: Scales) -> None:
        self._kernel = _Kernel(observations.points, categories, scales.lengths)
        gram = self._kernel.gram()
        for place, (row, extra) in enumerate(zip(gram, observations.extra_noise, strict=True)):
            row[place] = 1 + scales.noise + extra
        self._factor = cholesky(gram)
        self._whitened = _forward(self._factor, observations.values)
        self._coefficients = _backward(self._factor, self._whitened)

    def mean(self, point: Point) -> float:
        return _product(self._kernel.covariances(point), self._coefficients)

    def mean_and_deviation(self, point: Point) -> tuple[float, float]:
        covariances = self._kernel.covariances(point)
        solved = _forward(self._factor, covariances)
        variance = 1 - _product(solved, solved)
        return _product(covariances, self._coefficients), math.sqrt(max(variance, 1e-9))

    def log_likelihood(self) -> float:
        return -0.5 * _product(self._whitened, self._whitened) - sum(math.log(row[-1]) for row in self._factor)


class _Kernel:
    """Covariances of points, worked out axis by axis over whole lists: that is what makes plain Python fast enough."""

    def __init__(self, points: list[Point], categories: Sequence[bool], lengths: Sequence[float]) -> None:
        self._points = points
        self._columns = list(zip(*points, strict=True))
        self._weights = [5 / length**2 for length in lengths]
        self._categories = categories

    def gram(self) -> Matrix:
        return [self.covariances(point, place + 1) for place, point in enumerate(self._points)]

    def covariances(self, point: Point, count: int | None = None) -> list[float]:
        """Return the covariance of a point with the first `count` of the points."""
        squares = [0.0] * (len(self._points) if count is None else count)
        for here, column, weight, category in zip(point, self._columns, self._weights, self._categories, strict=True):
            if category:
                squares = [s if here == there else s + weight for s, there in zip(squares, column, strict=False)]
            else:
                squares = [s + weight * (here - there) ** 2 for s, there in zip(squares, column, strict=False)]
        roots = map(math.sqrt, squares)
        return [(1 + root + root * root / 3) * math.exp(-root) for root in roots]


def fitted(observations: Observations, categories: Sequence[bool]) -> Scales:
    """Choose the scales under which the observations are likely: one after the other, ever longer or shorter."""
    best = Scales.first(len(categories))
    reached = _score(observations, categories, best)
    for axis, step in product(range(len(categories) + 1), _STEPS):
        while (tried := _stepped(best, axis, step)) != best:
            score = _score(observations, categories, tried)
            if score <= reached:
                break
            best, reached = tried, score
    return best


def cholesky(gram: Matrix) -> Matrix:
    """Return the lower triangle whose square `gram` is; of `gram` only the lower triangle is read."""
    factor: Matrix = []
    for place, row in enumerate(gram):
        done: list[float] = []
        for column in range(place):
            other = factor[column]
            done.append((row[column] - sum(map(mul, done, other))) / other[column])
        rest = row[place] - sum(map(mul, done, done))
        factor.append([*done, math.sqrt(max(rest, 1e-10))])
    return factor


def _product(one: Sequence[float], other: Sequence[float]) -> float:
    return float(sum(map(mul, one, other)))


def _score(observations: Observations, categories: Sequence[bool], scales: Scales) -> float:
    """Weigh how likely the observations are, and how usual the scales."""
    unusual = sum(math.log2(length / _FIRST_SCALE) ** 2 for length in scales.lengths)
    unusual += math.log2(scales.noise / _FIRST_NOISE) ** 2 / 2
    return Process(observations, categories, scales).log_likelihood() - _PRIOR * unusual / 2


def _stepped(scales: Scales, axis: int, step: float) -> Scales:
    if axis == len(scales.lengths):
        low, high = _NOISES
        return Scales(scales.lengths, min(max(scales.noise * step * step, low), high))
    low, high = _SCALES
    lengths = list(scales.lengths)
    lengths[axis] = min(max(lengths[axis] * step, low), high)
    return Scales(tuple(lengths), scales.noise)


def _forward(factor: Matrix, values: Sequence[float]) -> list[float]:
    """Solve `factor` x = `values`."""
    solved: list[float] = []
    for row, value in zip(factor, values, strict=True):
        solved.append((value - sum(map(mul, solved, row))) / row[-1])
    return solved


def _backward(factor: Matrix, values: Sequence[float]) -> list[float]:
    """Solve `factor` transposed x = `values`."""
    left = list(values)
    for place in range(len(left) - 1, -1, -1):
        row = factor[place]
        left[place] /= row[place]
        for column in range(place):
            left[column] -= row[column] * left[place]
    return left
