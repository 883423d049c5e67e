"""Operations and types of the official client, read from the source of its generated bindings: nothing is imported."""

import ast
import os
import re
import warnings
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[3]
_METHOD = re.compile(r"(get|post|put|patch|delete)_\w+")


@dataclass
class Kind:
    """Type of the client: its fields with their types, those that it reads without a look, or the words of an enum."""

    fields: dict[str, str] = field(default_factory=dict)
    required: set[str] = field(default_factory=set)
    words: set[str] = field(default_factory=set)


@dataclass
class Call:
    """Operation of the client. `path` has `{}` for each id; `body` and `response` are types."""

    name: str
    method: str = ""
    path: str = ""
    query: dict[str, str] = field(default_factory=dict)
    body: str = ""
    response: str = ""


@cache
def calls() -> list[Call]:
    functions = (node for node in _tree().body if isinstance(node, ast.FunctionDef) and _METHOD.fullmatch(node.name))
    return [call for call in map(_call, functions) if call.path]


@cache
def kinds() -> dict[str, Kind]:
    return {node.name: _kind(node) for node in _tree().body if isinstance(node, ast.ClassDef)}


def named(annotation: str) -> str:
    """Return the name of the client's own type in an annotation, or an empty text."""
    return next((word for word in re.findall(r"\w+", annotation) if word in kinds()), "")


def scalar(annotation: str) -> str:
    """Return what kind of JSON an annotation stands for: str, int, float, bool, list, dict; else an empty text."""
    bare = re.sub(r"typing\.|Optional\[|Union\[|, None|, Unset", "", annotation)
    if bare.startswith("Sequence["):
        return "list"
    if bare.startswith("Dict["):
        return "dict"
    word = bare.rstrip("]")
    return word if word in {"str", "int", "float", "bool"} else ""


@cache
def _tree() -> ast.Module:
    venv = Path(os.environ.get("DET_TEST_OFFICIAL", str(ROOT / ".venv-official")))
    found = next(venv.glob("lib/python3*/site-packages/determined/common/api/bindings.py"), None)
    assert found is not None, f"the official client is not installed in {venv}; run: make official"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its docstrings have escapes that Python does not know
        return ast.parse(found.read_text(encoding="utf-8"))


def _call(function: ast.FunctionDef) -> Call:
    call = Call(function.name)
    types = {arg.arg: _text(arg.annotation) for arg in function.args.kwonlyargs}
    call.body = types.get("body", "")
    for node in ast.walk(function):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "session._do_request":
            given = {keyword.arg: keyword.value for keyword in node.keywords}
            call.method, call.path = _text(given["method"]), _path(given["path"])
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Dict):
            call.query |= {_text(key): types[_argument(value)] for key, value in _pairs(node.value)}
        elif isinstance(node, ast.Return | ast.Yield) and isinstance(node.value, ast.Call):
            call.response = ast.unparse(node.value.func).removesuffix(".from_json")
    return call


def _kind(declared: ast.ClassDef) -> Kind:
    kind = Kind()
    for node in declared.body:
        if isinstance(node, ast.FunctionDef) and node.name == "__init__":
            for arg, default in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True):
                kind.fields[arg.arg] = _text(arg.annotation)
                kind.required |= {arg.arg} if default is None else set()
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant):
            kind.words.add(str(node.value.value))
    return kind


def _pairs(mapping: ast.Dict) -> list[tuple[ast.expr, ast.expr]]:
    return [(key, value) for key, value in zip(mapping.keys, mapping.values, strict=True) if key is not None]


def _argument(value: ast.expr) -> str:
    """Return the parameter of the function of which a query parameter is made."""
    names = [node.id for node in ast.walk(value) if isinstance(node, ast.Name) and node.id not in {"str", "x"}]
    return names[0]


def _path(node: ast.expr) -> str:
    if isinstance(node, ast.JoinedStr):
        return "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values)
    return _text(node)


def _text(node: ast.expr | None) -> str:
    if isinstance(node, ast.Constant):
        return str(node.value)
    return ast.unparse(node) if node is not None else ""
