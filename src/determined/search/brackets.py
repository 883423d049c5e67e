"""Brackets of halving with different numbers of rungs: how many there are, and how trials are shared out among them.

A deep bracket cuts early and tries many points; a shallow one gives fewer points longer to show what they are worth.
"""

import math
from collections.abc import Sequence
from enum import StrEnum

from determined.search.asha_base import Halving


class Mode(StrEnum):
    """Words for how early a search dares to stop trials."""

    AGGRESSIVE = "aggressive"
    STANDARD = "standard"
    CONSERVATIVE = "conservative"


def plan_brackets(whole: Halving, mode: Mode, bracket_rungs: Sequence[int] = ()) -> list[Halving]:
    """Plan the brackets of a search, deepest first.

    Args:
        whole: the search as configured; its `rungs` are max_rungs.
        mode: which numbers of rungs below the deepest get a bracket as well.
        bracket_rungs: the numbers of rungs themselves, instead of a mode's.
    """
    rungs = sorted(bracket_rungs, reverse=True) or mode_rungs(mode, useful_rungs(whole))
    trials = bracket_trials(whole.max_trials, whole.divisor, rungs)
    concurrency = bracket_concurrency(whole.max_concurrent, whole.divisor, trials)
    return [
        Halving(max_trials, whole.length, count, whole.divisor, max_concurrent)
        for count, max_trials, max_concurrent in zip(rungs, trials, concurrency, strict=True)
    ]


def useful_rungs(whole: Halving) -> int:
    """max_rungs, but no more than the length can be divided into, nor than there are trials to cut.

    The quotients of logarithms are truncated as they come: ln 1000 / ln 10 is 2.9999999999999996 and gives 3 rungs.
    """
    by_length, by_trials = _logarithm(whole.length, whole.divisor), _logarithm(whole.max_trials, whole.divisor)
    return min(whole.rungs, by_length + 1, by_trials + 1)


def mode_rungs(mode: Mode, rungs: int) -> list[int]:
    """Return the number of rungs of each bracket, deepest first."""
    shallowest = {Mode.AGGRESSIVE: rungs, Mode.STANDARD: (rungs - 1) // 2 + 1, Mode.CONSERVATIVE: 1}[mode]
    return list(range(rungs, shallowest - 1, -1))


def bracket_trials(max_trials: int, divisor: float, rungs: Sequence[int]) -> list[int]:
    """Return the trials of each bracket, at least one each, so that few trials over many brackets become more."""
    return _with_rest(max_trials, [max(share, 1) for share in _shares(max_trials, divisor, rungs)])


def split_trials(trials: int, divisor: float, rungs: Sequence[int]) -> list[int]:
    """Further trials shared out by the same weights: exactly `trials` of them."""
    return _with_rest(trials, _shares(trials, divisor, rungs))


def bracket_concurrency(max_concurrent: int, divisor: float, trials: Sequence[int]) -> list[int]:
    """Return how many trials each bracket may run at once; 0 asks for what the smallest bracket can use."""
    if max_concurrent == 0:
        return [max(trials[-1], int(divisor))] * len(trials)
    each, rest = divmod(max(max_concurrent, len(trials)), len(trials))
    return [each + (number < rest) for number in range(len(trials))]


def _logarithm(value: int, base: float) -> int:
    return int(math.log(max(value, 1)) / math.log(base))


def _shares(trials: int, divisor: float, rungs: Sequence[int]) -> list[int]:
    weights = [divisor ** (count - 1) / count for count in rungs]
    whole = sum(weights)
    return [int(weight / whole * trials) for weight in weights]


def _with_rest(trials: int, shares: list[int]) -> list[int]:
    """Give the rest of a rounding to the first, the deepest."""
    return [shares[0] + max(trials - sum(shares), 0), *shares[1:]]
