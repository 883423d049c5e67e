"""What the token of a task may do while its allocation lives, drains and is over."""

from datetime import UTC, datetime
from typing import Any

import pytest
from sqlalchemy import Connection, create_engine, insert, update

from determined.master.auth import allocation_token
from determined.master.db import dialects, schema

NOW = datetime(2026, 11, 15, tzinfo=UTC)
ALLOCATION = "cmd.1"


def _insert_task(conn: Connection) -> None:
    """A command of the administrator with one allocation; its runner has left, so that no loop touches it."""
    job = {"id": "job", "type": "COMMAND", "owner_id": 1, "workspace_id": 1, "pool": "default", "priority": 42}
    conn.execute(insert(schema.jobs).values(**job, weight=1.0, submitted_at=NOW, position=1.0))
    conn.execute(insert(schema.tasks).values(id="cmd", type="COMMAND", job_id="job", start_time=NOW))
    values = {"id": ALLOCATION, "task_id": "cmd", "run_id": 1, "state": "RUNNING", "slots": 0, "pool": "default"}
    conn.execute(insert(schema.allocations).values(**values, preemptible=False, requested_at=NOW))
    runner = {"resource_id": "r", "allocation_id": ALLOCATION, "container_id": "c", "rank": 0, "engine": "none"}
    placed = {"node_id": "n", "slot_ids": [], "device": "cpu", "state": "TERMINATED"}
    conn.execute(insert(schema.runners).values(**runner, **placed))


def _set(db_url: str, **values: Any) -> None:
    engine = create_engine(dialects.create_engine(db_url).url)
    with engine.begin() as conn:
        conn.execute(update(schema.allocations).where(schema.allocations.c.id == ALLOCATION).values(**values))
    engine.dispose()


@pytest.fixture
def task(master: Any, db_url: str) -> Any:
    """A client that speaks with the token of the allocation."""
    engine = create_engine(dialects.create_engine(db_url).url)
    with engine.begin() as conn:
        _insert_task(conn)
    engine.dispose()
    token = allocation_token.mint(master.ctx.cluster.secret, ALLOCATION)
    client = type(master.anonymous)(master.url)
    client.headers["Grpc-Metadata-x-allocation-token"] = f"Bearer {token}"
    return client


def test_a_task_acts_as_its_owner(task: Any) -> None:
    assert task.get("/api/v1/me").json["user"]["username"] == "admin"


def test_the_token_is_taken_from_the_authorization_header_too(master: Any, task: Any) -> None:
    token = task.headers["Grpc-Metadata-x-allocation-token"]
    answer = master.anonymous.get("/api/v1/me", headers={"Authorization": token})
    assert answer.json["user"]["username"] == "admin"


def test_a_user_token_wins_over_an_allocation_token(task: Any, user: Any) -> None:
    answer = task.get("/api/v1/me", headers=user.headers)
    assert answer.json["user"]["username"] == "determined"


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/api/v1/users", {"user": {"username": "x", "admin": True, "active": True}}),
        ("PATCH", "/api/v1/users/1", {"password": "Stolen123"}),
        ("POST", "/api/v1/users/1/password", "Stolen123"),
        ("GET", "/api/v1/master/config", None),
        ("PUT", "/api/v1/master/cluster_message", {"message": "m", "startTime": "2026-11-15T00:00:00Z"}),
        ("POST", "/api/v1/tokens", {"userId": 1}),
        ("GET", "/api/v1/tokens", None),
        ("GET", "/api/v1/master/logs", None),
    ],
)
def test_the_task_of_an_administrator_administers_nothing(task: Any, method: str, path: str, body: Any) -> None:
    assert task.call(method, path, body).status == 403


def test_an_ended_allocation_may_only_report_until_it_is_drained(task: Any, db_url: str) -> None:
    reports = f"/api/v1/allocations/{ALLOCATION}/resources/r/reports"
    _set(db_url, state="TERMINATED")
    assert task.get("/api/v1/me").status == 401
    empty = task.post(reports, b"\x91\x90", headers={"Content-Type": "application/msgpack"})
    assert empty.status == 200, empty.raw
    assert empty.json["ended"] is True
    _set(db_url, drained=True)
    assert task.get("/api/v1/me").status == 401
    assert task.post(reports, b"\x91\x90").status == 410


def test_logging_out_with_a_task_token_ends_nothing(task: Any, admin: Any) -> None:
    assert task.post("/api/v1/auth/logout").status == 200
    assert task.get("/api/v1/me").status == 200
    assert admin.get("/api/v1/me").status == 200
