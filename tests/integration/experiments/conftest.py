"""Experiments over HTTP: factories that submit, report and store real checkpoint files."""

import asyncio
import base64
import json
import sys
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection

from determined import storage
from determined.master.background.checkpoint_gc import GarbageCollector
from determined.master.db.queries import metric, metric_trial, storage_backend
from determined.wire.report import MetricReport

sys.path.insert(0, str(Path(__file__).parent))  # importlib mode adds no folder to the path

FAR_AWAY = "3f1d2a8e-0000-4000-8000-000000000008"

Submit = Callable[..., dict[str, Any]]


def base_config(**changes: Any) -> dict[str, Any]:
    """Zero slots: a master without engines has no capacity to check."""
    return {
        "name": "test",
        "entrypoint": "python3 train.py",
        "searcher": {"name": "single", "metric": "loss"},
        "hyperparameters": {"lr": 0.1, "net": {"width": 32}},
        "resources": {"slots_per_trial": 0},
        **changes,
    }


def file_entry(path: str, content: bytes = b"", *, directory: bool = False) -> dict[str, Any]:
    return {
        "path": path,
        "type": 53 if directory else 48,
        "content": base64.b64encode(content).decode(),
        "mtime": "1794704998",
        "mode": 0o755 if directory else 0o644,
        "uid": 0,
        "gid": 0,
    }


@pytest.fixture
def submit() -> Submit:
    """`submit(client, activate=False, files=None, **config)`: the whole answer of a successful submit."""

    def send(client: Any, *, activate: bool = False, files: Any = None, **changes: Any) -> dict[str, Any]:
        options = {k: changes.pop(k) for k in ("projectId", "parentId", "unmanaged") if k in changes}
        body = {
            "activate": activate,
            "config": json.dumps(base_config(**changes)),
            "modelDefinition": files or [],
            "parentId": None,
            "projectId": None,
            "template": None,
            "validateOnly": False,
            **options,
        }
        answer = client.post("/api/v1/experiments", body)
        assert answer.status == 200, answer.raw
        return answer.json

    return send


@pytest.fixture
def files() -> Callable[..., dict[str, Any]]:
    return file_entry


@pytest.fixture
def config() -> Callable[..., dict[str, Any]]:
    return base_config


@pytest.fixture
def write(master: Any) -> Callable[[Callable[[Any], Any]], Any]:
    """Run a function of a connection in the master's writer, from the test."""
    return lambda run: asyncio.run(master.ctx.db.write(run))


@pytest.fixture
def validate(write: Callable[..., Any]) -> Callable[..., None]:
    """`validate(trial_id, steps, time=, **metrics)`: a validation as ingest stores it."""

    def report(trial_id: int, steps: int, *, time: float = 1.0, group: str = "validation", **metrics: Any) -> None:
        def run(conn: Any) -> None:
            who = metric_trial.reporter(conn, trial_id)
            done = metric.append_reports(conn, who, [MetricReport(group, steps, metrics, time)])
            assert not done.rejected, done.rejected

        write(run)

    return report


@pytest.fixture
def checkpoint(tmp_path: Path) -> Callable[..., str]:
    """`checkpoint(client, trial, steps, files={...})`: real files in the experiment's storage, then the report."""

    def store(client: Any, trial: dict[str, Any], steps: int, **options: Any) -> str:
        answer = client.get(f"/api/v1/experiments/{trial['experimentId']}")
        manager = storage.build(answer.json["experiment"]["config"]["checkpoint_storage"])
        name = str(uuid.uuid4())
        contents: dict[str, bytes] = options.get("files") or {"weights.bin": b"w" * 10, "sub/state": b"s"}
        with manager.store_path(name) as path:
            for relative, content in contents.items():
                (path / relative).parent.mkdir(parents=True, exist_ok=True)
                (path / relative).write_bytes(content)
            (path / "metadata.json").write_text(json.dumps({"steps_completed": steps}))
        resources = {e.path: str(e.size) for e in manager.entries(name)}
        body = {
            "uuid": name,
            "taskId": trial["taskId"],
            "allocationId": None,
            "metadata": {"steps_completed": steps, "framework": "none"},
            "resources": resources,
            "training": {},
            "state": "STATE_COMPLETED",
            "reportTime": f"2026-11-15T00:00:{steps % 60:02d}Z",
        }
        reported = client.post("/api/v1/checkpoints", body)
        assert reported.status == 200, reported.raw
        return name

    return store


@pytest.fixture
def first_trial() -> Callable[[Any, int], dict[str, Any]]:
    def get(client: Any, experiment_id: int) -> dict[str, Any]:
        answer = client.get(f"/api/v1/experiments/{experiment_id}/trials")
        assert answer.status == 200, answer.raw
        trial: dict[str, Any] = answer.json["trials"][0]
        return trial

    return get


@pytest.fixture
def new_project() -> Callable[[Any], int]:
    """`new_project(client)`: the id of project `p` in a new workspace `lab`."""

    def make(client: Any) -> int:
        workspace = client.post("/api/v1/workspaces", {"name": "lab"}).json["workspace"]["id"]
        body = {"name": "p", "workspaceId": workspace}
        answer = client.post(f"/api/v1/workspaces/{workspace}/projects", body)
        assert answer.status == 200, answer.raw
        return int(answer.json["project"]["id"])

    return make


@pytest.fixture
def trial(user: Any, submit: Any, first_trial: Any) -> dict[str, Any]:
    found: dict[str, Any] = first_trial(user, submit(user)["experiment"]["id"])
    return found


@pytest.fixture
def collect_until(master: Any) -> Callable[[Callable[[], bool]], None]:
    """Let the collector work until a condition holds. The master's own collector may work at the same time."""

    def run(condition: Callable[[], bool]) -> None:
        collector = GarbageCollector(master.ctx)
        deadline = time.monotonic() + 60
        while True:
            asyncio.run(collector.step())
            if condition():
                return
            assert time.monotonic() < deadline, "the collector did not get there"
            time.sleep(0.05)

    return run


@pytest.fixture
def unreachable(user: Any, trial: dict[str, Any], write: Any) -> str:
    """A checkpoint in a store that this master cannot open."""

    def register(conn: Connection) -> int:
        made = storage_backend.ensure(conn, {"type": "tape"})
        storage_backend.allow(conn, trial["id"], made)
        return made

    storage_id = write(register)
    report = {
        "uuid": FAR_AWAY,
        "taskId": trial["taskId"],
        "metadata": {"steps_completed": 1},
        "resources": {"w": "7"},
        "storageId": storage_id,
    }
    assert user.post("/api/v1/checkpoints", report).status == 200
    return FAR_AWAY
