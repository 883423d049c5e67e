"""Sitters as real processes, against the loopback master of the contract suites."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

# importlib mode adds no folder to the path.
sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[3] / "contract"))

from sitting import Sitting


@pytest.fixture
def sitting(tmp_path: Path) -> Iterator[Sitting]:
    sitting = Sitting(tmp_path)
    yield sitting
    sitting.clean()
