"""ASHA that stops trials: who is stopped at which rung, late and classic (`stop_once`)."""

import math
from typing import Any

import pytest
from numbered_search import NumberedSearch

from determined.errors import FailedPrecondition, InvalidArgument, InvalidConfig
from determined.search.method import WORST, ExitReason
from determined.search.rungs import Rung, rung_lengths

TRACE = {"max_time": 9, "num_rungs": 3, "divisor": 3, "max_trials": 5, "max_concurrent_trials": 2}
TEN = {"max_time": 900, "num_rungs": 3, "divisor": 3, "max_trials": 10, "max_concurrent_trials": 3}


def late(**config: Any) -> NumberedSearch:
    search = NumberedSearch(name="async_halving", time_metric="epochs", **config)
    search.start()
    return search


def stop_once(**config: Any) -> NumberedSearch:
    search = NumberedSearch(classic=True, name="async_halving", stop_once=True, **config)
    search.start()
    return search


@pytest.mark.parametrize(
    ("length", "divisor", "rungs", "expected"),
    [
        (9, 3, 3, [1, 3, 9]),
        (9000, 3, 3, [1000, 3000, 9000]),
        (12, 3, 3, [1, 4, 12]),
        (1000, 4, 5, [3, 15, 62, 250, 1000]),
        (937, 4, 4, [14, 58, 234, 937]),
        (100, 4, 1, [100]),
    ],
)
def test_rungs_divide_the_length(length: int, divisor: float, rungs: int, expected: list[int]) -> None:
    assert rung_lengths(length, divisor, rungs) == expected


@pytest.mark.parametrize(
    ("length", "divisor", "rungs", "expected"),
    [(4, 4, 5, [1, 4]), (1, 4, 3, [1]), (0, 4, 3, [1]), (3, 1.5, 6, [1, 2, 3]), (10, 1.01, 9, [9, 10])],
)
def test_equal_rungs_are_merged(length: int, divisor: float, rungs: int, expected: list[int]) -> None:
    assert rung_lengths(length, divisor, rungs) == expected


def test_a_thousand_rungs_are_no_more_than_the_length_has() -> None:
    assert rung_lengths(16, 4, 1000) == [1, 4, 16]


def test_rung_finds_a_trial_among_equals() -> None:
    rung = Rung(1)
    for trial, metric in [("a", 0.5), ("b", 0.5), ("c", 0.1), ("d", 0.5)]:
        rung.insert_behind(trial, metric)
    assert rung.insert_ahead("e", 0.5) == 1
    rung.remove("b")
    rung.remove("unknown")
    assert rung.trials() == ["c", "e", "a", "d"]
    assert "b" not in rung and "a" in rung


def test_trace_of_the_specification() -> None:
    search = NumberedSearch(name="async_halving", time_metric="epochs", **TRACE)
    assert search.start() == ["create 1", "create 2"]
    assert search.report(1, 0.5, 1) == []
    assert search.report(2, 0.4, 1) == []
    assert search.report(1, 0.45, 2) == []
    assert search.report(1, 0.3, 3) == []
    assert search.report(2, 0.35, 9) == ["stop 2", "create 3"]
    assert search.report(3, 0.4, 1) == []
    assert search.report(3, 0.2, 3) == []
    assert search.report(1, 0.25, 9) == ["stop 1", "create 4"]
    assert search.report(4, 0.6, 1) == ["stop 4", "create 5"]
    assert search.report(5, 0.1, 1) == []
    assert search.report(5, 0.1, 9) == ["stop 5"]
    assert search.report(3, 0.15, 9) == ["stop 3"]
    assert [search.exit(trial) for trial in (1, 2, 3, 4)] == [[]] * 4
    assert search.exit(5) == ["shutdown"]


def run_to_the_end(search: NumberedSearch, metric_of: dict[int, float]) -> dict[int, int]:
    """Report every open trial in turn at 100, 300, 900; returns where each was stopped."""
    reached: dict[int, int] = {}
    trial = 1
    while trial <= len(search.ids):
        for length in (100, 300, 900):
            reached[trial] = length
            if f"stop {trial}" in search.report(trial, metric_of[trial], length):
                break
        trial += 1
    return reached


