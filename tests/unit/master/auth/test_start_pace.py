"""A caller that starts many requests at once leaves room for others; alone it never waits."""

import pytest

from determined.master.auth.start_pace import BURST, INTERVAL, MAX_WAITING, StartPace, caller_of

ME, OTHER = b"Bearer me", b"Bearer other"


@pytest.fixture
def pace() -> StartPace:
    return StartPace()


def started(pace: StartPace, number: int, now: float = 100.0, key: bytes = ME) -> list[float | None]:
    return [pace.delay(key, now) for _ in range(number)]


def test_a_caller_who_is_alone_never_waits(pace: StartPace) -> None:
    assert set(started(pace, 10 * MAX_WAITING)) == {0.0}


def test_beyond_a_burst_requests_are_spread_while_another_caller_is_served(pace: StartPace) -> None:
    pace.delay(OTHER, 100.0)
    delays = started(pace, BURST + 3)
    assert set(delays[:BURST]) == {0.0}
    assert delays[BURST:] == pytest.approx([INTERVAL, 2 * INTERVAL, 3 * INTERVAL])


def test_the_other_caller_does_not_wait_for_the_burst(pace: StartPace) -> None:
    pace.delay(OTHER, 100.0)
    started(pace, 10 * BURST)
    assert pace.delay(OTHER, 100.0) == 0.0


def test_a_caller_that_asks_no_faster_than_its_share_never_waits(pace: StartPace) -> None:
    for n in range(5 * BURST):
        now = 100.0 + n * INTERVAL
        pace.delay(OTHER, now)
        assert pace.delay(ME, now) == 0.0


def test_time_gives_the_burst_back(pace: StartPace) -> None:
    pace.delay(OTHER, 100.0)
    started(pace, 2 * BURST)
    later = 100.0 + 2 * BURST * INTERVAL
    pace.delay(OTHER, later)
    assert set(started(pace, BURST, later)) == {0.0}


def test_another_caller_who_has_been_silent_for_a_while_no_longer_counts(pace: StartPace) -> None:
    pace.delay(OTHER, 100.0)
    assert set(started(pace, 3 * BURST, now=101.5)) == {0.0}


def test_too_many_waiting_requests_are_refused_and_cost_nothing(pace: StartPace) -> None:
    pace.delay(OTHER, 100.0)
    delays = started(pace, BURST + MAX_WAITING + 50)
    assert delays.count(None) == 50
    assert pace.delay(ME, 100.0 + INTERVAL) is not None


def test_callers_who_are_silent_are_forgotten(pace: StartPace) -> None:
    for n in range(1000):
        pace.delay(b"Bearer %d" % n, 100.0 + n)
    assert len(pace._callers) < 10


@pytest.mark.parametrize(
    ("headers", "key"),
    [
        ([(b"authorization", b"Bearer a"), (b"cookie", b"auth=b")], b"Bearer a"),
        ([(b"cookie", b"auth=b"), (b"grpc-metadata-x-allocation-token", b"Bearer t")], b"Bearer t"),
        ([(b"cookie", b"auth=b")], b"auth=b"),
        ([(b"accept", b"*/*")], b"10.0.0.7"),
    ],
)
def test_callers_are_told_apart_by_token_then_cookie_then_address(
    headers: list[tuple[bytes, bytes]], key: bytes
) -> None:
    assert caller_of({"headers": headers, "client": ("10.0.0.7", 4711)}) == key
