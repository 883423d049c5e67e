"""Writes webui/src/api/schema.d.ts from our own OpenAPI. A test compares the file with what this would write.

`Schemas` has one interface per component, `Paths` one entry per operation: "GET /api/v1/me". What an operation does not
take is `never`. An optional field may be left out, be `undefined` (JSON drops it) or, where the API says so, be `null`.
"""

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from determined.master.app import create_app
from determined.master.config import MasterConfig
from determined.master.routes.openapi import complete

TARGET = Path(__file__).parents[1] / "webui" / "src" / "api" / "schema.d.ts"

_OPENING = """\
// Written by scripts/make_webui_types.py from the OpenAPI description of the master; do not edit.
// Types of every request and response: Schemas by name, Paths by method and path.
"""
_PLAIN = {
    "integer": "number",
    "number": "number",
    "string": "string",
    "boolean": "boolean",
    "null": "null",
}
_IDENTIFIER = re.compile(r"[A-Za-z_$][\w$]*")


def main() -> int:
    TARGET.parent.mkdir(parents=True, exist_ok=True)
    TARGET.write_text(reference())
    return 0


def reference() -> str:
    """The whole file."""
    app = create_app(MasterConfig())
    return declarations(complete(app, app.openapi_schema.to_schema()))


def declarations(description: dict[str, Any]) -> str:
    """TypeScript for an OpenAPI description."""
    schemas = description["components"]["schemas"]
    lines = [_OPENING, "export interface Schemas {"]
    lines += [f"  {_key(name)}: {_type(schemas[name], '  ')};" for name in sorted(schemas)]
    lines += ["}", "", "export interface Paths {", *_operations(description["paths"]), "}", ""]
    return "\n".join(lines)


def _operations(paths: dict[str, Any]) -> Iterator[str]:
    for path in sorted(paths):
        for method in sorted(paths[path]):
            if path.startswith("/docs"):
                continue
            yield f"  {json.dumps(f'{method.upper()} {path}')}: {{"
            yield from (f"    {line}" for line in _operation(paths[path][method]))
            yield "  };"


def _operation(operation: dict[str, Any]) -> Iterator[str]:
    given = operation.get("parameters", [])
    for place in ("path", "query"):
        yield f"{place}: {_parameters([each for each in given if each['in'] == place])};"
    yield f"body: {_content(operation.get('requestBody'), 'never')};"
    answers = [answer for code, answer in sorted(operation["responses"].items()) if code.startswith("2")]
    yield f"response: {_content(answers[0] if answers else None, 'unknown')};"


def _parameters(given: list[dict[str, Any]]) -> str:
    if not given:
        return "never"
    members = [_member(each["name"], each.get("schema", {}), each.get("required", False), "    ") for each in given]
    return f"{{ {' '.join(members)} }}"


def _content(described: dict[str, Any] | None, absent: str) -> str:
    if described is None:
        return absent
    for kind, content in described.get("content", {}).items():
        return _type(content.get("schema", {}), "    ") if "json" in kind else "string"
    return absent


def _type(schema: dict[str, Any], indent: str) -> str:
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


def _plain(kind: str | None, schema: dict[str, Any], indent: str) -> str:
    if kind == "array":
        return _array(schema, indent)
    if kind == "object":
        return _object(schema, indent)
    return _PLAIN.get(kind or "", "unknown")


def _union(kinds: list[str]) -> str:
    return "unknown" if "unknown" in kinds else " | ".join(dict.fromkeys(kinds))


def _array(schema: dict[str, Any], indent: str) -> str:
    if "prefixItems" in schema:
        return f"[{', '.join(_type(each, indent) for each in schema['prefixItems'])}]"
    item = _type(schema.get("items") or {}, indent)
    return f"({item})[]" if " " in item else f"{item}[]"


def _object(schema: dict[str, Any], indent: str) -> str:
    fields = schema.get("properties", {})
    if not fields:
        others = schema.get("additionalProperties")
        return f"Record<string, {_type(others, indent) if isinstance(others, dict) else 'unknown'}>"
    required = set(schema.get("required", []))
    members = [f"{indent}  {_member(name, fields[name], name in required, indent + '  ')}" for name in sorted(fields)]
    return "\n".join(["{", *members, f"{indent}}}"])


def _member(name: str, schema: dict[str, Any], required: bool, indent: str) -> str:
    kind = _type(schema, indent)
    return f"{_key(name)}: {kind};" if required else f"{_key(name)}?: {_union([kind, 'undefined'])};"


def _key(name: str) -> str:
    return name if _IDENTIFIER.fullmatch(name) else json.dumps(name)


if __name__ == "__main__":
    sys.exit(main())