def test_worsening_trials_stop_at_the_first_rung_but_for_one() -> None:
    reached = run_to_the_end(late(**TEN), {trial: 0.1 * trial for trial in range(1, 11)})
    assert reached == {1: 900} | dict.fromkeys(range(2, 11), 100)


def test_improving_trials_all_reach_the_top() -> None:
    search = late(smaller_is_better=False, **TEN)
    assert run_to_the_end(search, {trial: 0.1 * trial for trial in range(1, 11)}) == dict.fromkeys(range(1, 11), 900)


@pytest.mark.parametrize(
    ("config", "initial"),
    [
        ({"max_concurrent_trials": 2, "max_trials": 5}, 2),
        ({"max_concurrent_trials": 9, "max_trials": 5}, 5),
        ({"max_concurrent_trials": 0, "max_trials": 50}, 9),
        ({"max_concurrent_trials": 0, "max_trials": 5}, 5),
        ({"max_concurrent_trials": 0, "max_trials": 5, "num_rungs": 1}, 1),
        ({"max_concurrent_trials": 0, "max_trials": 5, "num_rungs": 1000, "divisor": 4.0}, 5),
        ({"max_trials": 50}, 16),
    ],
)
def test_initial_trials_are_as_many_as_may_run_at_once(config: dict[str, Any], initial: int) -> None:
    whole = {"num_rungs": 3, "divisor": 3, "max_time": 9, "time_metric": "epochs", **config}
    assert len(NumberedSearch(name="async_halving", **whole).start()) == initial


def test_single_rung_lets_every_trial_train_to_the_end() -> None:
    search = late(num_rungs=1, max_time=10, max_trials=2, max_concurrent_trials=1)
    assert search.report(1, 0.5, 9.99) == []
    assert search.report(1, 0.5, 10) == ["stop 1", "create 2"]
    assert search.report(2, 0.9, 10) == ["stop 2"]


def test_report_of_a_stopped_trial_is_not_heard() -> None:
    search = late(**TRACE)
    search.report(1, 0.1, 1)
    assert search.report(2, 0.9, 1) == ["stop 2", "create 3"]
    before = search.state()
    assert search.report(2, 0.0, 9) == []
    assert search.state() == before


def test_nan_is_the_worst_metric_and_no_length_at_all() -> None:
    search = late(**TRACE)
    assert search.report(1, 0.5, math.nan) == []
    assert search.report(1, 1e300, 1) == []
    assert search.report(2, math.nan, 1) == ["stop 2", "create 3"]
    assert search.state()["rungs"][0]["metrics"] == [1e300, WORST]


def test_metric_that_is_no_number_is_an_error() -> None:
    with pytest.raises(InvalidArgument, match="'loss' is 'good', not a number"):
        late(**TRACE).report(1, "good", 1)  # type: ignore[arg-type]


@pytest.mark.parametrize("reason", [ExitReason.INVALID_HP, ExitReason.INIT_INVALID_HP])
def test_invalid_trial_is_stopped_replaced_and_forgotten(reason: ExitReason) -> None:
    search = late(**TRACE)
    search.report(1, 0.3, 3)
    assert search.leave(1, reason) == ["stop 1", "create 3"]
    assert [rung["request_ids"] for rung in search.state()["rungs"]] == [[], [], []]
    assert search.exit(1) == []
    assert search.state()["invalid_trials"] == 1


def test_invalid_trials_use_up_no_budget() -> None:
    search = late(max_time=1, num_rungs=1, max_trials=1)
    assert [search.leave(trial, ExitReason.INVALID_HP) for trial in (1, 2)] == [
        ["stop 1", "create 2"],
        ["stop 2", "create 3"],
    ]
    assert search.report(3, 0.1, 1) == ["stop 3"]


def test_invalid_trial_that_was_stopped_is_not_stopped_again() -> None:
    search = late(**TRACE)
    search.report(1, 0.1, 9)
    assert search.leave(1, ExitReason.INVALID_HP) == ["create 4"]


