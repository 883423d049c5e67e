"""`--only` and `--since`."""

from datetime import UTC, datetime

import pytest

from determined.errors import InvalidArgument
from determined.master.importing.clean import parse_moment
from determined.master.importing.options import parse_selection


def test_ranges_and_names_are_read() -> None:
    chosen = parse_selection(["workspaces=Vision,7", "experiments=1-3,9"], "2024-01-31")
    assert chosen.workspaces == ("Vision", "7")
    assert [id_ for id_ in range(12) if chosen.takes_experiment(id_)] == [1, 2, 3, 9]
    assert chosen.since == datetime(2024, 1, 31, tzinfo=UTC)
    assert parse_selection([], None).takes_experiment(10**9)


@pytest.mark.parametrize(
    ("only", "since", "message"),
    [
        (["trials=1"], None, "not understood"),
        (["experiments="], None, "not understood"),
        (["experiments=x"], None, "no id and no range"),
        (["experiments=9-3"], None, "larger than the last"),
        ([], "yesterday", "is no date"),
    ],
)
def test_what_is_not_understood_is_refused_with_a_word_on_the_form(
    only: list[str], since: str | None, message: str
) -> None:
    with pytest.raises(InvalidArgument, match=message):
        parse_selection(only, since)


def test_a_time_without_a_zone_is_in_utc() -> None:
    assert parse_moment("2024-01-31T12:00:00") == datetime(2024, 1, 31, 12, tzinfo=UTC)
    assert parse_moment("2024-01-31T12:00:00+02:00") == datetime(2024, 1, 31, 10, tzinfo=UTC)
