"""Requests no pool of this shape can ever hold, and the nearest size it can."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scheduling_pools import Queue, node

from determined.engines.scheduling.feasible import check, is_feasible, nearest_feasible
from determined.engines.scheduling.fitting import Cluster
from determined.engines.scheduling.model import Settings
from determined.errors import InvalidArgument


@pytest.mark.parametrize(
    ("slots", "sizes", "single", "nearest"),
    [
        (16, [4, 4], False, 8),
        (6, [4, 4], False, 4),
        (7, [4, 4], False, 8),
        (8, [4, 4], True, 4),
        (5, [8], False, 5),
        (3, [], False, 0),
        (1, [0, 0], False, 0),
        (11, [4, 4, 4], False, 12),
        (10**9, [4, 4], False, 8),
    ],
)
def test_nearest_feasible_size(slots: int, sizes: list[int], single: bool, nearest: int) -> None:
    assert nearest_feasible(slots, sizes, single) == nearest


def test_mixed_sizes_are_feasible_only_where_allowed() -> None:
    assert not is_feasible(12, [4, 8], single_node=False)
    assert is_feasible(12, [4, 8], single_node=False, heterogeneous=True)


@settings(deadline=None)
@given(
    slots=st.integers(1, 40),
    sizes=st.lists(st.integers(0, 8), max_size=6),
    single=st.booleans(),
    mixed=st.booleans(),
)
def test_feasible_is_what_fits_an_idle_pool(slots: int, sizes: list[int], single: bool, mixed: bool) -> None:
    cluster = Cluster([node(f"n{i}", size) for i, size in enumerate(sizes)], Settings(allow_heterogeneous=mixed))
    fits = cluster.fit(Queue().pending("a", slots, single_node=single)) is not None
    assert is_feasible(slots, sizes, single, heterogeneous=mixed) == fits


@settings(deadline=None)
@given(slots=st.integers(1, 40), sizes=st.lists(st.integers(1, 8), min_size=1, max_size=6), single=st.booleans())
def test_nearest_is_feasible_and_no_other_is_nearer(slots: int, sizes: list[int], single: bool) -> None:
    nearest = nearest_feasible(slots, sizes, single)
    assert is_feasible(nearest, sizes, single)
    nearer = range(slots - abs(slots - nearest) + 1, slots + abs(slots - nearest))
    assert not any(is_feasible(n, sizes, single) for n in nearer if n > 0)


@pytest.mark.parametrize(
    ("slots", "sizes", "single", "message"),
    [
        (16, [8], False, "slots_per_trial=16 exceeds pool 'gpu' (8 slots); lower it to 8 or pick another pool"),
        (
            7,
            [4, 4],
            False,
            "slots_per_trial=7 does not fit pool 'gpu' (2 nodes of 4 slots): a request fits on one node or fills"
            " whole nodes of equal size; raise it to 8 or pick another pool",
        ),
        (
            8,
            [4, 4],
            True,
            "slots_per_trial=8 on a single node exceeds the largest node of pool 'gpu' (4 slots);"
            " lower it to 4 or pick another pool",
        ),
        (
            2,
            [],
            False,
            "slots_per_trial=2 cannot be placed: pool 'gpu' has no slots; add a node or pick another pool",
        ),
    ],
)
def test_impossible_request_is_refused_with_advice(slots: int, sizes: list[int], single: bool, message: str) -> None:
    with pytest.raises(InvalidArgument) as refused:
        check(slots, sizes, single, pool="gpu")
    assert refused.value.message == message
    assert refused.value.details == {"nearest_feasible": nearest_feasible(slots, sizes, single)}


@pytest.mark.parametrize(("slots", "sizes"), [(0, []), (8, [4, 4]), (3, [4])])
def test_possible_request_passes(slots: int, sizes: list[int]) -> None:
    check(slots, sizes, single_node=False)