@pytest.mark.parametrize("reason", [ExitReason.ERRORED, ExitReason.USER_CANCELED, ExitReason.USER_REQUESTED_STOP])
def test_trial_that_leaves_early_ranks_worst_and_another_takes_its_place(reason: ExitReason) -> None:
    search = late(**TRACE)
    search.report(1, 0.5, 1)
    assert search.leave(1, reason) == ["create 3"]
    assert search.exit(1) == []
    rungs = search.state()["rungs"]
    assert [rung["metrics"] for rung in rungs] == [[0.5], [WORST], []]


def test_trial_that_fails_after_its_stop_changes_nothing() -> None:
    search = late(**TRACE)
    search.report(1, 0.1, 1)
    assert search.report(2, 0.9, 1) == ["stop 2", "create 3"]
    assert search.leave(2, ExitReason.ERRORED) == []
    assert [len(rung["metrics"]) for rung in search.state()["rungs"]] == [2, 0, 0]


def test_failed_trials_count_against_the_budget() -> None:
    search = late(**TRACE)
    heard = [search.leave(trial, ExitReason.ERRORED) + search.exit(trial) for trial in range(1, 6)]
    assert heard == [["create 3"], ["create 4"], ["create 5"], [], ["shutdown failed"]]


def test_trial_that_finishes_by_itself_is_not_replaced() -> None:
    search = late(**TRACE)
    search.report(1, 0.5, 2)
    search.report(2, 0.4, 2)
    assert search.exit(1) == []
    assert search.exit(2) == ["shutdown"]


def test_trial_that_never_reported_fails_the_search_by_name() -> None:
    search = late(**TRACE)
    with pytest.raises(
        FailedPrecondition, match=r"searcher\.metric 'loss'.*searcher\.time_metric 'epochs'.*report both"
    ):
        search.exit(1)


def test_progress_counts_first_rung_results_then_exits() -> None:
    search = late(max_time=2, num_rungs=2, divisor=2, max_trials=2)
    assert search.search.progress() == 0
    search.report(1, 0.5, 1)
    assert search.search.progress() == pytest.approx(1 / 2.4)
    search.report(2, 0.4, 2)
    assert search.search.progress() == pytest.approx(2 / 2.4)
    search.exit(2)
    search.report(1, 0.5, 2)
    search.exit(1)
    assert search.search.progress() == 1


def test_extended_search_fills_its_places_again() -> None:
    search = late(max_time=1, num_rungs=1, max_trials=3, max_concurrent_trials=2)
    for trial in (1, 2, 3):
        search.report(trial, 0.1, 1)
    assert [search.exit(trial) for trial in (1, 2, 3)] == [[], [], ["shutdown"]]
    assert search.extend(3) == ["create 4", "create 5"]
    assert search.report(4, 0.2, 1) == ["stop 4", "create 6"]
    assert search.report(5, 0.2, 1) == ["stop 5"]


def test_search_extended_while_it_is_full_draws_later() -> None:
    search = late(max_time=1, num_rungs=1, max_trials=2, max_concurrent_trials=2)
    assert search.extend(1) == []
    assert search.report(1, 0.1, 1) == ["stop 1", "create 3"]
    assert search.report(2, 0.1, 1) == ["stop 2"]


def test_places_of_stopped_trials_that_have_not_left_yet_are_free_for_an_extension() -> None:
    search = late(max_time=1, num_rungs=1, max_trials=2, max_concurrent_trials=2)
    search.report(1, 0.1, 1)
    search.report(2, 0.1, 1)
    assert search.extend(2) == ["create 3", "create 4"]


def test_rungs_come_from_the_snapshot() -> None:
    search = late(**TRACE)
    search.report(1, 0.5, 1)
    snapshot = search.search.snapshot()
    snapshot["config"]["searcher"]["max_time"] = 900
    restored = type(search.search).restore(snapshot)
    assert [rung["units_needed"] for rung in restored.snapshot()["search_method_state"]["rungs"]] == [1, 3, 9]


def test_snapshot_has_the_words_of_the_specification() -> None:
    state = late(**TRACE).state()
    assert state["search_method_type"] == "asha"
    assert {"rungs", "trial_rungs", "early_exit_trials", "trials_completed", "invalid_trials"} <= set(state)


