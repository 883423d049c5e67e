"""TensorBoards over HTTP: what they show, and what they take over from the newest experiment."""

from typing import Any

import pytest
from task_cluster import TaskCluster

SECRET = "s3cr3t-of-the-owner"
S3 = {"type": "s3", "bucket": "b", "access_key": "ada", "secret_key": SECRET}
FILES = {"type": "shared_fs", "host_path": "/tmp/shared"}


def board(cluster: TaskCluster, by: Any = None, **body: Any) -> Any:
    return cluster.try_launch("tensorboard", by=by, config=body.pop("config", {}), **body)


def submit(cluster: TaskCluster, by: Any, **config: Any) -> int:
    cluster.user, kept = by, cluster.user
    try:
        return cluster.submit(activate=config.pop("activate", False), **config)
    finally:
        cluster.user = kept


def sources(cluster: TaskCluster, task_id: str) -> list[str]:
    return [one["name"] for one in cluster.spec(cluster.runner(task_id))["settings"]["sources"]]


@pytest.mark.parametrize(
    ("body", "status", "message"),
    [
        ({}, 400, "must set experiment, trial ids, or filters"),
        ({"experimentIds": [], "trialIds": []}, 400, "must set experiment, trial ids, or filters"),
        ({"filters": {"name": "nothing is called so"}}, 400, "no experiments found; change the filters"),
        ({"experimentIds": [1, 77]}, 404, "experiment 77 not found"),
        ({"trialIds": [78]}, 404, "trial 78 not found"),
    ],
)
def test_wrong_sources_are_refused(cluster: TaskCluster, body: dict[str, Any], status: int, message: str) -> None:
    cluster.submit(activate=False)
    answer = board(cluster, **body)
    assert (answer.status, answer.message) == (status, message)
    assert cluster.user.get("/api/v1/tensorboards").json["tensorboards"] == []


def test_sources_are_the_union_of_experiments_trials_and_filters(cluster: TaskCluster) -> None:
    one, two, three = cluster.submit(name="x1"), cluster.submit(activate=False, name="y"), cluster.submit(name="x2")
    cluster.launched(2)
    trials = {row["experimentId"]: row["id"] for n in (one, three) for row in
              cluster.user.get(f"/api/v1/experiments/{n}/trials").json["trials"]}  # fmt: skip
    answer = board(cluster, experimentIds=[two, one], trialIds=[trials[one], trials[three]], filters={"name": "x1"})
    assert answer.status == 200, answer.raw
    shown = answer.json["tensorboard"]
    assert (shown["experimentIds"], shown["trialIds"]) == ([one, two], sorted(trials.values()))
    # a trial of an experiment that is shown as a whole adds nothing
    assert sources(cluster, shown["id"]) == [f"experiment/{one}", f"experiment/{two}", f"trial/{trials[three]}"]


def test_the_image_of_the_newest_experiment_is_taken_over_unless_the_request_names_one(cluster: TaskCluster) -> None:
    pod = {"spec": {"imagePullSecrets": [{"name": "reg"}], "containers": []}}
    auth = {"username": "u", "password": SECRET}
    old = cluster.submit(activate=False, environment={"image": "old:1"})
    new = cluster.submit(
        activate=False, environment={"image": {"cpu": "c:1", "cuda": "g:1"}, "pod_spec": pod, "registry_auth": auth}
    )
    answer = board(cluster, experimentIds=[new, old])
    assert answer.status == 200, answer.raw
    environment = answer.json["config"]["environment"]
    assert (environment["image"]["cpu"], environment["image"]["cuda"]) == ("c:1", "g:1")
    assert environment["pod_spec"]["spec"]["imagePullSecrets"] == [{"name": "reg"}]
    assert (environment["registry_auth"]["username"], SECRET.encode() in answer.raw) == ("u", False)
    own = board(cluster, experimentIds=[new, old], config={"environment": {"image": "mine"}}).json["config"]
    assert {own["environment"]["image"][key] for key in ("cpu", "cuda", "rocm")} == {"mine"}
    other = board(cluster, by=cluster.person("bob"), experimentIds=[new]).json["config"]["environment"]
    assert (other["image"]["cpu"], other["registry_auth"]) == ("c:1", None)


def test_credentials_of_somebody_elses_storage_are_not_handed_out(cluster: TaskCluster) -> None:
    ada, bob = cluster.person("ada"), cluster.person("bob")
    experiment = submit(cluster, ada, checkpoint_storage=S3, activate=True)
    [launch] = cluster.launched()
    trial = ada.get(f"/api/v1/experiments/{experiment}/trials").json["trials"][0]["id"]
    for body in ({"experimentIds": [experiment]}, {"trialIds": [trial]}, {"filters": {"name": "test"}}):
        refused = board(cluster, by=bob, **body)
        assert (refused.status, "credentials of 'ada'" in refused.message) == (403, True), refused.raw
        assert SECRET.encode() not in refused.raw
        for client in (ada, cluster.admin):
            assert board(cluster, by=client, **body).status == 200
    assert launch


def test_a_storage_without_credentials_is_open_to_all(cluster: TaskCluster) -> None:
    ada, bob = cluster.person("ada"), cluster.person("bob")
    experiment = submit(cluster, ada, checkpoint_storage=FILES)
    other = submit(cluster, ada, checkpoint_storage={"type": "s3", "bucket": "b"})
    assert board(cluster, by=bob, experimentIds=[experiment, other]).status == 200


def test_credentials_that_a_workspace_gives_to_its_experiments_are_no_obstacle(cluster: TaskCluster) -> None:
    ada, bob = cluster.person("ada"), cluster.person("bob")
    made = ada.post("/api/v1/workspaces", {"name": "w", "checkpointStorageConfig": S3})
    assert made.status == 200, made.raw
    workspace = made.json["workspace"]["id"]
    path = f"/api/v1/workspaces/{workspace}/projects"
    project = ada.post(path, {"name": "p", "workspaceId": workspace}).json["project"]["id"]
    experiment = submit(cluster, ada, workspace="w", project="p")
    assert project and board(cluster, by=bob, experimentIds=[experiment]).status == 200
    own = {**S3, "secret_key": "another"}
    hidden = submit(cluster, ada, workspace="w", project="p", checkpoint_storage=own)
    assert board(cluster, by=bob, experimentIds=[hidden]).status == 403


def test_credentials_of_the_cluster_are_no_obstacle(start_master: Any, sqlite_url: str) -> None:
    cluster = TaskCluster(start_master, sqlite_url, nodes={"a": 1}, checkpoint_storage=S3)
    experiment = submit(cluster, cluster.person("ada"))
    answer = board(cluster, by=cluster.person("bob"), experimentIds=[experiment])
    assert answer.status == 200, answer.raw
    assert SECRET.encode() not in answer.raw
