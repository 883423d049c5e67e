"""DeepSpeed over two nodes of one slot each: every node's runner starts its own rank, and there is no ssh."""

from collections.abc import Iterator

import pytest
from journeys import Bench, two_slots
from rows.deepspeed import ROWS

from cluster import Client, Cluster
from rows import Row

pytestmark = [pytest.mark.frameworks, pytest.mark.timeout(2400)]


@pytest.fixture(scope="module")
def two_nodes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    directory = tmp_path_factory.mktemp("two-nodes")
    cluster = Cluster(directory / "cluster", slots=1, config={"local_agents": 2})
    cluster.start()
    yield Bench(cluster, Client(cluster.url), directory)
    cluster.stop()
    cluster.end_runners()


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_ranks_of_two_nodes_train_together(two_nodes: Bench, row: Row) -> None:
    two_slots(two_nodes, row)
