"""Since when a node is offered does not depend on who asks."""

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

from determined.master.lifecycle.cluster import Cluster

START = datetime(2026, 1, 1, tzinfo=UTC)
LATER = START + timedelta(hours=1)


def test_a_node_counts_from_the_first_pass_that_saw_it_and_anew_when_it_comes_back() -> None:
    offered: list[Any] = [SimpleNamespace(id="a")]
    engine: Any = SimpleNamespace(name="local", nodes=lambda: offered)
    cluster = Cluster([engine])
    cluster.note_nodes(START)
    cluster.note_nodes(LATER)
    assert cluster.seen_since("a", LATER) == START
    gone = offered.pop()
    cluster.note_nodes(LATER)
    offered.append(gone)
    cluster.note_nodes(LATER)
    assert cluster.seen_since("a", LATER + timedelta(hours=1)) == LATER
