"""REST operations are declared once, in wire: no path is written anywhere else, and each one has a name of its own."""

import importlib
import pkgutil
import re
from pathlib import Path

from determined import wire
from determined.wire.operation import Operation

ROOT = Path(__file__).parents[2]
SRC = ROOT / "src" / "determined"
PAGE = ROOT / "webui" / "src"

# An example in a help text; a prefix that the page of the description cuts off.
_EXAMPLES = {"cli/commands/dev.py", "master/routes/assets/docs.js"}
_GENERATED = {"api/schema.ts"}


def _operations() -> list[tuple[str, Operation[object, object]]]:
    found: set[tuple[str, Operation[object, object]]] = set()
    for module in pkgutil.iter_modules(wire.__path__):
        names = vars(importlib.import_module(f"determined.wire.{module.name}"))
        found.update((name, value) for name, value in names.items() if isinstance(value, Operation))
    return sorted(found, key=lambda named: named[0])


def test_no_path_of_the_api_stands_outside_of_wire() -> None:
    files = [p for p in SRC.rglob("*") if p.suffix in {".py", ".js"} and not p.is_relative_to(SRC / "wire")]
    literal = {p.relative_to(SRC).as_posix() for p in files if "/api/v1/" in p.read_text(encoding="utf-8")}
    assert literal <= _EXAMPLES, f"{sorted(literal - _EXAMPLES)} write a path; use the operation of wire/<noun>.py"


def test_operations_have_different_names_and_different_paths() -> None:
    operations = _operations()
    assert len(operations) > 200
    names = [name for name, _ in operations]
    assert sorted(names) == sorted(set(names))
    paths = [(operation.method, re.sub(r"\{[^}]*\}", "{}", operation.path)) for _, operation in operations]
    assert sorted(paths) == sorted(set(paths))


def test_the_ids_of_a_path_are_filled_in_and_quoted() -> None:
    operation = Operation("GET", "/api/v1/pools/{pool:str}/slots/{slot:int}", object, object)
    assert operation.at(pool="a b/c", slot=3) == "/api/v1/pools/a%20b%2Fc/slots/3"
    assert operation.ids == ("pool", "slot")


def test_no_path_of_the_api_stands_in_the_page_outside_of_the_generated_file() -> None:
    files = [p for p in PAGE.rglob("*") if p.suffix in {".ts", ".tsx"} and ".test." not in p.name]
    literal = {p.relative_to(PAGE).as_posix() for p in files if "/api/v1" in p.read_text(encoding="utf-8")}
    assert literal == _GENERATED, f"{sorted(literal - _GENERATED)} write a path; call the operation by its name"
