"""Every route as nobody, as ordinary users and as tasks: who may what, and what nobody ever sees."""

import asyncio
import json
from typing import Any

import msgspec
import pytest
from sqlalchemy import Connection, text
from tracked import Tracked, submit

from determined.wire.report import ReportBatch

EMPTY_REPORT = msgspec.json.encode(ReportBatch([]))

ADMIN_ONLY = {
    ("DELETE", "/api/v1/agents/{agent_id:str}"): b"",
    ("DELETE", "/api/v1/master/cluster_message"): b"",
    ("DELETE", "/api/v1/resource-pools/{pool:str}/workspace-bindings"): b'{"resourcePoolName": "default"}',
    ("GET", "/api/v1/master/config"): b"",
    ("PATCH", "/api/v1/master/config"): b"{}",
    ("PATCH", "/api/v1/users"): b'{"userIds": [1], "activate": true}',
    ("POST", "/api/v1/agents"): b'{"id": "n", "slots": 1}',
    ("POST", "/api/v1/agents/{agent_id:str}/disable"): b"{}",
    ("POST", "/api/v1/agents/{agent_id:str}/enable"): b"",
    ("POST", "/api/v1/agents/{agent_id:str}/slots/{slot_id:str}/disable"): b"{}",
    ("POST", "/api/v1/agents/{agent_id:str}/slots/{slot_id:str}/enable"): b"",
    ("POST", "/api/v1/cleanup_logs"): b"",
    ("POST", "/api/v1/resource-pools/{pool:str}/workspace-bindings"): b'{"resourcePoolName": "default"}',
    ("POST", "/api/v1/users"): b'{"user": {"username": "new", "active": true, "admin": true}}',
    ("PUT", "/api/v1/master/cluster_message"): b'{"message": "m", "startTime": "2026-01-01T00:00:00Z"}',
    ("PUT", "/api/v1/resource-pools/{pool:str}/workspace-bindings"): b'{"resourcePoolName": "default"}',
}
# A person's own account; a task acts for its owner but never on the account.
PERSONS_ONLY = {
    ("GET", "/api/v1/tokens"): b"",
    ("POST", "/api/v1/tokens"): b'{"userId": 1}',
    ("POST", "/api/v1/auth/link"): b"{}",
    ("PATCH", "/api/v1/users/1"): b'{"displayName": "x"}',
    ("POST", "/api/v1/users/1/password"): b'"Password1"',
    ("GET", "/api/v1/master/logs"): b"",
}
# What only the task of this allocation says.
OWN_TASK_ONLY = {
    ("GET", "/api/v1/allocations/{allocation_id:str}/resources/{resource_id:str}/rendezvous"): b"",
    ("GET", "/api/v1/allocations/{allocation_id:str}/resources/{resource_id:str}/signals"): b"",
    ("GET", "/api/v1/allocations/{allocation_id:str}/resources/{resource_id:str}/spec"): b"",
    ("POST", "/api/v1/allocations/{allocation_id:str}/acceleratorData"): b"{}",
    ("POST", "/api/v1/allocations/{allocation_id:str}/all_gather"): b"{}",
    ("POST", "/api/v1/allocations/{allocation_id:str}/notify_container_running"): b"{}",
    ("POST", "/api/v1/allocations/{allocation_id:str}/proxy_address"): b"{}",
    ("POST", "/api/v1/allocations/{allocation_id:str}/ready"): b"",
    ("POST", "/api/v1/allocations/{allocation_id:str}/resources/{resource_id:str}/daemon"): b"",
    ("POST", "/api/v1/allocations/{allocation_id:str}/resources/{resource_id:str}/reports"): EMPTY_REPORT,
    ("POST", "/api/v1/allocations/{allocation_id:str}/signals/ack_preemption"): b"",
    ("POST", "/api/v1/allocations/{allocation_id:str}/signals/pending_preemption"): b"",
    ("POST", "/api/v1/allocations/{allocation_id:str}/waiting"): b"",
}
METRICS = b'{"group": "training", "metrics": {"trialRunId": 1, "stepsCompleted": 9, "metrics": {"avgMetrics": {}}}}'
# What a task may say of its own trial and of no other.
OWN_TRIAL = {
    "/api/v1/trials/{trial_id}/progress": b"0.5",
    "/api/v1/trials/{trial_id}/early_exit": b'{"reason": "EXITED_REASON_INVALID_HP"}',
    "/api/v1/trials/{trial_id}/runner/metadata": b'{"state": "x"}',
    "/api/v1/trials/{trial_id}/searcher/completed_operation": b'{"op": {"length": "1"}, "searcherMetric": 1}',
    "/api/v1/trials/{trial_id}/metrics": METRICS,
}


def _headers(trial: Tracked) -> dict[str, str]:
    return {"Grpc-Metadata-x-allocation-token": f"Bearer {trial.launch.token}", "Content-Type": "application/json"}


def _end(trial: Tracked) -> None:
    """The allocation ended; its runner has not drained."""

    def run(conn: Connection) -> None:
        conn.execute(
            text("UPDATE allocations SET state = 'TERMINATED' WHERE id = :id"), {"id": trial.launch.allocation_id}
        )

    asyncio.run(trial.master.ctx.db.write(run))


