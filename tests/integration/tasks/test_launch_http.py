"""Commands, notebooks, shells and TensorBoards over HTTP: started, or refused with a reason."""

import base64
import io
import tarfile
from typing import Any

import pytest
from http_cluster import eventually
from task_cluster import NOUNS, TaskCluster, file

TITLES = {"command": "Command", "notebook": "JupyterLab", "shell": "Shell", "tensorboard": "TensorBoard"}


@pytest.mark.parametrize("noun", NOUNS)
def test_a_new_task_has_a_name_of_its_kind_and_waits_in_the_queue(cluster: TaskCluster, noun: str) -> None:
    sources = {"experimentIds": [cluster.submit(activate=False)]} if noun == "tensorboard" else {}
    answer = cluster.try_launch(noun, config={"resources": {"slots": 0}, "entrypoint": ["a", "b"]}, **sources)
    assert answer.status == 200, answer.raw
    task, config = answer.json[noun], answer.json["config"]
    assert task["description"].startswith(f"{TITLES[noun]} (") and config["description"] == task["description"]
    assert (task["state"], task["exitStatus"], task["username"]) == ("STATE_QUEUED", "", "determined")
    assert (task["resourcePool"], task["workspaceId"], task["slots"]) == ("default", 1, 0)
    assert (config["resources"]["slots"], config["resources"]["priority"], config["entrypoint"]) == (0, 42, ["a", "b"])
    assert answer.json["warnings"] == []
    assert cluster.user.get(f"/api/v1/{noun}s/{task['id']}").json[noun]["id"] == task["id"]


def test_one_slot_is_asked_for_where_the_request_names_none_and_none_by_a_tensorboard(cluster: TaskCluster) -> None:
    assert cluster.launch(config={"entrypoint": ["true"]})["slots"] == 1
    shown = cluster.submit(activate=False)
    board = cluster.launch("tensorboard", config={"resources": {"slots": 3}}, experimentIds=[shown])
    assert board["slots"] == 0


def test_a_description_of_the_users_own_is_kept(cluster: TaskCluster) -> None:
    assert cluster.launch(config={"entrypoint": ["true"], "description": "my ünit"})["description"] == "my ünit"
    shown = cluster.submit(activate=False)
    assert cluster.launch("tensorboard", config={"description": "mine"}, experimentIds=[shown])["description"] == "mine"


def test_a_task_in_a_workspace_uses_the_pools_of_that_workspace(cluster: TaskCluster) -> None:
    workspace = cluster.user.post("/api/v1/workspaces", {"name": "w", "defaultAuxPool": "default"}).json["workspace"]
    assert cluster.launch(workspaceId=workspace["id"])["workspaceId"] == workspace["id"]


@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        ({"workspaceId": 77}, 404, "workspace '77' not found"),
        ({"config": {"entrypoint": ["a"], "resources": {"resource_pool": "x"}}}, 400,
         "resource pool x does not exist or is not available to workspace id 1"),
        ({"config": {"entrypoint": ["a"], "resources": {"slots": 10485}}}, 400,
         "failed to prepare launch params: validating resources: request unfulfillable, please try requesting less"),
        ({"config": {"entrypoint": ["a"], "resources": {"slots": 5}}}, 400, "request unfulfillable"),
        ({"config": {"entrypoint": ["a"], "resources": {"slots": -1}}}, 400, "slots"),
        ({"config": {"entrypoint": ["a"], "resources": {"slots": "many"}}}, 400, "slots"),
        ({"config": {"entrypoint": ["a"], "resources": 7}}, 400, "resources"),
        ({"templateName": "t"}, 404, "template 't' not found"),
        ({"template_name": "t"}, 404, "template 't' not found"),
        ({"config": {}}, 400, "invalid command config: entrypoint must be non-empty"),
        ({"config": {"entrypoint": []}}, 400, "entrypoint must be non-empty"),
        ({"config": {"entrypoint": ["a"], "wrk_dir": "/x"}}, 400, "wrk_dir"),
        ({"config": {"entrypoint": ["a"], "work_dir": "/x"}, "files": [file("a.py")]}, 400,
         "cannot set work_dir and context directory at the same time"),
        ({"config": {"entrypoint": ["a"], "notebook_idle_type": "x"}}, 400, "notebook_idle_type"),
        ({"config": {"entrypoint": ["a"], "resources": {"priority": 100}}}, 400, "priority"),
        ({"config": "text"}, 400, "config"),
        ({"files": "text"}, 400, "files"),
    ],
)  # fmt: skip
def test_a_wrong_request_is_refused_with_its_reason_and_nothing_is_stored(
    cluster: TaskCluster, body: dict[str, Any], status: int, words: str
) -> None:
    answer = cluster.user.post("/api/v1/commands", {"config": {"entrypoint": ["true"]}, **body})
    assert (answer.status, words in answer.message) == (status, True), answer.raw
    assert cluster.user.get("/api/v1/commands").json["commands"] == []


