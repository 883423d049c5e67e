"""Routes that a master registers after its start: the same app in the end, and no wrong answer before."""

import asyncio
import re
from pathlib import Path
from typing import Any

import pytest
from litestar import Litestar, Router, get
from litestar.routes import HTTPRoute

from determined.master.app import create_app
from determined.master.config import load_master_config
from determined.master.routes import late, nouns
from determined.master.routes.late import LateRoutes

_SAMPLES = {"int": "1", "str": "x", "path": "a/b", "uuid": "1b671a64-40d5-491e-99b0-da01ff1f3341"}


def _app(tmp_path: Path, *, late_routes: bool) -> Litestar:
    return create_app(load_master_config({}, {}, {"data_dir": str(tmp_path)}), late_routes=late_routes)


def _operations(app: Litestar) -> set[tuple[str, str]]:
    """(method, path) of all that is served over HTTP, and the others."""
    found = set()
    for route in app.routes:
        methods = route.methods if isinstance(route, HTTPRoute) else {"other"}
        found |= {(str(method), route.path) for method in methods}
    return found


def _sample(path: str) -> str:
    return re.sub(r"{\w+(?::(\w+))?}", lambda found: _SAMPLES[found[1] or "str"], path)


def _late(app: Litestar) -> LateRoutes:
    routes: LateRoutes = app.state.late_routes
    return routes


def _ask(routes: LateRoutes, path: str) -> None:
    async def unused(*_: Any) -> Any:
        raise AssertionError("nothing is read or sent")

    scope: Any = {"type": "http", "path": path, "method": "GET"}
    asyncio.run(routes(scope, unused, unused))


async def _answer_nothing(*_: Any) -> None:
    return


def test_a_request_is_answered_early_only_by_the_route_that_would_answer_it_in_the_end(tmp_path: Path) -> None:
    whole, routes = _app(tmp_path, late_routes=False), _late(_app(tmp_path, late_routes=True))
    served = (route for router in nouns.routers(late.FIRST) for route in router.routes)
    first = {route.path_format for route in served if route.path not in late.AMBIGUOUS}
    wrong, early = [], 0
    for method, path in sorted(_operations(whole)):
        if method == "other":
            continue
        sample = _sample(path)
        template = whole.asgi_router.handle_routing(sample, method)[-1]  # type: ignore[arg-type]
        is_first = routes.is_first({"path": sample, "method": method})
        early += is_first
        if is_first != (template in first) and method != "OPTIONS":
            wrong.append(f"{method} {sample}, which {template} answers")
    assert not wrong, "name the routes of FIRST that have the same form in AMBIGUOUS"
    assert early > 50


def test_a_request_for_a_later_route_registers_all_of_them_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, app = _app(tmp_path, late_routes=False), _app(tmp_path, late_routes=True)
    routes = _late(app)
    monkeypatch.setattr(routes, "_handle", _answer_nothing)
    before = _operations(app)
    _ask(routes, "/api/v1/experiments/1")
    assert _operations(app) == before
    _ask(routes, "/api/v1/models")
    assert _operations(app) == _operations(whole) > before


def test_what_was_asked_before_all_routes_were_there_is_looked_up_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, app = _app(tmp_path, late_routes=False), _app(tmp_path, late_routes=True)
    routes = _late(app)
    monkeypatch.setattr(routes, "_handle", _answer_nothing)
    for path in late.AMBIGUOUS:
        assert not routes.is_first({"path": _sample(path), "method": "GET"})
    assert not routes.is_first({"path": "/api/v1/tasks/search", "method": "GET"})
    _ask(routes, "/api/v1/tasks/search")
    template = app.asgi_router.handle_routing("/api/v1/tasks/search", "GET")[-1]
    assert template == whole.asgi_router.handle_routing("/api/v1/tasks/search", "GET")[-1] == "/api/v1/tasks/search"


@pytest.mark.parametrize("path", ["/nowhere", "/docs/openapi.json", "/api/v1/experiments/search"])
def test_what_no_first_route_answers_waits_for_all(tmp_path: Path, path: str) -> None:
    assert not _late(_app(tmp_path, late_routes=True)).is_first({"path": path, "method": "GET"})


def test_a_quiet_master_registers_the_later_routes_by_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(late, "_QUIET_SECONDS", 0.0)
    whole, app = _app(tmp_path, late_routes=False), _app(tmp_path, late_routes=True)
    asyncio.run(_late(app).register_when_quiet())
    assert _operations(app) == _operations(whole)
    assert len(nouns.handlers(app)) == len(nouns.handlers(whole))


def test_a_later_route_without_a_row_of_the_permission_table_is_not_registered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    @get("/open-to-all", sync_to_thread=False)
    def oversight() -> str:
        return "secret"

    app = _app(tmp_path, late_routes=True)
    routes = _late(app)
    monkeypatch.setattr(routes, "_handle", _answer_nothing)
    monkeypatch.setattr(nouns, "routers", lambda _: [Router(path="", route_handlers=[oversight])])
    for _ in range(2):  # it does not go away by asking again
        with pytest.raises(LookupError):
            _ask(routes, "/open-to-all")
    assert "/open-to-all" not in {route.path for route in app.routes}
