"""Times in query parameters."""

from datetime import UTC, datetime

import pytest

from determined.errors import InvalidArgument
from determined.master.services.parse_time import parse_time

MOMENT = datetime(2026, 11, 15, 4, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    "text",
    [
        "2026-11-15T04:00:00Z",
        "2026-11-15T04:00:00.000000Z",
        "2026-11-15T05:00:00+01:00",
        "2026-11-15T05:00:00 01:00",
        "2026-11-15 04:00:00",
        "1794715200",
        "1794715200.0",
    ],
)
def test_a_time_is_understood_as_people_and_clients_write_it(text: str) -> None:
    assert parse_time(text, "before") == MOMENT


@pytest.mark.parametrize("text", [None, ""])
def test_no_time_is_none(text: str | None) -> None:
    assert parse_time(text, "before") is None


@pytest.mark.parametrize("text", ["yesterday", "nan", "inf", "1e300", "2026-13-01T00:00:00Z"])
def test_nonsense_is_refused_by_name(text: str) -> None:
    with pytest.raises(InvalidArgument, match="before="):
        parse_time(text, "before")
