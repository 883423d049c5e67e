"""Write the typed rows of `master/db/rows` from the tables of `master/db/schema`; a test compares the files.

For `class TrialColumns(Columns)` there are `Trial`, a row that was read, and `TrialValues`, columns to be written.
"""

import ast
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

DB = Path(__file__).parent.parent / "src/determined/master/db"
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
    return {TARGET / path.name: text for path in sorted(SCHEMA.glob("*.py")) if (text := _module(path)) is not None}


def _module(path: Path) -> str | None:
    tree = ast.parse(path.read_text())
    tables = [
        node
        for node in tree.body
        if isinstance(node, ast.ClassDef) and node.name.endswith(_SUFFIX) and node.name != _SUFFIX
    ]
    if not tables:
        return None
    body = "".join(f"\n\n{text}" for node in tables for text in (_row(node), _values(node)))
    title = (ast.get_docstring(tree) or "").replace("Tables of", "Rows of", 1).replace("Table of", "Rows of", 1)
    return _HEADER.format(title=title, name=path.name) + "\n" + _imports(tree, body) + body


def _imports(tree: ast.Module, body: str) -> str:
    lines = ["from typing import TypedDict\n"]
    if "datetime" in body:
        lines.insert(0, "from datetime import datetime\n")
    lines.append("\nimport msgspec\n")
    lines += [f"\n{ast.unparse(node)}\n" for node in tree.body if _is_json_import(node)]
    return "".join(lines)


def _is_json_import(node: ast.stmt) -> bool:
    return isinstance(node, ast.ImportFrom) and node.module == "determined._json"


def _row(node: ast.ClassDef) -> str:
    name = node.name.removesuffix(_SUFFIX)
    return f"class {name}(msgspec.Struct, frozen=True):\n{_docstring(node)}{_fields(node)}"


def _values(node: ast.ClassDef) -> str:
    return f"class {node.name.removesuffix(_SUFFIX)}Values(TypedDict, total=False):\n{_fields(node)}"


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
