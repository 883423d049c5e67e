"""A real master and runners, as in the end-to-end suite, with this environment's Python."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[3] / "e2e"))

from cluster import Client, Cluster


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    running = Cluster(tmp_path_factory.mktemp("cluster"))
    running.start()
    yield running
    running.stop()
    running.end_runners()


@pytest.fixture
def client(cluster: Cluster) -> Client:
    return Client(cluster.url)
