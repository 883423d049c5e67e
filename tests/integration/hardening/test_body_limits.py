"""Every route takes bodies of a size that fits it, and looks at the size while the body arrives."""

import json
import socket
import time
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import pytest
from litestar.handlers import HTTPRouteHandler
from litestar.routes import HTTPRoute

from determined.master.routes.limits import ORDINARY_BODY, PUBLIC_BODY
from determined.master.routes.submit_turns import AT_ONCE
from determined.master.routes.submit_turns import LARGE as LARGE_SUBMISSION

# Routes that need more than the ordinary limit, and nobody else: whoever adds one must mean it.
LARGE = {
    "POST /api/v1/experiments",
    *(f"POST /api/v1/{noun}" for noun in ("commands", "notebooks", "shells", "tensorboards", "generic-tasks")),
    "PUT /api/v1/experiments/by-external-id/{external_id:str}",
    "POST /api/v1/experiments/continue",
    "POST /api/v1/experiments/{experiment_id:int}/searcher_operations",
    "POST /api/v1/checkpoints",
    "POST /api/v1/task/logs",
    "POST /task-logs",
    "POST /api/v1/trials/{trial_id:int}/metrics",
    "POST /api/v1/trials/{trial_id:int}/training_metrics",
    "POST /api/v1/trials/{trial_id:int}/validation_metrics",
    "POST /api/v1/trials/profiler/metrics",
    "POST /api/v1/allocations/{allocation_id:str}/all_gather",
    "POST /api/v1/allocations/{allocation_id:str}/resources/{resource_id:str}/reports",
    "POST /api/v1/trials/{trial_id:int}/runs/{run_id:int}/reports",
    "POST /api/v1/allocations/{allocation_id:str}/resources/{resource_id:str}/environment_lock",
    "POST /api/v1/bridges/{engine:str}/exchange",
}
SAFE = {"GET", "HEAD", "OPTIONS"}


def _handlers(world: Any) -> list[tuple[str, HTTPRouteHandler]]:
    routes = [route for route in world.master.app.routes if isinstance(route, HTTPRoute)]
    return [(f"{method} {r.path}", h) for r in routes for h in r.route_handlers for method in h.http_methods - SAFE]


def test_every_route_has_a_limit_and_only_named_ones_a_large_one(sqlite_world: Any) -> None:
    limits = {name: handler.resolve_request_max_body_size() for name, handler in _handlers(sqlite_world)}
    assert len(limits) > 80
    assert {name for name, limit in limits.items() if limit is None} == set()
    assert {name for name, limit in limits.items() if limit is not None and limit > ORDINARY_BODY} == LARGE


def test_routes_without_a_login_take_a_few_kilobytes(sqlite_world: Any) -> None:
    """The exchange of bridges is the exception: it carries the state of a cluster, and each message is sealed."""
    open_to_all = [
        (name, handler)
        for name, handler in _handlers(sqlite_world)
        if sqlite_world.master.anonymous.call(*_request(sqlite_world, name), b"{}").status != 401
    ]
    found = {name: handler.resolve_request_max_body_size() for name, handler in open_to_all}
    assert "POST /api/v1/auth/login" in found
    found.pop("POST /api/v1/bridges/{engine:str}/exchange", None)
    assert {name for name, limit in found.items() if limit is None or limit > PUBLIC_BODY} == set()


def _request(world: Any, name: str) -> tuple[str, str]:
    method, _, template = name.partition(" ")
    return method, world.path(template)


@pytest.mark.parametrize("chunked", [False, True])
def test_a_login_that_never_ends_is_refused_while_it_arrives(sqlite_world: Any, chunked: bool) -> None:
    address = urlsplit(sqlite_world.master.url)
    length = "Transfer-Encoding: chunked" if chunked else f"Content-Length: {15 * 2**20}"
    head = f"POST /api/v1/auth/login HTTP/1.1\r\nHost: localhost\r\n{length}\r\n\r\n".encode()
    part = b"x" * (2 * PUBLIC_BODY)
    with socket.create_connection((address.hostname, address.port), timeout=60) as sock:
        sock.sendall(head + (f"{len(part):x}\r\n".encode() + part + b"\r\n" if chunked else part))
        assert sock.recv(100).startswith(b"HTTP/1.1 413")


def test_text_fields_have_a_length(sqlite_world: Any) -> None:
    answer = sqlite_world.admin.post("/api/v1/workspaces", {"name": "x" * 100_000})
    assert answer.status == 400
    assert "name has 100000 characters; at most 65536" in answer.message


def test_lists_have_a_size(sqlite_world: Any) -> None:
    answer = sqlite_world.admin.post("/api/v1/projects/1/experiments/archive", {"experimentIds": list(range(10_001))})
    assert answer.status == 400
    assert "experimentIds has 10001 entries; at most 10000" in answer.message


def test_a_config_has_a_length(sqlite_world: Any) -> None:
    config = json.dumps({"name": "x", "description": "x" * 2**20})
    for path, field in (("", "config"), ("/continue", "overrideConfig")):
        answer = sqlite_world.admin.post(f"/api/v1/experiments{path}", {"id": 1, field: config})
        assert answer.status == 400, path
        assert f"{field} has {len(config)} characters; at most 524288" in answer.message


def eventually(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def _begin_submission(world: Any, client: Any, sent: int, length: int) -> socket.socket:
    """Of `length` bytes, of which `sent` are on their way."""
    address = urlsplit(world.master.url)
    head = f"POST /api/v1/experiments HTTP/1.1\r\nHost: localhost\r\nContent-Length: {length}\r\n"
    head += "".join(f"{name}: {value}\r\n" for name, value in client.headers.items())
    sock = socket.create_connection((address.hostname, address.port), timeout=60)
    sock.sendall(head.encode() + b"\r\n" + b"x" * sent)
    return sock


def test_large_submissions_of_one_user_take_turns_and_hold_up_nobody_else(sqlite_world: Any) -> None:
    ada, other = sqlite_world.master.client("determined"), sqlite_world.admin
    large = LARGE_SUBMISSION + 1
    unfinished = [_begin_submission(sqlite_world, ada, large - 1, large) for _ in range(AT_ONCE)]
    waiting = _begin_submission(sqlite_world, ada, large // 64, large)
    turns = sqlite_world.master.app.state.submit_turns
    eventually(lambda: list(turns.present.values()) == [AT_ONCE + 1])
    assert other.call("POST", "/api/v1/experiments", b"x" * large).status == 400, "another user's is read"
    assert ada.call("POST", "/api/v1/experiments", b"x" * 1000).status == 400, "small ones do not wait"
    assert list(turns.present.values()) == [AT_ONCE + 1]
    for sock in unfinished:
        sock.close()
    waiting.sendall(b"x" * (large - large // 64))
    assert waiting.recv(100).startswith(b"HTTP/1.1 400"), "its turn came"
    waiting.close()
    eventually(lambda: not turns.present)
