"""Trials that trained for different times, in one order: what a model learns from behind early stopping.

A trial stopped at a low rung has no final result, and a result at a low rung is not comparable with one at the top.
Yet the stopping itself compared trials with equals at every rung, and that is enough to order all of them.
"""

from bisect import bisect_right
from collections.abc import Sequence

Records = dict[int, float]  # level -> value there, lower is better


def level_at(levels: Sequence[int], length: float) -> int | None:
    """Return the highest level that `length` has reached; None below the lowest."""
    reached = bisect_right(levels, length) - 1
    return reached if reached >= 0 else None


def ordered(records: Sequence[Records]) -> list[int]:
    """Return the places in `records`, best trial first.

    From the top level down: those with a result at a level stand in the order of these results, but the ones among
    them that went further keep, among themselves, the order that their later results gave them.
    """
    order: list[int] = []
    for level in sorted({level for one in records for level in one}, reverse=True):
        here = sorted((n for n, one in enumerate(records) if level in one), key=lambda n: records[n][level])
        order = _merged(here, order)
    return order


def _merged(here: Sequence[int], above: Sequence[int]) -> list[int]:
    present = set(here)
    followers: dict[int | None, list[int]] = {}  # those without a result here stay behind whom they followed
    leader: int | None = None
    kept: list[int] = []
    for one in above:
        if one in present:
            leader = one
            kept.append(one)
        else:
            followers.setdefault(leader, []).append(one)
    went_on, further = set(kept), iter(kept)
    merged = list(followers.get(None, ()))
    for one in here:
        placed = next(further) if one in went_on else one
        merged += [placed, *followers.get(placed, ())]
    return merged
