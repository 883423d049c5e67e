"""Settings of `auto`, what ends a trial, and an estimate of where trials will end before any has run."""

from collections import Counter
from dataclasses import dataclass

from determined.search.rank_correlation import NEIGHBORS, certainty, chance_of_best, normal_score

BEST = 0.1  # the share of trials that is searched for
HOPELESS = 0.08  # a smaller chance to be among them ends a trial
MOST = 0.5  # of those at a rung at most count as the best

_IMAGINED = 1000  # trials of an estimate without a number of them


@dataclass(frozen=True, slots=True)
class AutoPlan:
    """`max_trials` or `budget` (training of all together), or both, end the search. `lengths`: of the rungs."""

    lengths: list[int]
    max_trials: int | None
    budget: int | None
    max_concurrent: int


def share_searched(begun: int, here: int) -> float:
    """Return which share of the trials at a rung are among the best of all that have begun."""
    return min(BEST * begun / here, MOST)


def expected_correlation(rungs: int, number: int) -> float:
    """Return how ranks at a rung are expected to go with those at the end, before any trial has shown it."""
    return NEIGHBORS ** (rungs - 1 - number)


def estimated_ends(plan: AutoPlan) -> Counter[tuple[int, ...]]:
    """Count where trials end if ranks predict as well as expected; a budget decides how many there are."""
    trials = plan.max_trials or _IMAGINED
    ends = _ends(plan, trials)
    while plan.budget is not None and trials > 1 and _training(ends) > plan.budget:
        trials = min(max(int(trials * plan.budget / _training(ends)), 1), trials - 1)
        ends = _ends(plan, trials)
    return ends


def _training(ends: Counter[tuple[int, ...]]) -> int:
    return sum(length * count for (length,), count in ends.items())


def _ends(plan: AutoPlan, trials: int) -> Counter[tuple[int, ...]]:
    counts: Counter[tuple[int, ...]] = Counter()
    left = trials
    *cuts, top = plan.lengths
    for number, length in enumerate(cuts):
        correlation = expected_correlation(len(plan.lengths), number) * certainty(left)
        share = share_searched(trials, left)
        kept = sum(chance_of_best(normal_score(place, left), correlation, share) >= HOPELESS for place in range(left))
        kept = max(kept, 1)
        counts[(length,)] += left - kept
        left = kept
    counts[(top,)] += left
    return +counts
