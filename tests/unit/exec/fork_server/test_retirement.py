"""When a fork server ends by itself, and for how long none takes its place."""

from dataclasses import replace

import pytest

from determined.exec.fork_server.retirement import IDLE_SECONDS, MOST_FORKS, Readings, retired

WELL = Readings(
    idle_seconds=1.0,
    forks=10,
    threads=1,
    resident=300 << 20,
    resident_at_start=300 << 20,
    available_share=0.5,
    pressure=0.0,
)


def test_server_that_is_well_goes_on() -> None:
    assert retired(WELL) is None
    assert retired(replace(WELL, available_share=None, pressure=None)) is None


@pytest.mark.parametrize(
    ("change", "why", "rests"),
    [
        ({"idle_seconds": IDLE_SECONDS}, "nobody asked for 600 s", False),
        ({"forks": MOST_FORKS}, "it has forked 10000 times", False),
        ({"threads": 2}, "it has got a second thread", False),
        ({"resident": 380 << 20}, "it has grown to 380 MiB", False),
        ({"changed_file": "/x.py"}, "/x.py has changed", False),
        ({"available_share": 0.05}, "memory is short: 5% of it is available", True),
        ({"pressure": 40.0}, "memory is short: processes waited for it 40 % of the time", True),
    ],
)
def test_each_rule_ends_it_and_short_memory_keeps_the_next_away(
    change: dict[str, float | str], why: str, rests: bool
) -> None:
    answer = retired(replace(WELL, **change))  # type: ignore[arg-type]
    assert answer is not None
    assert (answer.why, answer.rest_seconds > 0) == (why, rests)


def test_a_little_growth_is_none() -> None:
    assert retired(replace(WELL, resident=350 << 20)) is None
