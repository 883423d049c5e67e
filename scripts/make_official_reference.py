"""Writes docs/reference/official-client.md: which operations of the official client this master serves, and which not.

Needs the official client's environment (`make official`), whose generated bindings name every operation.
"""

import json
import re
import subprocess
import sys
import warnings
from collections.abc import Iterable
from pathlib import Path

from litestar.routes import HTTPRoute

from determined.master.app import create_app
from determined.master.config import load_master_config

ROOT = Path(__file__).parents[1]
TARGET = ROOT / "docs" / "reference" / "official-client.md"

_OPENING = """\
# What the official client finds here

Written by `scripts/make_official_reference.py` from the generated bindings of `determined==0.38.1` and the routes of
this master; do not edit. A test keeps it true.

The client's bindings call {total} operations. This master serves **{served}**. Each of the others answers 404 with the
path that does not exist. They are, by what they belong to:

"""
_LIST = """
import json, re
import determined.common.api.bindings as bindings
source = open(bindings.__file__).read()
found = []
for match in re.finditer(r"^def (get|post|put|patch|delete)_(\\w+)\\((.*?)(?=^def |\\Z)", source, re.S | re.M):
    path = re.search(r'path=f?"([^"]+)"', match.group(3))
    if path:
        found.append([match.group(1).upper(), match.group(2), path.group(1)])
print(json.dumps(found))
"""
Operation = tuple[str, str, str]
"""Method, the client's name for it, path."""


def main() -> int:
    TARGET.write_text(reference(ROOT / ".venv-official" / "bin" / "python"))
    return 0


def reference(official_python: Path) -> str:
    """Compose the whole file."""
    known = official_operations(official_python)
    missing = missing_operations(known)
    opening = _OPENING.format(total=len(known), served=len(known) - len(missing))
    return opening + "\n".join(_table(missing)) + "\n"


def official_operations(official_python: Path) -> list[Operation]:
    done = subprocess.run([official_python, "-W", "ignore", "-c", _LIST], capture_output=True, text=True, check=True)
    return [(method, name, path) for method, name, path in json.loads(done.stdout)]


def missing_operations(known: Iterable[Operation]) -> list[Operation]:
    served = _served()
    return [operation for operation in known if (operation[0], _shape(operation[2])) not in served]


def _served() -> set[tuple[str, str]]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        app = create_app(load_master_config({}, {"HOME": "/nowhere"}, {}))
    routes = [route for route in app.routes if isinstance(route, HTTPRoute)]
    return {
        (method, _shape(route.path_format))
        for route in routes
        for handler in route.route_handlers
        for method in handler.http_methods
    }


def _shape(path: str) -> str:
    return re.sub(r"\{[^}]*\}", "{}", path)


def _table(missing: list[Operation]) -> Iterable[str]:
    yield "| Belongs to | Operations that are missing |"
    yield "|---|---|"
    nouns: dict[str, list[str]] = {}
    for _, name, path in missing:
        nouns.setdefault(_noun(path), []).append(f"`{name}`")
    for noun in sorted(nouns):
        yield f"| {noun} | {', '.join(sorted(nouns[noun]))} |"


def _noun(path: str) -> str:
    """Name what a path is about: its first word, or what a workspace is bound to."""
    words = [word for word in path.removeprefix("/api/v1/").split("/") if not word.startswith("{")]
    return words[-1] if words[0] == "workspaces" else words[0]


if __name__ == "__main__":
    sys.exit(main())
