"""What the permission walk needs: seven callers, one of everything that is theirs, a request for each operation."""

import base64
import json
import re
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import msgspec
from tracked import IdleEngine, until

from determined.master.auth.permission import TASKS, USERS, Permission, Who
from determined.wire.report import ReportBatch

PASSWORD = "Walk-the-walk-1"
CALLERS = ("nobody", "other task", "other user", "own task", "owner", "owner's program", "administrator")
# Whom each kind of caller is, in the words of the table.
_IS: dict[str, frozenset[Who]] = {
    "nobody": frozenset(),
    "other user": frozenset({Who.USER}),
    "owner": USERS - {Who.ADMIN},
    "owner's program": USERS - {Who.ADMIN},  # in a command of the owner's
    "administrator": USERS,
    "own task": TASKS,
    "other task": frozenset({Who.TASK}),
}


def expected(permission: Permission, caller: str) -> bool:
    return permission.public or bool(_IS[caller].intersection(permission.who))


@dataclass
class Ground:
    """A cluster in which ada owns a running trial and bob another; ids of what is ada's."""

    master: Any
    engine: IdleEngine
    headers: dict[str, dict[str, str]] = field(default_factory=dict)
    ids: dict[str, Any] = field(default_factory=dict)
    spare: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.admin = self.master.client("admin")
        self.ada, self.bob = self.person("ada"), self.person("bob")
        self.own, other = self._train(self.ada), self._train(self.bob)
        own = self.own
        self.headers = {
            "nobody": {},
            "other task": _task_headers(other),
            "other user": self.bob.headers,
            "own task": _task_headers(own),
            "owner": self.ada.headers,
            "owner's program": self._owner_headers(self.submit("commands")),
            "administrator": self.admin.headers,
        }
        self.ids = {
            "allocation_id": own.allocation_id,
            "resource_id": own.resource_id,
            "task_id": own.allocation_id.rpartition(".")[0],
            "trial_id": 1,
            "run_id": 1,
            "experiment_id": 1,
            "project_id": 1,
            "workspace_id": 1,
            "agent_id": "node0",
            "slot_id": "0",
            "pool": "default",
            "username": "ada",
            "user_id": self.ada.get("/api/v1/me").json["user"]["id"],
            "external_id": "custom-search-of-trial-1",
            "checkpoint_uuid": self._checkpoint(own),
            "model_name": "walked",
            "version": "1",
            "alias": "production",
            "webhook_id": self._webhook(_made(self.ada.post("/api/v1/workspaces", {"name": "ada"}))["workspace"]["id"]),
        }
        _made(self.ada.post("/api/v1/models", {"name": "walked"}))
        _made(self.ada.post("/api/v1/models/walked/versions", {"checkpointUuid": self._checkpoint(own)}))

    def person(self, name: str) -> Any:
        user = {"username": name, "active": True, "admin": False}
        answer = self.admin.post("/api/v1/users", {"user": user, "password": PASSWORD})
        assert answer.status == 200, answer.raw
        return self.master.client(name, PASSWORD)

    def renew(self) -> None:
        """Objects of ada's that the next operation may change, end or remove without harm to later ones."""
        ada, tag = self.ada, uuid.uuid4().hex[:8]
        if "webhook_id" in self.spare:  # a user has a bounded number of webhooks
            ada.delete(f"/api/v1/webhooks/{self.spare['webhook_id']}")
        workspace = _made(ada.post("/api/v1/workspaces", {"name": f"w{tag}"}))["workspace"]["id"]
        project = {"name": f"p{tag}", "workspaceId": workspace}
        project_id = _made(ada.post(f"/api/v1/workspaces/{workspace}/projects", project))["project"]["id"]
        view = _made(ada.post(f"/api/v1/projects/{project_id}/views", {"name": "v", "state": ""}))["view"]["id"]
        _made(ada.put(f"/api/v1/templates/t{tag}", {"config": {}}))
        token = _made(ada.post("/api/v1/tokens", {"userId": self.ids["user_id"]}))["tokenId"]
        body = {"config": json.dumps(_CONFIG), "modelDefinition": [], "unmanaged": True, "activate": False}
        experiment = _made(ada.post("/api/v1/experiments", body))["experiment"]["id"]
        trial = _made(ada.post("/api/v1/trials", {"experimentId": experiment, "unmanaged": True}))["trial"]["id"]
        model = _made(ada.post("/api/v1/models", {"name": f"m{tag}"}))["model"]["id"]
        registered = {"checkpointUuid": self._checkpoint(self.own)}
        _made(ada.post(f"/api/v1/models/{model}/versions", registered))
        self.spare = {
            "model_name": model,
            "webhook_id": self._webhook(workspace),
            "workspace_id": workspace,
            "project_id": project_id,
            "view_id": view,
            "template_name": f"t{tag}",
            "token_id": token,
            "experiment_id": experiment,
            "trial_id": trial,
            "run_id": trial,
        }

    def _webhook(self, workspace: int) -> int:
        return int(_made(self.ada.post("/api/v1/webhooks", _webhook_of(workspace)))["webhook"]["id"])

    def submit(self, noun: str) -> Any:
        """Start a task of ada's; return what its runner got."""
        body: dict[str, Any] = {"config": {"entrypoint": ["true"], "resources": {"slots": 0}}, "experimentIds": [1]}
        if noun == "tasks":
            noun, body = "generic-tasks", {"config": json.dumps(body["config"])}
        before = set(self.engine.launches)
        _made(self.ada.post(f"/api/v1/{noun}", body))
        until(lambda: set(self.engine.launches) - before)
        return self.engine.launches[(set(self.engine.launches) - before).pop()]

    def use_submitted_task(self, noun: str, headers: dict[str, dict[str, str]]) -> None:
        """Let the next operation be about a new task of this noun."""
        launch = self.submit(noun)
        self.ids["task_id"] = launch.allocation_id.rpartition(".")[0]
        headers["own task"] = _task_headers(launch)

    def _owner_headers(self, launch: Any) -> dict[str, str]:
        path = f"/api/v1/allocations/{launch.allocation_id}/resources/{launch.resource_id}/spec"
        spec = self.master.anonymous.get(path, headers=_task_headers(launch))
        return {"Authorization": f"Bearer {_made(spec)['userToken']}"}

    def path(self, template: str, permission: Permission) -> str:
        """A concrete path: things that tasks work with where the operation is theirs as well, else spare ones."""
        known = self.ids if TASKS.intersection(permission.who) else {**self.ids, **self.spare}
        filled = re.sub(r"\{(\w+):(\w+)\}", lambda m: str(known.get(m[1], "1" if m[2] == "int" else "x")), template)
        return filled + QUERIES.get(template, "")

    def body(self, method: str, template: str) -> bytes | None:
        make = BODIES.get((method, template))
        if method == "GET":
            return None
        return b"{}" if make is None else json.dumps(make(self)).encode()

    def _train(self, owner: Any) -> Any:
        file = {
            "path": "train.py",
            "type": 48,
            "content": base64.b64encode(b"pass").decode(),
            "mtime": "1",
            "mode": 420,
        }
        before = set(self.engine.launches)
        body = {"activate": True, "config": json.dumps(_CONFIG), "modelDefinition": [{**file, "uid": 0, "gid": 0}]}
        _made(owner.post("/api/v1/experiments", body))
        until(lambda: set(self.engine.launches) - before)
        return self.engine.launches[(set(self.engine.launches) - before).pop()]

    def _checkpoint(self, launch: Any) -> str:
        name = str(uuid.uuid4())
        body = {"uuid": name, "resources": {"weights": "3"}, "metadata": {"steps_completed": 3}, "training": {}}
        body |= {"taskId": launch.allocation_id.rpartition(".")[0], "state": "STATE_COMPLETED"}
        _made(self.master.anonymous.post("/api/v1/checkpoints", body, headers=_task_headers(launch)))
        return name


