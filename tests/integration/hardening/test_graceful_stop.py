"""SIGTERM while streams are followed, polls are held and a body is on its way: gone within three seconds, in order."""

import json
import signal
import socket
import time
from pathlib import Path
from typing import Any

import pytest
import urllib3

HANG_SECONDS = 60


@pytest.fixture
def served(await_port: Any, tmp_path: Path) -> tuple[Any, int, str]:
    """The process, its port and an administrator's token."""
    return _serve(await_port, tmp_path)


@pytest.fixture
def served_patiently(await_port: Any, tmp_path: Path) -> tuple[Any, int, str]:
    """One that gives answers on their way more time than a test needs to finish asking."""
    return _serve(await_port, tmp_path, patient=True)


def _serve(await_port: Any, tmp_path: Path, **how: bool) -> tuple[Any, int, str]:
    config = tmp_path / "master.yaml"
    config.write_text(json.dumps({"security": {"initial_user_password": ""}}))
    flags = ("--config-file", str(config), "--data-dir", str(tmp_path / "data"), "--slots", "0")
    process, port = await_port(*flags, **how)
    body = json.dumps({"username": "admin", "password": ""}).encode()
    answer = urllib3.request("POST", f"http://127.0.0.1:{port}/api/v1/auth/login", body=body, retries=False)
    return process, port, answer.json()["token"]


def _open(port: int, token: str, head: str) -> socket.socket:
    sock = socket.create_connection(("127.0.0.1", port), timeout=HANG_SECONDS)
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
    _, log = process.communicate(timeout=HANG_SECONDS)
    for sock in (follower, upload, idle):
        sock.close()
    assert process.returncode in (0, -signal.SIGTERM)
    loud = [entry for entry in _entries(log) if "traceback" in entry or entry["level"] in ("ERROR", "CRITICAL")]
    assert not loud, loud


def test_a_request_in_flight_is_still_answered(served_patiently: tuple[Any, int, str]) -> None:
    process, port, token = served_patiently
    slow = _open(port, token, "POST /api/v1/workspaces")
    slow.sendall(b'Content-Length: 13\r\n\r\n{"name": ')
    _await_answer(port)  # by now the earlier bytes have been read too
    process.send_signal(signal.SIGTERM)
    _await_refusal(port)
    slow.sendall(b'"w"}')
    assert slow.recv(100).startswith(b"HTTP/1.1 200")
    slow.close()
    process.communicate(timeout=HANG_SECONDS)


def _await_answer(port: int) -> None:
    assert urllib3.request("GET", f"http://127.0.0.1:{port}/info", retries=False, timeout=HANG_SECONDS).status == 200


def _await_refusal(port: int) -> None:
    """A master that stops takes no new connections."""
    deadline = time.monotonic() + HANG_SECONDS
    while time.monotonic() < deadline:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=HANG_SECONDS).close()
        except ConnectionRefusedError:
            return
        except ConnectionResetError:
            continue  # it was in the queue of the listener that was closed
        time.sleep(0.01)
    raise AssertionError("the master still takes connections")


def test_changes_and_failures_are_logged_one_json_object_a_line(served: tuple[Any, int, str]) -> None:
    process, port, token = served
    url = f"http://127.0.0.1:{port}"
    headers = {"Authorization": f"Bearer {token}", "X-Request-Id": "mine-7"}
    secret = json.dumps({"name": "not-for-the-log"}).encode()
    urllib3.request("POST", f"{url}/api/v1/workspaces", body=secret, headers=headers, retries=False)
    urllib3.request("GET", f"{url}/api/v1/me", headers=headers, retries=False)
    urllib3.request("GET", f"{url}/api/v1/users/999", headers=headers, retries=False)
    process.send_signal(signal.SIGTERM)
    _, log = process.communicate(timeout=HANG_SECONDS)
    requests = [entry for entry in _entries(log) if entry.get("request_id") == "mine-7"]
    assert [(e["method"], e["path"], e["status"], e["user"]) for e in requests] == [
        ("POST", "/api/v1/workspaces", 200, "admin"),
        ("GET", "/api/v1/users/999", 404, "admin"),
    ]
    assert all(entry["duration_ms"] > 0 for entry in requests)
    assert token not in log.decode()
    assert "not-for-the-log" not in log.decode()
