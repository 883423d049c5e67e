"""Log chunks and the filter over them."""

from array import array
from datetime import UTC, datetime

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from determined.master.db import log_chunk
from determined.master.db.log_chunk import Lines, Origin
from determined.master.db.log_filter import LogFilter

_ORIGINS = [Origin("a.1", "c", "n", None), Origin("a.1", "c", "n", 3, "stderr"), Origin(source="master")]
_LINES = st.lists(
    st.tuples(
        st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=20),
        st.integers(0, 2**50),
        st.integers(0, len(log_chunk.LEVELS) - 1),
        st.integers(0, 2),
    ),
    min_size=1,
    max_size=30,
)


def make(rows: list[tuple[str, int, int, int]]) -> Lines:
    texts, times, levels, origin = zip(*rows, strict=True)
    return Lines(list(texts), array("q", times), bytes(levels), list(origin), _ORIGINS)


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(rows=_LINES)
def test_any_lines_survive_the_chunk(rows: list[tuple[str, int, int, int]]) -> None:
    out = log_chunk.decode(log_chunk.encode(make(rows)))
    assert list(zip(out.texts, out.times, out.levels, out.origin, strict=True)) == rows
    assert out.origins == _ORIGINS


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(first=_LINES, second=_LINES)
def test_chunks_join_without_mixing_up_who_wrote_what(
    first: list[tuple[str, int, int, int]], second: list[tuple[str, int, int, int]]
) -> None:
    moved = make(second)
    shuffled = Lines(moved.texts, moved.times, moved.levels, [2 - i for i in moved.origin], _ORIGINS[::-1])
    both = make(first) + shuffled
    assert both.texts == [row[0] for row in [*first, *second]]
    assert [both.origins[i] for i in both.origin] == [_ORIGINS[row[3]] for row in [*first, *second]]


def test_the_header_is_readable_from_the_beginning_of_a_chunk() -> None:
    data = log_chunk.encode(make([("x" * 1000, 1, 0, 0)]))
    assert log_chunk.has_origins(data[:200])
    assert not log_chunk.has_origins(data[:10])
    assert log_chunk.origins(data[:200]) == _ORIGINS


def test_the_level_mask_names_the_levels_inside() -> None:
    lines = make([("x", 1, 0, 0), ("y", 1, 5, 0)])
    assert lines.level_mask == 0b100001


def test_a_chunk_without_a_wanted_origin_is_not_decompressed() -> None:
    data = log_chunk.encode(make([("x", 1, 0, 0)]))
    broken = data[:-4] + b"oops"
    assert LogFilter(agent_ids=frozenset({"elsewhere"})).pick(1, broken) == []


def test_bounds_of_time_are_open_below_and_closed_above() -> None:
    data = log_chunk.encode(make([(str(t), t, 0, 0) for t in (1_000_000, 2_000_000, 3_000_000)]))
    wanted = LogFilter(after=datetime.fromtimestamp(1, UTC), before=datetime.fromtimestamp(3, UTC))
    assert [r.text for r in wanted.pick(7, data)] == ["2000000", "3000000"]
    assert [r.id for r in wanted.pick(7, data)] == [8, 9]
