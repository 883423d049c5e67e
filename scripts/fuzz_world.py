"""World that the fuzzer aims at: a master of its own with users, projects, a finished experiment and a running one."""

import base64
import json
import os
import secrets
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import urllib3

from determined.master.auth import allocation_token, session_token

TRAIN = """import determined as det
with det.core.init() as context:
    print("a line of log")
    for step in range(1, 4):
        context.train.report_training_metrics(steps_completed=step, metrics={"loss": 1 / step})
    context.train.report_validation_metrics(steps_completed=3, metrics={"loss": 0.5})
    with context.checkpoint.store_path({"steps_completed": 3}) as (path, _):
        (path / "weights").write_text("w")
"""
SLEEP = "import time\ntime.sleep(3600)\n"


@dataclass
class Cluster:
    url: str
    directory: Path
    token: str = ""

    def call(self, method: str, path: str, body: Any = None) -> Any:
        headers = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        raw = json.dumps(body).encode() if body is not None else None
        answer = urllib3.request(method, self.url + path, body=raw, headers=headers, timeout=30)
        if answer.status != 200:
            raise RuntimeError(f"{method} {path}: {answer.status} {answer.data.decode()}")
        return answer.json()

    def login(self, username: str, password: str) -> None:
        body = {"username": username, "password": password}
        self.token = self.call("POST", "/api/v1/auth/login", body)["token"]

    def submit(self, script: str, *, activate: bool = True) -> int:
        config = {
            "name": "fuzzed",
            "entrypoint": "python3 train.py",
            "searcher": {"name": "single", "metric": "loss"},
            "max_restarts": 0,
        }
        content = base64.b64encode(script.encode()).decode()
        file = {"path": "train.py", "type": 48, "content": content, "mtime": "1", "mode": 0o644, "uid": 0, "gid": 0}
        body = {"activate": activate, "config": json.dumps(config), "modelDefinition": [file]}
        return int(self.call("POST", "/api/v1/experiments", body)["experiment"]["id"])

    def await_state(self, experiment_id: int, state: str) -> None:
        deadline = time.monotonic() + 120
        while (found := self.call("GET", f"/api/v1/experiments/{experiment_id}")["experiment"]["state"]) != state:
            if time.monotonic() > deadline:
                raise RuntimeError(f"experiment {experiment_id} is {found}, not {state}, after two minutes")
            time.sleep(0.2)

    def allocation_token(self, allocation_id: str) -> str:
        """Made as the master makes it: the fuzzer plays a task."""
        with sqlite3.connect(self.directory / "master.db") as db:
            (value,) = db.execute("SELECT value FROM cluster WHERE key = 'token_secret'").fetchone()
        return allocation_token.mint(bytes.fromhex(json.loads(value)), allocation_id)


@contextmanager
def running_master(directory: Path) -> Iterator[Cluster]:
    config = directory / "master.yaml"
    storage = {"type": "shared_fs", "host_path": str(directory / "checkpoints")}
    settings = {"security": {"initial_user_password": ""}, "checkpoint_storage": storage}
    settings["webhooks"] = {"allow_public": False}  # those of the fuzzer must call nobody
    config.write_text(json.dumps(settings))
    read_fd, write_fd = os.pipe()
    command = [sys.executable, "-m", "determined.master", "--config-file", str(config), "--data-dir", str(directory)]
    command += ["--port", "0", "--slots", "2", "--ready-fd", str(write_fd)]
    with (directory / "master.log").open("wb") as log:
        master = subprocess.Popen(command, pass_fds=[write_fd], stdout=log, stderr=log)
    os.close(write_fd)
    try:
        yield Cluster(f"http://127.0.0.1:{int(os.read(read_fd, 4096))}", directory)
    finally:
        if master.poll() is not None:
            last = (directory / "master.log").read_text(errors="replace").splitlines()[-30:]
            print(f"the master has ended by itself, with {master.returncode}:", *last, sep="\n", flush=True)
        master.terminate()
        master.wait(timeout=30)
        os.close(read_fd)


