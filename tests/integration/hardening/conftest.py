"""A master with one of everything: users, a project, a running trial with metrics, logs and a checkpoint."""

import base64
import http.client
import json
import os
import re
import select
import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from litestar.routes import HTTPRoute

sys.path.insert(0, str(Path(__file__).parent))  # importlib mode adds no folder to the path
sys.path.insert(0, str(Path(__file__).parents[1] / "reporting"))  # the engine that starts nothing lives there
sys.path.insert(0, str(Path(__file__).parents[1] / "proxy"))

from proxy_ground import make_app, make_ground  # noqa: F401  fixtures
from tracked import IdleEngine, Tracked, until


@dataclass
class World:
    """A cluster and the ids in it."""

    master: Any
    engine: IdleEngine
    admin: Any
    trial: Tracked
    checkpoint: str
    project_id: int

    @property
    def ids(self) -> dict[str, str]:
        """Return what to put for each path parameter so that the request hits something."""
        known = {
            "allocation_id": self.trial.launch.allocation_id,
            "resource_id": self.trial.launch.resource_id,
            "task_id": self.trial.task_id,
            "checkpoint_uuid": self.checkpoint,
            "project_id": str(self.project_id),
            "agent_id": "node0",
            "pool": "default",
            "username": "determined",
        }
        return known

    @property
    def task_headers(self) -> dict[str, str]:
        return {"Grpc-Metadata-x-allocation-token": f"Bearer {self.trial.launch.token}"}

    def path(self, template: str) -> str:
        """A concrete path of a route's template: ids that exist."""
        return re.sub(r"\{(\w+):(\w+)\}", lambda m: self.ids.get(m[1], "1" if m[2] == "int" else "x"), template)

    def operations(self) -> list[tuple[str, str]]:
        """(method, path template) of every route."""
        routes = [route for route in self.master.app.routes if isinstance(route, HTTPRoute)]
        return sorted((m, r.path) for r in routes for m in r.methods - {"OPTIONS", "HEAD"})


@pytest.fixture
def world(start_master: Callable[..., Any], db_url: str) -> World:
    return _populated(start_master, db_url)


@pytest.fixture
def sqlite_world(start_master: Callable[..., Any], sqlite_url: str) -> World:
    return _populated(start_master, sqlite_url)


@pytest.fixture
def wire_to() -> Iterator[Callable[[Any], "Wire"]]:
    opened: list[Wire] = []

    def connect(world: Any) -> Wire:
        opened.append(Wire(world.master.url))
        return opened[-1]

    yield connect
    for one in opened:
        one.close()


@pytest.fixture
def wire(sqlite_world: World, wire_to: Callable[[World], "Wire"]) -> "Wire":
    return wire_to(sqlite_world)


@pytest.fixture
def fields() -> Callable[[World], dict[tuple[str, str], list[str]]]:
    """(method, path template) of every route that takes an object, and the names of its fields."""
    return _fields


class Wire:
    """HTTP without a polite client in between: what it is given goes out as it is."""

    def __init__(self, url: str) -> None:
        self._address = urlsplit(url)
        self._connection: http.client.HTTPConnection | None = None

    def status(self, method: str, path: str, body: bytes | None, headers: dict[str, str], timeout: float = 60) -> int:
        """The status alone: a stream that never ends is left after its headers."""
        return self.answer(method, path, body, headers, timeout)[0]

    def answer(
        self, method: str, path: str, body: bytes | None, headers: dict[str, str], timeout: float = 60
    ) -> tuple[int, bytes]:
        """The status and, unless it is a stream, the text."""
        self._forget_idle()
        if self._connection is None:
            self._connection = http.client.HTTPConnection(
                self._address.hostname or "", self._address.port, timeout=timeout
            )
        self._connection.request(method, path, body=body, headers=headers)
        answer = self._connection.getresponse()
        text = b""
        if answer.status == 101 or answer.getheader("transfer-encoding") == "chunked":
            self.close()
        else:
            text = answer.read()
        return answer.status, text

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _forget_idle(self) -> None:
        """A server hangs up on who says nothing for seconds; that is no answer that was missing."""
        sock = self._connection.sock if self._connection is not None else None
        if sock is not None and select.select([sock], [], [], 0)[0]:
            self.close()


@pytest.fixture
def parameters() -> Callable[[World], dict[tuple[str, str], set[str]]]:
    """(method, path template) of every described route, and the names of its query parameters."""
    return _parameters


@pytest.fixture
def start_process() -> Iterator[Callable[..., "subprocess.Popen[bytes]"]]:
    """`start_process(*flags, pass_fds=(), patient=False)`: a master, killed at the end of the test.

    A patient one is the same, but waits a minute where else it would give up after seconds.
    """
    running: list[subprocess.Popen[bytes]] = []

    def run(*flags: str, pass_fds: tuple[int, ...] = (), patient: bool = False) -> "subprocess.Popen[bytes]":
        environment = {k: v for k, v in os.environ.items() if not k.startswith("DET_")}
        program = ["-c", _PATIENT] if patient else ["-m", "determined.master"]
        command = [sys.executable, *program, *flags]
        process = subprocess.Popen(command, stderr=subprocess.PIPE, pass_fds=pass_fds, env=environment)
        running.append(process)
        return process

    yield run
    for process in running:
        process.kill()
        process.communicate()