_CONFIG = {
    "name": "walk",
    "entrypoint": "python3 train.py",
    "searcher": {"name": "single", "metric": "loss"},
    "max_restarts": 0,
}


def _task_headers(launch: Any) -> dict[str, str]:
    return {
        "Grpc-Metadata-x-allocation-token": f"Bearer {launch.token}",
        "Content-Type": "application/json",
    }


def _made(answer: Any) -> Any:
    assert answer.status == 200, answer.raw
    return answer.json


QUERIES = {
    "/api/v1/allocations/{allocation_id:str}/signals/preemption": "?timeoutSeconds=0",
    "/api/v1/allocations/{allocation_id:str}/resources/{resource_id:str}/signals": "?timeoutSeconds=0",
    "/api/v1/experiments/{experiment_id:int}/searcher_events": "?timeoutSeconds=0",
}

_METRICS = {"trialRunId": 1, "stepsCompleted": 9, "metrics": {"avgMetrics": {"loss": 1.0}}}
_TRIAL = "/api/v1/trials/{trial_id:int}"
_PROJECT = "/api/v1/projects/{project_id:int}"
_TASK_NOUNS = ("commands", "notebooks", "shells", "tensorboards")
_RUN_VERBS = ("kill", "pause", "resume", "archive", "unarchive", "delete")

