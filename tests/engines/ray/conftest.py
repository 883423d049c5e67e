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
def head() -> Iterator[RayCluster]:
    """A cluster of its head alone, which has no GPU, but four of the custom resource `seat`."""
    problem = why_not()
    if problem is not None:
        pytest.skip(problem)
    cluster = RayCluster()
    try:
        cluster.start_head()
        yield cluster
    finally:
        cluster.close()


@pytest.fixture(scope="session")
def ray(head: RayCluster) -> RayCluster:
    """With node `n1`, which has four logical GPUs. A test that needs more nodes adds them."""
    head.bring_up("n1")
    return head


@pytest.fixture
def pair(ray: RayCluster) -> RayCluster:
    """Two nodes of four slots, up."""
    ray.bring_up("n1", "n2")
    return ray


@pytest.fixture
def home(tmp_path: Path) -> Path:
    path = tmp_path / "home"
    path.mkdir()
    return path


@pytest.fixture(scope="session")
def door(ray: RayCluster) -> Iterator[BridgeDoor]:
    door = BridgeDoor(ray.master_address)
    yield door
    door.close()
