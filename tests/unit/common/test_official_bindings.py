"""Compares our bindings with those of the official wheel: signatures, classes, enums, and JSON of every message."""

import json
import os
import random
import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any, get_args, get_origin

import pytest

from determined.common.api._catalog import calls, fields_of, is_enum, is_message, messages

pytestmark = pytest.mark.official

ROOT = Path(__file__).parents[3]
# A permission is an enum of theirs. Roles are not implemented, so no answer of ours has one.
OF_ROLES = {"v1GetPermissionsSummaryResponse", "v1Permission", "v1Role"}


_DESCRIBE = """
import enum, inspect, json, re, sys
from determined.common.api import bindings as b

def parameters(thing):
    found = list(inspect.signature(thing).parameters.values())
    return [[p.name, str(p.kind), p.default is inspect.Parameter.empty] for p in found if p.name != "session"]

described = {}
for name in dir(b):
    thing = getattr(b, name)
    if re.match("(get|post|put|patch|delete)_", name):
        described[name] = [parameters(thing), inspect.isgeneratorfunction(thing)]
    elif isinstance(thing, type) and issubclass(thing, enum.Enum) and name != "DetEnum":
        described[name] = [[m.name, m.value, str(m)] for m in thing]
    elif hasattr(thing, "from_json"):
        described[name] = parameters(thing)
described["Paginated"] = sorted(c.__name__ for c in b.Paginated.__args__)
json.dump(described, sys.stdout)
"""
_ROUND = """
import json, sys
from determined.common.api import bindings as b

told = []
for name, content in json.load(sys.stdin):
    message = getattr(b, name).from_json(content)
    told.append([message.to_json(), message.to_json(True), json.loads(json.dumps(message.to_json()))])
json.dump(told, sys.stdout)
"""


def _official_python() -> Path:
    python = Path(os.environ.get("DET_TEST_OFFICIAL", str(ROOT / ".venv-official"))) / "bin" / "python"
    assert python.exists(), f"{python} is missing; run: make official"
    return python


def _told_by(python: Path | str, code: str, stdin: str = "") -> Any:
    done = subprocess.run([python, "-W", "ignore", "-c", code], input=stdin, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


@cache
def _described() -> tuple[dict[str, Any], dict[str, Any]]:
    return _told_by(sys.executable, _DESCRIBE), _told_by(_official_python(), _DESCRIBE)


def _served() -> int:
    """Return what the reference counts, which another test compares with the routes."""
    match = re.search(r"This master serves \*\*(\d+)\*\*", (ROOT / "docs/reference/official-client.md").read_text())
    assert match
    return int(match[1])


def test_every_function_has_the_parameters_of_the_official_one() -> None:
    ours, official = _described()
    assert len(calls()) == _served(), "run: .venv/bin/python scripts/make_official_reference.py"
    assert {name: ours[name] for name in calls()} == {name: official.get(name) for name in calls()}


def test_every_class_and_enum_has_the_fields_and_members_of_the_official_one() -> None:
    ours, official = _described()
    names = sorted({*messages()})
    assert len(names) > 420
    assert {name: ours[name] for name in names} == {name: official.get(name) for name in names}


def test_the_answers_with_pages_are_among_the_official_ones() -> None:
    ours, official = _described()
    assert set(ours["Paginated"]) <= set(official["Paginated"])


@pytest.mark.parametrize("seed", range(3))
def test_every_message_reads_and_writes_the_json_that_the_official_one_does(seed: int) -> None:
    rng = random.Random(seed)
    kinds = [(name, kind) for name, kind in sorted(messages().items()) if is_message(kind) and name not in OF_ROLES]
    samples = [[name, _sample(kind, rng, depth=0)] for name, kind in kinds for _ in range(4)]
    text = json.dumps(samples)
    for sample, ours, official in zip(
        samples, _told_by(sys.executable, _ROUND, text), _told_by(_official_python(), _ROUND, text), strict=True
    ):
        assert ours == official, sample


def _sample(kind: Any, rng: random.Random, depth: int) -> dict[str, Any]:
    """Make JSON of a message: optional fields absent, null or filled, and a key that nobody knows."""
    content: dict[str, Any] = {"unknownKey": 1}
    for field in fields_of(kind):
        how = rng.choice(("absent", "null", "filled", "filled"))
        if field.required or (how == "filled" and depth < 4):
            content[field.name] = _value(field.type, rng, depth)
        elif how == "null":
            content[field.name] = None
    return content


def _value(kind: Any, rng: random.Random, depth: int) -> Any:
    origin = get_origin(kind)
    if origin is list:
        return [_value(get_args(kind)[0], rng, depth) for _ in range(rng.randrange(3))]
    if origin is dict:
        return {str(key): _value(get_args(kind)[1], rng, depth) for key in range(rng.randrange(3))}
    if is_enum(kind):
        return rng.choice([member.value for member in kind])
    if is_message(kind):
        return _sample(kind, rng, depth + 1)
    return _PLAIN.get(kind, lambda _: {"any": [1, None]})(rng)


_PLAIN: dict[Any, Any] = {
    str: lambda rng: rng.choice(["", "x", "BOTH_ö"]),
    int: lambda rng: rng.choice([0, -1, 2**40]),
    bool: lambda rng: rng.random() < 0.5,
    float: lambda rng: rng.choice([0.5, 3, "NaN", "Infinity", "-Infinity", "1e3"]),
}
