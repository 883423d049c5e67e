"""A public query without a case in this folder fails here: add one that says what it promises on both databases."""

import ast
from collections.abc import Iterator
from pathlib import Path

from determined.master.db import queries

HERE = Path(__file__).parent
PACKAGE = queries.__name__
FOLDER = Path(queries.__path__[0])


def test_every_public_query_is_tried_by_a_case() -> None:
    tried = {name for path in HERE.glob("*.py") for name in _uses(ast.parse(path.read_text()))}
    missing = sorted(set(_queries()) - tried)
    assert not missing, f"no case of {HERE.name} calls {', '.join(missing)}"


def _queries() -> Iterator[str]:
    """Names of the functions that take a connection: `module.function`."""
    for path in FOLDER.glob("*.py"):
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.FunctionDef) and not node.name.startswith("_") and _takes_connection(node):
                yield f"{path.stem}.{node.name}"


def _takes_connection(function: ast.FunctionDef) -> bool:
    return bool(function.args.args) and function.args.args[0].arg == "conn"


def _uses(tree: ast.Module) -> Iterator[str]:
    modules: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module == PACKAGE:
            modules |= {alias.asname or alias.name: alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith(PACKAGE + "."):
            yield from (f"{(node.module or '').rpartition('.')[2]}.{alias.name}" for alias in node.names)
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in modules:
            yield f"{modules[node.value.id]}.{node.attr}"
