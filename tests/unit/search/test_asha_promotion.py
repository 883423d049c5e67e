"""ASHA that promotes waiting trials: who is promoted when, and who is closed."""

from typing import Any

import pytest
from numbered_search import NumberedSearch

from determined.errors import FailedPrecondition
from determined.search.method import WORST, ExitReason

TWELVE = {
    "max_length": {"batches": 9000},
    "num_rungs": 3,
    "divisor": 3,
    "max_trials": 12,
    "max_concurrent_trials": 0,
}
THREE = {"max_length": {"batches": 9}, "num_rungs": 2, "divisor": 3, "max_trials": 3, "max_concurrent_trials": 3}


def promotion(**config: Any) -> NumberedSearch:
    search = NumberedSearch(classic=True, name="async_halving", **config)
    search.start()
    return search


def lowest_first(search: NumberedSearch) -> dict[str, list[str]]:
    """Complete every operation, always that of the oldest trial that has one; trial k's metric is 0.01k."""
    heard: dict[str, list[str]] = {}
    completed: set[tuple[int, int]] = set()
    while open_trials := [trial for trial in search.lengths if (trial, search.lengths[trial][-1]) not in completed]:
        trial = min(open_trials)
        length = search.lengths[trial][-1]
        completed.add((trial, length))
        heard[f"{trial}@{length}"] = search.complete(trial, 0.01 * trial)
    return heard


def closes(*trials: int) -> list[str]:
    return [f"close {trial}" for trial in trials]


def test_trace_of_the_specification() -> None:
    search = promotion(**TWELVE)
    assert len(search.ids) == 9
    heard = lowest_first(search)
    assert list(heard.items()) == [
        ("1@1000", ["create 10", "10 to 1000"]),
        ("2@1000", ["create 11", "11 to 1000"]),
        ("3@1000", ["1 to 3000"]),
        ("1@3000", ["create 12", "12 to 1000"]),
        ("4@1000", []),
        ("5@1000", []),
        ("6@1000", ["2 to 3000"]),
        ("2@3000", []),
        ("7@1000", []),
        ("8@1000", []),
        ("9@1000", ["3 to 3000"]),
        ("3@3000", ["1 to 9000"]),
        ("1@9000", ["close 1"]),
        ("10@1000", []),
        ("11@1000", []),
        ("12@1000", ["4 to 3000", *closes(5, 6, 7, 8, 9, 10, 11, 12)]),
        ("4@3000", closes(2, 3, 4)),
    ]
    assert search.lengths == {
        1: [1000, 3000, 9000],
        **{trial: [1000, 3000] for trial in (2, 3, 4)},
        **{trial: [1000] for trial in range(5, 13)},
    }
    assert [search.exit(trial) for trial in range(1, 13)] == [[]] * 11 + [["shutdown"]]


def test_rung_is_closed_only_when_nobody_trains_toward_it() -> None:
    search = promotion(**TWELVE)
    for trial in (1, 2, 3):
        search.complete(trial, 0.01 * trial)
    search.complete(1, 0.01)
    for trial in range(4, 12):
        assert not [word for word in search.complete(trial, 0.01 * trial) if "close" in word]
    assert search.complete(12, 0.12) == ["4 to 3000", *closes(5, 6, 7, 8, 9, 10, 11, 12)]
    assert search.complete(2, 0.02) == []
    assert search.complete(3, 0.03) == ["1 to 9000"]
    assert search.complete(4, 0.04) == closes(2, 3, 4)
    assert search.complete(1, 0.01) == ["close 1"]


def test_early_result_is_promoted_although_better_ones_follow() -> None:
    search = promotion(**TWELVE)
    for trial, metric in zip((1, 2, 3), (0.10, 0.11, 0.12), strict=True):
        heard = search.complete(trial, metric)
    assert heard == ["1 to 3000"]
    search.complete(1, 0.10)
    for trial in range(4, 13):
        search.complete(trial, 0.01 + 0.001 * trial)
    assert search.state()["rungs"][0]["request_ids"].index(search.ids[0]) == 9
    assert search.lengths[1] == [1000, 3000]


