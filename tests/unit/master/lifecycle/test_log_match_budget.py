"""Searches of log lines are limited: no pattern and no text holds up the writer."""

import pytest

from determined.config.log_policies import MAX_PATTERN_SIZE, pattern_problem
from determined.master.lifecycle.log_match_budget import MatchBudget
from determined.master.lifecycle.log_pattern import Batch, compile_pattern, matching_lines

FREE = 0.02  # of a small batch


class Times:
    """Clock and work of a thread, which a test moves on."""

    def __init__(self) -> None:
        self.now = 0.0
        self.worked = 0.0

    def budget(self) -> MatchBudget:
        return MatchBudget(lambda: self.now, lambda: self.worked)


@pytest.fixture
def times() -> Times:
    return Times()


def searched(times: Times, budget: MatchBudget, owner: str, pieces: int, seconds: float) -> int:
    """Search a batch whose pieces take so long each; return how many were searched."""
    matching = budget.begin(owner, 0)
    for n in range(pieces):
        if not matching.may_go_on():
            return n
        with matching.timed():
            times.worked += seconds
    return pieces


def test_quick_searches_are_never_limited(times: Times) -> None:
    budget = times.budget()
    assert all(searched(times, budget, "ada", 100, FREE / 200) == 100 for _ in range(1000))


def test_a_slow_search_ends_and_the_next_batch_waits_for_the_account(times: Times) -> None:
    budget = times.budget()
    assert searched(times, budget, "bob", 1000, 0.05) == 3, "the batch's own time and a tenth of a second"
    assert [searched(times, budget, "bob", 1000, 0.15) for _ in range(4)] == [1, 1, 1, 0], "the account's half second"
    assert searched(times, budget, "bob", 1000, 0.1) == 0
    times.now += 10
    assert 1 <= sum(searched(times, budget, "bob", 1000, 0.15) for _ in range(9)) <= 4, "a twentieth of ten seconds"


def test_slow_searches_of_some_do_not_stop_quick_ones_of_others(times: Times) -> None:
    budget = times.budget()
    searched(times, budget, "bob", 1000, 0.1)
    assert searched(times, budget, "ada", 100, FREE / 200) == 100


def test_many_slow_limited_owners_share_one_account(times: Times) -> None:
    budget = times.budget()
    total = sum(searched(times, budget, f"user {n}", 1000, 0.01) for n in range(10)) * 0.01
    assert total < 0.5 + 10 * 2 * FREE, "each has its own time once, and the half second is for all"


def test_limited_owners_are_not_remembered_without_end(times: Times) -> None:
    budget = times.budget()
    for n in range(1500):
        searched(times, budget, f"user {n}", 10, 1.0)
    assert len(budget._limited_owners) == 1000


def test_an_exponential_pattern_stops_in_a_large_batch() -> None:
    pattern = compile_pattern("(a|b)*a(a|b){100}c")
    assert pattern is not None
    batch = Batch.of(["ab" * 1000 + "b" * 90 + "c"] * 500)
    work = iter(range(10_000))  # a second for each piece
    budget = MatchBudget(lambda: 0.0, lambda: float(next(work)))
    matching = budget.begin("bob", batch.size)
    assert matching_lines(pattern, batch, matching) == []
    assert next(work) <= 6, "two times for each of the pieces that were searched"


def test_all_lines_that_match_are_found_across_pieces() -> None:
    texts = [f"{'x' * (n % 50)} line {n}" + (" error" if n % 97 == 0 else "") for n in range(5000)]
    expected = [n for n in range(5000) if n % 97 == 0]
    for text in (".*error.*", "error", "(?i)ERROR", "error$"):
        pattern = compile_pattern(text)
        assert pattern is not None
        assert matching_lines(pattern, Batch.of(texts)) == expected
    assert matching_lines(pattern, Batch.of([])) == []


def test_empty_lines_and_lines_with_line_breaks_are_searched_one_by_one() -> None:
    empty, end = compile_pattern("^$"), compile_pattern("end$")
    assert empty is not None and end is not None
    filler = "x" * 4095  # with its line break as long as a piece
    for texts in ([""], ["", "a"], ["a", ""], [filler, ""], [filler] * 40 + ["", "b", ""]):
        assert matching_lines(empty, Batch.of(texts)) == [i for i, text in enumerate(texts) if not text]
    assert matching_lines(end, Batch.of(["an end\nand more", "the end", "more\nthe end"])) == [1, 2]


def test_a_very_long_line_is_searched_at_its_beginning() -> None:
    pattern = compile_pattern("error")
    assert pattern is not None
    assert matching_lines(pattern, Batch.of(["error" + "x" * 100_000, "x" * 100_000 + "error"])) == [0]


def test_a_pattern_of_too_many_instructions_is_refused() -> None:
    large = "[^a]{900}" * 2
    assert "pattern too large" in str(pattern_problem(large))
    assert compile_pattern(large) is None
    assert pattern_problem("(?i)cuda out of memory.{0,100}[0-9]+ GiB") is None
    assert MAX_PATTERN_SIZE > 1000, "a plain text of 1000 characters has as many instructions"