def populate(cluster: Cluster) -> dict[str, list[Any]]:
    """Make one of everything; return the values that hit something, by path parameter. Logs in as an administrator."""
    cluster.login("admin", "")
    for number in range(5):
        cluster.call("POST", "/api/v1/users", {"user": {"username": f"user{number}", "active": True, "admin": True}})
    cluster.login("user4", "")
    workspace = cluster.call("POST", "/api/v1/workspaces", {"name": "lab"})["workspace"]["id"]
    project = cluster.call("POST", f"/api/v1/workspaces/{workspace}/projects", {"name": "p", "workspaceId": workspace})[
        "project"
    ]["id"]
    experiment = cluster.submit(TRAIN)
    cluster.await_state(experiment, "STATE_COMPLETED")
    trial = cluster.call("GET", f"/api/v1/experiments/{experiment}/trials")["trials"][0]
    checkpoints = cluster.call("GET", f"/api/v1/experiments/{experiment}/checkpoints")["checkpoints"]
    agents = cluster.call("GET", "/api/v1/agents")["agents"]
    return {
        "webhook_id": [_webhook(cluster, None)],
        "experiment_id": [experiment],
        "trial_id": [trial["id"]],
        "task_id": [trial["taskId"]],
        "run_id": [trial["id"]],
        "checkpoint_uuid": [entry["uuid"] for entry in checkpoints],
        "workspace_id": [1, workspace],
        "project_id": [1, project],
        "agent_id": [agent["id"] for agent in agents],
        "slot_id": ["0", "1"],
        "user_id": [2, 3],
        "username": ["determined"],
        "pool": ["default"],
        "key": ["train.py"],
        **_registered(cluster, "digits", checkpoints[0]["uuid"]),
        "template_name": [_template(cluster, "small")],
    }


def new_administrator(cluster: Cluster) -> Cluster:
    """Make an administrator whom nobody has fuzzed yet."""
    return _account(cluster, "fresh-administrator", admin=True)


def new_user(cluster: Cluster) -> Cluster:
    return _account(cluster, "fresh-user", admin=False)


def _account(cluster: Cluster, name: str, *, admin: bool) -> Cluster:
    """Made in the database: by now every account that could do it may be inactive, or have another password."""
    now = int(time.time() * 1_000_000)
    token = secrets.token_urlsafe(32)
    with sqlite3.connect(cluster.directory / "master.db", timeout=30) as db:
        user = db.execute(
            "INSERT INTO users (username, admin, active, created_at, modified_at) VALUES (?, ?, 1, ?, ?) RETURNING id",
            [name, admin, now, now],
        ).fetchone()[0]
        db.execute(
            "INSERT INTO sessions (user_id, token_hash, kind, created_at, expires_at) VALUES (?, ?, 'session', ?, ?)",
            [user, session_token.digest(token), now, now + 7 * 86400 * 1_000_000],
        )
    return Cluster(cluster.url, cluster.directory, token)


def populate_own(cluster: Cluster, known: dict[str, list[Any]]) -> dict[str, list[Any]]:
    """A workspace, a project, an experiment, a model and a template that belong to this user."""
    workspace = cluster.call("POST", "/api/v1/workspaces", {"name": "own"})["workspace"]["id"]
    body = {"name": "own", "workspaceId": workspace}
    project = cluster.call("POST", f"/api/v1/workspaces/{workspace}/projects", body)["project"]["id"]
    experiment = cluster.submit(TRAIN, activate=False)
    trial = cluster.call("GET", f"/api/v1/experiments/{experiment}/trials")["trials"][0]
    return {
        "webhook_id": [_webhook(cluster, workspace)],
        "workspace_id": [1, workspace],
        "project_id": [1, project],
        "experiment_id": [experiment],
        "trial_id": [trial["id"]],
        "run_id": [trial["id"]],
        "task_id": [trial["taskId"]],
        "model_name": [*known["model_name"], _model(cluster, "own-model")],
        "template_name": [_template(cluster, "own-template")],
    }


