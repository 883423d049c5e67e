"""Every operation as every kind of caller: who is let in is who the permission table names."""

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from litestar import get
from litestar.handlers import BaseRouteHandler
from litestar.routes import HTTPRoute
from tracked import IdleEngine
from walk_ground import CALLERS, PASSWORD, Ground, expected
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from determined.master.auth.guard import require_rows
from determined.master.auth.permission import Permission, Who, permission_of

# They ask for a proof of their own, whoever calls.
PROVE_THEMSELVES = {
    "/api/v1/auth/login",
    "/api/v1/auth/link/redeem",
    "/api/v1/claims",
    "/api/v1/bridges/{engine:str}/enrol",
    "/api/v1/bridges/{engine:str}/exchange",
}
# A token that is another's is not even admitted to be there.
HIDDEN = b'{"error":{"code":5,"reason":"not_found","error":"you have no access token'
# What ends the session or changes the account of the caller: with an account made for it.
ON_OWN_ACCOUNT = {
    "/api/v1/auth/logout",
    "/api/v1/users/{user_id:int}",
    "/api/v1/users/{user_id:int}/password",
}
# What is about a submitted task: with one of that noun.
OF_A_TASK = re.compile(r"/api/v1/(commands|notebooks|shells|tensorboards)/\{task_id:str\}")
OF_A_GENERIC_TASK = re.compile(r"/api/v1/(tasks)/\{task_id:str\}/(kill|pause|unpause)")
# What outlives the token that does it asks for a login, so that a program in a task gains nothing; and accounts made
# for the walk are not those of the program's owner.
NOT_BY_PROGRAMS = {
    ("POST", "/api/v1/auth/link"),
    *((verb, path) for verb in ("POST", "PATCH") for path in ON_OWN_ACCOUNT),
}
NOT_BY_PROGRAMS -= {("POST", "/api/v1/auth/logout")}

# What the walk over HTTP operations does not meet. Each of them has a test of its own below.
OTHER_ROUTES = {
    ("/proxy", "ASGIRoute"),
    ("/stream", "WebSocketRoute"),
    ("/terminal/{task_id:str}", "WebSocketRoute"),
}
_POLICY_VIOLATION = 1008


@pytest.fixture
def ground(start_master: Callable[..., Any], sqlite_url: str) -> Ground:
    engine = IdleEngine()
    return Ground(start_master(sqlite_url, engine_factory=lambda _ctx: [engine]), engine)


def _operations(master: Any) -> list[tuple[str, str, Permission]]:
    """(method, path template, row) of everything the app serves, what only looks first."""
    found = []
    for route in master.app.routes:
        for handler in route.route_handlers if isinstance(route, HTTPRoute) else ():
            for method in handler.http_methods - {"OPTIONS", "HEAD"}:
                row = permission_of(handler.opt)
                assert row is not None, f"{method} {route.path} has no row in the permission table"
                found.append((method, route.path, row))
    return sorted(found, key=lambda one: (one[0] != "GET", one[0] == "DELETE", one[1], one[0]))


def test_every_operation_lets_in_whom_its_row_names_and_nobody_else(ground: Ground, wire_to: Any) -> None:
    wire = wire_to(ground)
    wrong = []
    for method, template, row in _operations(ground.master):
        if template in PROVE_THEMSELVES:
            continue
        for caller, (status, text) in _answers(ground, wire, method, template, row).items():
            allowed = status not in (401, 403) and b"only the owner" not in text and not text.startswith(HIDDEN)
            is_refused_to_programs = caller == "owner's program" and (method, template) in NOT_BY_PROGRAMS
            if allowed != (expected(row, caller) and not is_refused_to_programs):
                wrong.append(f"{method} {template}: {caller} got {status}, the table says {row.text}: {text[:120]!r}")
    assert not wrong, "\n".join(wrong)


def _answers(ground: Ground, wire: Any, method: str, template: str, row: Permission) -> dict[str, tuple[int, bytes]]:
    """Those who are to be refused call first: an operation that removes something leaves nothing to refuse."""
    if method != "GET":
        ground.renew()
    known, headers = dict(ground.ids), dict(ground.headers)
    if template in ON_OWN_ACCOUNT and method != "GET":
        _use_spare_account(ground, headers)
    about_task = OF_A_TASK.match(template) or OF_A_GENERIC_TASK.match(template)
    if about_task:
        ground.use_submitted_task(about_task[1], headers)
    path = ground.path(template, row)
    answers = {}
    for caller in sorted(CALLERS, key=lambda one: expected(row, one)):
        answers[caller] = wire.answer(method, path, ground.body(method, template), headers[caller])
    ground.ids = known
    return answers


def _use_spare_account(ground: Ground, headers: dict[str, dict[str, str]]) -> None:
    name = f"walker{ground.spare['token_id']}"
    person = ground.person(name)
    ground.ids["user_id"] = person.get("/api/v1/me").json["user"]["id"]
    headers["owner"] = person.headers
    headers["other user"] = ground.master.client("bob", PASSWORD).headers
    headers["administrator"] = ground.master.client("admin").headers


