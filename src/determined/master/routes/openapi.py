"""Completes the OpenAPI description: the body each handler reads, and the one shape of every error.

Handlers read bodies themselves (`read_body(request, Kind)`), so Litestar does not know them. The kind is taken from
that call, which cannot disagree with what is read; a handler that decodes by itself says `opt={"body": Kind}`.
"""

import dis
from typing import Any

import msgspec
from litestar import Litestar
from litestar.handlers import HTTPRouteHandler
from litestar.routes import HTTPRoute

from determined.master.auth.permission import permission_of

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


def complete(app: Litestar, description: dict[str, Any]) -> dict[str, Any]:
    """`description` as Litestar makes it, with request bodies and errors filled in (in place)."""
    schemas = description.setdefault("components", {}).setdefault("schemas", {})
    schemas["Error"] = _ERROR
    for handler, operation in _operations(app, description):
        _document_errors(operation)
        _document_permission(handler, operation)
        kind = body_kind(handler)
        if kind is not None:
            operation["requestBody"] = _request_body(kind, schemas)
    return description


def body_kind(handler: HTTPRouteHandler) -> Any | None:
    """The type of the body this handler reads; None when it reads none."""
    if "body" in handler.opt:
        return handler.opt["body"]
    # compiled code, not the source file: that may have been replaced by an upgrade since we were started
    loaded = [step.argval for step in dis.get_instructions(handler.fn) if step.opname == "LOAD_GLOBAL"]
    if "read_body" not in loaded:
        return None
    name = loaded[loaded.index("read_body") + 1]
    known: dict[str, Any] = handler.fn.__globals__
    return known.get(name, _BUILTIN.get(name, Any))


_BUILTIN = {"str": str, "dict": dict[str, Any]}


def _operations(app: Litestar, description: dict[str, Any]) -> list[tuple[HTTPRouteHandler, dict[str, Any]]]:
    found = []
    for route in app.routes:
        item = description["paths"].get(route.path_format) if isinstance(route, HTTPRoute) else None
        for handler in route.route_handlers if isinstance(route, HTTPRoute) and item else []:
            found += [(handler, item[m.lower()]) for m in handler.http_methods if item and m.lower() in item]
    return found


def _document_errors(operation: dict[str, Any]) -> None:
    answer = {"description": "What went wrong and what to do", "content": _json(_REF.format(name="Error"))}
    operation["responses"].pop("400", None)  # Litestar describes its own shape, which our error handlers replace
    operation["responses"]["4XX"] = answer
    operation["responses"]["503"] = answer


def _document_permission(handler: HTTPRouteHandler, operation: dict[str, Any]) -> None:
    """As data for programs, and as the last line of the description for readers."""
    permission = permission_of(handler.opt)
    if permission is None:
        return
    operation["x-permission"] = {"who": list(permission.who), "note": permission.note}
    text = f"Who may call it: {permission.text}."
    operation["description"] = f"{operation['description']}\n\n{text}" if operation.get("description") else text
    if permission.public:
        operation["security"] = []


def _request_body(kind: Any, schemas: dict[str, Any]) -> dict[str, Any]:
    (schema,), components = msgspec.json.schema_components([kind], ref_template=_REF)
    for name, component in components.items():
        schemas.setdefault(name, component)
    return {"required": True, "content": {"application/json": {"schema": schema}}}


def _json(ref: str) -> dict[str, Any]:
    return {"application/json": {"schema": {"$ref": ref}}}
