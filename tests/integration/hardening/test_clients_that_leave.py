"""A browser that aborts a request is not an error: the log has neither a failure nor a traceback."""

import logging
import socket
from typing import Any
from urllib.parse import urlsplit

import pytest
from tracked import until

ROUTES = [
    ("POST", "/api/v1/runs"),
    ("POST", "/api/v1/experiments-search"),
    ("POST", "/api/v1/experiments"),
    ("POST", "/api/v1/workspaces"),
    ("PATCH", "/api/v1/experiments/1"),
    ("PUT", "/api/v1/projects/1/notes"),
    ("POST", "/api/v1/users/setting"),
    ("POST", "/api/v1/auth/login"),
]


def _leave_midway(world: Any, method: str, path: str) -> None:
    """Announces a body, sends a part of it, and goes."""
    address = urlsplit(world.master.url)
    head = f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 500\r\n"
    head += f"Authorization: {world.admin.headers['Authorization']}\r\n\r\n"
    with socket.create_connection((address.hostname, address.port), timeout=60) as sock:
        sock.sendall(head.encode() + b'{"limit": ')


def test_a_request_that_the_client_aborts_is_no_error_of_the_master(
    sqlite_world: Any, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, logger="determined")
    for method, path in ROUTES:
        _leave_midway(sqlite_world, method, path)
    until(lambda: sum(r.getMessage().endswith(": the client left") for r in caplog.records) == len(ROUTES))
    failures = [r.getMessage() for r in caplog.records if r.levelno >= logging.WARNING or r.exc_info]
    assert not failures
    assert not [r.getMessage() for r in caplog.records if r.getMessage().endswith(": 500")]
    assert sqlite_world.admin.get("/api/v1/me").status == 200
