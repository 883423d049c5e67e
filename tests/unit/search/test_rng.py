"""The generator draws what NumPy's RandomState draws, and continues after a snapshot."""

import json
import uuid

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from determined.search.rng import Rng

SEEDS = st.integers(0, 2**32 - 1)


@settings(deadline=None)
@given(seed=SEEDS, n=st.integers(1, 2**63 - 1))
def test_bounded_ints_equal_numpys(seed: int, n: int) -> None:
    ours, theirs = Rng(seed), np.random.RandomState(seed)
    assert [ours.below(n) for _ in range(5)] == [int(theirs.randint(0, n, dtype=np.int64)) for _ in range(5)]


@pytest.mark.parametrize("n", [2**32 - 1, 2**32, 2**32 + 1, 2**33])
def test_bounds_around_one_word_equal_numpys(n: int) -> None:
    ours, theirs = Rng(7), np.random.RandomState(7)
    assert [ours.below(n) for _ in range(20)] == [int(theirs.randint(0, n, dtype=np.int64)) for _ in range(20)]


@settings(deadline=None)
@given(seed=SEEDS, low=st.floats(-1e6, 1e6), width=st.floats(0, 1e6))
def test_uniforms_equal_numpys(seed: int, low: float, width: float) -> None:
    ours, theirs = Rng(seed), np.random.RandomState(seed)
    assert [ours.uniform(low, low + width) for _ in range(3)] == [theirs.uniform(low, low + width) for _ in range(3)]


@settings(deadline=None)
@given(seed=SEEDS)
def test_ids_are_numpys_bytes_as_uuid4(seed: int) -> None:
    theirs = np.random.RandomState(seed)
    assert Rng(seed).uuid4() == str(uuid.UUID(bytes=theirs.bytes(16), version=4))


def test_one_choice_draws_nothing() -> None:
    rng, untouched = Rng(42), Rng(42)
    assert rng.below(1) == 0
    assert rng.snapshot() == untouched.snapshot()


def test_state_has_numpys_form() -> None:
    rng, theirs = Rng(42), np.random.RandomState(42)
    rng.below(100)
    theirs.randint(0, 100, dtype=np.int64)
    _, key, pos, *_ = theirs.get_state()
    assert rng.snapshot() == {"key": key.tolist(), "pos": pos}


@settings(deadline=None)
@given(seed=SEEDS, before=st.integers(0, 700))
def test_restored_generator_continues(seed: int, before: int) -> None:
    rng = Rng(seed)
    for _ in range(before):
        rng.below(2**31)
    other = Rng.restore(json.loads(json.dumps(rng.snapshot())))
    assert [rng.below(10**9) for _ in range(10)] == [other.below(10**9) for _ in range(10)]