def test_nothing_starts_in_an_archived_workspace(cluster: TaskCluster) -> None:
    workspace = cluster.user.post("/api/v1/workspaces", {"name": "w"}).json["workspace"]["id"]
    task = cluster.launch(workspaceId=workspace)
    assert cluster.user.post(f"/api/v1/workspaces/{workspace}/archive").status == 200
    refused = cluster.try_launch(workspaceId=workspace)
    assert (refused.status, f"workspace '{workspace}' not found" in refused.message) == (404, True)
    listed = cluster.user.get("/api/v1/commands", fields={"workspaceId": workspace}).json["commands"]
    assert [one["id"] for one in listed] == [task["id"]]


def test_fields_that_old_clients_send_are_ignored(cluster: TaskCluster) -> None:
    cluster.launch(data="eA==", template_name="", workspaceId=0, files=[])
    cluster.launch(config={"entrypoint": ["true"]}, templateName=None, workspaceId=None, files=None)


def test_files_reach_the_task_as_an_archive(cluster: TaskCluster) -> None:
    sent = [file("a.py", b"print(1)"), {**file("b/c.txt", b"\x00\xff"), "mtime": 7}]
    task = cluster.launch(files=sent)
    packed = cluster.user.get(f"/api/v1/tasks/{task['id']}/context_directory").json["b64Tgz"]
    with tarfile.open(fileobj=io.BytesIO(base64.b64decode(packed))) as archive:
        assert {name for name in archive.getnames() if "." in name} == {"a.py", "b/c.txt"}
        extracted = archive.extractfile("b/c.txt")
        assert extracted is not None and extracted.read() == b"\x00\xff"
    assert cluster.user.get(f"/api/v1/tasks/{cluster.launch()['id']}/context_directory").json["b64Tgz"] == ""


def test_files_are_kept_until_the_task_ends(cluster: TaskCluster) -> None:
    def packed(task_id: str) -> str:
        return str(cluster.user.get(f"/api/v1/tasks/{task_id}/context_directory").json["b64Tgz"])

    succeeds, fails = (cluster.launch(files=[file("a.py")])["id"] for _ in range(2))
    cluster.start(succeeds)
    assert packed(succeeds) and packed(fails)
    cluster.finish(succeeds)
    cluster.finish(fails, code=1)
    eventually(lambda: packed(succeeds) == "" and packed(fails) == "")


def test_files_of_a_generic_task_are_kept_for_its_forks(cluster: TaskCluster) -> None:
    task_id = cluster.create(contextDirectory=[file("a.py")])
    cluster.finish(task_id)
    eventually(lambda: cluster.state(task_id) == "COMPLETED")
    assert cluster.user.get(f"/api/v1/tasks/{task_id}/context_directory").json["b64Tgz"]


def test_a_preview_of_a_notebook_answers_the_whole_config_and_stores_nothing(cluster: TaskCluster) -> None:
    config = {"description": "n", "resources": {"slots": 2}}
    answer = cluster.try_launch("notebook", config=config, preview=True)
    assert answer.status == 200, answer.raw
    shown, notebook = answer.json["config"], answer.json["notebook"]
    assert (shown["description"], shown["resources"]["slots"], shown["idle_timeout"]) == ("n", 2, None)
    assert shown["environment"]["environment_variables"] == {"cpu": [], "cuda": [], "rocm": []}
    assert notebook["id"] == ""
    assert cluster.user.get("/api/v1/notebooks").json["notebooks"] == []
    assert cluster.try_launch("notebook", config={"x": 1}, preview=True).status == 400


def test_what_a_task_runs_is_told_to_its_runner(cluster: TaskCluster) -> None:
    config = {
        "entrypoint": ["echo $A"],
        "resources": {"slots": 0},
        "environment": {"environment_variables": ["A=b", "NAMED"], "proxy_ports": [{"proxy_port": 8000}]},
        "bind_mounts": [{"host_path": "/x", "container_path": "data"}],
    }
    spec = cluster.spec(cluster.runner(cluster.launch(config=config)["id"]))
    assert (spec["entrypoint"], spec["taskType"]) == (["sh", "-c", "echo $A"], "COMMAND")
    assert {"A=b", "NAMED"} <= set(spec["environment"])
    assert spec["bindMounts"][0]["containerPath"] == "data"
    assert [(one["id"], one["port"]) for one in spec["services"]] == [("8000", 8000)]
    several = cluster.spec(cluster.runner(cluster.launch(config={**config, "entrypoint": ["echo", "$A"]})["id"]))
    assert several["entrypoint"] == ["echo", "$A"]


def test_a_notebook_has_a_service_whose_token_only_its_owner_sees(cluster: TaskCluster) -> None:
    ada, bob = cluster.person("ada"), cluster.person("bob")
    task = cluster.launch("notebook", by=ada)
    spec = cluster.spec(cluster.runner(task["id"]))
    assert spec["entrypoint"][-2:] == ["-m", "determined.exec.notebook"]
    assert spec["services"] == [{"id": "", "port": 0, "tcp": False, "unauthenticated": False}]
    token = spec["settings"]["token"]
    assert token
    for path in (f"/api/v1/notebooks/{task['id']}", "/api/v1/notebooks", f"/api/v1/tasks/{task['id']}"):
        assert token.encode() not in bob.get(path).raw, path
    assert cluster.get("notebook", task["id"], ada)["serviceAddress"].startswith(f"/proxy/{task['id']}/")
