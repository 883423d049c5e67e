"""Submitted tasks of a user who is linked to an OS user: real processes, a master that is root."""

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from http_cluster import eventually
from linked_os_user import NOBODY, link, needs_root, packages_of
from task_cluster import TaskCluster

sys.path.insert(0, str(Path(__file__).parents[2] / "e2e"))  # importlib mode adds no folder to the path

from cluster import det
from determined.engines.local.engine import LocalEngine, LocalNode

UID = NOBODY["agentUid"]
SECONDS = 120
ISOLATED = {"security": {"initial_user_password": "", "require_user_isolation": True}}
# In place of JupyterLab, whose installation takes minutes and has tests of its own: listens where it is told to.
LISTENING = """
import json, socket, sys
config = json.load(open(sys.argv[-1].partition("=")[2]))
server = socket.socket(socket.AF_UNIX)
server.bind(config["ServerApp"]["sock"])
server.listen()
while True:
    server.accept()[0].close()
"""


class LinkedMaster:
    """A master that is root; its user `determined` is linked to nobody."""

    def __init__(self, start_master: Callable[..., Any], place: Path, python: str) -> None:
        self.data = place / "data"

        def engines(_ctx: Any) -> list[LocalEngine]:
            return [LocalEngine(self.data / "runs", [LocalNode("here", slots=1)], python=python)]

        self.master = start_master(data_dir=self.data, engine_factory=engines)
        link(self.master)
        self.user = self.master.client("determined")

    def launch(self, noun: str, *entrypoint: str) -> str:
        config = {"resources": {"slots": 0}, **({"entrypoint": list(entrypoint)} if entrypoint else {})}
        answer = self.user.post(f"/api/v1/{noun}s", {"config": config})
        assert answer.status == 200, answer.raw
        return str(answer.json[noun]["id"])

    def until_ready(self, noun: str, task_id: str) -> None:
        def is_ready() -> bool:
            task = self.user.get(f"/api/v1/{noun}s/{task_id}").json[noun]
            assert task["state"] != "STATE_TERMINATED", self.log(task_id)
            return bool(task.get("isReady"))

        eventually(is_ready, SECONDS)

    def until_ended(self, noun: str, task_id: str) -> None:
        path = f"/api/v1/{noun}s/{task_id}"
        eventually(lambda: self.user.get(path).json[noun]["state"] == "STATE_TERMINATED", SECONDS)

    def kill(self, noun: str, task_id: str) -> None:
        assert self.user.post(f"/api/v1/{noun}s/{task_id}/kill").status == 200
        self.until_ended(noun, task_id)

    def log(self, task_id: str) -> str:
        raw = self.user.get(f"/api/v1/tasks/{task_id}/logs").raw
        return "\n".join(json.loads(line)["result"]["message"].rstrip("\n") for line in raw.splitlines())

    def owners(self, pattern: str) -> dict[str, tuple[int, int]]:
        """Owner and mode of the files of the only run directory that have such a name."""
        files = list((self.data / "runs").rglob(pattern))
        return {file.name: (file.stat().st_uid, file.stat().st_mode & 0o777) for file in files}


@pytest.fixture
def linked(start_master: Callable[..., Any], place: Path, python: str) -> Iterator[LinkedMaster]:
    linked = LinkedMaster(start_master, place, python)
    yield linked
    eventually(lambda: not list((linked.data / "runs").glob("*/*")), SECONDS)  # `place` is removed next


@needs_root
def test_a_command_of_a_linked_user_runs_as_that_user_alone(linked: LinkedMaster) -> None:
    task_id = linked.launch("command", "echo ids $(id -u):$(id -g):$(id -G); touch made; stat -c 'made by %u' made")
    linked.until_ended("command", task_id)
    log = linked.log(task_id)
    assert f"ids {UID}:{UID}:{UID}\n" in log, log
    assert f"made by {UID}\n" in log


@needs_root
def test_a_shell_of_a_linked_user_logs_in_as_that_user(linked: LinkedMaster, tmp_path: Path) -> None:
    pytest.importorskip("asyncssh")
    task_id = linked.launch("shell")
    linked.until_ready("shell", task_id)
    shown = linked.user.get(f"/api/v1/shells/{task_id}").json["shell"]
    assert (shown["agentUserGroup"]["user"], shown["agentUserGroup"]["uid"]) == ("nobody", UID)
    words = ("shell", "open", task_id, "--", "echo ids $(id -u):$(id -g):$(id -G)")
    done = det(tmp_path, *words, master=linked.master.url, check=False)
    assert f"ids {UID}:{UID}:{UID}" in done.stdout, f"{done.stderr}\n{linked.log(task_id)}"
    owners = linked.owners("service.*")
    assert owners["service.json"] == (UID, 0o600), "the private host key is in it"
    assert owners["service.sock"][0] == UID
    linked.kill("shell", task_id)


@needs_root
def test_a_notebook_of_a_linked_user_keeps_its_files_as_that_user(linked: LinkedMaster, place: Path) -> None:
    packages = packages_of(place)
    (packages / "jupyterlab.py").write_text(LISTENING)
    (packages / "ipykernel.py").touch()
    for name, version in (("jupyterlab", "4.6.0"), ("jupyter_server", "2.21.0")):
        information = packages / f"{name}-{version}.dist-info"
        information.mkdir()
        (information / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    task_id = linked.launch("notebook")
    linked.until_ready("notebook", task_id)
    [store] = (linked.data / "checkpoints").glob("*/notebooks/*")
    assert (store.stat().st_uid, store.stat().st_mode & 0o077) == (UID, 0)
    owners = linked.owners("service.*")
    assert owners["service.json"] == (UID, 0o600), "the token of its server is in it"
    assert owners["service.sock"][0] == UID
    linked.kill("notebook", task_id)


@needs_root
@pytest.mark.parametrize("noun", ["command", "notebook", "generic task"])
def test_under_isolation_no_task_is_started_for_a_user_who_is_linked_to_nobody(
    start_master: Callable[..., Any], sqlite_url: str, noun: str
) -> None:
    cluster = TaskCluster(start_master, sqlite_url, nodes={"a": 1}, **ISOLATED)

    def submit() -> Any:
        if noun == "generic task":
            return cluster.try_create({"entrypoint": ["true"], "resources": {"slots": 0}})
        return cluster.try_launch(noun)

    refused = submit()
    assert refused.status == 400, refused.raw
    assert "user 'determined' is linked to no OS user other than root" in refused.message
    assert "det user link-with-agent-user" in refused.message
    assert cluster.machine.launched == []
    link(cluster.master)
    accepted = submit()
    assert accepted.status == 200, accepted.raw
    task_id = accepted.json["taskId"] if noun == "generic task" else accepted.json[noun]["id"]
    assert (cluster.runner(task_id).run_as.uid, cluster.runner(task_id).run_as.user) == (UID, "nobody")
