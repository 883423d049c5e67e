"""Metric chunks: what goes in comes out, column by column."""

import math
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from determined.master.db.metric_chunk import Chunk, Reports, Row, decode, encode, encode_columns

_VALUES = st.one_of(
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False),
    st.booleans(),
    st.none(),
    st.text(max_size=5),
    st.lists(st.integers(0, 9), max_size=3),
    st.dictionaries(st.text(max_size=3), st.floats(allow_nan=False), max_size=2),
)
_ROWS = st.lists(
    st.builds(
        Row,
        step=st.integers(0, 2**62),
        time=st.floats(0, 1e10),
        metrics=st.dictionaries(st.sampled_from(["a", "b", "c", "ü"]), _VALUES),
        batch_metrics=st.none() | st.just([{"loss": 1.5}]),
    ),
    min_size=1,
    max_size=20,
)


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(rows=_ROWS)
def test_any_rows_survive_the_chunk_with_types(rows: list[Row]) -> None:
    out = decode(encode(rows))
    assert out == rows
    assert [_types(r.metrics) for r in out] == [_types(r.metrics) for r in rows]


def _types(metrics: dict[str, Any]) -> dict[str, type]:
    return {k: type(v) for k, v in metrics.items()}


def test_nan_and_infinities_survive() -> None:
    rows = [Row(1, 0.0, {"x": math.nan}), Row(2, 0.0, {"x": math.inf}), Row(3, 0.0, {"x": -math.inf})]
    first, second, third = (r.metrics["x"] for r in decode(encode(rows)))
    assert math.isnan(first)
    assert (second, third) == (math.inf, -math.inf)


def test_integers_beyond_64_bits_become_floats() -> None:
    assert decode(encode([Row(1, 0.0, {"x": 2**70})]))[0].metrics == {"x": float(2**70)}


def test_one_column_is_read_without_the_others() -> None:
    rows = [Row(i, float(i), {"loss": i / 2, **({"rare": i} if i % 3 == 0 else {})}) for i in range(10)]
    chunk = Chunk(encode(rows))
    loss, rare = chunk.column("loss"), chunk.column("rare")
    assert loss is not None
    assert rare is not None
    assert list(loss.values) == [i / 2 for i in range(10)]
    assert list(rare.dense(10)) == [0, None, None, 3, None, None, 6, None, None, 9]
    assert chunk.column("missing") is None
    assert list(chunk.steps) == list(range(10))


def test_a_chunk_of_an_unknown_version_is_refused() -> None:
    with pytest.raises(ValueError, match="version 9"):
        Chunk(b"\x09" + encode([Row(1, 0.0, {})])[1:])


def test_plain_floats_cost_eight_bytes_each() -> None:
    rows = [Row(i, float(i), {"loss": float(i)}) for i in range(512)]
    assert len(encode(rows)) < 512 * 24 + 64


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(stored=_ROWS, later=_ROWS)
def test_columns_that_follow_a_chunk_are_the_same_as_its_rows_and_later_ones(
    stored: list[Row], later: list[Row]
) -> None:
    joined = Chunk(encode(stored)).reports().followed_by(Reports.of(later))
    assert decode(encode_columns(joined)) == decode(encode([*decode(encode(stored)), *later]))


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(rows=_ROWS, cut=st.integers(0, 20))
def test_parts_of_columns_are_the_same_as_parts_of_the_rows(rows: list[Row], cut: int) -> None:
    columns = Reports.of(rows)
    for part, same in ((columns.part(0, cut), rows[:cut]), (columns.part(cut, len(rows)), rows[cut:])):
        assert decode(encode_columns(part)) == same