def test_lengths_in_epochs_need_not_divide_evenly() -> None:
    search = promotion(**{**TWELVE, "max_length": {"epochs": 12}})
    lowest_first(search)
    assert search.lengths[1] == [1, 4, 12]


def test_tie_ranks_behind_older_equals() -> None:
    search = promotion(**THREE)
    for trial in (2, 3, 1):
        heard = search.complete(trial, 0.5)
    assert heard == ["2 to 9", "close 3", "close 1"]


def test_merged_rungs_send_no_trial_to_a_length_twice() -> None:
    search = promotion(max_length={"batches": 3}, num_rungs=6, divisor=3, max_trials=9, max_concurrent_trials=9)
    lowest_first(search)
    assert {tuple(lengths) for lengths in search.lengths.values()} == {(1,), (1, 3)}


def test_concurrency_never_grows() -> None:
    search = promotion(**{**TWELVE, "max_trials": 40, "max_concurrent_trials": 4})
    seen = [sum(search.state()["outstanding_trials"])]
    completed: set[tuple[int, int]] = set()
    while open_trials := [trial for trial in search.lengths if (trial, search.lengths[trial][-1]) not in completed]:
        trial = open_trials[-1]
        completed.add((trial, search.lengths[trial][-1]))
        search.complete(trial, trial * 17 % 40)
        seen.append(sum(search.state()["outstanding_trials"]))
    assert max(seen) == seen[0] == 4
    assert len(search.ids) == 40


def test_operation_completed_twice_is_refused() -> None:
    search = promotion(**THREE)
    search.complete(1, 0.1)
    with pytest.raises(FailedPrecondition, match="length 3, but its current operation is None"):
        search.report(1, 0.1, 3)


def test_operation_completed_again_after_a_promotion_is_refused() -> None:
    search = promotion(**THREE)
    for trial in (1, 2, 3):
        search.complete(trial, 0.1 * trial)
    with pytest.raises(FailedPrecondition, match="length 3, but its current operation is 9"):
        search.report(1, 0.1, 3)


@pytest.mark.parametrize("reason", [ExitReason.INVALID_HP, ExitReason.INIT_INVALID_HP])
def test_invalid_trial_is_closed_replaced_and_forgotten(reason: ExitReason) -> None:
    search = promotion(**THREE)
    search.complete(2, 0.2)
    assert search.leave(1, reason) == ["close 1", "create 4", "4 to 3"]
    assert search.leave(2, reason) == ["close 2", "create 5", "5 to 3"]
    assert search.report(1, 0.0, 3) == []
    state = search.state()
    assert (state["outstanding_trials"], state["invalid_trials"]) == ([3, 0], 2)
    assert [rung["metrics"] for rung in state["rungs"]] == [[], []]


def test_promoted_trial_found_invalid_gives_its_replacement_a_fair_start() -> None:
    search = promotion(**THREE)
    for trial in (1, 2, 3):
        search.complete(trial, 0.1 * trial)
    assert search.leave(1, ExitReason.INVALID_HP) == ["close 1", "create 4", "4 to 3"]
    assert search.complete(4, 0.05) == ["4 to 9"]
    assert search.complete(4, 0.05) == ["close 4"]
    assert [search.exit(trial) for trial in (1, 2, 3, 4)] == [[], [], [], ["shutdown"]]


@pytest.mark.parametrize("reason", [ExitReason.ERRORED, ExitReason.USER_CANCELED, ExitReason.USER_REQUESTED_STOP])
def test_trial_that_leaves_early_completes_its_operation_with_the_worst_metric(reason: ExitReason) -> None:
    search = promotion(**{**THREE, "max_trials": 4})
    assert search.leave(1, reason) == ["create 4", "4 to 3"]
    assert search.exit(1) == []
    assert search.state()["rungs"][0]["metrics"] == [WORST]


def test_trial_that_exits_plainly_during_its_operation_counts_as_left_early() -> None:
    search = promotion(**{**THREE, "max_trials": 4})
    assert search.exit(1) == ["create 4", "4 to 3"]
    assert search.state()["rungs"][0]["metrics"] == [WORST]


