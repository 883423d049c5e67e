"""Engines that train on while their files are written: the first save tells their sizes, later ones are copies."""

from pathlib import Path
from typing import Any

import pytest
from async_ds_jobs import Quiet, SavesByItself, resumed
from ranks import run_ranks

pytestmark = pytest.mark.timeout(500)
JOBS = Path(__file__).parent / "async_ds_jobs.py"
_COPIED = ["written", "copied", "copied", "stored"]


def _check(rank: dict[str, Any], ways: list[str]) -> None:
    assert rank["ways"] == ways and rank["stored"] == len(ways)
    assert all(weights == rank["alone"] for weights in rank["resumed"])


@pytest.mark.parametrize("stage", [0, 2])
def test_a_trial_goes_on_from_copies_bit_by_bit(stage: int) -> None:
    _check(resumed({"zero": stage}, Quiet), _COPIED)


def test_the_files_of_a_trial_that_saves_by_itself_are_written_first() -> None:
    _check(resumed({}, SavesByItself), ["written", "written", "written", "stored"])


def test_ranks_go_on_from_copies_bit_by_bit() -> None:
    kinds = {"zero1": {"zero": 1}, "zero3": {"zero": 3}, "pipeline": {"stages": 2}}
    for rank in run_ranks(2, f"{JOBS}:resumed_everywhere", kinds, connected=False, seconds=400.0):
        for name in kinds:
            _check(rank[name], _COPIED)
