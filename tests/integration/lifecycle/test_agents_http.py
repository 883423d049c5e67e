"""Agents, slots and resource pools over HTTP."""

from collections.abc import Callable
from typing import Any

import pytest
from http_cluster import HttpCluster, eventually, resources

from determined.wire.report import ExitCause


@pytest.fixture
def cluster(start_master: Callable[..., Any], db_url: str) -> HttpCluster:
    pools = [{"pool_name": "default"}, {"pool_name": "gpu", "description": "the good ones"}]
    return HttpCluster(start_master, db_url, nodes={"a": 2}, resource_pools=pools)


def test_agents_show_slots_and_what_runs_on_them(cluster: HttpCluster) -> None:
    cluster.submit()
    [launch] = cluster.launched()
    [agent] = cluster.user.get("/api/v1/agents").json["agents"]
    assert (agent["id"], agent["enabled"], agent["resourcePools"]) == ("a", True, ["default"])
    assert agent["slotStats"]["typeStats"]["TYPE_CPU"]["total"] == 2
    used = [s for s in agent["slots"].values() if s["container"]]
    assert [s["container"]["id"] for s in used] == [launch.container_id]
    assert list(agent["containers"]) == [launch.container_id]
    slots = cluster.user.get("/api/v1/agents/a/slots").json["slots"]
    assert [s["id"] for s in slots] == ["0", "1"]
    assert cluster.user.get("/api/v1/agents/a/slots/1").json["slot"]["container"] is None
    assert cluster.user.get("/api/v1/agents/a/slots/7").status == 404
    assert cluster.user.get("/api/v1/agents/nobody").status == 404


def test_only_administrators_change_agents(cluster: HttpCluster) -> None:
    for path in ("/api/v1/agents/a/disable", "/api/v1/agents/a/enable", "/api/v1/agents/a/slots/0/disable"):
        assert cluster.user.post(path).status == 403
    assert cluster.user.post("/api/v1/agents", {"id": "b", "slots": 1}).status == 403
    assert cluster.user.delete("/api/v1/agents/a").status == 403


def test_disabling_an_agent_kills_what_runs_there_and_it_waits(cluster: HttpCluster) -> None:
    cluster.submit()
    [launch] = cluster.launched()
    cluster.run(launch)
    answer = cluster.admin.post("/api/v1/agents/a/disable", {"drain": False})
    assert answer.json["agent"]["enabled"] is False
    assert cluster.task(launch).get(resources(launch) + "/signals?timeout_seconds=10").json["kill"] is True
    cluster.leave(launch, 137, ExitCause.KILLED)
    assert cluster.user.get("/api/v1/trials/1").json["trial"]["restarts"] == 0
    assert cluster.admin.post("/api/v1/agents/a/enable").json["agent"]["enabled"] is True
    assert cluster.launched(2)[1].allocation_id.endswith(".2")


def test_a_draining_agent_finishes_what_runs_and_starts_nothing_new(cluster: HttpCluster) -> None:
    cluster.submit()
    [launch] = cluster.launched()
    cluster.run(launch)
    agent = cluster.admin.post("/api/v1/agents/a/disable", {"drain": True}).json["agent"]
    assert (agent["enabled"], agent["draining"]) == (False, True)
    assert cluster.task(launch).get(resources(launch) + "/signals?timeout_seconds=0").json["kill"] is False
    cluster.submit()
    cluster.leave(launch)
    assert cluster.user.get("/api/v1/experiments/1").json["experiment"]["state"] == "STATE_COMPLETED"
    assert cluster.user.get("/api/v1/experiments/2").json["experiment"]["state"] == "STATE_QUEUED"
    assert len(cluster.launched()) == 1
    assert cluster.admin.post("/api/v1/agents/a/enable").json["agent"]["draining"] is False
    assert len(cluster.launched(2)) == 2


def test_agents_of_the_masters_release_say_the_masters_version(cluster: HttpCluster) -> None:
    master = cluster.user.get("/api/v1/master").json["version"]
    assert {agent["version"] for agent in cluster.user.get("/api/v1/agents").json["agents"]} == {master}


