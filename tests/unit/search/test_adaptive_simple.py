"""adaptive_simple: trials shared out evenly over brackets of synchronous halving."""

import pytest

from determined.search.brackets import Mode
from determined.search.method import Create, ValidateAfter
from determined.search.methods.classic.adaptive_simple import trial_brackets
from determined.search.searcher import Searcher
from determined.search.stages import Stage


@pytest.mark.parametrize(
    ("max_trials", "starts"),
    [(12, [4, 4, 4]), (13, [5, 4, 4]), (14, [5, 5, 4]), (3, [1, 1, 1]), (1, [1, 1, 1])],
)
def test_trials_are_shared_out_evenly_and_every_bracket_has_one(max_trials: int, starts: list[int]) -> None:
    brackets = trial_brackets(max_trials, 1000, 4, 5, Mode.STANDARD)
    assert [bracket[0].start for bracket in brackets] == starts
    assert [len(bracket) for bracket in brackets] == [5, 4, 3]


def test_each_rung_keeps_one_of_each_divisor() -> None:
    deep, flat = trial_brackets(20, 900, 3, 3, Mode.STANDARD)
    assert deep == [Stage(100, 10), Stage(300, 3), Stage(900, 1)]
    assert flat == [Stage(300, 10), Stage(900, 3)]


def test_search_starts_all_its_trials_at_once() -> None:
    config = {"name": "adaptive_simple", "max_trials": 20, "max_length": {"epochs": 900}, "divisor": 3, "max_rungs": 3}
    operations = Searcher.create(config, {}, seed=1, classic=True).start()
    assert len([op for op in operations if isinstance(op, Create)]) == 20
    assert [op.length for op in operations if isinstance(op, ValidateAfter)] == [100] * 10 + [300] * 10
