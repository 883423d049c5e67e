"""Submitted tasks over HTTP: listed, shown, killed, given another priority, by those who may."""

from typing import Any

import pytest
from http_cluster import eventually
from task_cluster import NOUNS, TaskCluster

from determined.wire.report import ExitCause

UNKNOWN = "00000000-0000-0000-0000-000000000000"


def ids(client: Any, noun: str = "command", **fields: Any) -> list[str]:
    answer = client.get(f"/api/v1/{noun}s", fields=fields)
    assert answer.status == 200, answer.raw
    return [one["id"] for one in answer.json[f"{noun}s"]]


def test_lists_are_filtered_by_either_of_user_names_and_ids_and_by_workspace(cluster: TaskCluster) -> None:
    ada, bob = cluster.person("ada"), cluster.person("bob")
    workspace = ada.post("/api/v1/workspaces", {"name": "w"}).json["workspace"]["id"]
    mine, others = cluster.launch(by=ada, workspaceId=workspace)["id"], cluster.launch(by=bob)["id"]
    third = cluster.launch()["id"]
    bob_id = bob.get("/api/v1/me").json["user"]["id"]
    assert set(ids(ada)) == {mine, others, third}
    assert ids(bob, users="ada") == [mine]
    assert set(ids(bob, users="ada", userIds=bob_id)) == {mine, others}
    assert ids(bob, users="nobody") == []
    assert ids(bob, workspaceId=workspace) == [mine]
    assert set(ids(bob, workspaceId=0)) == {mine, others, third}
    unknown = ada.get("/api/v1/commands", fields={"workspaceId": 77})
    assert (unknown.status, unknown.message) == (404, "workspace '77' not found")


def test_lists_are_sorted_and_cut_into_pages(cluster: TaskCluster) -> None:
    made = [
        cluster.launch(config={"entrypoint": ["true"], "description": name, "resources": {"slots": 0}})["id"]
        for name in "bac"
    ]
    b, a, c = made
    assert ids(cluster.user, sortBy="SORT_BY_DESCRIPTION") == [a, b, c]
    assert ids(cluster.user, sortBy="SORT_BY_START_TIME", orderBy="ORDER_BY_DESC") == [c, a, b]
    assert ids(cluster.user) == sorted(made)
    page = cluster.user.get("/api/v1/commands", fields={"sortBy": "SORT_BY_DESCRIPTION", "offset": -2, "limit": 1}).json
    assert [one["id"] for one in page["commands"]] == [b]
    assert page["pagination"] == {"offset": -2, "limit": 1, "startIndex": 1, "endIndex": 2, "total": 3}
    assert ids(cluster.user, limit=0) == sorted(made)
    assert cluster.user.get("/api/v1/commands", fields={"sortBy": "SORT_BY_NOTHING"}).status == 400


@pytest.mark.parametrize("noun", NOUNS)
def test_an_unknown_id_and_the_id_of_another_kind_are_not_found(cluster: TaskCluster, noun: str) -> None:
    other = cluster.launch("shell" if noun == "command" else "command")["id"]
    for task_id in (UNKNOWN, other, "x y"):
        for verb, path in (("GET", ""), ("POST", "/kill"), ("POST", "/set_priority")):
            body = {"priority": 5} if "priority" in path else None
            answer = cluster.admin.call(verb, f"/api/v1/{noun}s/{task_id.replace(' ', '%20')}{path}", body)
            assert (answer.status, answer.message) == (404, f"{noun} '{task_id}' not found"), (verb, path)


def test_a_task_runs_and_ends_with_the_status_of_its_program(cluster: TaskCluster) -> None:
    good, bad = cluster.launch()["id"], cluster.launch()["id"]
    cluster.start(good)
    assert cluster.get("command", good)["state"] == "STATE_RUNNING"
    assert cluster.user.get("/api/v1/tasks/count").json["commands"] == 1
    cluster.leave(cluster.runner(good))
    cluster.finish(bad, 3)
    done, failed = cluster.get("command", good), cluster.get("command", bad)
    assert (done["state"], done["exitStatus"]) == ("STATE_TERMINATED", "allocation exited successfully")
    assert failed["exitStatus"] == "resources failed with non-zero exit code: exit 3 (exit code 3)"
    assert set(ids(cluster.user)) == {good, bad}
    task = cluster.user.get(f"/api/v1/tasks/{bad}").json["task"]
    assert (task["taskType"], task["endTime"] is not None, task.get("taskState")) == ("TASK_TYPE_COMMAND", True, None)
    assert cluster.user.get(f"/api/v1/tasks/{bad}/config").json == {"config": ""}


