"""What the master says about itself, and that every other route asks who is calling."""

import hashlib
import hmac
import json
import logging
import re
import threading
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from litestar.routes import ASGIRoute, HTTPRoute, WebSocketRoute

from determined._bound_address import of_url
from determined.constants import API_VERSION
from determined.master.auth import allocation_token

PUBLIC = {
    "/",
    "/api/v1/auth/link/redeem",  # asks for a one-time code
    "/api/v1/auth/login",
    "/api/v1/bridges/{engine:str}/enrol",  # sealed with the bridge's own secret
    "/api/v1/bridges/{engine:str}/exchange",
    "/api/v1/claims",  # asks for the proof of a ticket
    "/api/v1/master",
    "/api/v1/master/telemetry",
    "/det",
    "/det/assets/{path:path}",
    "/det/{path:path}",
    "/docs",
    "/docs/assets/docs.css",
    "/docs/assets/docs.js",
    "/docs/guide",
    "/docs/guide/{path:path}",
    "/docs/openapi.json",
    "/docs/{path:str}",
    "/health",
    "/info",
}

HANDSHAKE = {
    "Connection": "Upgrade",
    "Upgrade": "websocket",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "x" * 22 + "==",
}


def _example(path: str) -> str:
    """A concrete path of a template: ids that exist nowhere."""
    return re.sub(r"\{[^}]*:(\w+)\}", lambda m: "7" if m[1] == "int" else "x", path)


def test_every_route_asks_who_is_calling(start_master: Any, sqlite_url: str) -> None:
    master = start_master(sqlite_url)
    open_routes = set()
    for route in master.app.routes:
        if isinstance(route, WebSocketRoute):
            assert master.anonymous.get(_example(route.path), headers=HANDSHAKE).status == 403, route.path
            continue
        if isinstance(route, ASGIRoute):  # the proxy, whose own tests are in tests/integration/proxy
            assert (route.path, master.anonymous.get("/proxy/x/").status) == ("/proxy", 401)
            continue
        assert isinstance(route, HTTPRoute), f"{route.path}: say here how this kind of route is guarded"
        for method in sorted(route.methods - {"OPTIONS"}):
            answer = master.anonymous.call(method, _example(route.path), b"{}")
            if answer.status != 401:
                open_routes.add(route.path)
    assert open_routes == PUBLIC


def test_every_route_answers_200_as_the_official_client_demands(start_master: Any, sqlite_url: str) -> None:
    master = start_master(sqlite_url)
    odd = {
        f"{route.path} {sorted(handler.http_methods)}"
        for route in master.app.routes
        if isinstance(route, HTTPRoute)
        for handler in route.route_handlers
        if handler.status_code != 200 and "OPTIONS" not in handler.http_methods
    }
    assert not odd


def test_info_needs_no_login_and_has_what_clients_read(master: Any) -> None:
    info = master.anonymous.get("/info").json
    assert info["version"] == API_VERSION
    assert info["sso_providers"] == []
    assert info["telemetry"] == {"enabled": False}
    assert {"master_id", "cluster_id", "cluster_name"} <= info.keys()
    assert "proofs" not in info


def test_the_cluster_id_stays_over_a_restart_and_the_master_id_does_not(start_master: Any, db_url: str) -> None:
    first = start_master(db_url)
    before = first.anonymous.get("/info").json
    first.stop()
    after = start_master(db_url).anonymous.get("/info").json
    assert before["cluster_id"] == after["cluster_id"]
    assert before["master_id"] != after["master_id"]


def test_master_has_the_fields_clients_index(start_master: Any, sqlite_url: str) -> None:
    master = start_master(sqlite_url, cluster_name="lab")
    found = master.client("determined").get("/api/v1/master").json
    assert (found["clusterName"], found["version"]) == ("lab", API_VERSION)
    assert found["rbacEnabled"] is False
    assert found["strictJobQueueControl"] is False
    assert found["hasCustomLogo"] is False


