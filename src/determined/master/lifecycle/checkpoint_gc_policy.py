"""Checkpoints that the garbage collector keeps, by save_experiment_best, save_trial_best and save_trial_latest."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Candidate:
    """A COMPLETED checkpoint. `metric`: the searcher metric of a validation at exactly its steps, None without one."""

    uuid: str
    trial_id: int
    steps: int
    metric: float | None = None
    validated_at: float = 0.0  # orders equal metrics: the earlier validation wins


@dataclass(frozen=True, slots=True)
class Keep:
    experiment_best: int
    trial_best: int
    trial_latest: int


def select_kept(candidates: Iterable[Candidate], keep: Keep, *, smaller_is_better: bool) -> set[str]:
    """Return the uuids that the policy keeps; everything else may go."""
    by_trial: defaultdict[int, list[Candidate]] = defaultdict(list)
    for candidate in candidates:
        by_trial[candidate.trial_id].append(candidate)
    everything = [c for group in by_trial.values() for c in group]
    kept = _best(everything, keep.experiment_best, smaller_is_better)
    for group in by_trial.values():
        kept |= _best(group, keep.trial_best, smaller_is_better)
        kept |= _latest(group, keep.trial_latest)
    return kept


def _best(group: list[Candidate], count: int, smaller_is_better: bool) -> set[str]:
    sign = 1.0 if smaller_is_better else -1.0
    # NaN compares with nothing, so a validation that yielded it is never "best".
    validated = [c for c in group if c.metric is not None and c.metric == c.metric]
    validated.sort(key=lambda c: (sign * (c.metric or 0.0), c.validated_at, c.steps))
    return {c.uuid for c in validated[:count]}


def _latest(group: list[Candidate], count: int) -> set[str]:
    newest = sorted(group, key=lambda c: c.steps, reverse=True)
    return {c.uuid for c in newest[:count]}
