"""adaptive_asha: a table of searches and their brackets, the pure functions, and the search they make."""

import random
from typing import Any

import pytest
from numbered_search import NumberedSearch

from determined.errors import InvalidConfig
from determined.search.asha_base import Halving
from determined.search.brackets import (
    Mode,
    bracket_concurrency,
    bracket_trials,
    mode_rungs,
    split_trials,
    useful_rungs,
)
from determined.search.method import Create, ExitReason, Stop, ValidateAfter
from determined.search.methods.adaptive_asha import AdaptiveAsha
from determined.search.registry import load_searcher

LATE = {"name": "adaptive_asha", "time_metric": "batches"}
FIRST = {"max_trials": 16, "max_time": 1000}


def brackets_of(searcher: dict[str, Any], *, classic: bool) -> list[Halving]:
    declared = load_searcher(searcher)
    assert isinstance(declared, AdaptiveAsha)
    return declared.brackets(classic=classic)


def halving(max_trials: int, length: int, divisor: float, max_rungs: int = 5) -> Halving:
    return Halving(max_trials, length, max_rungs, divisor, max_concurrent=16)


ROWS: list[tuple[dict[str, Any], list[int], list[int], list[int], list[list[int]]]] = [
    (FIRST, [3, 2], [12, 4], [8, 8], [[62, 250, 1000], [250, 1000]]),
    ({**FIRST, "mode": "aggressive"}, [3], [16], [16], [[62, 250, 1000]]),
    (
        {**FIRST, "mode": "conservative"},
        [3, 2, 1],
        [12, 3, 1],
        [6, 5, 5],
        [[62, 250, 1000], [250, 1000], [1000]],
    ),
    (
        {"max_trials": 100, "max_time": 937},
        [4, 3, 2],
        [70, 22, 8],
        [6, 5, 5],
        [[14, 58, 234, 937], [58, 234, 937], [234, 937]],
    ),
    (
        {"max_trials": 128, "max_time": 6400},
        [4, 3, 2],
        [89, 29, 10],
        [6, 5, 5],
        [[100, 400, 1600, 6400], [400, 1600, 6400], [1600, 6400]],
    ),
    (
        {"max_trials": 500, "max_time": 1000},
        [5, 4, 3],
        [354, 110, 36],
        [6, 5, 5],
        [[3, 15, 62, 250, 1000], [15, 62, 250, 1000], [62, 250, 1000]],
    ),
    (
        {"max_trials": 1000, "max_time": 64, "max_concurrent_trials": 0},
        [4, 3, 2],
        [687, 228, 85],
        [85, 85, 85],
        [[1, 4, 16, 64], [4, 16, 64], [16, 64]],
    ),
    ({"max_trials": 10, "max_time": 100, "max_concurrent_trials": 2}, [2, 1], [7, 3], [1, 1], [[25, 100], [100]]),
    (
        {"max_trials": 10, "max_time": 1000, "divisor": 3, "mode": "conservative", "max_concurrent_trials": 5},
        [3, 2, 1],
        [7, 2, 1],
        [2, 2, 1],
        [[111, 333, 1000], [333, 1000], [1000]],
    ),
    (
        {"max_trials": 10, "max_time": 900, "divisor": 3, "max_rungs": 10, "max_concurrent_trials": 5},
        [3, 2],
        [7, 3],
        [3, 2],
        [[100, 300, 900], [300, 900]],
    ),
    ({"max_trials": 5, "max_time": 900, "divisor": 3, "max_rungs": 2}, [2, 1], [3, 2], [8, 8], [[300, 900], [900]]),
    ({"max_trials": 1, "max_time": 1000}, [1], [1], [16], [[1000]]),
    ({"max_trials": 2, "max_time": 1000}, [1], [2], [16], [[1000]]),
    (
        {"max_trials": 20, "max_time": 100, "divisor": 3, "bracket_rungs": [1, 2, 3]},
        [3, 2, 1],
        [12, 5, 3],
        [6, 5, 5],
        [[11, 33, 100], [33, 100], [100]],
    ),
]


