"""Schedules of repeated jobs: durations and cron lines."""

from datetime import UTC, datetime

import pytest

from determined.errors import InvalidConfig
from determined.master.config import load_master_config
from determined.master.config.schedule import seconds_until_next

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("schedule", "seconds"),
    [
        (None, 86400),
        ("", 86400),
        ("2h30m", 9000),
        (" 90s ", 90),
        ("10ms", 1),
        ("0 3 * * *", 15 * 3600),
        ("*/5 * * * *", 300),
        ("0 12 * * MON", 86400),
    ],
)
def test_the_next_run_follows_from_a_duration_or_a_cron_line(schedule: str | None, seconds: float) -> None:
    assert seconds_until_next(schedule, NOON) == seconds


@pytest.mark.parametrize("schedule", ["daily", "1d", "-2h", "0 3 * *", "61 * * * *", "0 0 30 2 *"])
def test_a_master_with_an_unusable_schedule_does_not_start_and_says_what_to_write(schedule: str) -> None:
    with pytest.raises(InvalidConfig, match=r"retention_policy\.schedule: .* is no schedule .* write a duration such"):
        load_master_config({"retention_policy": {"schedule": schedule}}, {}, {})
