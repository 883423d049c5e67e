"""Synchronous halving: the trials of each rung, and who is promoted when."""

from typing import Any

import pytest

from determined.search.method import Close, Create, ExitReason, Operation, Shutdown, ValidateAfter
from determined.search.searcher import Searcher
from determined.search.stages import Stage, budget_stages, trial_stages

EXAMPLE = {"name": "sync_halving", "num_rungs": 4, "max_length": {"batches": 800}, "budget": {"batches": 480}}


def begin(**config: Any) -> tuple[Searcher, list[str]]:
    """A search of 4 trials to 10, the best 2 to 20, the best 1 to 40, unless told otherwise."""
    small = {"name": "sync_halving", "num_rungs": 3, "divisor": 2, "max_length": {"batches": 40}}
    search = Searcher.create({**small, "budget": {"batches": 80}, **config}, {}, seed=3, classic=True)
    ids = [op.request_id for op in search.start() if isinstance(op, Create)]
    for request_id in ids:
        assert search.trial_created(request_id) == []
    return search, ids


def complete(search: Searcher, results: list[tuple[str, float]], length: int) -> list[list[Operation]]:
    return [search.validation(request_id, metric, length) for request_id, metric in results]


def test_worked_example_starts_eleven_trials_of_which_one_reaches_the_top() -> None:
    assert budget_stages(4, 800, 4, 480) == [Stage(12, 11), Stage(50, 2), Stage(200, 1), Stage(800, 1)]


def test_a_budget_of_exactly_what_is_expected_starts_the_raw_numbers_of_trials() -> None:
    assert budget_stages(4, 800, 4, 2576) == [Stage(12, 64), Stage(50, 16), Stage(200, 4), Stage(800, 1)]
    assert [stage.start for stage in budget_stages(4, 800, 4, 2575)] == [63, 15, 3, 1]


def test_worked_example_runs_to_its_end() -> None:
    search, ids = begin(**EXAMPLE, divisor=4)
    assert len(ids) == 11
    said = complete(search, [(trial, float(n)) for n, trial in enumerate(ids)], 12)
    assert said[:9] == [[]] * 9
    assert said[9] == [ValidateAfter(ids[0], 50)]
    assert said[10] == [ValidateAfter(ids[1], 50), *(Close(trial) for trial in ids[2:])]
    assert complete(search, [(ids[1], 5.0), (ids[0], 6.0)], 50) == [[], [ValidateAfter(ids[1], 200), Close(ids[0])]]
    assert complete(search, [(ids[1], 5.0)], 200) == [[ValidateAfter(ids[1], 800)]]
    assert complete(search, [(ids[1], 5.0)], 800) == [[Close(ids[1])]]
    assert [search.exited(trial) for trial in ids][-1] == [Shutdown()]


@pytest.mark.parametrize(
    ("rungs", "length", "divisor", "units"),
    [
        (3, 40, 2, [10, 20, 40]),
        (4, 4, 4, [1, 2, 3, 4]),
        (5, 2, 4, [1, 2]),
        (5, 5, 1.1, [1, 2, 3, 4, 5]),
        (4, 800, 4, [12, 50, 200, 800]),
    ],
)
def test_units_grow_from_rung_to_rung_and_end_at_the_length(
    rungs: int, length: int, divisor: float, units: list[int]
) -> None:
    for stages in (budget_stages(rungs, length, divisor, 1000), trial_stages(rungs, length, divisor, 9)):
        assert [stage.units for stage in stages] == units


def test_stages_of_a_number_of_trials_keep_one_of_each_divisor() -> None:
    assert trial_stages(3, 900, 3, 9) == [Stage(100, 9), Stage(300, 3), Stage(900, 1)]
    assert trial_stages(3, 900, 3, 1) == [Stage(100, 1), Stage(300, 1), Stage(900, 1)]


def test_budget_too_small_for_one_trial_starts_one() -> None:
    assert {stage.start for stage in budget_stages(3, 900, 3, 1)} == {1}


