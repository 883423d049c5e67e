"""Real master, real runners, real command lines."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from cluster import Client, Cluster


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """One master per test file, with two slots."""
    running = Cluster(tmp_path_factory.mktemp("cluster"))
    running.start()
    yield running
    running.stop()
    running.end_runners()


@pytest.fixture
def client(cluster: Cluster) -> Client:
    return Client(cluster.url)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    path = tmp_path / "home"
    path.mkdir()
    return path
