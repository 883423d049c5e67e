"""Notebooks on a checkpoint: the code and the environment of its experiment, and a notebook that loads it."""

import base64
import io
import json
import tarfile
import uuid
from datetime import datetime
from typing import Any

import pytest
import yaml
from task_cluster import TaskCluster, file

CONFIG = {
    "name": "trained",
    "entrypoint": "python3 train.py",
    "searcher": {"name": "single", "metric": "loss"},
    "max_restarts": 0,
    "environment": {
        "environment_variables": ["WITH=THIS"],
        "registry_auth": {"username": "ada", "password": "s3cr3t-of-the-owner"},
        "proxy_ports": [{"proxy_port": 9}],
    },
}


@pytest.fixture
def checkpoint(cluster: TaskCluster) -> str:
    """Of an experiment of the user, with one file of code."""
    body = {"config": yaml.safe_dump(CONFIG), "activate": True, "modelDefinition": [file("train.py", b"print(1)")]}
    experiment = cluster.user.post("/api/v1/experiments", body).json["experiment"]["id"]
    [launch] = cluster.launched()
    cluster.run(launch)
    [trial] = cluster.user.get(f"/api/v1/experiments/{experiment}/trials").json["trials"]
    name = str(uuid.uuid4())
    report = {"uuid": name, "taskId": trial["taskId"], "metadata": {"steps_completed": 4}, "resources": {"w.bin": 1}}
    answer = cluster.user.post("/api/v1/checkpoints", report)
    assert answer.status == 200, answer.raw
    return name


def start(cluster: TaskCluster, name: str, by: Any = None, **body: Any) -> Any:
    config = {"resources": {"slots": 0}, **body.pop("config", {})}
    return cluster.try_launch("notebook", by=by, config=config, checkpointUuid=name, **body)


def archive_of(cluster: TaskCluster, task_id: str) -> tarfile.TarFile:
    packed = cluster.user.get(f"/api/v1/tasks/{task_id}/context_directory").json["b64Tgz"]
    return tarfile.open(fileobj=io.BytesIO(base64.b64decode(packed)), mode="r:gz")


def files(cluster: TaskCluster, task_id: str) -> dict[str, bytes]:
    with archive_of(cluster, task_id) as archive:
        return {one.name: (archive.extractfile(one) or io.BytesIO()).read() for one in archive if one.isfile()}


def test_it_gets_the_code_and_a_notebook_that_loads_the_checkpoint(cluster: TaskCluster, checkpoint: str) -> None:
    answer = start(cluster, checkpoint)
    assert answer.status == 200, answer.raw
    sent = files(cluster, answer.json["notebook"]["id"])
    assert sent["train.py"] == b"print(1)"
    page = json.loads(sent[f"checkpoint-{checkpoint[:8]}.ipynb"])
    assert f"client.get_checkpoint('{checkpoint}')" in page["cells"][1]["source"]


def test_the_notebook_file_is_as_old_as_the_task(cluster: TaskCluster, checkpoint: str) -> None:
    notebook = start(cluster, checkpoint).json["notebook"]
    begun = int(datetime.fromisoformat(notebook["startTime"]).timestamp())
    with archive_of(cluster, notebook["id"]) as archive:
        assert abs(archive.getmember(f"checkpoint-{checkpoint[:8]}.ipynb").mtime - begun) <= 60


def test_it_gets_the_environment_of_the_experiment_with_its_own_over_it(cluster: TaskCluster, checkpoint: str) -> None:
    answer = start(cluster, checkpoint, config={"environment": {"environment_variables": ["AND=THAT"]}})
    environment = answer.json["config"]["environment"]
    assert set(environment["environment_variables"]["cpu"]) == {"WITH=THIS", "AND=THAT"}
    assert environment["proxy_ports"] == []
    assert environment["registry_auth"]["password"] == "********"  # there, and hidden


def test_others_get_no_login_of_the_experiments_owner(cluster: TaskCluster, checkpoint: str) -> None:
    answer = start(cluster, checkpoint, by=cluster.person("ada"))
    assert answer.status == 200, answer.raw
    assert answer.json["config"]["environment"]["registry_auth"] is None
    assert answer.json["config"]["environment"]["environment_variables"]["cpu"] == ["WITH=THIS"]


def test_what_cannot_be_loaded_is_refused(cluster: TaskCluster, checkpoint: str) -> None:
    assert start(cluster, str(uuid.uuid4())).status == 404
    assert start(cluster, checkpoint, files=[file("mine.py")]).status == 400
    assert cluster.user.call("DELETE", "/api/v1/checkpoints", {"checkpointUuids": [checkpoint]}).status == 200
