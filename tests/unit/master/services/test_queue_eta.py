"""When queued jobs may start."""

from datetime import UTC, datetime, timedelta

from determined.master.services.queue_eta import Running, end, starts

NOW = datetime(2026, 11, 15, tzinfo=UTC)
HOUR = timedelta(hours=1)


def test_a_job_that_is_half_done_ends_in_as_long_as_it_has_run() -> None:
    assert end(NOW, NOW - HOUR, 0.5) == NOW + HOUR
    assert end(NOW, NOW - HOUR, 1.0) == NOW
    assert end(NOW, NOW - HOUR, 0.0) is None and end(NOW, None, 0.5) is None and end(NOW, NOW, None) is None
    assert end(NOW, NOW - HOUR, 1e-9) is None, "a year and more is no estimate"


def test_slots_come_free_in_the_order_in_which_jobs_end() -> None:
    running = [Running(2, NOW + 2 * HOUR), Running(1, NOW + HOUR), Running(4, None)]
    assert starts(NOW, 0, running, [1, 1, 1, 1]) == [NOW + HOUR, NOW + 2 * HOUR, NOW + 2 * HOUR, None]


def test_free_slots_go_to_the_first_in_the_queue() -> None:
    assert starts(NOW, 2, [Running(2, NOW + HOUR)], [2, 2, 2]) == [NOW, NOW + HOUR, None]


def test_an_end_that_has_passed_is_now() -> None:
    assert starts(NOW, 0, [Running(1, NOW - HOUR)], [1]) == [NOW]


def test_next_to_no_progress_is_no_estimate() -> None:
    assert end(NOW, NOW - 1000 * HOUR, 1e-12) is None and end(NOW, NOW - HOUR, 5e-324) is None