_PATIENT = """
import sys
from determined.master import app, main
app._ANSWER_SECONDS = main._GRACE_SECONDS = main._DATABASE_SECONDS = 60
sys.exit(main.main())
"""


@pytest.fixture
def await_port(start_process: Callable[..., Any]) -> Callable[..., tuple["subprocess.Popen[bytes]", int]]:
    """`await_port(*flags, patient=False)`: a master that serves, and its port."""

    def run(*flags: str, **how: bool) -> tuple["subprocess.Popen[bytes]", int]:
        reader, writer = os.pipe()
        process = start_process("--port", "0", "--ready-fd", str(writer), *flags, pass_fds=(writer,), **how)
        os.close(writer)
        with os.fdopen(reader) as told:
            text = told.readline()
        assert text, process.communicate()[1].decode()
        return process, int(text)

    return run


def _populated(start_master: Callable[..., Any], url: str) -> World:
    engine = IdleEngine()
    master = start_master(url, engine_factory=lambda _ctx: [engine])
    admin = master.client("admin")
    workspace = admin.post("/api/v1/workspaces", {"name": "lab"}).json["workspace"]["id"]
    body = {"name": "p", "workspaceId": workspace}
    project = admin.post(f"/api/v1/workspaces/{workspace}/projects", body).json["project"]["id"]
    trial = _submit(master, admin, engine)
    task = {"Grpc-Metadata-x-allocation-token": f"Bearer {trial.launch.token}"}
    steps = {
        "group": "training",
        "metrics": {"trialRunId": 1, "stepsCompleted": 3, "metrics": {"avgMetrics": {"loss": 1.0}}},
    }
    reported = master.anonymous.post(f"/api/v1/trials/{trial.trial_id}/metrics", steps, headers=task)
    assert reported.status == 200, reported.raw
    name = str(uuid.uuid4())
    checkpoint = {
        "uuid": name,
        "taskId": trial.task_id,
        "allocationId": trial.launch.allocation_id,
        "resources": {"weights": "3"},
        "metadata": {"steps_completed": 3},
        "training": {},
        "state": "STATE_COMPLETED",
    }
    stored = master.anonymous.post("/api/v1/checkpoints", json.dumps(checkpoint).encode(), headers=task)
    assert stored.status == 200, stored.raw
    return World(master, engine, admin, trial, name, project)


def _submit(master: Any, client: Any, engine: IdleEngine) -> Tracked:
    """A running trial, submitted as a client does."""
    config = {
        "name": "test",
        "entrypoint": "python3 train.py",
        "searcher": {"name": "single", "metric": "loss"},
        "max_restarts": 0,
        "environment": {"registry_auth": {"username": "u", "password": "registry-secret"}},
    }
    file = {
        "path": "train.py",
        "type": 48,
        "content": base64.b64encode(b"pass").decode(),
        "mtime": "1",
        "mode": 0o644,
        "uid": 0,
        "gid": 0,
    }
    before = set(engine.launches)
    body = {"activate": True, "config": json.dumps(config), "modelDefinition": [file]}
    answer = client.post("/api/v1/experiments", body)
    assert answer.status == 200, answer.raw
    until(lambda: set(engine.launches) - before)
    launch = engine.launches[(set(engine.launches) - before).pop()]
    experiment_id = answer.json["experiment"]["id"]
    trial = client.get(f"/api/v1/experiments/{experiment_id}/trials").json["trials"][0]
    return Tracked(master, launch, experiment_id, trial["id"], trial["taskId"])


def _parameters(world: World) -> dict[tuple[str, str], set[str]]:
    paths = world.master.anonymous.get("/docs/openapi.json").json["paths"]
    found = {}
    for method, template in world.operations():
        operation = paths.get(_described(template), {}).get(method.lower(), {})
        found[method, template] = {p["name"] for p in operation.get("parameters", []) if p["in"] == "query"}
    return found


def _described(template: str) -> str:
    return re.sub(r":\w+\}", "}", template)


def _fields(world: World) -> dict[tuple[str, str], list[str]]:
    description = world.master.anonymous.get("/docs/openapi.json").json
    schemas = description["components"]["schemas"]
    found = {}
    for method, template in world.operations():
        item = description["paths"].get(_described(template), {})
        body = item.get(method.lower(), {}).get("requestBody")
        schema = body["content"]["application/json"]["schema"] if body else {}
        schema = schemas[schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema
        if schema.get("properties"):
            found[method, template] = sorted(schema["properties"])
    return found