@pytest.mark.parametrize("missing", ["num_rungs", "max_trials", "max_time", "time_metric"])
def test_incomplete_config_names_the_field(missing: str) -> None:
    config = {key: value for key, value in {**TRACE, "time_metric": "epochs"}.items() if key != missing}
    with pytest.raises(InvalidConfig, match=rf"searcher\.{missing}: `{missing}` is a required property"):
        NumberedSearch(name="async_halving", **config)


CLASSIC = {"max_length": {"batches": 9}, "num_rungs": 3, "divisor": 3, "max_trials": 5, "max_concurrent_trials": 2}


def test_stop_once_goes_from_rung_to_rung_by_operations() -> None:
    search = NumberedSearch(classic=True, name="async_halving", stop_once=True, **CLASSIC)
    assert search.start() == ["create 1", "1 to 1", "create 2", "2 to 1"]
    assert search.complete(1, 0.5) == ["1 to 3"]
    assert search.complete(2, 0.6) == ["close 2", "create 3", "3 to 1"]
    assert search.complete(3, 0.5) == ["3 to 3"]  # a tie ranks ahead of older equals
    assert search.complete(1, 0.3) == ["1 to 9"]
    assert search.complete(3, 0.4) == ["close 3", "create 4", "4 to 1"]
    assert search.complete(1, 0.2) == ["close 1", "create 5", "5 to 1"]
    assert search.complete(4, 0.9) == ["close 4"]
    assert search.complete(5, 0.9) == ["close 5"]
    assert [search.exit(trial) for trial in range(1, 6)] == [[], [], [], [], ["shutdown"]]


def test_stop_once_cuts_as_the_late_form_does() -> None:
    metrics = {trial: (trial * 37 % 11) / 11 for trial in range(1, 11)}
    timed = run_to_the_end(late(**TEN), metrics)
    search = stop_once(**{key: value for key, value in TEN.items() if key != "max_time"}, max_length={"batches": 900})
    for trial in range(1, 11):
        while f"close {trial}" not in search.complete(trial, metrics[trial]):
            pass
    assert {trial: lengths[-1] for trial, lengths in search.lengths.items()} == timed


def test_stop_once_refuses_an_operation_completed_twice() -> None:
    search = stop_once(**CLASSIC)
    search.complete(1, 0.5)
    with pytest.raises(FailedPrecondition, match="length 1, but its current operation is 3"):
        search.report(1, 0.5, 1)
    search.complete(2, 0.6)
    with pytest.raises(FailedPrecondition, match="length 1, but its current operation is None"):
        search.report(2, 0.6, 1)


def test_stop_once_closes_and_replaces_an_invalid_trial() -> None:
    search = stop_once(**CLASSIC)
    search.complete(1, 0.5)
    assert search.leave(1, ExitReason.INVALID_HP) == ["close 1", "create 3", "3 to 1"]
    assert search.complete(1, 0.1) == []
    assert [rung["metrics"] for rung in search.state()["rungs"]] == [[], [], []]


@pytest.mark.parametrize("plainly", [True, False])
def test_stop_once_trial_that_leaves_its_operation_fills_no_higher_rung(plainly: bool) -> None:
    search = stop_once(**CLASSIC)
    heard = search.exit(1) if plainly else search.leave(1, ExitReason.ERRORED)
    assert heard == ["create 3", "3 to 1"]
    assert [rung["metrics"] for rung in search.state()["rungs"]] == [[WORST], [], []]


def test_stop_once_merges_rungs_so_that_no_length_comes_twice() -> None:
    search = stop_once(max_length={"epochs": 4}, num_rungs=5, max_trials=1)
    search.complete(1, 0.5)
    assert search.complete(1, 0.5) == ["close 1"]
    assert search.lengths == {1: [1, 4]}


def test_restarts_between_events_change_nothing() -> None:
    search, restarted = late(**TRACE), late(**TRACE)
    for trial, metric, length in [(1, 0.5, 1), (2, 0.6, 1), (3, 0.1, 9), (1, 0.4, 9), (4, 0.7, 1)]:
        assert search.report(trial, metric, length) == restarted.report(trial, metric, length)
        restarted.restart()
    assert search.search.snapshot() == restarted.search.snapshot()
