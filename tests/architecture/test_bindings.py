"""Python bindings follow from the wire: each operation has a name of its own, and the stub for editors is written."""

import importlib.util
from pathlib import Path
from types import ModuleType

from determined.common.api._catalog import _operations, calls, messages

ROOT = Path(__file__).parents[2]


def test_each_operation_and_message_has_a_name_of_its_own() -> None:
    names = [name for name, _ in _operations()]
    assert len(names) == len(calls()), "two operations have one upstream name; declare rpc= or ours=True"
    kinds = list(messages().values())
    assert len({id(kind) for kind in kinds}) == len(kinds)


def test_the_stub_for_editors_is_up_to_date() -> None:
    script = _script("make_bindings_stub")
    assert script.TARGET.read_text() == script.stub(), "run: .venv/bin/python scripts/make_bindings_stub.py"


def _script(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / "scripts" / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