@pytest.mark.parametrize("classic", [False, True])
@pytest.mark.parametrize(("config", "rungs", "trials", "concurrent", "lengths"), ROWS)
def test_brackets_are_those_of_the_table(
    config: dict[str, Any],
    rungs: list[int],
    trials: list[int],
    concurrent: list[int],
    lengths: list[list[int]],
    classic: bool,
) -> None:
    searcher = {**LATE, **config, "max_length": {"batches": config["max_time"]}}
    brackets = brackets_of(searcher, classic=classic)
    assert [bracket.rungs for bracket in brackets] == rungs
    assert [bracket.max_trials for bracket in brackets] == trials
    assert [bracket.max_concurrent for bracket in brackets] == concurrent
    assert [bracket.lengths() for bracket in brackets] == lengths


@pytest.mark.parametrize(
    ("trials", "divisor", "rungs", "expected"),
    [(50, 3, [4, 3], [35, 15]), (50, 4, [3, 2], [37, 13]), (1, 4, [3, 2, 1], [1, 1, 1])],
)
def test_trials_are_shared_out_by_depth(trials: int, divisor: float, rungs: list[int], expected: list[int]) -> None:
    assert bracket_trials(trials, divisor, rungs) == expected


@pytest.mark.parametrize(
    ("concurrent", "divisor", "trials", "expected"),
    [
        (0, 3, [9, 3, 1], [3, 3, 3]),
        (11, 3, [9, 3, 1], [4, 4, 3]),
        (0, 4, [40, 10], [10, 10]),
        (1, 4, [40, 10], [1, 1]),
    ],
)
def test_concurrency_is_shared_out_evenly(
    concurrent: int, divisor: float, trials: list[int], expected: list[int]
) -> None:
    assert bracket_concurrency(concurrent, divisor, trials) == expected


@pytest.mark.parametrize(("length", "divisor", "expected"), [(1000, 10, 3), (243, 3, 5)])
def test_rungs_follow_the_truncated_quotient_of_logarithms(length: int, divisor: float, expected: int) -> None:
    assert useful_rungs(halving(10**9, length, divisor, max_rungs=50)) == expected


@pytest.mark.parametrize(("length", "expected"), [(16, 3), (64, 4), (256, 5), (1024, 6), (4096, 7)])
def test_powers_of_four_give_whole_logarithms(length: int, expected: int) -> None:
    assert useful_rungs(halving(10**9, length, 4, max_rungs=50)) == expected


@pytest.mark.parametrize(
    ("mode", "rungs", "expected"),
    [
        (Mode.AGGRESSIVE, 5, [5]),
        (Mode.STANDARD, 5, [5, 4, 3]),
        (Mode.STANDARD, 4, [4, 3, 2]),
        (Mode.STANDARD, 1, [1]),
        (Mode.CONSERVATIVE, 4, [4, 3, 2, 1]),
    ],
)
def test_mode_chooses_the_brackets(mode: Mode, rungs: int, expected: list[int]) -> None:
    assert mode_rungs(mode, rungs) == expected


@pytest.mark.parametrize("trials", [1, 2, 3, 7, 50, 1000])
def test_extension_is_split_exactly(trials: int) -> None:
    shares = split_trials(trials, 4, [4, 3, 2])
    assert sum(shares) == trials
    assert shares == sorted(shares, reverse=True)


def test_brackets_too_deep_for_numbers_are_refused() -> None:
    with pytest.raises(InvalidConfig, match=r"searcher\.bracket_rungs: 9999 rungs are too many for divisor 4"):
        NumberedSearch(**LATE, **FIRST, bracket_rungs=[2, 9999])


def test_first_example_begins_twelve_trials_and_creates_the_rest_in_the_deep_bracket() -> None:
    search = NumberedSearch(**LATE, **FIRST)
    assert search.start() == [f"create {trial}" for trial in range(1, 13)]
    table = search.state()["trial_table"]
    assert [table[request_id] for request_id in search.ids] == [0] * 8 + [1] * 4
    assert search.report(1, 0.1, 62) == []
    assert [search.report(trial, 0.1 * trial, 62) for trial in range(2, 6)] == [
        ["stop 2", "create 13"],
        ["stop 3", "create 14"],
        ["stop 4", "create 15"],
        ["stop 5", "create 16"],
    ]
    assert search.report(6, 0.6, 62) == ["stop 6"]
    assert search.report(9, 0.9, 250) == []
    assert search.report(10, 1.0, 250) == ["stop 10"]
    assert {search.state()["trial_table"][request_id] for request_id in search.ids[12:]} == {0}


