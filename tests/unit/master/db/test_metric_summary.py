"""Summaries of metrics: those of a naive computation, in whatever batches the reports came."""

import math
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from determined.master.db.metric_chunk import Row
from determined.master.db.metric_summary import Summary, merge_all, summarize, to_wire

_NUMBERS = st.one_of(
    st.integers(-(2**53), 2**53),
    st.floats(-1e100, 1e100),
    st.sampled_from([math.nan, math.inf, -math.inf]),
)
_CUTS = st.lists(st.integers(1, 5), max_size=20)


def rows(values: list[Any], first: int = 0) -> list[Row]:
    return [Row(first + n, 0.0, {"x": value}) for n, value in enumerate(values)]


def in_batches(values: list[Any], cuts: list[int]) -> Summary:
    """The summary of values that came in batches of these sizes, the rest in one more."""
    total: dict[str, Summary] = {}
    start = 0
    for size in [*cuts, len(values)]:
        batch = rows(values[start : start + size], start)
        start += size
        if batch:
            total |= merge_all(total, summarize(batch))
    return total["x"]


@given(st.lists(_NUMBERS, min_size=1, max_size=40), _CUTS)
def test_numbers_are_summed_up_as_a_naive_computation_does(values: list[float], cuts: list[int]) -> None:
    summary = in_batches(values, cuts)
    finite = [float(v) for v in values if math.isfinite(v)]
    assert (summary.type, summary.count) == ("number", len(finite))
    assert summary.min == min(finite, default=None)
    assert summary.max == max(finite, default=None)
    assert summary.last_step == len(values) - 1
    if finite:
        assert summary.sum == pytest.approx(math.fsum(finite), rel=1e-9, abs=1e-9 * max(map(abs, finite)))
    else:
        assert summary.sum is None


@given(st.lists(st.one_of(st.none(), st.integers(-9, 9)), min_size=1, max_size=20), _CUTS)
def test_null_counts_in_no_number_in_whatever_batch_it_came(values: list[int | None], cuts: list[int]) -> None:
    numbers = [v for v in values if v is not None]
    shown = to_wire(in_batches(values, cuts))
    if not numbers:
        assert shown == {"count": len(values), "last": None, "type": "null"}
        return
    assert (shown["type"], shown["count"], shown["sum"]) == ("number", len(numbers), sum(numbers))
    assert shown["mean"] == pytest.approx(sum(numbers) / len(numbers))
    assert shown["last"] == values[-1]


_MIXED = st.lists(
    st.one_of(st.integers(-9, 9), st.booleans(), st.sampled_from(["a", "b"]), st.just([1]), st.just({"k": 1})),
    min_size=2,
    max_size=20,
)


@given(_MIXED, _CUTS)
def test_a_metric_of_several_types_has_one_summary_in_whatever_batches_it_came(
    values: list[Any], cuts: list[int]
) -> None:
    assert in_batches(values, cuts) == in_batches(values, [])


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([1, 2.5], "number"),
        ([True, False], "boolean"),
        (["a"], "string"),
        ([[1], []], "array"),
        ([{}], "object"),
        ([None], "null"),
        ([None, "a"], "string"),
        ([None, True], "boolean"),
        ([1, "a"], "string"),
        ([True, 1], "string"),
        ([{}, []], "string"),
        (["NaN", 1.0], "string"),
        ([math.nan], "number"),
    ],
)
@pytest.mark.parametrize("cuts", [[], [1]])
def test_the_type_is_that_of_all_values_or_text(values: list[Any], kind: str, cuts: list[int]) -> None:
    assert in_batches(values, cuts).type == kind


def test_a_metric_that_is_not_a_number_shows_no_sums() -> None:
    assert to_wire(in_batches(["a", "b"], [])) == {"count": 2, "last": "b", "type": "string"}
    assert to_wire(in_batches([1.5, "b"], [1])) == {"count": 2, "last": "b", "type": "string"}


def test_a_number_shows_upstreams_keys() -> None:
    assert to_wire(in_batches([1, 3], [])) == {
        "count": 2, "last": 3, "type": "number", "sum": 4.0, "min": 1.0, "max": 3.0, "mean": 2.0,
    }  # fmt: skip


@pytest.mark.parametrize(("value", "word"), [(math.nan, "NaN"), (math.inf, "Infinity"), (-math.inf, "-Infinity")])
def test_a_last_value_that_json_lacks_is_a_word(value: float, word: str) -> None:
    assert to_wire(in_batches([1.0, value], [1]))["last"] == word
    assert to_wire(in_batches([value], [])) == {"count": 0, "last": word, "type": "number"}


def test_a_sum_beyond_floats_is_a_word_and_the_extremes_stay_numbers() -> None:
    shown = to_wire(in_batches([1e308, 1.5e308], []))
    assert (shown["sum"], shown["mean"]) == ("Infinity", "Infinity")
    assert (shown["min"], shown["max"], shown["count"]) == (1e308, 1.5e308, 2)


def test_the_highest_step_gives_the_last_value_in_whatever_order_reports_came() -> None:
    rng = random.Random(3)
    for _ in range(50):
        reports = rows([float(n) for n in range(10)])
        rng.shuffle(reports)
        cut = rng.randrange(1, 10)
        first, second = summarize(reports[:cut]), summarize(reports[cut:])
        assert (merge_all(first, second)["x"].last, merge_all(first, second)["x"].last_step) == (9.0, 9)


def test_each_name_is_summed_up_over_the_reports_that_carry_it() -> None:
    reports = [Row(1, 0.0, {"a": 1}), Row(2, 0.0, {"a": 2, "b": 5}), Row(3, 0.0, {"b": 7}), Row(4, 0.0, {})]
    found = summarize(reports)
    assert {name: (s.count, s.sum, s.last, s.last_step) for name, s in found.items()} == {
        "a": (2, 3.0, 2, 2),
        "b": (2, 12.0, 7, 3),
    }
    assert summarize([]) == {}


def test_what_a_batch_does_not_name_is_left_as_it_was() -> None:
    old = summarize([Row(1, 0.0, {"a": 1, "b": 1})])
    assert list(merge_all(old, summarize([Row(2, 0.0, {"b": 2, "c": 3})]))) == ["b", "c"]
