"""Nodes that are taken away, peers that are late, a master that died in between: what runs goes on or is retried."""

import threading
import time
from collections.abc import Callable
from datetime import datetime
from typing import Any

import pytest
from http_cluster import HttpCluster, allocation, eventually, resources
from sqlalchemy import Connection, create_engine, select, update
from world import FakeClock

from determined.engines.model import Launch
from determined.master.db import schema
from determined.master.lifecycle import allocation as lifecycle
from determined.master.lifecycle import scheduling
from determined.wire.report import ExitCause, Phase


def test_tasks_of_a_removed_agent_are_retried_elsewhere_at_no_cost(
    start_master: Callable[..., Any], sqlite_url: str
) -> None:
    cluster = HttpCluster(start_master, sqlite_url, nodes={"a": 1})
    assert cluster.admin.post("/api/v1/agents", {"id": "extra", "slots": 2}).status == 200
    cluster.submit(resources={"slots_per_trial": 1, "is_single_node": True})
    cluster.submit(resources={"slots_per_trial": 1})
    launches = cluster.launched(2)
    there = [one for one in launches if one.node_id == "extra"]
    assert there
    for one in launches:
        cluster.run(one)
    assert cluster.admin.delete("/api/v1/agents/extra").status == 200
    for one in there:
        signals = cluster.task(one).get(resources(one) + "/signals?timeout_seconds=10").json
        assert signals["kill"] is True
        cluster.leave(one, 137, ExitCause.KILLED)
    for one in [one for one in launches if one.node_id == "a"]:
        cluster.leave(one)
    eventually(lambda: len(cluster.machine.launched) > 2)
    again = cluster.machine.launched[2]
    assert again.node_id == "a" and again.allocation_id.endswith(".2")
    restarts = [cluster.user.get(f"/api/v1/trials/{n}").json["trial"]["restarts"] for n in (1, 2)]
    assert restarts == [0, 0]


def test_agent_that_is_removed_during_a_scheduling_pass_keeps_no_work(
    start_master: Callable[..., Any], sqlite_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The pass has seen the agent and is about to give it work."""
    seen, go_on = threading.Event(), threading.Event()
    look = scheduling.look

    def slow_look(*args: Any) -> scheduling.Pass:
        found = look(*args)
        if found.changes and not seen.is_set():
            seen.set()
            assert go_on.wait(60)
        return found

    cluster = HttpCluster(start_master, sqlite_url, nodes={"a": 1})
    assert cluster.admin.post("/api/v1/agents", {"id": "extra", "slots": 2}).status == 200
    experiment_id = cluster.submit(activate=False, resources={"slots_per_trial": 2})
    monkeypatch.setattr(scheduling, "look", slow_look)
    assert cluster.user.post(f"/api/v1/experiments/{experiment_id}/activate").status == 200
    assert seen.wait(60)
    answers: list[int] = []
    removal = threading.Thread(target=lambda: answers.append(cluster.admin.delete("/api/v1/agents/extra").status))
    removal.start()
    removal.join(0.5)  # long enough for it to overtake the pass, if it could
    go_on.set()
    removal.join(60)
    assert answers == [200]
    [launch] = cluster.launched()
    assert launch.node_id == "extra"
    assert cluster.task(launch).get(resources(launch) + "/signals?timeout_seconds=0").json["kill"] is True


def test_rendezvous_that_takes_long_says_whom_it_waits_for(start_master: Callable[..., Any], sqlite_url: str) -> None:
    clock = FakeClock()
    cluster = HttpCluster(start_master, sqlite_url, nodes={"a": 1, "b": 1}, clock=clock)
    cluster.submit(resources={"slots_per_trial": 2})
    launches = sorted(cluster.launched(2), key=lambda one: one.rank)
    first, late = (cluster.task(one) for one in launches)
    waiting = threading.Thread(target=first.get, args=[resources(launches[0]) + "/rendezvous"])
    waiting.start()
    hint = f'"log":"rendezvous still waits for rank 1 on {launches[1].node_id}'

    def said() -> int:
        late.post(allocation(launches[1]) + "/proxy_address", {"proxyAddress": "10.0.0.1"})  # wakes whoever waits
        return cluster.user.get("/api/v1/trials/1/logs").raw.decode().count(hint)

    eventually(lambda: said() == 0 and _asked(cluster, launches[0]))
    clock.advance(601)
    eventually(lambda: said() == 1)
    assert late.get(resources(launches[1]) + "/rendezvous").status == 200
    waiting.join(60)
    assert said() == 1, "it is said once"


def test_waiting_for_rendezvous_does_not_keep_the_database_busy(
    start_master: Callable[..., Any], sqlite_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster = HttpCluster(start_master, sqlite_url, nodes={"a": 1, "b": 1})
    cluster.submit(resources={"slots_per_trial": 2})
    launches = cluster.launched(2)
    asked: list[str] = []

    def joined(conn: Connection, now: datetime, resource_id: str) -> bool:
        asked.append(resource_id)
        return original(conn, now, resource_id)

    original = lifecycle.joined
    monkeypatch.setattr(lifecycle, "joined", joined)
    first, last = (cluster.task(one) for one in launches)
    waiting = threading.Thread(target=first.get, args=[resources(launches[0]) + "/rendezvous"])
    waiting.start()
    eventually(lambda: asked)
    time.sleep(0.3)
    assert last.get(resources(launches[1]) + "/rendezvous").status == 200
    waiting.join(60)
    assert not waiting.is_alive() and len(asked) < 10


def test_deletion_that_a_crash_interrupted_is_finished_by_the_next_master(
    start_master: Callable[..., Any], sqlite_url: str
) -> None:
    cluster = HttpCluster(start_master, sqlite_url, nodes={"a": 1})
    experiment_id = cluster.submit(activate=False)
    assert cluster.user.post(f"/api/v1/experiments/{experiment_id}/kill").status == 200
    cluster.master.stop()
    engine = create_engine(sqlite_url)
    with engine.begin() as conn:
        conn.execute(update(schema.experiments).values(state="DELETING"))
    engine.dispose()
    again = HttpCluster(start_master, sqlite_url, nodes={"a": 1})
    eventually(lambda: again.user.get(f"/api/v1/experiments/{experiment_id}").status == 404)


def test_running_experiments_show_how_far_they_are(start_master: Callable[..., Any], sqlite_url: str) -> None:
    cluster = HttpCluster(start_master, sqlite_url, nodes={"a": 1})
    experiment_id = cluster.submit()
    [launch] = cluster.launched()
    shown = [_states(cluster, experiment_id)]
    for number, phase in enumerate(("PULLING", "STARTING", "RUNNING"), 1):
        assert cluster.report(launch, Phase(phase, time.time()), first=number).status == 200
        shown.append(_states(cluster, experiment_id))
    assert shown == [(f"STATE_{name}",) * 2 for name in ("QUEUED", "PULLING", "STARTING", "RUNNING")]


def _asked(cluster: HttpCluster, launch: Launch) -> bool:
    engine = create_engine(str(cluster.master.ctx.db.engine.url))
    with engine.connect() as conn:
        chosen = select(schema.runners.c.rendezvous_at).where(schema.runners.c.resource_id == launch.resource_id)
        found = conn.execute(chosen).scalar_one()
    engine.dispose()
    return found is not None


def _states(cluster: HttpCluster, experiment_id: int) -> tuple[str, str]:
    experiment = cluster.user.get(f"/api/v1/experiments/{experiment_id}").json["experiment"]
    return experiment["state"], cluster.user.get("/api/v1/trials/1").json["trial"]["state"]
