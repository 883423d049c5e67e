"""A real Ray cluster for the suites of this folder, and a door through which its bridge finds a test's engine."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "contract"))
sys.path.insert(0, str(Path(__file__).parent))
sys.path.append(str(Path(__file__).parents[2] / "e2e"))

from bridge_door import BridgeDoor
from ray_cluster import RayCluster, why_not


@pytest.fixture(scope="session")
def ray() -> Iterator[RayCluster]:
    """A head without slots and node `n1` with four logical GPUs. A test that needs more nodes adds them."""
    problem = why_not()
    if problem is not None:
        pytest.skip(problem)
    cluster = RayCluster()
    try:
        cluster.start_head()
        cluster.add_node("n1", gpus=4)
        yield cluster
    finally:
        cluster.close()


@pytest.fixture(scope="session")
def door(ray: RayCluster) -> Iterator[BridgeDoor]:
    door = BridgeDoor(ray.master_address)
    yield door
    door.close()