def test_an_embedded_master_proves_who_it_is(start_master: Any, sqlite_url: str) -> None:
    master = start_master(sqlite_url, identity_secret=b"state file secret")
    challenge = "ab" * 16
    proofs = master.anonymous.get("/info", fields={"challenge": challenge}).json["proofs"]
    message = f"determined master identity:{challenge}@{of_url(master.url)}".encode()
    assert proofs == [hmac.new(b"state file secret", message, hashlib.sha256).hexdigest()]
    for bad in ("", "zz", "ab", "ab" * 300):
        assert master.anonymous.get("/info", fields={"challenge": bad}).status == 400


def test_config_is_for_administrators_and_hides_secrets(start_master: Any, sqlite_url: str) -> None:
    storage = {"type": "s3", "bucket": "b", "access_key": "AK", "secret_key": "SK"}
    security = {"initial_user_password": "Chosen123"}
    master = start_master(sqlite_url, checkpoint_storage=storage, security=security)
    admin = master.client("admin", "Chosen123")
    answer = admin.get("/api/v1/master/config")
    assert answer.json["config"]["resource_manager"]["type"] == "agent"
    assert answer.json["config"]["feature_switches"] == []
    assert b"Chosen123" not in answer.raw
    assert b"SK" not in answer.raw
    assert master.client("determined", "Chosen123").get("/api/v1/master/config").status == 403


def test_the_log_level_changes_while_the_master_runs(admin: Any, user: Any) -> None:
    logger = logging.getLogger("determined")
    before = logger.level
    try:
        body = {"config": {"log": {"level": "LOG_LEVEL_DEBUG"}}, "fieldMask": {"paths": ["log.level"]}}
        assert user.patch("/api/v1/master/config", body).status == 403
        assert admin.patch("/api/v1/master/config", body).status == 200
        assert logger.level == logging.DEBUG
        other = {"config": {}, "fieldMask": {"paths": ["db.password"]}}
        assert admin.patch("/api/v1/master/config", other).status == 400
    finally:
        logger.setLevel(before)


def test_a_cluster_message_is_set_shown_and_cleared(admin: Any, user: Any) -> None:
    path = "/api/v1/master/cluster_message"
    now = datetime.now(UTC)
    body = {"message": "down at noon", "startTime": now.isoformat(), "duration": "2h"}
    assert user.put(path, body).status == 403
    assert admin.put(path, body).status == 200
    shown = user.get("/api/v1/master").json["clusterMessage"]
    assert shown["message"] == "down at noon"
    assert shown["endTime"] > shown["startTime"]
    assert user.get(path).json["clusterMessage"]["message"] == "down at noon"
    assert admin.delete(path).status == 200
    assert user.get(path).json["clusterMessage"] is None


def test_a_message_for_later_is_seen_by_administrators_only(admin: Any, user: Any) -> None:
    later = (datetime.now(UTC) + timedelta(hours=1)).isoformat()
    assert admin.put("/api/v1/master/cluster_message", {"message": "soon", "startTime": later}).status == 200
    assert user.get("/api/v1/master/cluster_message").json["clusterMessage"] is None
    assert admin.get("/api/v1/master/cluster_message").json["clusterMessage"]["message"] == "soon"


@pytest.mark.parametrize(
    "fields",
    [
        {"message": ""},
        {"message": "x" * 251},
        {"duration": "-2h"},
        {"duration": "long"},
        {"endTime": "2020-01-01T00:00:00Z"},
        {"startTime": "noon"},
    ],
)
def test_a_senseless_cluster_message_is_refused(admin: Any, fields: dict[str, str]) -> None:
    body = {"message": "m", "startTime": datetime.now(UTC).isoformat(), **fields}
    assert admin.put("/api/v1/master/cluster_message", body).status == 400


