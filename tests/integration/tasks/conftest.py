"""A master with an engine in memory, and tasks that users submit to it."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # importlib mode adds no folder to the path
sys.path.insert(0, str(Path(__file__).parents[1] / "lifecycle"))  # the engine in memory lives there

from linked_os_user import place, python  # noqa: F401  fixtures
from task_cluster import TaskCluster


@pytest.fixture
def cluster(start_master: Callable[..., Any], sqlite_url: str) -> TaskCluster:
    """Two nodes of four slots."""
    return TaskCluster(start_master, sqlite_url, nodes={"a": 4, "b": 4})