def test_what_asks_for_a_proof_of_its_own_answers_every_caller_alike(ground: Ground, wire_to: Any) -> None:
    wire = wire_to(ground)
    ground.renew()
    for method, template, row in _operations(ground.master):
        if template in PROVE_THEMSELVES:
            assert row.public, template
            answers = _answers(ground, wire, method, template, row)
            assert len({status for status, _ in answers.values()}) == 1, (template, answers)


def test_the_description_shows_the_row_of_every_operation(ground: Ground) -> None:
    paths = ground.master.anonymous.get("/docs/openapi.json").json["paths"]
    rows = {}
    for route in ground.master.app.routes:
        for handler in route.route_handlers if isinstance(route, HTTPRoute) else ():
            for method in handler.http_methods:
                rows[method.lower(), route.path_format] = permission_of(handler.opt)
    described = {(method, path): operation for path, item in paths.items() for method, operation in item.items()}
    assert len(described) > 200
    for key, operation in described.items():
        row = rows[key]
        assert row is not None, key
        assert operation["x-permission"] == {"who": list(row.who), "note": row.note}, key


def test_a_route_without_a_row_keeps_the_master_from_starting() -> None:
    @get("/api/v1/forgotten")
    async def forgotten() -> dict[str, Any]:
        return {}

    handler: BaseRouteHandler = forgotten
    with pytest.raises(LookupError, match=r"/api/v1/forgotten.* has no permission"):
        require_rows([handler])


def test_every_route_that_is_no_http_operation_is_walked_below(ground: Ground) -> None:
    routes = [route for route in ground.master.app.routes if not isinstance(route, HTTPRoute)]
    assert {(route.path, type(route).__name__) for route in routes} == OTHER_ROUTES
    assert all(permission_of(route.route_handler.opt) is not None for route in routes)


@pytest.mark.parametrize("caller", CALLERS)
def test_the_stream_of_changes_is_for_users(ground: Ground, wire_to: Any, caller: str) -> None:
    upgrade = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13"}
    headers = {**upgrade, "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==", **ground.headers[caller]}
    status = wire_to(ground).status("GET", "/stream", None, headers)
    assert (status == 101) == expected(Permission((Who.USER,)), caller), status


@pytest.mark.parametrize("caller", CALLERS)
def test_the_proxy_is_for_the_owner_of_the_task_and_administrators(ground: Ground, wire_to: Any, caller: str) -> None:
    """The walk does not meet it: it takes any method below its path, and its handler finds out who calls."""
    row = _row_of(ground, "/proxy")
    status = wire_to(ground).status("GET", f"/proxy/{ground.ids['task_id']}:8000/", None, ground.headers[caller])
    assert (status not in (401, 403)) == expected(row, caller), status


@pytest.mark.parametrize("caller", CALLERS)
def test_a_terminal_is_for_the_owner_of_the_shell_and_administrators(ground: Ground, caller: str) -> None:
    """Of a shell, and of one beside a trial. No runner is connected, which only those learn who are let in."""
    row = _row_of(ground, "/terminal/{task_id:str}")
    beside_trial = f"{ground.ids['task_id']}:shell"
    headers = dict(ground.headers)
    ground.use_submitted_task("shells", headers)
    assert _is_let_in(ground, ground.ids["task_id"], headers[caller]) == expected(row, caller)
    assert _is_let_in(ground, beside_trial, ground.headers[caller]) == expected(row, caller)


def _is_let_in(ground: Ground, shell: str, headers: dict[str, str]) -> bool:
    url = f"{ground.master.url.replace('http', 'ws', 1)}/terminal/{shell}"
    try:
        with connect(url, additional_headers=headers) as socket:
            socket.recv(timeout=60)
    except InvalidStatus as e:
        assert e.response.status_code in (401, 403)
        return False
    except ConnectionClosed as e:
        assert e.rcvd is not None
        assert (e.rcvd.code == _POLICY_VIOLATION) == ("only the owner" in e.rcvd.reason), e.rcvd
        return e.rcvd.code != _POLICY_VIOLATION
    raise AssertionError("no runner is there, and something answers")


def _row_of(ground: Ground, path: str) -> Permission:
    [row] = [permission_of(route.route_handler.opt) for route in ground.master.app.routes if route.path == path]
    assert row is not None
    return row


def test_no_row_is_broader_than_it_reads(ground: Ground) -> None:
    """Public stands alone; a task of anything is never let in where the table says nothing of tasks."""
    for method, template, row in _operations(ground.master):
        assert row.who, f"{method} {template}"
        assert not row.public or row.who == (Who.PUBLIC,), f"{method} {template}"
    assert json.loads(json.dumps([who.value for who in Who])) == [str(who) for who in Who]
