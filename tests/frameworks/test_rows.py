"""Run every row of the compatibility table in every way."""

import subprocess

import pytest
from journeys import JOURNEYS, Bench, python_of

from rows import DISTRIBUTIONS, Row, all_rows

pytestmark = [pytest.mark.frameworks, pytest.mark.timeout(2400)]

ROWS = all_rows()


def _cases() -> list[object]:
    fast = pytest.mark.frameworks_fast
    return [
        pytest.param(row, journey, id=f"{row.name}-{journey}", marks=[fast] if journey in row.fast else [])
        for row in ROWS
        for journey in JOURNEYS
    ]


@pytest.mark.parametrize(("row", "journey"), _cases())
def test_row_can_be(bench: Bench, row: Row, journey: str) -> None:
    obstacle = row.obstacle(journey)
    if obstacle is not None:
        pytest.skip(obstacle)
    JOURNEYS[journey](bench, row)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_the_version_is_the_one_installed(row: Row) -> None:
    question = f"import importlib.metadata as m; print(m.version({DISTRIBUTIONS[row.framework]!r}))"
    done = subprocess.run([str(python_of(row)), "-c", question], capture_output=True, text=True, check=True)
    assert f"{done.stdout.strip()}.".startswith(f"{row.version}."), f"rows say {row.version}, there is {done.stdout}"
