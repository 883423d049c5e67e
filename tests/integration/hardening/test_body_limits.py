"""Every route takes bodies of a size that fits it, and looks at the size while the body arrives."""

import json
import socket
from typing import Any
from urllib.parse import urlsplit

import pytest
from litestar.handlers import HTTPRouteHandler
from litestar.routes import HTTPRoute

from determined.master.routes.limits import ORDINARY_BODY, PUBLIC_BODY

# Routes that need more than the ordinary limit, and nobody else: whoever adds one must mean it.
LARGE = {
    "POST /api/v1/experiments",
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
