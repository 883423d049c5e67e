"""Rig of task_contract.py: a master over an engine, and what a user does with tasks there."""

import base64
import json
import ssl
from pathlib import Path
from typing import Any

import urllib3
from websockets.sync.client import ClientConnection, connect

from cluster import Client, Cluster, det, eventually, write_experiment

Files = dict[str, str]  # content by name
SECONDS = 120.0
_MTIME = "1767225600"  # a zip file, which a build of a package makes, takes none before 1980


class TaskSite:
    """A running master. An engine's own suite derives from this where there is more to say.

    Args:
        cluster: the master; it is started.
        place: directory that tasks see at the same path.
        task: config that every task and trial needs on this engine.
        nodes: how many nodes a trial of `wide` slots has.
        cert: file with the master's own certificate.
    """

    def __init__(
        self,
        cluster: Cluster,
        place: Path,
        *,
        task: dict[str, Any] | None = None,
        nodes: int = 1,
        wide: int = 2,
        cert: Path | None = None,
    ) -> None:
        self.cluster, self.place, self.nodes, self.wide = cluster, place, nodes, wide
        self._task = task or {}
        self.home, self.shared = place / "home", place / "shared"
        for directory in (self.home, self.shared):
            directory.mkdir(parents=True)
        self._cert = str(cert) if cert is not None else None
        self.client = Client(cluster.url, cert=self._cert)

    def left_over(self) -> list[Any]:
        """Return what the engine still runs for this master; nothing when no task lives."""
        return []

    def lose_node(self, task_id: str) -> None:
        """The node of a running task vanishes, as in a power failure, until `bring_back`; else its runner alone."""
        raise NotImplementedError

    def bring_back(self) -> None:
        """Bring back what `lose_node` took."""

    def node_of(self, task_id: str) -> str:
        """Return the node of a running task, as the engine calls it."""
        live = self.client.get("/api/v1/tasks")["allocationIdToSummary"].values()
        [resources] = [one["resources"] for one in live if one["taskId"] == task_id]
        [node] = [agent for one in resources for agent in one["agentDevices"]]
        return str(node)

    def restart_master(self) -> None:
        """kill -9, and start it again."""
        self.cluster.kill()
        self.cluster.start()

    def config(self, **fields: Any) -> dict[str, Any]:
        """The config of a task, with what this engine needs."""
        environment = {**self._task.get("environment", {}), **fields.get("environment", {})}
        return {**self._task, **fields, **({"environment": environment} if environment else {})}

    def launch(self, kind: str, *entrypoint: str, files: Files | None = None, **request: Any) -> str:
        """Submit a task of this kind; `config` of the request is laid over what this engine needs."""
        config = self.config(**request.pop("config", {}), **({"entrypoint": list(entrypoint)} if entrypoint else {}))
        body = {"config": config, "files": _files(files or {}), **request}
        task_id: str = self.client.post(f"/api/v1/{kind}s", body)[kind]["id"]
        return task_id

    def launch_generic(self, *entrypoint: str, files: Files | None = None) -> str:
        config = json.dumps(self.config(entrypoint=list(entrypoint)))
        body = {"config": config, "contextDirectory": _files(files or {})}
        task_id: str = self.client.post("/api/v1/generic-tasks", body)["taskId"]
        return task_id

    def train(self, name: str, script: str, *, slots: int, **config: Any) -> int:
        """Submit an experiment of one trial and return the trial."""
        full = self.config(**config, resources={"slots_per_trial": slots})
        experiment = self.client.submit(write_experiment(self.place / name, script, full))
        return int(eventually(lambda: self.client.trials(experiment), SECONDS)[0]["id"])

    def get(self, kind: str, task_id: str) -> dict[str, Any]:
        found: dict[str, Any] = self.client.get(f"/api/v1/{kind}s/{task_id}")[kind]
        return found

    def generic_state(self, task_id: str) -> str:
        state: str = self.client.get(f"/api/v1/tasks/{task_id}")["task"]["taskState"]
        return state.removeprefix("GENERIC_TASK_STATE_")

    def kill(self, kind: str, task_id: str) -> None:
        self.client.post(f"/api/v1/{kind}s/{task_id}/kill")
        self.until_ended(kind, task_id)

    def until_ended(self, kind: str, task_id: str) -> str:
        """Wait for the end of a task, and return its exit status."""
        self.until(lambda: self.get(kind, task_id)["state"] == "STATE_TERMINATED", task_id)
        return str(self.get(kind, task_id)["exitStatus"])

    def until_ready(self, kind: str, task_id: str, seconds: float = SECONDS) -> None:
        def is_ready() -> bool:
            found = self.get(kind, task_id)
            assert not found.get("endTime"), f"{found}\n{self.explain(task_id)}"
            return bool(found.get("isReady"))

        self.until(is_ready, task_id, seconds)

    def until_said(self, task_id: str, words: str, times: int = 1) -> None:
        self.until(lambda: self.lines(task_id).count(words) >= times, task_id)

    def until(self, condition: Any, task_id: str, seconds: float = SECONDS) -> None:
        eventually(condition, seconds, lambda: self.explain(task_id), poll_seconds=0.1)

    def lines(self, task_id: str) -> str:
        url = f"{self.client.url}/api/v1/tasks/{task_id}/logs"
        response = self.client.pool.request("GET", url, headers=self.client.headers)
        assert response.status == 200, response.data
        return "\n".join(json.loads(line)["result"]["message"].rstrip() for line in response.data.splitlines() if line)

    def explain(self, task_id: str) -> str:
        return f"{self.lines(task_id)[-4000:]}\n--- master:\n{self.cluster.log()[-3000:]}"

    def fetch(
        self, service: str, path: str = "", *, method: str = "GET", body: Any = None, headers: Any = None
    ) -> urllib3.BaseHTTPResponse:
        """Ask a service through the proxy, with this user's token unless other headers are given."""
        return self.client.pool.request(
            method,
            f"{self.client.url}/proxy/{service}/{path}",
            headers=self.client.headers if headers is None else headers,
            body=None if body is None else json.dumps(body).encode(),
            redirect=False,
        )

    def open_socket(self, service: str, path: str = "") -> ClientConnection:
        url = f"{self.client.url}/proxy/{service}/{path}".replace("http", "ws", 1)
        trust = ssl.create_default_context(cafile=self._cert) if self._cert is not None else None
        return connect(url, additional_headers=self.client.headers, open_timeout=SECONDS, proxy=None, ssl=trust)

    def det(self, *words: str, check: bool = True, stdin: str = "") -> Any:
        return det(self.home, *words, master=self.cluster.url, check=check, stdin=stdin)

    def config_file(self, **fields: Any) -> Path:
        """The config of a task as a file for `det`."""
        path = self.place / "task.yaml"
        path.write_text(json.dumps(self.config(**fields)))
        return path


def _files(files: Files) -> list[dict[str, Any]]:
    return [
        {"path": name, "type": 48, "content": base64.b64encode(text.encode()).decode(), "mtime": _MTIME}
        | {"mode": 0o644, "uid": 0, "gid": 0}
        for name, text in files.items()
    ]
