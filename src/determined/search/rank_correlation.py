"""Correlation of early ranks with late ones, as the trials of this search have shown it; what a rank is worth then.

Ranks are read as normal scores, so no scale of the metric matters: jumps of a million, NaN and infinities are places in
an order like all others.
"""

import math
from collections.abc import Sequence
from statistics import NormalDist

NEIGHBORS = 0.85  # expected of two neighboring rungs, before anything is known
_WEIGHT = 6.0  # trials that an expectation counts as much as
_LIMITS = (-0.5, 0.98)
_FEWEST = 3
NORMAL = NormalDist()

Pairs = Sequence[tuple[float, float]]


def normal_score(place: float, count: int) -> float:
    """Return where the trial at `place` (0 is the best) of `count` lies on a normal scale; the best is positive."""
    return -NORMAL.inv_cdf((place + 0.5) / count)


def correlation(pairs: Pairs, expected: float) -> float:
    """Estimate the correlation of the scores of all trials at a rung with those at a later one.

    Args:
        pairs: of the trials that got to the later one: the score at the earlier among all that were there, whose spread
            is one, and at the later among those that got there. They are the best and differ less than all do, so they
            correlate less than all would: that is corrected.
        expected: What to assume without any; it is mixed in by a small weight.
    """
    known = _unrestricted(pairs)
    if known is None:
        return expected
    weight = len(pairs) - _FEWEST + 1
    return math.tanh((weight * _fisher(known) + _WEIGHT * _fisher(expected)) / (weight + _WEIGHT))


def certainty(count: int) -> float:
    """Return how much of a correlation is left where so few trials have been ranked; a rank among two says little."""
    return math.sqrt(max(1 - 2 / count, 0.0))


def chance_of_best(score: float, correlation: float, share: float) -> float:
    """Return the chance that a trial ends among the best `share`, given its score now and what scores predict."""
    threshold = -NORMAL.inv_cdf(share)
    return NORMAL.cdf((correlation * score - threshold) / math.sqrt(1 - correlation**2))


def _fisher(correlation: float) -> float:
    low, high = _LIMITS
    return math.atanh(min(max(correlation, low), high))


def _unrestricted(pairs: Pairs) -> float | None:
    count = len(pairs)
    if count < _FEWEST:
        return None
    x_mean, y_mean = sum(x for x, _ in pairs) / count, sum(y for _, y in pairs) / count
    xx = sum((x - x_mean) ** 2 for x, _ in pairs) / count
    yy = sum((y - y_mean) ** 2 for _, y in pairs) / count
    if xx < 1e-9 or yy < 1e-9:
        return None
    plain = sum((x - x_mean) * (y - y_mean) for x, y in pairs) / count / math.sqrt(xx * yy)
    ratio = max(1 / math.sqrt(xx), 1.0)
    return plain * ratio / math.sqrt(1 + plain**2 * (ratio**2 - 1))
