"""adaptive_simple: `adaptive` for a number of trials instead of a budget."""

from determined.search.adaptive_asha import Mode, mode_rungs
from determined.search.sync_halving import Stage, trial_stages


def trial_brackets(max_trials: int, length: int, divisor: float, max_rungs: int, mode: Mode) -> list[list[Stage]]:
    """The stages of each bracket, deepest first, to be run by `adaptive`.

    Trials are shared out evenly and the rest goes to the deepest; every bracket has one, so that fewer trials than
    brackets become more.
    """
    rungs = mode_rungs(mode, max_rungs)
    each, rest = divmod(max_trials, len(rungs))
    return [trial_stages(count, length, divisor, max(each + (number < rest), 1)) for number, count in enumerate(rungs)]