def test_search_whose_trials_all_fail_ends() -> None:
    search = promotion(**THREE)
    assert [search.leave(trial, ExitReason.ERRORED) + search.exit(trial) for trial in (1, 2, 3)] == [
        [],
        [],
        ["shutdown failed"],
    ]
    # the best of the failed was promoted, and holds the worst place on the rung above
    assert [rung["metrics"] for rung in search.state()["rungs"]] == [[WORST] * 3, [WORST]]


def test_promotion_of_a_gone_trial_passes_through_every_rung_to_the_next_living_one() -> None:
    nine = {"max_length": {"batches": 8}, "num_rungs": 3, "divisor": 2, "max_trials": 4, "max_concurrent_trials": 4}
    search = promotion(**nine)
    search.complete(1, 0.3)
    assert search.complete(2, 0.2) == ["2 to 4"]
    assert search.complete(2, 0.2) == []
    assert search.leave(1, ExitReason.USER_CANCELED) == []
    assert search.complete(3, 0.4) == []
    # The second place of the first rung belongs to trial 1, which is gone: on the rung above it ranks last of two,
    # and that opens the way to the top for trial 2.
    assert search.complete(4, 0.5) == ["2 to 8", "close 3", "close 4"]
    assert search.complete(2, 0.2) == ["close 2"]
    assert [rung["metrics"][-1] for rung in search.state()["rungs"]] == [0.5, WORST, 0.2]


def test_waiting_trial_that_is_canceled_keeps_its_result_and_is_sent_nowhere() -> None:
    search = promotion(**THREE)
    search.complete(1, 0.1)
    assert search.leave(1, ExitReason.USER_CANCELED) == []
    search.complete(2, 0.2)
    assert search.complete(3, 0.3) == ["close 2", "close 3"]
    assert search.lengths[1] == [3]
    assert [search.exit(trial) for trial in (1, 2, 3)] == [[], [], ["shutdown"]]


def test_progress_counts_first_rung_results_then_exits() -> None:
    search = promotion(**THREE)
    search.complete(1, 0.1)
    assert search.search.progress() == pytest.approx(1 / 3.6)
    search.complete(2, 0.2)
    search.complete(3, 0.3)
    assert search.search.progress() == pytest.approx(3 / 3.6)
    search.complete(1, 0.1)
    for trial in (1, 2, 3):
        search.exit(trial)
    assert search.search.progress() == 1


def test_extended_search_opens_new_trials_and_leaves_closed_ones_alone() -> None:
    search = promotion(**THREE)
    for trial in (1, 2, 3):
        search.complete(trial, 0.1 * trial)
    assert search.complete(1, 0.1) == ["close 1"]
    for trial in (1, 2, 3):
        search.exit(trial)
    assert search.extend(3) == ["create 4", "4 to 3", "create 5", "5 to 3", "create 6", "6 to 3"]
    search.complete(4, 0.7)
    search.complete(5, 0.8)
    # The second of six may go on, but that is trial 2, closed long ago.
    assert search.complete(6, 0.9) == ["close 4", "close 5", "close 6"]


def test_good_trial_of_an_extension_is_promoted() -> None:
    search = promotion(**THREE)
    for trial in (1, 2, 3):
        search.complete(trial, 0.1 * trial)
    search.complete(1, 0.1)
    search.extend(3)
    search.complete(4, 0.7)
    search.complete(5, 0.8)
    assert search.complete(6, 0.05) == ["6 to 9", "close 4", "close 5"]


def test_extension_opens_no_more_than_may_run_at_once() -> None:
    search = promotion(**{**THREE, "max_concurrent_trials": 2})
    assert search.extend(5) == []
    assert search.complete(1, 0.1) == ["create 3", "3 to 3"]


def test_snapshot_keeps_rungs_and_operations() -> None:
    search, restarted = promotion(**TWELVE), promotion(**TWELVE)
    for trial in (3, 1, 2, 5, 4, 8):
        assert search.complete(trial, 0.01 * trial) == restarted.complete(trial, 0.01 * trial)
        restarted.restart()
    assert search.search.snapshot() == restarted.search.snapshot()