Make = Callable[[Ground], Any]


def _uuids(ground: Ground) -> dict[str, Any]:
    return {"checkpointUuids": [ground.ids["checkpoint_uuid"]], "checkpointGlobs": ["nothing"]}


def _log(ground: Ground) -> dict[str, Any]:
    return {"taskId": ground.ids["task_id"], "log": "x\n"}


def _user(_: Ground) -> dict[str, Any]:
    return {"user": {"username": f"u{uuid.uuid4().hex[:8]}", "active": True}, "password": PASSWORD}


def _source(ground: Ground) -> dict[str, Any]:
    info = {"trialId": 1, "checkpointUuid": ground.ids["checkpoint_uuid"]}
    return {"trialSourceInfo": info | {"trialSourceInfoType": "TRIAL_SOURCE_INFO_TYPE_INFERENCE"}}


def _profile(_: Ground) -> dict[str, Any]:
    labels = {"trialId": 1, "name": "cpu", "agentId": "n", "gpuUuid": "", "metricType": "PROFILER_METRIC_TYPE_SYSTEM"}
    return {"batches": [{"values": [], "batches": [], "timestamps": [], "labels": labels}]}


def _report(ground: Ground) -> dict[str, Any]:
    body = {"uuid": str(uuid.uuid4()), "taskId": ground.ids["task_id"], "resources": {}, "training": {}}
    return body | {"metadata": {"steps_completed": 1}, "state": "STATE_COMPLETED"}


def _webhook_of(workspace: int) -> dict[str, Any]:
    trigger = {"triggerType": "TRIGGER_TYPE_TASK_LOG", "condition": {"regex": "nobody writes this"}}
    return {"url": "http://127.0.0.1:9/", "triggers": [trigger], "workspaceId": workspace}


