"""Write the typed rows of `master/db/rows` from the tables of `master/db/schema`; a test compares the files.

For `class TrialColumns(Columns)` there are `Trial`, a row that was read, and `TrialValues`, columns to be written; each
only where the master's code imports it.
"""

import ast
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

MASTER = Path(__file__).parent.parent / "src/determined/master"
DB = MASTER / "db"
SCHEMA = DB / "schema"
TARGET = DB / "rows"
_SUFFIX = "Columns"
_HEADER = '"""{title}\n\nWritten by scripts/make_rows.py from db/schema/{name}; do not edit.\n"""\n'


def main() -> int:
    for path, text in files().items():
        path.write_text(text)
    return 0


def files() -> dict[Path, str]:
    """Return the text of every file by its path."""
    used = set(_imported())
    modules = {path.name: _module(path, used) for path in sorted(SCHEMA.glob("*.py"))}
    return {TARGET / name: text for name, text in modules.items() if text is not None}


def _imported() -> Iterator[str]:
    """Name the classes that the master's code imports from the rows."""
    for path in MASTER.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("determined.master.db.rows."):
                yield from (alias.name for alias in node.names)


def _module(path: Path, used: set[str]) -> str | None:
    tree = ast.parse(path.read_text())
    tables = [
        node
        for node in tree.body
        if isinstance(node, ast.ClassDef) and node.name.endswith(_SUFFIX) and node.name != _SUFFIX
    ]
    body = "".join(f"\n\n{text}" for node in tables for text in _classes(node, used))
    if not body:
        return None
    title = (ast.get_docstring(tree) or "").replace("Tables of", "Rows of", 1).replace("Table of", "Rows of", 1)
    return _HEADER.format(title=title, name=path.name) + "\n" + _imports(tree, body) + body


def _imports(tree: ast.Module, body: str) -> str:
    standard = {"datetime": "from datetime import datetime\n", "TypedDict": "from typing import TypedDict\n"}
    groups = [
        [line for name, line in standard.items() if name in body],
        ["import msgspec\n"] if "msgspec" in body else [],
        [f"{line}\n" for node in tree.body if (line := _json_import(node, body))],
    ]
    return "\n".join("".join(group) for group in groups if group)


def _json_import(node: ast.stmt, body: str) -> str | None:
    if not isinstance(node, ast.ImportFrom) or node.module != "determined._json":
        return None
    names = [alias.name for alias in node.names if alias.name in body]
    return f"from {node.module} import {', '.join(names)}" if names else None


def _classes(node: ast.ClassDef, used: set[str]) -> Iterator[str]:
    name = node.name.removesuffix(_SUFFIX)
    if name in used:
        yield f"class {name}(msgspec.Struct, frozen=True):\n{_docstring(node)}{_fields(node)}"
    if f"{name}Values" in used:
        yield f"class {name}Values(TypedDict, total=False):\n{_fields(node)}"


def _docstring(node: ast.ClassDef) -> str:
    text = ast.get_docstring(node)
    if text is None:
        return ""
    quoted = f'"""{text}\n"""' if "\n" in text else f'"""{text}"""'
    return textwrap.indent(quoted, "    ") + "\n\n"


def _fields(node: ast.ClassDef) -> str:
    return "".join(f"    {name}: {kind}\n" for name, kind in _columns(node))


def _columns(node: ast.ClassDef) -> Iterator[tuple[str, str]]:
    """Name and Python type, from `name: Named[type]`."""
    for item in node.body:
        if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name):
            if not isinstance(item.annotation, ast.Subscript):
                raise SystemExit(f"{node.name}.{item.target.id}: write its type as Named[...]")
            yield item.target.id, ast.unparse(item.annotation.slice)


if __name__ == "__main__":
    sys.exit(main())
