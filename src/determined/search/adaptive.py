"""adaptive: brackets of synchronous halving with different numbers of rungs, side by side.

The budget of training units is shared out evenly; `max_rungs` is taken as given, whatever the budget can fill.
"""

from collections.abc import Sequence

from determined.search.adaptive_asha import Mode, mode_rungs
from determined.search.sync_halving import Stage, SyncHalving, budget_stages
from determined.search.tournament import Tournament


def adaptive(brackets: Sequence[Sequence[Stage]]) -> Tournament:
    """One synchronous halving per bracket. It cannot be extended: its budget is spent by plan."""
    return Tournament([SyncHalving(stages) for stages in brackets])


def budget_brackets(
    budget: int, length: int, divisor: float, max_rungs: int, mode: Mode, bracket_rungs: Sequence[int] = ()
) -> list[list[Stage]]:
    """The stages of each bracket, deepest first; `bracket_rungs` are the numbers of rungs instead of a mode's."""
    rungs = sorted(bracket_rungs, reverse=True) or mode_rungs(mode, max_rungs)
    return [budget_stages(count, length, divisor, budget // len(rungs)) for count in rungs]
