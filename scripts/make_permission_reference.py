"""Writes docs/reference/permissions.md from the routes of the master. A test compares the two."""

import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

from litestar.handlers import ASGIRouteHandler
from litestar.routes import HTTPRoute

from determined.master.auth.permission import Permission, permission_of
from determined.master.routes import nouns

TARGET = Path(__file__).parents[1] / "docs" / "reference" / "permissions.md"

_OPENING = """\
# Who may call what

Written by `scripts/make_permission_reference.py` from the routes of the master; do not edit. [REST API](../rest-api.md)
explains the words. An operation that names no task is closed to the tokens of tasks.
"""


def main() -> int:
    TARGET.write_text(reference())
    return 0


def reference() -> str:
    """The whole file: a table for each noun."""
    lines = [_OPENING]
    by_noun: dict[str, list[tuple[str, str, Permission]]] = {}
    for noun, path, method, permission in _operations():
        by_noun.setdefault(noun, []).append((path, method, permission))
    for noun, rows in sorted(by_noun.items()):
        lines += [f"## {noun.replace('_', ' ').capitalize()}", "", "| Operation | Who |", "|---|---|"]
        lines += [f"| `{method} {path}` | {permission.text} |" for path, method, permission in sorted(rows, key=_key)]
        lines.append("")
    return "\n".join(lines)


def _operations() -> Iterator[tuple[str, str, str, Permission]]:
    """(noun, path, method, permission) of every route."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # as in create_app
        routers = nouns.routers()
    for route in (route for router in routers for route in router.routes):
        for handler in route.route_handlers if isinstance(route, HTTPRoute) else [route.route_handler]:  # type: ignore[union-attr]
            permission = permission_of(handler.opt)
            assert permission is not None, f"{handler} has no permission"
            noun = handler.fn.__module__.rpartition(".")[2]
            if isinstance(handler, ASGIRouteHandler):
                yield noun, f"{route.path_format}/...", "any method and WebSocket", permission
                continue
            for method in sorted(getattr(handler, "http_methods", {"WebSocket"})):
                yield noun, route.path_format, method, permission


def _key(row: tuple[str, str, Permission]) -> tuple[str, str]:
    return row[0], row[1]


if __name__ == "__main__":
    sys.exit(main())