def _refused(wire: Any, world: Any, table: dict[tuple[str, str], bytes], headers: dict[str, str]) -> dict[str, int]:
    """The routes of the table that did not answer 403."""
    answers = {
        f"{method} {path}": wire.status(method, world.path(path), body or None, headers)
        for (method, path), body in table.items()
    }
    return {route: status for route, status in answers.items() if status != 403}


def test_nobody_administers_but_administrators_and_no_task_ever(sqlite_world: Any, wire: Any) -> None:
    world = sqlite_world
    assert world.trial.launch.token, "the running trial belongs to admin: its task still may not administer"
    assert not _refused(wire, world, ADMIN_ONLY, world.master.client("determined").headers)
    assert not _refused(wire, world, ADMIN_ONLY, world.task_headers)


def test_a_task_never_acts_on_its_owners_account(sqlite_world: Any, wire: Any) -> None:
    assert not _refused(wire, sqlite_world, PERSONS_ONLY, sqlite_world.task_headers)


def test_only_the_task_itself_speaks_for_an_allocation(sqlite_world: Any, wire: Any) -> None:
    other = submit(sqlite_world.master, sqlite_world.engine)
    assert not _refused(
        wire, sqlite_world, OWN_TASK_ONLY, sqlite_world.admin.headers | {"Content-Type": "application/json"}
    )
    assert not _refused(wire, sqlite_world, OWN_TASK_ONLY, _headers(other))


def test_a_task_reports_for_its_own_trial_alone(sqlite_world: Any, wire: Any) -> None:
    world = sqlite_world
    other = submit(world.master, world.engine)
    for template, body in OWN_TRIAL.items():
        path = template.format(trial_id=world.trial.trial_id)
        assert wire.status("POST", path, body, _headers(other)) == 403, path
    source = {"trialId": world.trial.trial_id, "checkpointUuid": world.checkpoint, "trialSourceInfoType": "x"}
    body = json.dumps(
        {"trialSourceInfo": source | {"trialSourceInfoType": "TRIAL_SOURCE_INFO_TYPE_INFERENCE"}}
    ).encode()
    assert wire.status("POST", "/api/v1/trial-source-info", body, _headers(other)) == 403
    own = wire.status("POST", f"/api/v1/trials/{world.trial.trial_id}/progress", b"0.5", world.task_headers)
    assert own == 200


def test_a_task_cannot_put_a_checkpoint_under_another_trial(sqlite_world: Any) -> None:
    other = submit(sqlite_world.master, sqlite_world.engine)
    body = {
        "uuid": "3f1d2a8e-0000-4000-8000-000000000001",
        "taskId": sqlite_world.trial.task_id,
        "resources": {},
        "metadata": {"steps_completed": 1},
        "training": {},
        "state": "STATE_COMPLETED",
    }
    answer = sqlite_world.master.anonymous.post("/api/v1/checkpoints", body, headers=_headers(other))
    assert answer.status == 403, answer.raw


def test_a_task_reports_no_checkpoint_in_the_name_of_another_allocation(sqlite_world: Any) -> None:
    other = submit(sqlite_world.master, sqlite_world.engine)
    body = {
        "uuid": "3f1d2a8e-0000-4000-8000-000000000002",
        "taskId": other.task_id,
        "allocationId": sqlite_world.trial.launch.allocation_id,
        "resources": {},
        "metadata": {"steps_completed": 1},
        "training": {},
        "state": "STATE_COMPLETED",
    }
    answer = sqlite_world.master.anonymous.post("/api/v1/checkpoints", body, headers=_headers(other))
    assert answer.status == 403, answer.raw
    own = {**body, "allocationId": other.launch.allocation_id}
    assert sqlite_world.master.anonymous.post("/api/v1/checkpoints", own, headers=_headers(other)).status == 200


def test_a_token_of_an_ended_allocation_only_reports(sqlite_world: Any, wire: Any) -> None:
    world = sqlite_world
    _end(world.trial)
    reporting = ("/reports", "/resources/{resource_id:str}/signals")
    answers = {}
    for method, template in world.operations():
        if template.endswith(reporting) or template.startswith("/docs"):
            continue
        answers[f"{method} {template}"] = wire.status(method, world.path(template), b"{}", world.task_headers)
    public = ("/", "/det", "/det/{path:path}", "/health", "/info")
    public += ("/api/v1/master", "/api/v1/master/telemetry", "/api/v1/auth/login", "/det/assets/{path:path}")
    # These ask for proofs of their own.
    public += ("/api/v1/auth/link/redeem",)
    public += ("/api/v1/claims", "/api/v1/bridges/{engine:str}/enrol", "/api/v1/bridges/{engine:str}/exchange")
    assert not {k: v for k, v in answers.items() if v != 401 and k.partition(" ")[2] not in public}
    headers = _headers(world.trial)
    assert world.master.anonymous.post(world.trial.path, EMPTY_REPORT, headers=headers).status == 200


