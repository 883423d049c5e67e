"""When something is due: in batches and epochs, every so often or at given counts."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from determined.trial import Batch, Epoch, TrainUnit

units = st.one_of(
    st.builds(Batch, st.integers(-1, 9)),
    st.builds(Epoch, st.integers(-1, 4)),
    st.builds(Batch, st.sets(st.integers(1, 40), max_size=4)),
    st.builds(Epoch, st.sets(st.integers(1, 9), max_size=3)),
)


class _OnlyAsked:
    def __contains__(self, count: object) -> bool:
        return count in (3, 7)


def test_a_period_of_batches_fires_at_its_multiples() -> None:
    assert [n for n in range(12) if Batch(4)._fires(n, None)] == [4, 8]


def test_a_period_below_one_fires_every_time() -> None:
    assert [n for n in range(4) if Batch(0)._fires(n, None)] == [1, 2, 3]
    assert [n for n in range(9) if Epoch(-1)._fires(n, 4)] == [4, 8]


def test_epochs_fire_on_their_last_batch() -> None:
    assert [n for n in range(30) if Epoch(2)._fires(n, 5)] == [10, 20]


def test_counts_are_one_based() -> None:
    assert [n for n in range(30) if Epoch([1, 3])._fires(n, 5)] == [5, 15]


def test_epochs_of_data_without_length_never_come() -> None:
    assert Epoch(1)._next(10, None) == math.inf
    assert not Epoch(1)._fires(10, None)


def test_a_container_that_can_only_be_asked_is_asked_count_by_count() -> None:
    unit = Batch(_OnlyAsked())
    assert unit._next(3, None) == 4
    assert [n for n in range(12) if unit._fires(n, None)] == [3, 7]


@given(units, st.integers(0, 60), st.integers(1, 7))
def test_nothing_fires_before_the_next_moment(unit: TrainUnit, done: int, epoch_length: int) -> None:
    following = unit._next(done, epoch_length)
    assert following > done
    fired = [n for n in range(done + 1, 200) if unit._fires(n, epoch_length)]
    assert all(n >= following for n in fired)
    if isinstance(unit.value, int) and following < 200:
        assert fired[0] == following


@pytest.mark.parametrize("bad", [True, 1.5, None])
def test_a_unit_of_something_else_is_refused(bad: object) -> None:
    with pytest.raises(TypeError, match="give an int or a container"):
        Batch(bad)  # type: ignore[arg-type]
