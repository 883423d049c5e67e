"""The keep policy against the rule written down plainly, on seeded random experiments."""

import itertools
import random

import pytest

from determined.master.lifecycle.checkpoint_gc_policy import Candidate, Keep, select_kept

METRICS = (None, 0.1, 0.2, 0.2, 0.5, 0.5, -1.0, float("inf"), float("-inf"), float("nan"))


def random_candidates(rng: random.Random) -> list[Candidate]:
    """Return checkpoints of some trials; no two validations at one moment, no two of a trial at one step."""
    moments = list(range(100))
    rng.shuffle(moments)
    trials = range(1, rng.randint(2, 5))
    pairs = [(trial, steps) for trial in trials for steps in rng.sample(range(50), rng.randint(0, 6))]
    rng.shuffle(pairs)
    return [
        Candidate(f"{trial}@{steps}", trial, steps, rng.choice(METRICS), float(moments.pop())) for trial, steps in pairs
    ]


def is_better(one: Candidate, other: Candidate, *, smaller: bool) -> bool:
    """Compare two validated checkpoints: by their metric, equals by who was validated first."""
    assert one.metric is not None and other.metric is not None
    if one.metric != other.metric:
        return (one.metric < other.metric) == smaller
    return one.validated_at < other.validated_at


def is_among_best(one: Candidate, group: list[Candidate], count: int, *, smaller: bool) -> bool:
    """Count how many beat it; one without a number never counts."""
    validated = [c for c in group if c.metric is not None and c.metric == c.metric]
    return one in validated and sum(is_better(c, one, smaller=smaller) for c in validated if c is not one) < count


def is_kept(one: Candidate, every: list[Candidate], keep: Keep, *, smaller: bool) -> bool:
    own = [c for c in every if c.trial_id == one.trial_id]
    return (
        is_among_best(one, every, keep.experiment_best, smaller=smaller)
        or is_among_best(one, own, keep.trial_best, smaller=smaller)
        or sum(c.steps > one.steps for c in own) < keep.trial_latest
    )


@pytest.mark.parametrize("smaller", [True, False], ids=["smaller", "larger"])
def test_what_is_kept_is_what_the_plain_rule_keeps(smaller: bool) -> None:
    for seed in range(150):
        rng = random.Random(seed)
        every = random_candidates(rng)
        keep = Keep(rng.randint(0, 4), rng.randint(0, 3), rng.randint(0, 3))
        expected = {c.uuid for c in every if is_kept(c, every, keep, smaller=smaller)}
        assert select_kept(iter(every), keep, smaller_is_better=smaller) == expected, (seed, keep)


def test_keeping_more_never_deletes_what_was_kept_before() -> None:
    for seed in range(40):
        every = random_candidates(random.Random(seed))
        for counts in itertools.product(range(3), repeat=3):
            kept = select_kept(every, Keep(*counts), smaller_is_better=True)
            more = select_kept(every, Keep(*(n + 1 for n in counts)), smaller_is_better=True)
            assert kept <= more, (seed, counts)


def test_policy_without_limits_keeps_everything() -> None:
    every = random_candidates(random.Random(5))
    assert select_kept(every, Keep(0, 0, 10**9), smaller_is_better=True) == {c.uuid for c in every}
