"""The OpenAPI description says what every route reads and answers."""

import inspect
import re
from typing import Any

import pytest
from litestar.routes import HTTPRoute


@pytest.fixture
def description(sqlite_world: Any) -> dict[str, Any]:
    found: dict[str, Any] = sqlite_world.master.anonymous.get("/docs/openapi.json").json
    return found


def _described(world: Any, description: dict[str, Any]) -> list[tuple[str, Any, dict[str, Any]]]:
    """(method and path, handler, operation) of every route in the description."""
    found = []
    for route in world.master.app.routes:
        if not isinstance(route, HTTPRoute):
            continue
        item = description["paths"].get(route.path_format, {})
        for handler in route.route_handlers:
            for method in handler.http_methods - {"OPTIONS"}:
                if method.lower() in item:
                    found.append((f"{method} {route.path_format}", handler, item[method.lower()]))
    return found


def test_every_route_that_reads_a_body_documents_it(sqlite_world: Any, description: dict[str, Any]) -> None:
    operations = _described(sqlite_world, description)
    readers = {
        name
        for name, handler, _ in operations
        if re.search(r"payload: |read_body\(|\.body\(", inspect.getsource(handler.fn))
    }
    documented = {name for name, _, operation in operations if "requestBody" in operation}
    assert len(readers) > 50
    assert readers == documented


def test_bodies_have_the_fields_of_the_wire(description: dict[str, Any]) -> None:
    post = description["paths"]["/api/v1/auth/login"]["post"]
    reference = post["requestBody"]["content"]["application/json"]["schema"]["$ref"]
    schema = description["components"]["schemas"][reference.rpartition("/")[2]]
    assert {"username", "password", "isHashed"} <= schema["properties"].keys()
    password = description["paths"]["/api/v1/users/{user_id}/password"]["post"]["requestBody"]
    assert password["content"]["application/json"]["schema"] == {"type": "string"}


def test_every_operation_describes_its_answer_its_errors_and_its_path(
    sqlite_world: Any, description: dict[str, Any]
) -> None:
    for name, _, operation in _described(sqlite_world, description):
        assert "200" in operation["responses"], name
        error = operation["responses"]["4XX"]["content"]["application/json"]["schema"]
        assert error == {"$ref": "#/components/schemas/Error"}, name
        in_path = {p["name"] for p in operation.get("parameters", []) if p["in"] == "path"}
        assert in_path == set(re.findall(r"\{(\w+)\}", name)), name


def test_errors_are_named_from_types_permission_and_route(description: dict[str, Any]) -> None:
    def text(method: str, path: str) -> str:
        return str(description["paths"][path][method]["responses"]["4XX"]["description"])

    assert "409 already_exists" in text("post", "/api/v1/workspaces")
    assert "404 not_found" in text("get", "/api/v1/trials/{trial_id}")
    assert "401" not in text("get", "/api/v1/master/telemetry")


def test_every_parameter_of_a_list_has_a_text(description: dict[str, Any]) -> None:
    for path in ("/api/v1/experiments", "/api/v1/workspaces", "/api/v1/users", "/api/v1/job-queues-v2"):
        named = [p for p in description["paths"][path]["get"]["parameters"] if "." not in p["name"]]
        assert [p["name"] for p in named if not p.get("description")] == [], path


def test_every_reference_leads_somewhere(description: dict[str, Any]) -> None:
    schemas = description["components"]["schemas"]
    assert not {name for name in _references(description) if name not in schemas}


def _references(node: Any) -> set[str]:
    if isinstance(node, dict):
        own = {node["$ref"].removeprefix("#/components/schemas/")} if isinstance(node.get("$ref"), str) else set()
        return own.union(*(_references(value) for value in node.values()))
    return set().union(*(_references(value) for value in node)) if isinstance(node, list) else set()


def test_parameters_have_the_names_that_clients_send(description: dict[str, Any]) -> None:
    paths = description["paths"]
    sample = paths["/api/v1/experiments/{experiment_id}/metrics-stream/trials-sample"]["get"]["parameters"]
    assert {"startBatches", "endBatches", "maxDatapoints"} <= {p["name"] for p in sample}
    snake = {
        f"{path} {parameter['name']}"
        for path, item in paths.items()
        for operation in item.values()
        for parameter in (operation.get("parameters", []) if isinstance(operation, dict) else [])
        if parameter["in"] == "query" and "_" in parameter["name"]
    }
    # upstream's own spellings
    assert {name.rpartition(" ")[2] for name in snake} <= {
        "timeout_seconds",
        "save_experiment_best",
        "save_trial_best",
        "save_trial_latest",
        "timestamp_after",
        "timestamp_before",
        "start_date",
        "end_date",
    }


def test_the_page_loads_nothing_from_elsewhere(sqlite_world: Any) -> None:
    anonymous = sqlite_world.master.anonymous
    for path in ("/docs", "/docs/assets/docs.js", "/docs/assets/docs.css"):
        answer = anonymous.get(path)
        assert answer.status == 200
        assert not re.search(rb"https?:|//cdn|@import", answer.raw), path
