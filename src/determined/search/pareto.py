"""Pareto fronts: which points no other point beats in every objective. Lower is better; equal points share a rank."""

from bisect import bisect_right
from collections.abc import Sequence
from typing import TypeAlias

Point: TypeAlias = Sequence[float]


def front(points: Sequence[Point]) -> list[int]:
    """Return the places of the points that nothing dominates, in their old order."""
    if not points or len(points[0]) <= 2:
        return [place for place, rank in enumerate(ranks(points)) if rank == 0]
    members: list[int] = []
    for place in _ascending(points):  # nothing that comes later dominates what came before
        if not any(dominates(points[other], points[place]) for other in members):
            members.append(place)
    return sorted(members)


def ranks(points: Sequence[Point]) -> list[int]:
    """0 for the front, 1 for the front of all the others, and so on. O(n log n) for one or two objectives."""
    if not points:
        return []
    return _ranks_of_two(points) if len(points[0]) <= 2 else _ranks_of_many(points)


def dominates(one: Point, other: Point) -> bool:
    """Return whether one is no worse anywhere, and not the same."""
    return one != other and all(a <= b for a, b in zip(one, other, strict=True))


def _ranks_of_two(points: Sequence[Point]) -> list[int]:
    """Rank in ascending order: a front beats a point exactly if the front's last point is no worse in the second."""
    ranks = [0] * len(points)
    last: list[float] = []  # of each front, the second objective of its last point; ascending
    before: tuple[tuple[float, ...], int] | None = None
    for place in _ascending(points):
        point = tuple(points[place])
        if before is not None and before[0] == point:
            ranks[place] = before[1]
            continue
        rank = bisect_right(last, point[-1])
        last[rank : rank + 1] = [point[-1]]
        ranks[place] = rank
        before = point, rank
    return ranks


def _ranks_of_many(points: Sequence[Point]) -> list[int]:
    """Put each point on the first front that does not beat it; fronts beat in order, so halving finds it."""
    ranks = [0] * len(points)
    fronts: list[list[int]] = []
    for place in _ascending(points):
        low, high = 0, len(fronts)
        while low < high:
            middle = (low + high) // 2
            # the latest members are the nearest, and the likeliest to beat it
            if any(dominates(points[other], points[place]) for other in reversed(fronts[middle])):
                low = middle + 1
            else:
                high = middle
        if low == len(fronts):
            fronts.append([])
        fronts[low].append(place)
        ranks[place] = low
    return ranks


def _ascending(points: Sequence[Point]) -> list[int]:
    return sorted(range(len(points)), key=lambda place: tuple(points[place]))