def test_master_logs_are_streamed_from_the_end_and_followed(master: Any, admin: Any) -> None:
    logger = logging.getLogger("determined.test")
    for n in range(3):
        logger.warning("line %s", n)
    tail = [line["result"]["logEntry"] for line in admin.lines("/api/v1/master/logs", fields={"offset": -2})]
    assert [entry["message"] for entry in tail] == ["line 1", "line 2"]
    assert tail[0]["level"] == "LOG_LEVEL_WARNING"
    stream = admin.lines("/api/v1/master/logs", fields={"offset": -1, "follow": "true"})
    assert next(stream)["result"]["logEntry"]["message"] == "line 2"
    threading.Timer(0.05, lambda: logger.warning("later")).start()
    assert next(stream)["result"]["logEntry"]["message"] == "later"


def test_a_stop_ends_streams_that_are_being_followed(start_master: Any, sqlite_url: str) -> None:
    master = start_master(sqlite_url)
    logging.getLogger("determined.test").warning("one")
    stream = master.client("admin").lines("/api/v1/master/logs", fields={"offset": -1, "follow": "true"})
    next(stream)
    threading.Thread(target=master.stop).start()
    assert list(stream) == []


def test_health_prometheus_and_docs_answer(master: Any, admin: Any) -> None:
    assert master.anonymous.get("/health").json["status"] == "up"
    admin.get("/api/v1/users/1")
    text = admin.get("/metrics").raw.decode()
    assert 'det_master_requests_total{method="GET",route="/api/v1/users/{user_id}",status="200"} 1.0' in text
    assert admin.get("/debug/prom/metrics").status == 200
    page = master.anonymous.get("/docs").raw.decode()
    assert "http://" not in page
    assert "https://" not in page
    schema = master.anonymous.get("/docs/openapi.json").json
    assert "/api/v1/auth/login" in schema["paths"]


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/api/v1/nothing", 404),
        ("GET", "/nowhere", 404),
        ("DELETE", "/api/v1/me", 405),
        ("POST", "/api/v1/users/abc/password", 404),
        ("GET", "/api/v1/users/abc", 404),
    ],
)
def test_a_wrong_path_or_method_is_told_in_json(admin: Any, method: str, path: str, status: int) -> None:
    answer = admin.call(method, path)
    assert answer.status == status
    assert answer.json["message"]


@pytest.mark.parametrize(
    "body",
    [b"{", b"\xff", b"[1]", b'{"name": 5}', b'{"name": {}}', b'{"name": "\\ud800"}', b"[" * 50_000],
)
def test_a_malformed_body_is_a_bad_request(user: Any, body: bytes) -> None:
    answer = user.post("/api/v1/workspaces", body)
    assert answer.status == 400, answer.raw
    assert answer.json["error"]["code"] == 3


def test_a_nul_byte_is_never_a_server_error(user: Any) -> None:
    assert user.post("/api/v1/workspaces", {"name": "a\x00b"}).status in (200, 400)


def test_a_body_beyond_the_limit_is_refused(user: Any) -> None:
    answer = user.post("/api/v1/workspaces", b'{"name": "' + b"x" * (17 * 1024 * 1024) + b'"}')
    assert answer.status == 413
    assert answer.json["error"]["reason"] == "too_large"


def test_a_form_content_type_changes_nothing(user: Any) -> None:
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    answer = user.post("/api/v1/workspaces", json.dumps({"name": "w"}).encode(), headers=headers)
    assert answer.status == 200


def test_a_task_token_of_no_allocation_is_gone_for_reports_and_nothing_elsewhere(master: Any) -> None:
    token = allocation_token.mint(master.ctx.cluster.secret, "9.x.1")
    headers = {"Grpc-Metadata-x-allocation-token": f"Bearer {token}"}
    assert master.anonymous.get("/api/v1/me", headers=headers).status == 401
    path = "/api/v1/allocations/9.x.1/resources/r/reports"
    assert master.anonymous.post(path, b"{}", headers=headers).status == 410