def test_only_owner_and_administrator_delete_an_experiment(sqlite_world: Any) -> None:
    user = sqlite_world.master.client("determined")
    assert user.delete(f"/api/v1/experiments/{sqlite_world.trial.experiment_id}").status == 403
    body = json.dumps({"checkpointUuids": [sqlite_world.checkpoint]}).encode()
    assert user.call("DELETE", "/api/v1/checkpoints", body).status == 403


def test_no_answer_shows_a_secret(sqlite_world: Any) -> None:
    """Registry passwords of a config, password hashes, the cluster's secret, the digest of a token."""
    world = sqlite_world
    with world.master.ctx.db.engine.connect() as conn:
        hashes = [row[0] for row in conn.exec_driver_sql("SELECT password_hash FROM users") if row[0]]
        digests = [row[0] for row in conn.exec_driver_sql("SELECT token_hash FROM sessions")]
    hidden = ["registry-secret", world.master.ctx.cluster.secret.hex(), *hashes, *digests]
    forbidden_to_look = ("metrics-stream", "rendezvous", "signals")
    for method, template in world.operations():
        if method != "GET" or any(word in template for word in forbidden_to_look):
            continue
        raw = world.admin.get(world.path(template)).raw
        assert not [secret for secret in hidden if secret.encode() in raw], template
    searched = world.admin.post("/api/v1/experiments-search", {}).raw
    assert b"registry-secret" not in searched
    spec = f"/api/v1/allocations/{world.trial.launch.allocation_id}/resources/{world.trial.launch.resource_id}/spec"
    received = world.master.anonymous.get(spec, headers=world.task_headers)
    assert received.status == 200
    assert b"registry-secret" in received.raw, "the task itself gets the real one"


@pytest.mark.parametrize(
    "entry",
    [
        {"path": "../escape.py"},
        {"path": "/etc/escape.py"},
        {"path": "a/../../escape.py"},
        {"path": "link", "type": 50, "content": ""},
        {"path": "hard", "type": 49, "content": ""},
        {"path": "device", "type": 51},
        {"path": "nul\x00.py"},
        {"path": ""},
    ],
)
def test_a_model_definition_that_would_leave_its_directory_is_refused(sqlite_world: Any, entry: dict[str, Any]) -> None:
    file = {"type": 48, "content": "cGFzcw==", "mtime": "1", "mode": 0o644, "uid": 0, "gid": 0, **entry}
    config = {"name": "x", "entrypoint": "true", "searcher": {"name": "single", "metric": "loss"}}
    body = {"activate": False, "config": json.dumps(config), "modelDefinition": [file]}
    answer = sqlite_world.admin.post("/api/v1/experiments", body)
    assert answer.status == 400, answer.raw
    assert entry["path"].encode()[:5] in answer.raw or "path" in answer.message


def test_sort_and_filter_texts_reach_no_sql(world: Any) -> None:
    attack = "id; DROP TABLE users; --"
    calls = [
        ("/api/v1/experiments-search", {"sort": f"{attack}=desc"}),
        ("/api/v1/experiments-search", {"sort": "hp.lr'; DROP TABLE users; --=asc"}),
        ("/api/v1/experiments-search", {"filter": json.dumps(_field_filter(attack, attack))}),
        ("/api/v1/runs", {"sort": f"{attack}=desc"}),
        ("/api/v1/runs", {"filter": json.dumps(_field_filter("validation.loss'--.last", "1"))}),
        ("/api/v1/runs", {"filter": json.dumps(_field_filter("hp.a\"b'c", attack))}),
    ]
    for path, body in calls:
        assert world.admin.post(path, body).status in (200, 400), body
    assert world.admin.get("/api/v1/users").json["pagination"]["total"] >= 2


def _field_filter(column: str, value: str) -> dict[str, Any]:
    location = "LOCATION_TYPE_HYPERPARAMETERS" if column.startswith("hp.") else "LOCATION_TYPE_EXPERIMENT"
    field = {"kind": "field", "columnName": column, "location": location, "operator": "=", "type": "COLUMN_TYPE_TEXT"}
    group = {"kind": "group", "conjunction": "and", "children": [field | {"value": value}]}
    return {"filterGroup": group, "showArchived": True}


def test_answers_carry_protective_headers(sqlite_world: Any) -> None:
    login = sqlite_world.master.anonymous.post("/api/v1/auth/login", {"username": "admin", "password": ""})
    missing = sqlite_world.master.anonymous.get("/api/v1/nothing")
    for answer in (login, missing, sqlite_world.admin.get("/api/v1/me"), sqlite_world.master.anonymous.get("/docs")):
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["cache-control"] == "no-store"
        assert "frame-ancestors 'self'" in answer.headers["content-security-policy"]
        assert answer.headers["x-request-id"]
    given = sqlite_world.admin.get("/api/v1/me", headers={"X-Request-Id": "mine-1"})
    assert given.headers["x-request-id"] == "mine-1"
    odd = sqlite_world.admin.get("/api/v1/me", headers={"X-Request-Id": "a b\tc" * 30})
    assert len(odd.headers["x-request-id"]) == 16
