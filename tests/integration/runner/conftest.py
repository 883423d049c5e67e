"""A fake master and a real runner process for each test."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from fake_master import FakeMaster, RunnerUnderTest


@pytest.fixture
def fake_master() -> Iterator[FakeMaster]:
    running = FakeMaster()
    yield running
    running.close()


@pytest.fixture
def runner(fake_master: FakeMaster, tmp_path: Path) -> Iterator[RunnerUnderTest]:
    made = RunnerUnderTest(fake_master, tmp_path / "run")
    yield made
    made.close()


@pytest.fixture
def make_runner(fake_master: FakeMaster, tmp_path: Path) -> Iterator[Callable[..., RunnerUnderTest]]:
    """Runners with their own launch fields; each on a directory of its own."""
    made: list[RunnerUnderTest] = []

    def make(**launch: Any) -> RunnerUnderTest:
        made.append(RunnerUnderTest(fake_master, tmp_path / f"run{len(made)}", **launch))
        return made[-1]

    yield make
    for one in made:
        one.close()
