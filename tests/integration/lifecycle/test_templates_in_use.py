"""Templates under experiments and tasks: who wins, what is refused, what a dry run says of them."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from http_cluster import HttpCluster

CONFIG = {"entrypoint": "python3 train.py", "searcher": {"name": "single", "metric": "loss"}}


@pytest.fixture
def cluster(start_master: Callable[..., Any], db_url: str) -> HttpCluster:
    return HttpCluster(start_master, db_url, nodes={"a": 2})


def make(cluster: HttpCluster, name: str, config: Any, **body: Any) -> None:
    answer = cluster.user.post(f"/api/v1/templates/{name}", {"config": config, **body})
    assert answer.status == 200, answer.raw


def create(cluster: HttpCluster, config: Any = None, **body: Any) -> Any:
    text = json.dumps(CONFIG if config is None else config)
    return cluster.user.post("/api/v1/experiments", {"config": text, "modelDefinition": [], **body})


def dry_run(cluster: HttpCluster, config: Any = None, **body: Any) -> Any:
    answer = cluster.user.post("/api/v1/experiments/dry-run", {"config": config or CONFIG, **body})
    assert answer.status == 200, answer.raw
    return answer.json


def test_an_experiment_is_laid_over_its_template(cluster: HttpCluster) -> None:
    storage = {"type": "shared_fs", "host_path": "/t"}
    workspace = {"name": "lab", "checkpointStorageConfig": {"type": "shared_fs", "host_path": "/w"}}
    lab = cluster.user.post("/api/v1/workspaces", workspace).json["workspace"]["id"]
    project = cluster.user.post(f"/api/v1/workspaces/{lab}/projects", {"name": "p", "workspaceId": lab}).json["project"]
    make(cluster, "t", {"max_restarts": 2, "labels": ["shared"], "checkpoint_storage": storage, "description": "of t"})
    mine = {**CONFIG, "max_restarts": 1, "labels": ["mine"]}
    answer = create(cluster, mine, template="t", projectId=project["id"])
    assert answer.status == 200, answer.raw
    config, experiment = answer.json["config"], answer.json["experiment"]
    assert (config["max_restarts"], config["labels"], config["description"]) == (1, ["mine", "shared"], "of t")
    assert config["checkpoint_storage"]["host_path"] == "/t", "before the storage of the workspace"
    assert (experiment["template"], json.loads(experiment["originalConfig"])) == ("t", mine)


def test_a_template_may_name_the_project_and_bring_what_is_missing(cluster: HttpCluster) -> None:
    lab = cluster.user.post("/api/v1/workspaces", {"name": "lab"}).json["workspace"]["id"]
    cluster.user.post(f"/api/v1/workspaces/{lab}/projects", {"name": "p", "workspaceId": lab})
    make(cluster, "t", {**CONFIG, "workspace": "lab", "project": "p"})
    made = create(cluster, {"name": "short"}, template="t").json["experiment"]
    assert (made["workspaceName"], made["projectName"]) == ("lab", "p")
    make(cluster, "nowhere", {"workspace": "none", "project": "p"})
    assert create(cluster, template="nowhere").status == 404


def test_the_pool_and_the_slots_of_a_template_count_for_experiments(cluster: HttpCluster) -> None:
    make(cluster, "pool", {"resources": {"resource_pool": "nope"}})
    refused = create(cluster, template="pool")
    assert (refused.status, "resource pool 'nope' does not exist" in refused.message) == (400, True)
    make(cluster, "slots", {"resources": {"slots_per_trial": 2, "slots": 100}})
    made = create(cluster, template="slots").json["config"]
    assert made["resources"]["slots_per_trial"] == 2


def test_a_template_that_is_absent_or_no_config_of_an_experiment_is_refused_by_name(cluster: HttpCluster) -> None:
    absent = create(cluster, template="none")
    assert (absent.status, absent.message.startswith("template 'none' not found")) == (404, True)
    make(cluster, "bad", {"serchr": 1, "idle_timeout": "1h", "max_restarts": "many"})
    refused = create(cluster, template="bad")
    assert refused.status == 400
    assert refused.message.startswith("template 'bad' is not a valid experiment configuration")
    assert all(key in refused.message for key in ("serchr", "idle_timeout", "max_restarts"))
    make(cluster, "name", {"name": "bell\u0007"})
    assert create(cluster, template="name").status == 400
    assert cluster.user.get("/api/v1/experiments").json["experiments"] == []


def test_a_changed_template_changes_no_experiment(cluster: HttpCluster) -> None:
    make(cluster, "t", {"max_restarts": 2})
    made = create(cluster, template="t").json["experiment"]["id"]
    cluster.user.patch("/api/v1/templates/t", {"max_restarts": 4})
    cluster.user.delete("/api/v1/templates/t")
    shown = cluster.user.get(f"/api/v1/experiments/{made}").json["experiment"]
    assert (shown["config"]["max_restarts"], shown["template"]) == (2, "t")


def test_secrets_of_a_template_reach_the_config_and_are_masked_in_it(cluster: HttpCluster) -> None:
    make(
        cluster,
        "s",
        {"environment": {"environment_variables": ["MY_PASSWORD=hush"]}, "data": {"secrets": {"a": "hush"}}},
    )
    answer = create(cluster, template="s")
    assert answer.status == 200 and b"hush" not in answer.raw
    shown = cluster.user.get(f"/api/v1/experiments/{answer.json['experiment']['id']}")
    assert b"hush" not in shown.raw and "secrets" in shown.json["config"]["data"]
    assert "hush" not in json.dumps(dry_run(cluster, template="s"))


def test_a_dry_run_says_what_comes_from_the_template(cluster: HttpCluster) -> None:
    make(cluster, "t", {"max_restarts": 2, "resources": {"weight": 3}, "labels": ["x"]})
    found = dry_run(cluster, {**CONFIG, "max_restarts": 0}, template="t")
    assert found["problems"] == [] and sorted(found["fromTemplate"]) == ["labels", "resources.weight"]
    assert found["config"]["resources"]["weight"] == 3
    assert dry_run(cluster)["fromTemplate"] is None
    assert [one["path"] for one in dry_run(cluster, template="none")["problems"]] == ["template"]
    make(cluster, "bad", {"serchr": 1})
    [problem] = dry_run(cluster, template="bad")["problems"]
    assert (problem["path"], "serchr" in problem["message"], problem["line"]) == ("template", True, None)


@pytest.mark.parametrize("noun", ["command", "notebook", "shell"])
def test_a_task_is_laid_over_what_it_knows_of_its_template(cluster: HttpCluster, noun: str) -> None:
    """The template that upstream's own tests use: its slots and keys of experiments do nothing."""
    make(
        cluster,
        "t",
        {
            "environment": {"environment_variables": ["SHOULDBE=SET"], "unknown": 1},
            "resources": {"slots": 100, "agent_label": "x", "weight": 2, "resource_pool": "nope"},
            "searcher": {"name": "single"},
            "entrypoint": "python3 train.py",
        },
    )
    body = {"config": {"entrypoint": ["true"]}, "templateName": "t"}
    answer = cluster.user.post(f"/api/v1/{noun}s", body)
    assert answer.status == 200, answer.raw
    config = answer.json["config"]
    assert "SHOULDBE=SET" in config["environment"]["environment_variables"]["cpu"]
    assert (config["resources"]["slots"], config["resources"]["weight"]) == (1, 2)
    assert config["resources"]["resource_pool"] == "default"
    assert config["entrypoint"] == ["true"]