def _registered(cluster: Cluster, name: str, checkpoint: str) -> dict[str, list[Any]]:
    """A model with three versions, one of which has an alias."""
    _model(cluster, name)
    for _ in range(3):
        cluster.call("POST", f"/api/v1/models/{name}/versions", {"checkpointUuid": checkpoint})
    cluster.call("PUT", f"/api/v1/models/{name}/aliases/production", {"version": 2})
    [file, *_] = cluster.call("GET", f"/api/v1/models/{name}/versions/1/files")["files"]
    return {
        "model_name": [name],
        "version": ["1", "2", "3", "production"],
        "alias": ["production"],
        "file_path": [file["path"]],
    }


def _model(cluster: Cluster, name: str) -> str:
    cluster.call("POST", "/api/v1/models", {"name": name})
    return name


def _template(cluster: Cluster, name: str) -> str:
    cluster.call("POST", f"/api/v1/templates/{name}", {"config": {"max_restarts": 1}})
    return name


def _webhook(cluster: Cluster, workspace: int | None) -> int:
    trigger = {"triggerType": "TRIGGER_TYPE_EXPERIMENT_STATE_CHANGE", "condition": {"state": "CANCELED"}}
    body = {"url": "http://127.0.0.1:9/", "triggers": [trigger], "workspaceId": workspace}
    return int(cluster.call("POST", "/api/v1/webhooks", body)["webhook"]["id"])


def kill_tasks(cluster: Cluster) -> None:
    """End what the fuzzer has launched: it would hold the slots, and live on when the master has ended."""
    for summary in cluster.call("GET", "/api/v1/tasks")["allocationIdToSummary"].values():
        task_id, kind = summary["taskId"], summary["taskType"].removeprefix("TASK_TYPE_").lower()
        if kind in ("command", "notebook", "shell", "tensorboard"):
            cluster.call("POST", f"/api/v1/{kind}s/{task_id}/kill", {})
        elif kind == "generic":
            cluster.call("POST", f"/api/v1/tasks/{task_id}/kill", {"taskId": task_id, "killFromRoot": False})
    for experiment in cluster.call("GET", "/api/v1/experiments")["experiments"]:
        if not experiment.get("endTime"):
            cluster.call("POST", f"/api/v1/experiments/{experiment['id']}/kill", {})
    deadline = time.monotonic() + 120
    while left := cluster.call("GET", "/api/v1/tasks")["allocationIdToSummary"]:
        if time.monotonic() > deadline:
            raise RuntimeError(f"tasks still live two minutes after they were killed: {list(left)}")
        time.sleep(0.2)


def start_task(cluster: Cluster) -> dict[str, list[Any]]:
    """A task that runs for as long as the fuzzer does; its ids."""
    kill_tasks(cluster)
    for agent in cluster.call("GET", "/api/v1/agents")["agents"]:  # the fuzzer may have disabled any of it
        cluster.call("POST", f"/api/v1/agents/{quote(agent['id'], safe='')}/enable", {})
        for slot in agent["slots"]:
            cluster.call("POST", f"/api/v1/agents/{quote(agent['id'], safe='')}/slots/{slot}/enable", {})
    experiment = cluster.submit(SLEEP)
    cluster.await_state(experiment, "STATE_RUNNING")
    summaries = cluster.call("GET", "/api/v1/tasks")["allocationIdToSummary"]
    (allocation_id, found), *_ = summaries.items()
    resources = [entry["resourcesId"] for entry in found.get("resources") or []]
    return {
        "allocation_id": [allocation_id],
        "resource_id": resources or ["x"],
        "experiment_id": [experiment],
        "trial_id": [cluster.call("GET", f"/api/v1/experiments/{experiment}/trials")["trials"][0]["id"]],
        "task_id": [found["taskId"]],
    }