def test_a_kill_ends_a_task_and_can_be_repeated(cluster: TaskCluster) -> None:
    waiting = cluster.launch(config={"entrypoint": ["a"], "resources": {"slots": 4}})["id"]
    held = [cluster.launch(config={"entrypoint": ["a"], "resources": {"slots": 4}})["id"] for _ in range(2)]
    running = held[0]
    launch = cluster.start(waiting)
    cluster.start(running)
    killed = cluster.user.post(f"/api/v1/commands/{waiting}/kill").json["command"]
    assert killed["state"] == "STATE_TERMINATING"
    cluster.leave(launch, 137, ExitCause.KILLED)
    for _ in range(2):
        again = cluster.user.post(f"/api/v1/commands/{waiting}/kill")
        assert (again.status, again.json["command"]["state"]) == (200, "STATE_TERMINATED")
    assert again.json["command"]["exitStatus"] == "allocation exited successfully"


def test_a_task_that_waits_is_killed_at_once(cluster: TaskCluster) -> None:
    full = [cluster.launch(config={"entrypoint": ["a"], "resources": {"slots": 4}})["id"] for _ in range(2)]
    for task_id in full:
        cluster.start(task_id)
    queued = cluster.launch(config={"entrypoint": ["a"], "resources": {"slots": 4}})["id"]
    killed = cluster.user.post(f"/api/v1/commands/{queued}/kill").json["command"]
    assert (killed["state"], killed["exitStatus"]) == ("STATE_TERMINATED", "allocation exited successfully")


def test_the_log_of_a_task_says_how_it_ended(cluster: TaskCluster) -> None:
    good, bad, killed = (cluster.launch()["id"] for _ in range(3))
    cluster.finish(good)
    cluster.finish(bad, 1)
    launch = cluster.start(killed)
    cluster.user.post(f"/api/v1/commands/{killed}/kill")
    cluster.leave(launch, 137, ExitCause.KILLED)

    def log(task_id: str) -> str:
        return "".join(line["result"]["message"] for line in cluster.user.lines(f"/api/v1/tasks/{task_id}/logs"))

    assert "resources exited successfully with a zero exit code" in log(good)
    assert "resources failed with non-zero exit code" in log(bad)
    assert "user requested kill" in log(killed)


def test_a_priority_is_stored_with_the_config_and_held_to_its_range(cluster: TaskCluster) -> None:
    task_id = cluster.launch()["id"]
    path = f"/api/v1/commands/{task_id}/set_priority"
    assert cluster.user.post(path, {"priority": 7}).json["command"]["priority"] == 7
    assert cluster.user.get(f"/api/v1/commands/{task_id}").json["config"]["resources"]["priority"] == 7
    for wrong in (0, 100, -1, None):
        refused = cluster.user.post(path, {"priority": wrong})
        assert (refused.status, "between 1 and 99" in refused.message) == (400, True), refused.raw
    cluster.finish(task_id)
    assert "has ended" in cluster.user.post(path, {"priority": 8}).message


@pytest.mark.parametrize("noun", NOUNS)
def test_only_owner_and_administrator_kill_and_change_priorities(cluster: TaskCluster, noun: str) -> None:
    ada, bob = cluster.person("ada"), cluster.person("bob")
    sources = {"experimentIds": [cluster.submit(activate=False)]} if noun == "tensorboard" else {}
    task_id = cluster.launch(noun, by=ada, **sources)["id"]
    path = f"/api/v1/{noun}s/{task_id}"
    assert bob.get(path).status == 200
    for verb, body in (("kill", None), ("set_priority", {"priority": 3})):
        refused = bob.post(f"{path}/{verb}", body)
        assert (refused.status, "only the owner" in refused.message) == (403, True), refused.raw
    assert cluster.admin.post(f"{path}/set_priority", {"priority": 3}).status == 200
    assert ada.post(f"{path}/kill").status == 200


def test_keys_of_a_shell_are_for_its_owner_and_administrators(cluster: TaskCluster) -> None:
    ada, bob = cluster.person("ada"), cluster.person("bob")
    shell = cluster.launch("shell", by=ada)
    assert "PRIVATE KEY" in shell["privateKey"]
    path = f"/api/v1/shells/{shell['id']}"
    for client in (ada, cluster.admin):
        shown = client.get(path).json["shell"]
        assert (shown["privateKey"], shown["publicKey"]) == (shell["privateKey"], shell["publicKey"])
    seen = bob.get(path).json["shell"]
    assert (seen.get("privateKey"), seen.get("publicKey")) == (None, None)
    assert seen["hostPublicKey"] == shell["hostPublicKey"]
    assert {one.get("privateKey") for one in bob.get("/api/v1/shells").json["shells"]} == {None}
    cluster.finish(shell["id"])
    assert ada.get(path).json["shell"].get("privateKey") is None


def test_many_tasks_are_started_at_once_and_listed(cluster: TaskCluster) -> None:
    made = {cluster.launch()["id"] for _ in range(40)}
    eventually(lambda: len(cluster.machine.launched) == 40)
    assert set(ids(cluster.user)) == made
