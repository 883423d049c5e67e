"""Line of the result: what, its budget, what was measured, whether it was held."""

from collections.abc import Sequence
from dataclasses import dataclass

import machine


@dataclass(frozen=True)
class Row:
    what: str
    budget: str
    measured: str
    cpu_ms: float | None
    is_held: bool


def at_most(what: str, limit: float, values: Sequence[float], unit: str, cpu_ms: float | None = None) -> Row:
    """The median of several turns, with the worst of them beside it."""
    middle = machine.median(values)
    digits = 3 if limit < 1 else 0
    worst = f" (worst of {len(values)}: {max(values):.{digits}f})" if len(values) > 1 else ""
    return Row(what, f"≤ {limit:g} {unit}".strip(), f"{middle:.{digits}f} {unit}{worst}", cpu_ms, middle <= limit)


def verdict(row: Row) -> list[str]:
    cpu = "" if row.cpu_ms is None else f"{row.cpu_ms:.0f}"
    return [row.what, row.budget, row.measured, cpu, "held" if row.is_held else "**missed**"]
