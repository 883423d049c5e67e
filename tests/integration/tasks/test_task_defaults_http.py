"""Config of a task that others see or have set: the cluster's startup hook, and variables that are secrets."""

from collections.abc import Callable
from typing import Any

import pytest
from task_cluster import NOUNS, TaskCluster

HOOK = "echo from the cluster"
SECRET = "s3cr3t-of-the-owner"


@pytest.mark.parametrize("kind", [*NOUNS, "generic task"])
def test_the_startup_hook_of_the_cluster_is_told_to_the_runner_of_every_kind(
    start_master: Callable[..., Any], sqlite_url: str, kind: str
) -> None:
    cluster = TaskCluster(start_master, sqlite_url, nodes={"a": 1}, task_container_defaults={"startup_hook": HOOK})
    if kind == "generic task":
        task_id = cluster.create()
    else:
        sources = {"experimentIds": [cluster.submit(activate=False)]} if kind == "tensorboard" else {}
        task_id = cluster.launch(kind, **sources)["id"]
    assert cluster.spec(cluster.runner(task_id))["startupHook"] == HOOK


def test_nobody_is_shown_the_variables_of_a_task_that_are_secrets(cluster: TaskCluster) -> None:
    ada, bob = cluster.person("ada"), cluster.person("bob")
    variables = {"cpu": [f"API_TOKEN={SECRET}", "LEVEL=debug"], "cuda": [f"DB_PASSWORD={SECRET}"]}
    config = {"entrypoint": ["true"], "resources": {"slots": 0}, "environment": {"environment_variables": variables}}
    task_id = cluster.launch(by=ada, config=config)["id"]
    assert f"API_TOKEN={SECRET}" in cluster.spec(cluster.runner(task_id))["environment"]
    for reader in (ada, bob, cluster.admin):
        for path in (f"/api/v1/commands/{task_id}", "/api/v1/commands", f"/api/v1/tasks/{task_id}", "/api/v1/tasks"):
            answer = reader.get(path)
            assert answer.status == 200 and SECRET.encode() not in answer.raw, path
    shown = bob.get(f"/api/v1/commands/{task_id}").json["config"]["environment"]["environment_variables"]
    assert [entry.partition("=")[0] for entry in shown["cpu"]] == ["API_TOKEN", "LEVEL"]
    assert "LEVEL=debug" in shown["cpu"]


def test_nobody_is_shown_the_variables_of_a_generic_task_that_are_secrets(cluster: TaskCluster) -> None:
    bob = cluster.person("bob")
    config = {"entrypoint": ["true"], "environment": {"environment_variables": [f"API_TOKEN={SECRET}"]}}
    task_id = cluster.create(config=config)
    for path in (f"/api/v1/tasks/{task_id}", f"/api/v1/tasks/{task_id}/config"):
        answer = bob.get(path)
        assert answer.status == 200 and SECRET.encode() not in answer.raw, path