@pytest.mark.parametrize("max_trials", [1, 3, 10, 64])
@pytest.mark.parametrize("mode", list(Mode))
@pytest.mark.parametrize("stop_once", [False, True])
def test_classic_search_runs_the_trials_of_its_brackets(max_trials: int, mode: Mode, stop_once: bool) -> None:
    config = {"name": "adaptive_asha", "mode": mode, "max_trials": max_trials, "max_length": 100}
    search = NumberedSearch(classic=True, stop_once=stop_once, **config)
    search.start()
    draw = random.Random(5)
    completed: set[tuple[int, int]] = set()
    while open_trials := [trial for trial in search.lengths if (trial, search.lengths[trial][-1]) not in completed]:
        trial = draw.choice(open_trials)
        completed.add((trial, search.lengths[trial][-1]))
        search.complete(trial, draw.random())
    brackets = brackets_of(config, classic=True)
    assert len(search.ids) == sum(bracket.max_trials for bracket in brackets)
    assert [search.exit(trial) for trial in search.lengths][-1] == ["shutdown"]
    allowed = {tuple(bracket.lengths()[: top + 1]) for bracket in brackets for top in range(bracket.rungs)}
    assert {tuple(lengths) for lengths in search.lengths.values()} <= allowed


def test_stop_once_chooses_the_classic_form() -> None:
    waiting = NumberedSearch(classic=True, name="adaptive_asha", max_trials=16, max_length=1000)
    stopping = NumberedSearch(classic=True, name="adaptive_asha", max_trials=16, max_length=1000, stop_once=True)
    for search in (waiting, stopping):
        search.start()
    assert waiting.complete(1, 0.1) == ["create 13", "13 to 62"]
    assert stopping.complete(1, 0.1) == ["1 to 250"]


def test_late_form_hands_out_no_lengths_even_beside_a_max_length() -> None:
    search = NumberedSearch(**LATE, **FIRST, max_length=77)
    assert {type(op) for op in search.search.start()} == {Create}


def test_invalid_trial_is_replaced_in_its_own_bracket() -> None:
    search = NumberedSearch(**LATE, **FIRST)
    search.start()
    assert search.leave(9, ExitReason.INVALID_HP) == ["stop 9", "create 13"]
    assert search.state()["trial_table"][search.ids[12]] == 1


def test_extension_adds_exactly_that_many_trials_over_the_brackets() -> None:
    search = NumberedSearch(classic=True, name="adaptive_asha", max_trials=16, max_length=1000, max_concurrent_trials=0)
    search.start()
    search.extend(10)
    search.restart()
    completed: set[tuple[int, int]] = set()
    while open_trials := [trial for trial in search.lengths if (trial, search.lengths[trial][-1]) not in completed]:
        completed.add((open_trials[0], search.lengths[open_trials[0]][-1]))
        search.complete(open_trials[0], 0.5)
    assert len(search.ids) == 26
    table = search.state()["trial_table"]
    assert [list(table.values()).count(bracket) for bracket in (0, 1)] == [12 + 8, 4 + 2]


def test_search_that_was_over_goes_on_when_it_is_extended() -> None:
    search = NumberedSearch(**LATE, max_trials=2, max_time=10)
    search.start()
    assert [search.report(trial, 0.1, 10) for trial in (1, 2)] == [["stop 1"], ["stop 2"]]
    assert [search.exit(trial) for trial in (1, 2)] == [[], ["shutdown"]]
    assert search.extend(1) == ["create 3"]
    assert search.report(3, 0.1, 10) == ["stop 3"]
    assert search.exit(3) == ["shutdown"]


def test_operations_name_trials_that_exist() -> None:
    search = NumberedSearch(classic=True, name="adaptive_asha", max_trials=3, max_length=64, mode="conservative")
    operations = search.search.start()
    made = {op.request_id for op in operations if isinstance(op, Create)}
    assert {op.request_id for op in operations if isinstance(op, ValidateAfter | Stop)} == made
