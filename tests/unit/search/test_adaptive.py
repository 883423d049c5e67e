"""adaptive: a budget shared out over brackets of synchronous halving."""

from typing import Any

import pytest

from determined.errors import FailedPrecondition, InvalidConfig
from determined.search.brackets import Mode
from determined.search.method import Create, ValidateAfter
from determined.search.methods.classic.adaptive import budget_brackets
from determined.search.searcher import Searcher
from determined.search.stages import Stage, budget_stages


def searcher(**config: Any) -> Searcher:
    whole = {"name": "adaptive", "max_length": {"batches": 800}, "budget": {"batches": 960}, "max_rungs": 4}
    return Searcher.create({**whole, **config}, {}, seed=1, classic=True)


@pytest.mark.parametrize(
    ("mode", "rungs"),
    [(Mode.AGGRESSIVE, [4]), (Mode.STANDARD, [4, 3, 2]), (Mode.CONSERVATIVE, [4, 3, 2, 1])],
)
def test_mode_decides_which_numbers_of_rungs_have_a_bracket(mode: Mode, rungs: list[int]) -> None:
    brackets = budget_brackets(960, 800, 4, 4, mode)
    assert brackets == [budget_stages(count, 800, 4, 960 // len(rungs)) for count in rungs]
    assert [len(bracket) for bracket in brackets] == rungs


def test_rungs_are_not_cut_to_what_the_budget_can_fill() -> None:
    (bracket,) = budget_brackets(10, 1000, 4, 5, Mode.AGGRESSIVE)
    assert [stage.units for stage in bracket] == [3, 15, 62, 250, 1000]


def test_bracket_rungs_replace_the_modes() -> None:
    deep, flat = budget_brackets(960, 800, 4, 5, Mode.STANDARD, [1, 4])
    assert deep == [Stage(12, 11), Stage(50, 2), Stage(200, 1), Stage(800, 1)]
    assert flat == [Stage(800, 1)]


def test_brackets_begin_side_by_side_with_their_own_lengths() -> None:
    operations = searcher(bracket_rungs=[1, 4]).start()
    assert len([op for op in operations if isinstance(op, Create)]) == 12
    assert [op.length for op in operations if isinstance(op, ValidateAfter)] == [12] * 11 + [800]


def test_trials_of_different_brackets_are_not_compared() -> None:
    search = searcher(bracket_rungs=[1, 4])
    *deep, flat = [op.request_id for op in search.start() if isinstance(op, Create)]
    search.validation(flat, 0.0, 800)
    said = [search.validation(trial, float(n), 12) for n, trial in enumerate(deep)]
    promoted = [op.request_id for ops in said for op in ops if isinstance(op, ValidateAfter)]
    assert promoted == deep[:2]


def test_progress_is_the_mean_over_brackets() -> None:
    search = searcher(bracket_rungs=[1, 1], max_length={"batches": 100}, budget={"batches": 400})
    first, *_ = [op.request_id for op in search.start() if isinstance(op, Create)]
    search.validation(first, 0.0, 100)
    assert search.progress() == pytest.approx((1 / 2 + 0) / 2)


def test_budget_in_another_unit_than_the_length_is_refused() -> None:
    with pytest.raises(InvalidConfig, match=r"searcher\.budget: is in epochs, but max_length is in batches"):
        searcher(budget={"epochs": 3})


def test_more_rungs_than_numbers_can_hold_are_refused() -> None:
    with pytest.raises(InvalidConfig, match=r"searcher\.divisor: 1e\+06 is too large for so many rungs"):
        searcher(divisor=1e6, max_rungs=100)


def test_search_with_a_budget_cannot_be_extended() -> None:
    search = searcher()
    search.start()
    with pytest.raises(FailedPrecondition, match="cannot be extended"):
        search.extend(3)
