"""Answers of a master as it gives them, for `det` in this process against the small HTTP server of tests/unit/api."""

import io
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from determined._version import __version__

TIME = "2026-11-15T04:00:00.123456Z"
SHOWN_TIME = "2026-11-15 04:00:00+0000"
Answer = tuple[int, Any]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@dataclass
class Done:
    status: int
    out: str
    err: str


Det = Callable[..., Done]


class Turns(dict[tuple[str, str], Any]):
    """Answers by method and path. Of a list each request takes the next, the last one stays; a function is called."""

    def get(self, key: Any, default: Any = None) -> Any:
        value = super().get(key, default)
        if isinstance(value, list):
            value = value.pop(0) if len(value) > 1 else value[0]
        return value() if callable(value) else value


def standing() -> dict[tuple[str, str], Answer]:
    """Return what every command asks first."""
    return {
        ("GET", "/info"): (200, {"serverVersion": __version__}),
        ("GET", "/api/v1/me"): (200, {"user": user("determined")}),
        ("POST", "/api/v1/auth/login"): (200, {"token": "FRESH", "user": user("determined")}),
    }


def error(status: int, reason: str, text: str) -> Answer:
    return status, {"error": {"reason": reason, "error": text}}


def page(key: str, *items: Any, total: int | None = None, end: int | None = None) -> Answer:
    pagination = {"total": len(items) if total is None else total, "endIndex": len(items) if end is None else end}
    return 200, {key: list(items), "pagination": pagination}


def stream(*results: Any) -> Answer:
    return 200, b"".join(json.dumps({"result": result}).encode() + b"\n" for result in results)


def user(name: str, **changes: Any) -> dict[str, Any]:
    return {"id": 2, "username": name, "admin": False, "active": True, **changes}


def experiment(number: int = 1, **changes: Any) -> dict[str, Any]:
    return {
        "id": number,
        "archived": False,
        "config": {"searcher": {"name": "single", "metric": "loss", "smaller_is_better": True}},
        "jobId": "job",
        "name": "mnist",
        "numTrials": 1,
        "originalConfig": "name: mnist\n",
        "projectId": 1,
        "projectOwnerId": 1,
        "searcherType": "single",
        "startTime": TIME,
        "state": "STATE_COMPLETED",
        "username": "determined",
        **changes,
    }


def trial(number: int = 1, **changes: Any) -> dict[str, Any]:
    return {
        "id": number,
        "experimentId": 1,
        "hparams": {"lr": 0.1},
        "restarts": 0,
        "startTime": TIME,
        "state": "STATE_COMPLETED",
        "totalBatchesProcessed": 10,
        **changes,
    }


def checkpoint(uuid: str, steps: int = 1, *, metric: float | None = None, **changes: Any) -> dict[str, Any]:
    return {
        "uuid": uuid,
        "metadata": {"steps_completed": steps},
        "resources": {"weights.bin": "3"},
        "state": "STATE_COMPLETED",
        "training": {"experimentId": 1, "trialId": 1, "searcherMetric": metric},
        "reportTime": TIME,
        **changes,
    }


def workspace(number: int, name: str, **changes: Any) -> dict[str, Any]:
    return {
        "id": number,
        "name": name,
        "archived": False,
        "errorMessage": "",
        "immutable": False,
        "numExperiments": 3,
        "numProjects": 2,
        "pinned": False,
        "state": "WORKSPACE_STATE_UNSPECIFIED",
        "userId": 1,
        "username": "admin",
        **changes,
    }


def project(number: int, name: str, **changes: Any) -> dict[str, Any]:
    return {
        "id": number,
        "name": name,
        "archived": False,
        "errorMessage": "",
        "immutable": False,
        "key": "K",
        "notes": [],
        "numActiveExperiments": 1,
        "numExperiments": 4,
        "numRuns": 4,
        "state": "WORKSPACE_STATE_UNSPECIFIED",
        "userId": 1,
        "username": "admin",
        "workspaceId": 7,
        **changes,
    }


def agent(name: str, **changes: Any) -> dict[str, Any]:
    return {"id": name, "slotStats": {"brandStats": {}, "typeStats": {}}, **changes}


def pool(name: str, scheduler: str = "PRIORITY", **changes: Any) -> dict[str, Any]:
    texts = (
        "agentDockerImage agentDockerNetwork agentDockerRuntime agentFluentImage clusterName containerStartupScript "
        "description imageId instanceType location masterCertName masterUrl startupScript"
    )
    numbers = (
        "auxContainerCapacity auxContainerCapacityPerAgent auxContainersRunning maxAgentStartingPeriod maxAgents "
        "maxIdleAgentPeriod minAgents numAgents slotsAvailable slotsUsed slotsFree"
    )
    return {
        **dict.fromkeys(texts.split(), ""),
        **dict.fromkeys(numbers.split(), 0),
        "name": name,
        "defaultAuxPool": False,
        "defaultComputePool": False,
        "details": {},
        "preemptible": False,
        "resourceManagerMetadata": {},
        "schedulerFittingPolicy": "FITTING_POLICY_BEST",
        "schedulerType": f"SCHEDULER_TYPE_{scheduler}",
        "slotType": "TYPE_CPU",
        "type": "RESOURCE_POOL_TYPE_STATIC",
        **changes,
    }


def job(name: str, **changes: Any) -> dict[str, Any]:
    full = {
        "allocatedSlots": 0,
        "entityId": "1",
        "isPreemptible": True,
        "jobId": f"{name}-id",
        "name": name,
        "requestedSlots": 2,
        "resourcePool": "default",
        "submissionTime": TIME,
        "type": "TYPE_EXPERIMENT",
        "username": "determined",
        "workspaceId": 1,
        **changes,
    }
    return {"full": full}


def log(text: str, **changes: Any) -> dict[str, Any]:
    entry = {"id": "1", "level": "LOG_LEVEL_INFO", "message": text, "log": text, "timestamp": TIME, "trialId": 1}
    return {**entry, **changes}
