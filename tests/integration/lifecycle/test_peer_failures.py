"""One node of several fails: the others hear that at once and why, and it stays the reason whoever reports first."""

import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
from http_cluster import HttpCluster, eventually, resources
from sqlalchemy import NullPool, create_engine, select

from determined.engines.model import Launch
from determined.master.db import schema
from determined.wire.report import Exit, ExitCause


@pytest.fixture
def cluster(start_master: Callable[..., Any], db_url: str) -> HttpCluster:
    return HttpCluster(start_master, db_url, nodes={"a": 2, "b": 2})


def test_peers_of_a_failed_node_are_told_so(cluster: HttpCluster) -> None:
    first, second = _running_pair(cluster)
    assert _signals(cluster, second)["peerFailed"] is False
    cluster.leave(first, code=3)
    heard = _signals(cluster, second)
    assert (heard["kill"], heard["peerFailed"]) == (True, True)


def test_runner_that_says_it_knows_of_its_end_is_written_down_as_such(cluster: HttpCluster, db_url: str) -> None:
    first, second = _running_pair(cluster)
    _signals(cluster, second, "&kill=true")
    assert _states(db_url) == ["RUNNING", "RUNNING"]
    cluster.leave(first, code=3)
    _signals(cluster, second)
    assert _states(db_url) == ["TERMINATED", "RUNNING"]
    _signals(cluster, second, "&kill=true")
    assert _states(db_url) == ["TERMINATED", "TERMINATING"]
    agents = cluster.user.get("/api/v1/agents").json["agents"]
    shown = {slot["container"]["state"] for agent in agents for slot in agent["slots"].values() if slot["container"]}
    assert shown == {"STATE_TERMINATED", "STATE_RUNNING"}


def test_kill_by_people_is_no_failure_of_a_peer(cluster: HttpCluster) -> None:
    _, second = _running_pair(cluster)
    cluster.user.post("/api/v1/experiments/1/kill", {})
    eventually(lambda: _signals(cluster, second)["kill"])
    assert _signals(cluster, second)["peerFailed"] is False


def test_node_that_failed_first_is_the_reason_though_its_victim_reports_first(cluster: HttpCluster) -> None:
    first, second = _running_pair(cluster)
    failed_at = time.time()
    victim = Exit(ExitCause.EXITED, 1, "lost its peer", failed_at + 0.2)
    culprit = Exit(ExitCause.EXITED, 9, "rank 0 failed first\n    out of memory", failed_at)
    assert cluster.report(second, victim, first=2).status == 200
    assert cluster.report(first, culprit, first=2).status == 200
    task = cluster.user.get("/api/v1/trials/1").json["trial"]["taskId"]
    [ended] = cluster.user.get(f"/api/v1/tasks/{task}").json["task"]["allocations"]
    assert ended["exitReason"] == f"node 0 ({first.node_id}): rank 0 failed first\n    out of memory"


def _running_pair(cluster: HttpCluster) -> tuple[Launch, Launch]:
    cluster.submit(resources={"slots_per_trial": 4})
    pair = sorted(cluster.launched(2), key=lambda launch: launch.rank)
    threads = [threading.Thread(target=cluster.run, args=(launch,)) for launch in pair]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return pair[0], pair[1]


def _signals(cluster: HttpCluster, launch: Launch, known: str = "") -> dict[str, Any]:
    answer: dict[str, Any] = cluster.task(launch).get(resources(launch) + "/signals?timeout_seconds=0" + known).json
    return answer


def _states(db_url: str) -> list[str]:
    """Of the runners, by rank."""
    engine = create_engine(db_url, poolclass=NullPool)
    with engine.connect() as conn:
        return list(conn.execute(select(schema.runners.c.state).order_by(schema.runners.c.rank)).scalars())