def test_trial_is_promoted_as_soon_as_nobody_can_push_it_out() -> None:
    search, (a, b, c, d) = begin()
    assert complete(search, [(a, 3.0), (b, 1.0), (c, 2.0)], 10) == [[], [], [ValidateAfter(b, 20)]]
    assert complete(search, [(d, 0.5)], 10) == [[ValidateAfter(d, 20), Close(c), Close(a)]]


def test_newcomer_behind_the_places_promotes_the_one_that_waited() -> None:
    search, (a, b, c, d) = begin()
    complete(search, [(a, 1.0), (b, 2.0), (c, 3.0)], 10)
    assert complete(search, [(d, 4.0)], 10) == [[ValidateAfter(b, 20), Close(c), Close(d)]]


def test_of_equal_trials_the_first_to_report_goes_on() -> None:
    search, (a, b, c, d) = begin()
    said = complete(search, [(trial, 1.0) for trial in (c, a, d, b)], 10)
    assert said[2:] == [[ValidateAfter(c, 20)], [ValidateAfter(a, 20), Close(d), Close(b)]]


def test_larger_is_better_when_the_config_says_so() -> None:
    search, (a, b, c, _) = begin(smaller_is_better=False)
    assert complete(search, [(a, 1.0), (b, 3.0), (c, 2.0)], 10)[2] == [ValidateAfter(b, 20)]


def test_trial_that_reports_nan_is_not_promoted() -> None:
    search, (a, b, c, d) = begin()
    said = complete(search, [(a, float("nan")), (b, 1e300), (c, 5.0), (d, 7.0)], 10)
    assert [op for ops in said for op in ops] == [
        ValidateAfter(c, 20),
        ValidateAfter(d, 20),
        Close(b),
        Close(a),
    ]


@pytest.mark.parametrize("reason", list(ExitReason))
def test_exited_trial_ranks_worst_and_is_not_replaced(reason: ExitReason) -> None:
    search, (a, b, c, d) = begin()
    assert search.exited_early(a, reason) == []
    assert search.exited(a) == []
    complete(search, [(b, 1.0), (c, 2.0)], 10)
    assert complete(search, [(d, 3.0)], 10) == [[ValidateAfter(c, 20), Close(d)]]


def test_trial_that_ends_by_itself_too_soon_counts_as_exited() -> None:
    search, (a, b, c, d) = begin()
    complete(search, [(b, 1.0), (c, 2.0), (d, 3.0)], 10)
    assert search.exited(a) == [ValidateAfter(c, 20), Close(d)]


def test_waiting_trial_that_is_cancelled_gives_its_place_up() -> None:
    search, (a, b, c, d) = begin()
    complete(search, [(a, 1.0), (b, 2.0)], 10)
    assert search.exited_early(a, ExitReason.USER_CANCELED) == []
    assert complete(search, [(c, 3.0), (d, 4.0)], 10) == [[ValidateAfter(b, 20)], [ValidateAfter(c, 20), Close(d)]]


def test_exited_trials_that_are_promoted_rank_worst_upward_and_the_search_still_ends() -> None:
    search, (a, b, c, d) = begin()
    said: list[Operation] = []
    for trial in (a, b, c):
        said += search.exited_early(trial, ExitReason.ERRORED) + search.exited(trial)
    said += complete(search, [(d, 1.0)], 10)[0]
    assert said == [ValidateAfter(d, 20)]
    assert complete(search, [(d, 1.0)], 20) == [[ValidateAfter(d, 40)]]
    assert complete(search, [(d, 1.0)], 40) == [[Close(d)]]
    assert search.exited(d) == [Shutdown()]


def test_completion_that_nobody_asked_for_changes_nothing() -> None:
    search, (a, *_) = begin()
    complete(search, [(a, 1.0)], 10)
    before = search.snapshot()
    assert complete(search, [(a, 0.1)], 10) == [[]]
    assert search.snapshot() == before


def test_progress_is_what_the_rungs_have_of_what_they_will_train() -> None:
    search, (a, b, c, d) = begin()
    assert search.progress() == 0
    complete(search, [(a, 1.0), (b, 2.0), (c, 3.0), (d, 4.0)], 10)
    assert search.progress() == pytest.approx(40 / 80)
    complete(search, [(a, 1.0), (b, 2.0)], 20)
    complete(search, [(a, 1.0)], 40)
    assert search.progress() == 1
