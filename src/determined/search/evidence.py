"""Trials as models see them."""

from collections.abc import Sequence
from dataclasses import dataclass

Numbers = dict[str, float | int]
"""A point by axis name."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """A trial as a model sees it. `values` (lower is better) is None while nothing is known of it: it runs."""

    numbers: Numbers
    values: Sequence[float] | None
    generation: int = 0
