"""Exponential back-off: growth, limit, jitter."""

from itertools import islice

import pytest

from determined._backoff import Backoff


def test_delays_grow_by_the_factor_up_to_the_limit() -> None:
    assert list(islice(Backoff(first=1.0, limit=10.0).delays(), 6)) == [1, 2, 4, 8, 10, 10]
    assert list(islice(Backoff(first=0.1, limit=5.0, factor=1.7).delays(), 3)) == pytest.approx([0.1, 0.17, 0.289])


def test_the_delay_after_thousands_of_failures_is_the_limit() -> None:
    assert Backoff(first=5.0, limit=300.0).delay(100_000) == 300.0


def test_jitter_is_added_below_the_limit_and_never_exceeds_it() -> None:
    backoff = Backoff(first=1.0, limit=4.0, jitter=1.0)
    assert all(1.0 <= backoff.delay(0) <= 2.0 for _ in range(50))
    assert all(backoff.delay(2) == 4.0 for _ in range(50))