def test_draining_slot_keeps_what_runs_and_takes_nothing_new(cluster: HttpCluster) -> None:
    cluster.submit()
    [launch] = cluster.launched()
    cluster.run(launch)
    slot = cluster.admin.post(f"/api/v1/agents/a/slots/{launch.slot_ids[0]}/disable", {"drain": True}).json["slot"]
    assert (slot["draining"], slot["enabled"]) == (True, False)
    signals = cluster.task(launch).get(resources(launch) + "/signals?timeout_seconds=0").json
    assert signals == {
        "preempt": False,
        "kill": False,
        "peerFailed": False,
        "ended": False,
        "stacks": 0,
        "shell": False,
    }
    cluster.leave(launch)
    [pool, _] = cluster.user.get("/api/v1/resource-pools").json["resourcePools"]
    assert pool["slotsAvailable"] == 1


def test_added_agent_is_offered_again_after_a_restart_and_can_be_removed(
    start_master: Callable[..., Any], sqlite_url: str
) -> None:
    cluster = HttpCluster(start_master, sqlite_url, nodes={"a": 1})
    answer = cluster.admin.post("/api/v1/agents", {"id": "extra", "slots": 3})
    assert answer.json["agent"]["slotStats"]["typeStats"]["TYPE_CPU"]["total"] == 3
    assert cluster.admin.post("/api/v1/agents", {"id": "extra", "slots": 3}).status == 409
    assert cluster.admin.post("/api/v1/agents", {"id": "x", "slots": 3, "resourcePool": "none"}).status == 400
    cluster.submit(resources={"slots_per_trial": 3})
    assert cluster.launched()[0].node_id == "extra"
    cluster.master.stop()
    again = HttpCluster(start_master, sqlite_url, nodes={"a": 1})
    assert [a["id"] for a in again.user.get("/api/v1/agents").json["agents"]] == ["a", "extra"]
    assert again.admin.delete("/api/v1/agents/a").status == 400
    assert again.admin.delete("/api/v1/agents/extra").status == 200
    assert [a["id"] for a in again.user.get("/api/v1/agents").json["agents"]] == ["a"]


def test_pools_are_listed_with_their_defaults(cluster: HttpCluster) -> None:
    default, gpu = cluster.user.get("/api/v1/resource-pools").json["resourcePools"]
    assert (default["name"], default["defaultComputePool"], default["defaultAuxPool"]) == ("default", True, True)
    assert (default["slotsAvailable"], default["slotsUsed"], default["numAgents"]) == (2, 0, 1)
    assert (gpu["description"], gpu["defaultComputePool"], gpu["numAgents"]) == ("the good ones", False, 0)
    cluster.submit()
    cluster.launched()
    eventually(lambda: cluster.user.get("/api/v1/resource-pools").json["resourcePools"][0]["slotsUsed"] == 1)


def test_pools_are_bound_to_workspaces(cluster: HttpCluster) -> None:
    path = "/api/v1/resource-pools/gpu/workspace-bindings"
    made = cluster.admin.post("/api/v1/workspaces", {"name": "mine"}).json["workspace"]["id"]
    body = {"resourcePoolName": "gpu", "workspaceNames": ["mine"]}
    assert cluster.user.post(path, body).status == 403
    assert cluster.admin.post(path, body).status == 200
    assert cluster.user.get(path).json["workspaceIds"] == [made]
    available = f"/api/v1/workspaces/{made}/available-resource-pools"
    assert cluster.user.get(available).json["resourcePools"] == ["default", "gpu"]
    assert cluster.user.get("/api/v1/workspaces/1/available-resource-pools").json["resourcePools"] == ["default"]
    assert cluster.admin.put(path, {"resourcePoolName": "gpu", "workspaceIds": [1]}).status == 200
    assert cluster.user.get(path).json["workspaceIds"] == [1]
    raw = b'{"resourcePoolName": "gpu", "workspaceIds": [1]}'
    assert cluster.admin.call("DELETE", path, raw).status == 200
    assert cluster.user.get(path).json["workspaceIds"] == []
    assert cluster.admin.post("/api/v1/resource-pools/default/workspace-bindings", body).status == 400
    assert cluster.admin.post(path, {"resourcePoolName": "gpu", "workspaceNames": ["nobody"]}).status == 404
    assert cluster.user.get("/api/v1/resource-pools/none/workspace-bindings").status == 404
