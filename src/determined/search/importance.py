"""Importance of hyperparameters for how well a trial does: PED-ANOVA, as Optuna implements it.

It compares how the best trials' values are spread with how all trials' are: the more they differ, the more the
hyperparameter matters for being among the best. No random forest is fitted, so equal trials give equal numbers.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from determined._json import JsonObject
from determined.search.axes import Axes
from determined.search.evidence import Evidence
from determined.search.optuna_study import load_optuna, study_of

MIN_TRIALS = 10
_BEST_SHARE = 0.1
_BEST_AT_LEAST = 5  # fewer than this many best trials tell chance from cause badly


@dataclass(frozen=True, slots=True)
class Importance:
    """Shares that sum to 1, by dotted name, the most important first; or none, and `why_not`."""

    shares: dict[str, float]
    trials: int  # looked at
    why_not: str = ""


def importance(space: JsonObject, trials: Sequence[tuple[JsonObject, float]]) -> Importance:
    """Weigh how much each hyperparameter matters for being among the best.

    Args:
        space: the config's `hyperparameters`.
        trials: hyperparameters and result (finite, lower is better) of each.

    Raises:
        ImportError: Optuna is not installed; the message names the extra.
    """
    axes = Axes(space)
    placed = [(axes.numbers(hparams), value) for hparams, value in trials]
    evidence = [Evidence(numbers, [value]) for numbers, value in placed if numbers is not None]
    reason = _why_not(axes, evidence)
    if reason:
        return Importance({}, len(evidence), reason)
    return Importance(_shares(axes, evidence), len(evidence))


def _why_not(axes: Axes, evidence: Sequence[Evidence]) -> str:
    if not axes.each:
        return "no hyperparameter varies"
    if len(evidence) < MIN_TRIALS:
        return f"needs at least {MIN_TRIALS} completed trials with this metric, and has {len(evidence)}"
    if len({one.values[0] for one in evidence if one.values}) == 1:
        return "every trial has the same result"
    return ""


def _shares(axes: Axes, evidence: Sequence[Evidence]) -> dict[str, float]:
    optuna = load_optuna()
    share = max(_BEST_SHARE, _BEST_AT_LEAST / len(evidence))
    raw = optuna.importance.get_param_importances(
        study_of(optuna, axes.each, evidence),
        evaluator=optuna.importance.PedAnovaImportanceEvaluator(target_quantile=share),
        params=[axis.name for axis in axes.each],
    )
    shares = {axis.label: float(raw[axis.name]) for axis in axes.each}
    return dict(sorted(shares.items(), key=lambda item: (-item[1], item[0])))
