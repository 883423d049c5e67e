"""Complete the OpenAPI description: parameters, bodies and streams of each operation, and the one shape of errors.

Litestar knows the ids of a path and the answer. The rest comes from the operation that the handler serves.
"""

from collections.abc import Iterator
from typing import Any

import msgspec
from litestar import Litestar
from litestar.handlers import HTTPRouteHandler
from litestar.routes import HTTPRoute

from determined._json import JsonObject
from determined.master.auth.permission import permission_of
from determined.master.routes.serve import AnyOperation, errors_of, operation_of
from determined.wire.operation import Nothing, Query, StreamOperation

_REF = "#/components/schemas/{name}"
_ERROR = {
    "type": "object",
    "required": ["error", "message"],
    "properties": {
        "error": {
            "type": "object",
            "required": ["code", "reason", "error"],
            "properties": {
                "code": {"type": "integer", "description": "gRPC status code"},
                "reason": {"type": "string"},
                "error": {"type": "string"},
                "details": {"type": "object"},
            },
        },
        "message": {"type": "string"},
    },
}


def complete(app: Litestar, description: JsonObject) -> JsonObject:
    """Fill what Litestar does not know into its description, in place."""
    schemas = description.setdefault("components", {}).setdefault("schemas", {})
    schemas["Error"] = _ERROR
    for handler, described in _operations(app, description):
        _document_errors(handler, described)
        _document_permission(handler, described)
        operation = operation_of(handler.opt)
        if operation is not None:
            _document_request(operation, described, schemas)
            _document_stream(operation, described, schemas)
    return description


def _document_request(operation: AnyOperation, described: JsonObject, schemas: JsonObject) -> None:
    if operation.request is Nothing:
        return
    if operation.method == "GET":
        described.setdefault("parameters", []).extend(_parameters(operation.request, schemas))
    else:
        described["requestBody"] = {"required": True, "content": _content(_schema(operation.request, schemas))}


def _parameters(kind: type[Query], schemas: JsonObject) -> Iterator[JsonObject]:
    for field in msgspec.structs.fields(kind):
        schema = _schema(field.type, schemas)
        if field.default not in (None, msgspec.NODEFAULT):
            schema["default"] = msgspec.to_builtins(field.default)
        parameter = {"name": field.encode_name, "in": "query", "required": field.required, "schema": schema}
        text = schema.pop("description", None)
        yield parameter | ({"description": text} if text else {})


def _document_stream(operation: AnyOperation, described: JsonObject, schemas: JsonObject) -> None:
    if isinstance(operation, StreamOperation):
        line = {
            "type": "object",
            "required": ["result"],
            "properties": {"result": _schema(operation.response, schemas)},
        }
        described["responses"]["200"]["content"] = _content(line)
        described["responses"]["200"]["description"] = "Lines of JSON, each of which is such an object"


def _operations(app: Litestar, description: JsonObject) -> list[tuple[HTTPRouteHandler, JsonObject]]:
    described = []
    for route in app.routes:
        item = description["paths"].get(route.path_format) if isinstance(route, HTTPRoute) else None
        for handler in route.route_handlers if isinstance(route, HTTPRoute) and item else []:
            described += [(handler, item[m.lower()]) for m in handler.http_methods if item and m.lower() in item]
    return described


def _document_errors(handler: HTTPRouteHandler, operation: JsonObject) -> None:
    named = ", ".join(f"{error.status} {error.code}" for error in errors_of(handler.opt))
    text = "What went wrong and what to do"
    content = _content({"$ref": _REF.format(name="Error")})
    operation["responses"].pop("400", None)  # Litestar describes its own shape, which our error handlers replace
    operation["responses"]["4XX"] = {"description": f"{text}: {named}" if named else text, "content": content}
    operation["responses"]["503"] = {"description": text, "content": content}


def _document_permission(handler: HTTPRouteHandler, operation: JsonObject) -> None:
    """Name the permission as data for programs, and as the last line of the description for readers."""
    permission = permission_of(handler.opt)
    if permission is None:
        return
    operation["x-permission"] = {"who": list(permission.who), "note": permission.note}
    text = f"Who may call it: {permission.text}."
    operation["description"] = f"{operation['description']}\n\n{text}" if operation.get("description") else text
    if permission.public:
        operation["security"] = []


def _schema(kind: Any, schemas: JsonObject) -> JsonObject:
    """Make the JSON schema of a type; what it names is added to `schemas`."""
    (schema,), components = msgspec.json.schema_components([kind], ref_template=_REF)
    for name, component in components.items():
        schemas.setdefault(name, component)
    return schema


def _content(schema: JsonObject) -> JsonObject:
    return {"application/json": {"schema": schema}}
