"""Stages of synchronous halving: how many trials train to which lengths, planned from a budget or from trials."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Stage:
    """Plan of a rung: `start` trials train to `units` in all; as many as the next one starts go on."""

    units: int
    start: int


def budget_stages(rungs: int, length: int, divisor: float, budget: int) -> list[Stage]:
    """Return stages whose trials use up about `budget` units together. One trial starts, however small the budget."""
    compound = [divisor**power for power in reversed(range(_fitting(rungs, length)))]
    units = [max(int(length / part), 1) for part in compound]
    starts = [max(int(part), 1) for part in compound]
    expected = sum(step * start for step, start in zip(growth(units), starts, strict=True))
    return _stages(units, [max(int(budget / expected * start), 1) for start in starts], length)


def trial_stages(rungs: int, length: int, divisor: float, trials: int) -> list[Stage]:
    """Return stages of which the first starts `trials` trials and the i-th after it trials/divisor**i."""
    rungs = _fitting(rungs, length)
    units = [max(int(length / divisor**power), 1) for power in reversed(range(rungs))]
    return _stages(units, [max(int(trials / divisor**i), 1) for i in range(rungs)], length)


def _fitting(rungs: int, length: int) -> int:
    """Limit the rungs to the units: each trains at least one unit more than the one below."""
    return min(rungs, length)


def growth(units: Sequence[int]) -> list[int]:
    """Subtract from each rung what the one below has trained."""
    return [here - below for here, below in zip(units, [0, *units], strict=False)]


def _stages(units: list[int], starts: list[int], length: int) -> list[Stage]:
    """Strictly longer and never wider from rung to rung; the top trains to `length` and leaves room for those below."""
    stages: list[Stage] = []
    for i, (wanted, start) in enumerate(zip(units, starts, strict=True)):
        below = stages[-1] if stages else Stage(0, start)
        most = length - (len(units) - 1 - i)
        stages.append(Stage(min(max(wanted, below.units + 1), most), min(start, below.start)))
    return stages
