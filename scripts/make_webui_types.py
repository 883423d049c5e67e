"""Write webui/src/api/schema.ts from our own OpenAPI and the rows of `/stream`; a test compares the file.

`Schemas` has one interface per component, `Operations` one entry per operation, by its name in wire: `getMe` is GET_ME.
What an operation does not take is `never`. An optional field may be left out, be `undefined` (JSON drops it) or, where
the API says so, be `null`. `PATHS` has the method and the path of each operation.
"""

import importlib
import json
import pkgutil
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec

from determined import wire
from determined._json import JsonObject
from determined.master.app import create_app
from determined.master.config import MasterConfig
from determined.master.db.queries.streamed import BY_NOUN
from determined.master.routes.openapi import complete
from determined.wire.codec import camel
from determined.wire.operation import Operation
from determined.wire.stream import AgentMsg, MetricsMsg

TARGET = Path(__file__).parents[1] / "webui" / "src" / "api" / "schema.ts"

_OPENING = """\
// Written by scripts/make_webui_types.py from the OpenAPI description of the master; do not edit.
// Types of every request and response: Schemas by name, Operations by their name in wire (LIST_TRIALS is listTrials).
// StreamRows are the rows that `/stream` sends, by noun.
"""
_MESSAGES: dict[str, type[msgspec.Struct]] = {
    **{noun: streamed.message for noun, streamed in BY_NOUN.items()},
    "agents": AgentMsg,
    "metrics": MetricsMsg,
}
_PLAIN = {
    "integer": "number",
    "number": "number",
    "string": "string",
    "boolean": "boolean",
    "null": "null",
}
_ID_TYPE = re.compile(r":\w+\}")
_IDENTIFIER = re.compile(r"[A-Za-z_$][\w$]*")


def main() -> int:
    TARGET.parent.mkdir(parents=True, exist_ok=True)
    TARGET.write_text(reference())
    return 0


def reference() -> str:
    """Return the whole file."""
    app = create_app(MasterConfig())
    return declarations(complete(app, app.openapi_schema.to_schema())) + stream_rows()


def declarations(description: JsonObject) -> str:
    """Return TypeScript for an OpenAPI description."""
    schemas, names = description["components"]["schemas"], operation_names()
    lines = [_OPENING, "export interface Schemas {"]
    lines += [f"  {_key(name)}: {_type(schemas[name], '  ')};" for name in sorted(schemas)]
    lines += ["}", "", "export interface Operations {", *_operations(description["paths"], names), "}", ""]
    lines += ["export const PATHS: Record<keyof Operations, string> = {", *_paths(names), "};", ""]
    return "\n".join(lines)


def operation_names() -> dict[str, str]:
    """Return the page's name of every operation, and its method and path as the OpenAPI writes them."""
    names: dict[str, str] = {}
    for module in pkgutil.iter_modules(wire.__path__):
        for name, value in vars(importlib.import_module(f"determined.wire.{module.name}")).items():
            if isinstance(value, Operation):
                names[camel(name.lower())] = f"{value.method} {_ID_TYPE.sub('}', value.path)}"
    return dict(sorted(names.items()))


def stream_rows() -> str:
    """Return TypeScript for the rows that `/stream` sends, with the keys in camelCase as the page reads them."""
    lines = [
        "",
        "/** Rows of the `/stream` WebSocket by noun (master/db/queries/streamed.py). */",
        "export interface StreamRows {",
    ]
    for noun, message in sorted(_MESSAGES.items()):
        described = msgspec.json.schema(message)["$defs"][message.__name__]
        described["properties"] = {camel(name): kind for name, kind in described["properties"].items()}
        described["required"] = [camel(name) for name in described["required"]]
        lines.append(f"  {noun}: {_object(described, '  ')};")
    return "\n".join([*lines, "}", ""])


def _operations(paths: JsonObject, names: dict[str, str]) -> Iterator[str]:
    for name, where in names.items():
        method, _, path = where.partition(" ")
        yield f"  {name}: {{"
        yield from (f"    {line}" for line in _operation(paths[path][method.lower()]))
        yield "  };"


def _paths(names: dict[str, str]) -> Iterator[str]:
    return (f"  {name}: {json.dumps(where)}," for name, where in names.items())


def _operation(operation: JsonObject) -> Iterator[str]:
    given = operation.get("parameters", [])
    for place in ("path", "query"):
        yield f"{place}: {_parameters([each for each in given if each['in'] == place])};"
    yield f"body: {_content(operation.get('requestBody'), 'never')};"
    answers = [answer for code, answer in sorted(operation["responses"].items()) if code.startswith("2")]
    yield f"response: {_content(answers[0] if answers else None, 'unknown')};"


def _parameters(given: list[JsonObject]) -> str:
    if not given:
        return "never"
    members = [_member(each["name"], each.get("schema", {}), each.get("required", False), "    ") for each in given]
    return f"{{ {' '.join(members)} }}"


def _content(described: JsonObject | None, absent: str) -> str:
    if described is None:
        return absent
    for kind, content in described.get("content", {}).items():
        return _type(content.get("schema", {}), "    ") if "json" in kind else "string"
    return absent


def _type(schema: JsonObject, indent: str) -> str:
    if "$ref" in schema:
        return f"Schemas[{json.dumps(schema['$ref'].rpartition('/')[2])}]"
    if "enum" in schema:
        return " | ".join(json.dumps(value) for value in schema["enum"])
    if "const" in schema:
        return json.dumps(schema["const"])
    kind = schema.get("type")
    several = schema.get("oneOf") or schema.get("anyOf")
    if isinstance(kind, list):
        several = [{**schema, "type": each} for each in kind]
    if several:
        return _union([_type(each, indent) for each in several])
    return _plain(kind, schema, indent)


def _plain(kind: str | None, schema: JsonObject, indent: str) -> str:
    if kind == "array":
        return _array(schema, indent)
    if kind == "object":
        return _object(schema, indent)
    return _PLAIN.get(kind or "", "unknown")


def _union(kinds: list[str]) -> str:
    return "unknown" if "unknown" in kinds else " | ".join(dict.fromkeys(kinds))


def _array(schema: JsonObject, indent: str) -> str:
    if "prefixItems" in schema:
        return f"[{', '.join(_type(each, indent) for each in schema['prefixItems'])}]"
    item = _type(schema.get("items") or {}, indent)
    return f"({item})[]" if " " in item else f"{item}[]"


def _object(schema: JsonObject, indent: str) -> str:
    fields = schema.get("properties", {})
    if not fields:
        others = schema.get("additionalProperties")
        return f"Record<string, {_type(others, indent) if isinstance(others, dict) else 'unknown'}>"
    required = set(schema.get("required", []))
    members = [f"{indent}  {_member(name, fields[name], name in required, indent + '  ')}" for name in sorted(fields)]
    return "\n".join(["{", *members, f"{indent}}}"])


def _member(name: str, schema: JsonObject, required: bool, indent: str) -> str:
    kind = _type(schema, indent)
    return f"{_key(name)}: {kind};" if required else f"{_key(name)}?: {_union([kind, 'undefined'])};"


def _key(name: str) -> str:
    return name if _IDENTIFIER.fullmatch(name) else json.dumps(name)


if __name__ == "__main__":
    sys.exit(main())