# What is asked for where an empty object would be refused before anybody looks who asks.
BODIES: dict[tuple[str, str], Make] = {
    ("POST", "/api/v1/checkpoints"): _report,
    ("PATCH", "/api/v1/checkpoints"): lambda g: {"checkpoints": [{"uuid": g.ids["checkpoint_uuid"]}]},
    ("DELETE", "/api/v1/checkpoints"): _uuids,
    ("POST", "/api/v1/checkpoints/rm"): _uuids,
    ("POST", "/api/v1/checkpoints/{checkpoint_uuid:str}/metadata"): lambda g: {"checkpoint": {"metadata": {}}},
    ("POST", "/api/v1/models/{model_name:str}/versions"): lambda g: {"checkpointUuid": g.ids["checkpoint_uuid"]},
    ("POST", "/api/v1/runs/start"): lambda g: {"runId": 1},
    ("POST", "/api/v1/runs/{run_id:int}/metadata"): lambda g: {"runId": 1, "metadata": {}},
    ("POST", "/api/v1/trial-source-info"): _source,
    ("POST", "/api/v1/trials/profiler/metrics"): _profile,
    ("POST", "/api/v1/task/logs"): lambda g: {"logs": [_log(g)]},
    ("POST", "/task-logs"): lambda g: [{"task_id": g.ids["task_id"], "log": "x\n"}],
    ("POST", "/api/v1/trials"): lambda g: {"experimentId": g.spare["experiment_id"], "unmanaged": True},
    ("PUT", "/api/v1/trials"): lambda g: {
        "externalTrialId": "t",
        "createTrialRequest": {"experimentId": g.spare["experiment_id"], "unmanaged": True},
    },
    ("POST", _TRIAL + "/metrics"): lambda g: {"group": "training", "metrics": _METRICS},
    ("POST", _TRIAL + "/training_metrics"): lambda g: _METRICS,
    ("POST", _TRIAL + "/validation_metrics"): lambda g: _METRICS,
    ("POST", _TRIAL + "/progress"): lambda g: 0.5,
    ("POST", _TRIAL + "/runner/metadata"): lambda g: {"state": "x"},
    ("PUT", _TRIAL + "/retain_logs"): lambda g: {"numDays": 5},
    ("PUT", "/api/v1/experiments/{experiment_id:int}/retain_logs"): lambda g: {"numDays": 5},
    ("DELETE", _PROJECT + "/experiments/delete"): lambda g: {"experimentIds": [g.spare["experiment_id"]]},
    ("PUT", _PROJECT + "/experiments/retain_logs"): lambda g: {
        "experimentIds": [g.spare["experiment_id"]],
        "numDays": 5,
    },
    ("POST", _PROJECT + "/move"): lambda g: {
        "projectId": g.spare["project_id"],
        "destinationWorkspaceId": g.spare["workspace_id"],
    },
    ("POST", "/api/v1/templates/{template_name:str}"): lambda g: {"config": {}},
    ("PATCH", "/api/v1/template/rename"): lambda g: {
        "oldName": g.spare["template_name"],
        "newName": g.spare["template_name"],
    },
    ("PATCH", "/api/v1/tokens/{token_id:int}"): lambda g: {"tokenId": g.spare["token_id"], "setRevoked": True},
    ("POST", "/api/v1/users/{user_id:int}/password"): lambda g: PASSWORD,
    ("POST", "/api/v1/users"): _user,
    ("POST", "/api/v1/webhooks"): lambda g: _webhook_of(g.spare["workspace_id"]),
    ("PATCH", "/api/v1/webhooks/{webhook_id:int}"): lambda g: {"url": "http://127.0.0.1:9/"},
    ("POST", "/api/v1/webhooks/custom"): lambda g: {"experimentId": 1, "trialId": 1, "data": {"title": "t"}},
    ("PATCH", "/api/v1/users"): lambda g: {"userIds": [1], "activate": True},
    ("PUT", "/api/v1/master/cluster_message"): lambda g: {"message": "m", "startTime": "2026-01-01T00:00:00Z"},
    ("POST", "/api/v1/allocations/{allocation_id:str}/resources/{resource_id:str}/reports"): lambda g: (
        msgspec.to_builtins(ReportBatch([]))
    ),
    ("POST", "/api/v1/trials/{trial_id:int}/runs/{run_id:int}/reports"): lambda g: msgspec.to_builtins(ReportBatch([])),
    **{("POST", f"/api/v1/{noun}/{{task_id:str}}/set_priority"): lambda g: {"priority": 50} for noun in _TASK_NOUNS},
    **{("POST", f"/api/v1/runs/{verb}"): lambda g: {"runIds": [g.spare["run_id"]]} for verb in _RUN_VERBS},
}
