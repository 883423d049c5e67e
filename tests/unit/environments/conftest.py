"""A cache of its own and wheels made on the spot for each test; no index is asked."""

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))

from determined.environments.cache_directory import Place, place_of
from small_wheel import make_wheel


@pytest.fixture
def wheels(tmp_path: Path) -> Path:
    """`alpha` needs `beta`; both at 1.0."""
    make_wheel(tmp_path / "wheels", "alpha", needs=["beta>=1"])
    make_wheel(tmp_path / "wheels", "beta")
    return tmp_path / "wheels"


@pytest.fixture
def said() -> list[str]:
    """Everything that was told to people."""
    return []


@pytest.fixture
def make_place(tmp_path: Path, wheels: Path, said: list[str]) -> Callable[..., Place]:
    def make(**variables: str) -> Place:
        surroundings = {
            "PATH": os.environ["PATH"],
            "HOME": str(tmp_path / "home"),
            "PIP_FIND_LINKS": str(wheels),
            "PIP_NO_INDEX": "1",
            **variables,
        }
        return place_of(surroundings, said.append)

    return make


@pytest.fixture
def place(make_place: Callable[..., Place]) -> Place:
    return make_place()


@pytest.fixture
def context(tmp_path: Path) -> Path:
    """A context directory whose requirements.txt asks for alpha."""
    directory = tmp_path / "context"
    directory.mkdir()
    (directory / "requirements.txt").write_text("alpha  # and what it needs\n")
    return directory
