"""Real master, real runners, real command lines."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from official_det import det  # noqa: F401 (a fixture)

from cluster import Client, Cluster, running_cluster

HANG_SECONDS = 900  # of a whole test: its servers, runners and commands may all have to wait for the machine


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The tests of this folder that set no limit of their own."""
    for item in items:
        if Path(__file__).parent in item.path.parents and item.get_closest_marker("timeout") is None:
            item.add_marker(pytest.mark.timeout(HANG_SECONDS))


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Start a master with two slots for each test file."""
    with running_cluster(tmp_path_factory.mktemp("cluster")) as running:
        yield running


@pytest.fixture
def client(cluster: Cluster) -> Client:
    return Client(cluster.url)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    path = tmp_path / "home"
    path.mkdir()
    return path
