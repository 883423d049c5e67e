"""SIGTERM while streams are followed, polls are held and a body is on its way: gone within three seconds, in order."""

import json
import signal
import socket
import threading
from pathlib import Path
from typing import Any

import pytest
import urllib3


@pytest.fixture
def served(await_port: Any, tmp_path: Path) -> tuple[Any, int, str]:
    """The process, its port and an administrator's token."""
    config = tmp_path / "master.yaml"
    config.write_text(json.dumps({"security": {"initial_user_password": ""}}))
    process, port = await_port("--config-file", str(config), "--data-dir", str(tmp_path / "data"), "--slots", "0")
    body = json.dumps({"username": "admin", "password": ""}).encode()
    answer = urllib3.request("POST", f"http://127.0.0.1:{port}/api/v1/auth/login", body=body, retries=False)
    return process, port, answer.json()["token"]


def _open(port: int, token: str, head: str) -> socket.socket:
    sock = socket.create_connection(("127.0.0.1", port), timeout=60)
    sock.sendall(f"{head} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n".encode())
    return sock


def _entries(log: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in log.splitlines()]


def test_a_stop_waits_for_nobody(served: tuple[Any, int, str]) -> None:
    process, port, token = served
    follower = _open(port, token, "GET /api/v1/master/logs?follow=true")
    follower.sendall(b"\r\n")
    assert follower.recv(100).startswith(b"HTTP/1.1 200")
    upload = _open(port, token, "POST /api/v1/experiments")
    upload.sendall(b"Content-Length: 50000000\r\n\r\n" + b" " * 100_000)
    idle = _open(port, token, "GET /info")
    process.send_signal(signal.SIGTERM)
    _, log = process.communicate(timeout=60)
    for sock in (follower, upload, idle):
        sock.close()
    assert process.returncode in (0, -signal.SIGTERM)
    loud = [entry for entry in _entries(log) if "traceback" in entry or entry["level"] in ("ERROR", "CRITICAL")]
    assert not loud, loud


def test_a_request_in_flight_is_still_answered(served: tuple[Any, int, str]) -> None:
    process, port, token = served
    slow = _open(port, token, "POST /api/v1/workspaces")
    slow.sendall(b'Content-Length: 13\r\n\r\n{"name": ')
    threading.Timer(0.3, lambda: slow.sendall(b'"w"}')).start()
    process.send_signal(signal.SIGTERM)
    assert slow.recv(100).startswith(b"HTTP/1.1 ")
    slow.close()
    process.communicate(timeout=60)


def test_changes_and_failures_are_logged_one_json_object_a_line(served: tuple[Any, int, str]) -> None:
    process, port, token = served
    url = f"http://127.0.0.1:{port}"
    headers = {"Authorization": f"Bearer {token}", "X-Request-Id": "mine-7"}
    secret = json.dumps({"name": "not-for-the-log"}).encode()
    urllib3.request("POST", f"{url}/api/v1/workspaces", body=secret, headers=headers, retries=False)
    urllib3.request("GET", f"{url}/api/v1/me", headers=headers, retries=False)
    urllib3.request("GET", f"{url}/api/v1/users/999", headers=headers, retries=False)
    process.send_signal(signal.SIGTERM)
    _, log = process.communicate(timeout=60)
    requests = [entry for entry in _entries(log) if entry.get("request_id") == "mine-7"]
    assert [(e["method"], e["path"], e["status"], e["user"]) for e in requests] == [
        ("POST", "/api/v1/workspaces", 200, "admin"),
        ("GET", "/api/v1/users/999", 404, "admin"),
    ]
    assert all(entry["duration_ms"] > 0 for entry in requests)
    assert token not in log.decode()
    assert "not-for-the-log" not in log.decode()
