"""Tasks of every kind in one list, and dry runs of those that users submit, over HTTP."""

from collections.abc import Callable
from typing import Any

import pytest
from http_cluster import HttpCluster, eventually


@pytest.fixture
def cluster(start_master: Callable[..., Any], db_url: str) -> HttpCluster:
    return HttpCluster(start_master, db_url, nodes={"a": 2})


def launch(cluster: HttpCluster, noun: str, **body: Any) -> str:
    answer = cluster.user.post(f"/api/v1/{noun}s", body)
    assert answer.status == 200, answer.raw
    return str(answer.json[noun]["id"])


def search(cluster: HttpCluster, query: str = "") -> list[dict[str, Any]]:
    answer = cluster.user.get(f"/api/v1/tasks/search{query}")
    assert answer.status == 200, answer.raw
    found: list[dict[str, Any]] = answer.json["tasks"]
    return found


def try_out(cluster: HttpCluster, kind: str, config: dict[str, Any], **more: Any) -> Any:
    answer = cluster.user.post("/api/v1/tasks/dry-run", {"taskType": f"TASK_TYPE_{kind}", "config": config, **more})
    assert answer.status == 200, answer.raw
    return answer.json


def test_the_list_shows_every_kind_with_what_can_be_opened(cluster: HttpCluster) -> None:
    command = launch(cluster, "command", config={"entrypoint": ["true"], "description": "a command"})
    notebook = launch(cluster, "notebook", config={"resources": {"slots": 0}})
    shell = launch(cluster, "shell", config={"resources": {"slots": 0}})
    cluster.submit()
    eventually(lambda: len(search(cluster)) == 4)
    rows = {row["taskId"]: row for row in search(cluster)}
    assert rows[command]["name"] == "a command"
    assert (rows[command]["username"], rows[command]["workspaceName"]) == ("determined", "Uncategorized")
    assert rows[notebook]["serviceAddress"] == f"/proxy/{notebook}/"
    assert (rows[command]["serviceAddress"], rows[shell]["serviceAddress"]) == (None, None)
    [trial] = [row for row in rows.values() if row["trialId"]]
    assert trial["name"] == f"Trial {trial['trialId']} (Experiment {trial['experimentId']})"


def test_an_ended_task_stays_and_says_how_it_ended(cluster: HttpCluster) -> None:
    killed = launch(cluster, "command", config={"entrypoint": ["sleep", "9"]})
    [started] = cluster.launched()
    cluster.run(started)
    cluster.leave(started, 3)
    eventually(lambda: search(cluster)[0]["endTime"])
    [row] = search(cluster, f"?taskIds={killed}&states=STATE_TERMINATED")
    assert row["hasFailed"] is True
    assert "exit code 3" in row["exitStatus"]
    assert search(cluster, "?states=STATE_RUNNING") == []


def test_a_page_of_the_list_is_as_long_as_asked(cluster: HttpCluster) -> None:
    for _ in range(3):
        launch(cluster, "command", config={"entrypoint": ["true"]})
    answer = cluster.user.get("/api/v1/tasks/search?limit=2&offset=1").json
    assert (len(answer["tasks"]), answer["pagination"]["total"]) == (2, 3)


def test_a_dry_run_says_what_would_run_and_stores_nothing(cluster: HttpCluster) -> None:
    answer = try_out(cluster, "NOTEBOOK", {"resources": {"slots": 1}})
    assert (answer["problems"], answer["starts"], answer["pool"], answer["slots"]) == ([], "now", "default", 1)
    assert answer["config"]["resources"]["slots"] == 1
    assert search(cluster) == []


def test_a_dry_run_names_every_problem_with_its_place(cluster: HttpCluster) -> None:
    answer = try_out(cluster, "SHELL", {"idle_timeout": "soon", "resources": {"slots": -1}, "nonsense": 1})
    assert {problem["path"] for problem in answer["problems"]} >= {"idle_timeout", "resources.slots", "nonsense"}
    [problem] = try_out(cluster, "COMMAND", {})["problems"]
    assert "entrypoint must be non-empty" in problem["message"]
    [problem] = try_out(cluster, "SHELL", {"resources": {"slots": 999}})["problems"]
    assert (problem["path"], problem["message"][:10]) == ("resources.slots", "slots=999 ")


def test_a_dry_run_of_a_tensorboard_looks_for_its_sources(cluster: HttpCluster) -> None:
    [problem] = try_out(cluster, "TENSORBOARD", {}, experimentIds=[7])["problems"]
    assert problem["message"] == "experiment 7 not found"
    experiment_id = cluster.submit()
    assert try_out(cluster, "TENSORBOARD", {}, experimentIds=[experiment_id])["problems"] == []


def test_a_dry_run_of_a_full_pool_says_what_it_waits_for(cluster: HttpCluster) -> None:
    launch(cluster, "command", config={"entrypoint": ["true"], "resources": {"slots": 2}})
    cluster.launched()
    answer = try_out(cluster, "NOTEBOOK", {})
    assert answer["starts"] == "waits"
    assert answer["reason"]


def test_other_kinds_cannot_be_tried(cluster: HttpCluster) -> None:
    for kind in ("TRIAL", "GENERIC", "UNSPECIFIED"):
        assert cluster.user.post("/api/v1/tasks/dry-run", {"taskType": f"TASK_TYPE_{kind}"}).status == 400