def test_a_command_and_a_generic_task_may_take_their_entrypoint_from_a_template(cluster: HttpCluster) -> None:
    make(cluster, "t", {"entrypoint": ["echo", "hi"], "preemption_timeout": 7})
    made = cluster.user.post("/api/v1/commands", {"config": {}, "templateName": "t"})
    assert (made.status, made.json["config"]["entrypoint"]) == (200, ["echo", "hi"]), made.raw
    task = cluster.user.post("/api/v1/generic-tasks", {"config": "debug: true", "templateName": "t"})
    assert task.status == 200, task.raw
    forked = cluster.user.post("/api/v1/generic-tasks", {"forkedFrom": task.json["taskId"]})
    assert forked.status == 200, "a fork uses the template of its source"
    cluster.user.delete("/api/v1/templates/t")
    assert cluster.user.post("/api/v1/generic-tasks", {"forkedFrom": task.json["taskId"]}).status == 404


def test_a_tensorboard_prefers_its_template_to_what_it_inherits(cluster: HttpCluster) -> None:
    shown = create(cluster, {**CONFIG, "environment": {"image": "of-experiment"}}, activate=False).json["experiment"][
        "id"
    ]
    make(cluster, "t", {"environment": {"image": "of-template"}})
    body = {"config": {}, "experimentIds": [shown], "templateName": "t"}
    board = cluster.user.post("/api/v1/tensorboards", body)
    assert board.status == 200, board.raw
    assert board.json["config"]["environment"]["image"]["cpu"] == "of-template"
    assert board.json["config"]["resources"]["slots"] == 0


def test_a_template_with_a_wrong_type_is_refused_to_tasks_by_name(cluster: HttpCluster) -> None:
    make(cluster, "bad", {"environment": 5})
    refused = cluster.user.post("/api/v1/notebooks", {"config": {}, "templateName": "bad"})
    assert (refused.status, "template 'bad' is not a valid task configuration" in refused.message) == (400, True)
    body = {"taskType": "TASK_TYPE_NOTEBOOK", "config": {}, "templateName": "bad"}
    tried = cluster.user.post("/api/v1/tasks/dry-run", body).json
    assert [one["path"] for one in tried["problems"]] == ["template"]


def test_a_preview_and_a_dry_run_of_a_task_say_what_comes_from_the_template(cluster: HttpCluster) -> None:
    make(cluster, "t", {"resources": {"weight": 2, "slots": 9}, "debug": True, "description": "of t"})
    config = {"debug": False, "resources": {"slots": 0}}
    preview = cluster.user.post("/api/v1/notebooks", {"config": config, "templateName": "t", "preview": True}).json
    assert preview["fromTemplate"] == ["resources.weight", "description"]
    assert (preview["config"]["description"], preview["config"]["debug"]) == ("of t", False)
    body = {"taskType": "TASK_TYPE_COMMAND", "config": {**config, "entrypoint": ["true"]}, "templateName": "t"}
    assert cluster.user.post("/api/v1/tasks/dry-run", body).json["fromTemplate"] == ["resources.weight", "description"]


def test_a_task_with_a_template_keeps_its_secrets_masked(cluster: HttpCluster) -> None:
    make(cluster, "s", {"environment": {"registry_auth": {"username": "u", "password": "hush"}}})
    made = cluster.user.post("/api/v1/commands", {"config": {"entrypoint": ["true"]}, "templateName": "s"})
    assert made.status == 200 and b"hush" not in made.raw
