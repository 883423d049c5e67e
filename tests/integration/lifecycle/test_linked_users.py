"""Tasks that run as the OS user linked to their submitter: real processes, a master that is root."""

import base64
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from http_cluster import HttpCluster, eventually
from linked_os_user import NOBODY, link, needs_root

from determined.engines.local.engine import LocalEngine, LocalNode
from determined.master.lifecycle import identity

SCRIPT = """
import json, os, pathlib
import determined as det

home = pathlib.Path(os.environ["HOME"])
(home / "mine").write_text("x")
with det.core.init() as core:
    core.train.report_validation_metrics(1, {"loss": 0.5})
    with core.checkpoint.store_path({"steps_completed": 1}) as (path, uuid):
        (path / "weights").write_text("w")
secrets = pathlib.Path(os.environ["DET_RUN_DIR"]).parents[1]
seen = {"uid": os.getuid(), "gid": os.getgid(), "groups": os.getgroups(), "home": str(home), "cwd": os.getcwd()}
seen["database"] = os.access(secrets / "master.db", os.R_OK)
seen["listing"] = os.access(secrets, os.R_OK)
print("SEEN " + json.dumps(seen))
"""


@needs_root
def test_training_of_a_linked_user_runs_reports_and_saves_as_that_user(
    place: Path, python: str, start_master: Callable[..., Any]
) -> None:
    data = place / "data"

    def engines(_ctx: Any) -> list[LocalEngine]:
        return [LocalEngine(data / "runs", [LocalNode("here", slots=1)], python=python)]

    master = start_master(data_dir=data, engine_factory=engines)
    link(master)
    user = master.client("determined")
    submit(user, SCRIPT)
    eventually(lambda: state(user) in ("STATE_COMPLETED", "STATE_ERROR"), seconds=100)
    lines = [r["result"]["message"] for r in map(json.loads, user.get("/api/v1/trials/1/logs").raw.splitlines())]
    [told] = [line.partition("SEEN ")[2] for line in lines if "SEEN " in line] or [pytest.fail("\n".join(lines))]
    seen = json.loads(told)
    assert (seen["uid"], seen["gid"], 0 in seen["groups"]) == (65534, 65534, False)
    assert seen["home"].startswith(str(data / "runs")), "nobody has no home of its own"
    assert (seen["database"], seen["listing"]) == (False, False)
    [checkpoint] = user.get("/api/v1/experiments/1/checkpoints").json["checkpoints"]
    stored = data / "checkpoints" / checkpoint["uuid"] / "weights"
    assert stored.stat().st_uid == 65534
    assert (data / "checkpoints").stat().st_mode & 0o1777 == 0o1777
    assert master.anonymous.get("/info").json["user_isolation"] is True


@needs_root
def test_isolation_refuses_users_who_are_linked_to_nobody(start_master: Callable[..., Any], sqlite_url: str) -> None:
    security = {"initial_user_password": "", "require_user_isolation": True}
    cluster = HttpCluster(start_master, sqlite_url, nodes={"a": 1}, security=security)
    refused = submit(cluster.user, "pass")
    assert refused.status == 400 and "'determined' is linked to no OS user other than root" in refused.message
    link(cluster.master)
    assert submit(cluster.user, "pass").status == 200
    [launch] = cluster.launched()
    assert (launch.run_as.uid, launch.run_as.user) == (65534, "nobody")


@needs_root
def test_isolation_refuses_to_run_a_stranger_as_somebody_else_by_way_of_a_workspace(
    start_master: Callable[..., Any], sqlite_url: str
) -> None:
    security = {"initial_user_password": "", "require_user_isolation": True}
    cluster = HttpCluster(start_master, sqlite_url, nodes={"a": 1}, security=security)
    link(cluster.master)
    user = {"username": "eve", "active": True, "admin": False}
    assert cluster.admin.post("/api/v1/users", {"user": user}).status == 200
    eve = cluster.master.client("eve")
    refused = eve.post("/api/v1/workspaces", {"name": "w", "agentUserGroup": NOBODY})
    assert refused.status == 403, refused.raw
    made = cluster.admin.post("/api/v1/workspaces", {"name": "w", "agentUserGroup": NOBODY}).json["workspace"]
    assert (
        cluster.admin.post(f"/api/v1/workspaces/{made['id']}/projects", {"name": "p", "workspaceId": made["id"]}).status
        == 200
    )
    answer = submit(eve, "pass", workspace="w", project="p")
    assert answer.status == 400 and "OS user of 'determined'" in answer.message, answer.raw
    assert submit(cluster.user, "pass", workspace="w", project="p").status == 200


@needs_root
def test_link_that_is_removed_before_the_start_ends_the_trial(
    start_master: Callable[..., Any], sqlite_url: str
) -> None:
    security = {"initial_user_password": "", "require_user_isolation": True}
    cluster = HttpCluster(start_master, sqlite_url, nodes={"a": 1}, security=security)
    link(cluster.master)
    assert submit(cluster.user, "pass", activate=False).status == 200
    link(cluster.master, agentUid=0, agentGid=0, agentUser="root", agentGroup="root")
    assert cluster.user.post("/api/v1/experiments/1/activate").status == 200
    eventually(lambda: state(cluster.user) == "STATE_ERROR")
    assert cluster.machine.launched == []
    logs = cluster.user.get("/api/v1/trials/1/logs").raw.decode()
    assert "security.require_user_isolation" in logs


def test_master_that_cannot_switch_users_runs_tasks_as_itself_and_says_so(
    start_master: Callable[..., Any], sqlite_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(identity.os, "geteuid", lambda: 1000)
    cluster = HttpCluster(start_master, sqlite_url, nodes={"a": 1})
    link(cluster.master)
    assert submit(cluster.user, "pass").status == 200
    [launch] = cluster.launched()
    assert (launch.run_as.uid, launch.run_as.user) == (None, None)
    assert cluster.master.anonymous.get("/info").json["user_isolation"] is False


def test_master_that_cannot_switch_users_refuses_everything_under_isolation(
    start_master: Callable[..., Any], sqlite_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(identity.os, "geteuid", lambda: 1000)
    security = {"initial_user_password": "", "require_user_isolation": True}
    cluster = HttpCluster(start_master, sqlite_url, nodes={"a": 1}, security=security)
    link(cluster.master)
    refused = submit(cluster.user, "pass")
    assert refused.status == 400 and "start it as root" in refused.message


def submit(user: Any, script: str, *, activate: bool = True, **place: str) -> Any:
    config = {
        "name": "linked",
        "entrypoint": "python3 train.py",
        "searcher": {"name": "single", "metric": "loss"},
        "max_restarts": 0,
        **place,
    }
    content = base64.b64encode(script.encode()).decode()
    file = {"path": "train.py", "type": 48, "content": content, "mtime": "0", "mode": 0o644, "uid": 0, "gid": 0}
    body = {"config": yaml.safe_dump(config), "modelDefinition": [file], "activate": activate}
    return user.post("/api/v1/experiments", body)


def state(user: Any) -> str:
    return str(user.get("/api/v1/experiments/1").json["experiment"]["state"])
