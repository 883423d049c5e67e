"""Every public name and member of the official SDK is in ours and can be called the same way: both are introspected."""

import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.official

ROOT = Path(__file__).parents[3]
MODULE = "determined.experimental.client"
DUMP = Path(__file__).with_name("surface_dump.py")
NAMES, MEMBERS = 57, 306  # of determined==0.38.1; members: constants, methods, attributes
# Differences with their reasons.
ALLOWED = {
    **dict.fromkeys(
        [f"Oauth2ScimClient.{name}" for name in ("domain", "id", "name", "secret")], "OAuth clients are not implemented"
    ),
}

Surface = dict[str, dict[str, Any]]


@cache
def _surface(python: str) -> Surface:
    done = subprocess.run([python, str(DUMP), MODULE], check=True, capture_output=True, text=True)
    found: Surface = json.loads(done.stdout)[MODULE]
    return found


def _official() -> Surface:
    venv = Path(os.environ.get("DET_TEST_OFFICIAL", str(ROOT / ".venv-official")))
    assert venv.exists(), f"the official client is not installed in {venv}; run: make official"
    return _surface(str(venv / "bin" / "python"))


def _ours() -> Surface:
    return _surface(sys.executable)


def test_all_of_the_official_surface_is_looked_at() -> None:
    official = _official()
    assert (len(official), sum(len(each.get("members", {})) for each in official.values())) == (NAMES, MEMBERS)


def test_every_name_is_here() -> None:
    assert sorted(set(_official()) - set(_ours())) == []


def test_every_member_is_here_and_no_exception_is_out_of_date() -> None:
    official, ours = _official(), _ours()
    missing = [
        f"{name}.{member}"
        for name, each in official.items()
        for member in each.get("members", {})
        if member not in ours[name].get("members", {})
    ]
    assert sorted(missing) == sorted(ALLOWED)


def test_every_constant_has_the_same_value() -> None:
    official, ours = _official(), _ours()
    different = [
        f"{name}.{constant}"
        for name, each in official.items()
        if each["kind"] == "enum"
        for constant, described in each["members"].items()
        if ours[name]["members"][constant] != described
    ]
    assert different == []


def test_every_call_takes_the_same_arguments() -> None:
    official, ours = _official(), _ours()
    different = [
        f"{where} {reason}"
        for name, each in official.items()
        for where, call, own in _calls(name, each, ours[name])
        for reason in _differences(call, own)
    ]
    assert different == []


def _calls(name: str, theirs: dict[str, Any], own: dict[str, Any]) -> list[tuple[str, Any, Any]]:
    found = [(name, theirs["call"], own["call"])]
    for member, described in theirs.get("members", {}).items():
        if described["kind"] == "method" and f"{name}.{member}" not in ALLOWED:
            found.append((f"{name}.{member}", described["call"], own["members"][member].get("call")))
    return found


def _differences(theirs: list[list[Any]] | None, own: list[list[Any]] | None) -> list[str]:
    """What a caller of `theirs` meets in `own`: parameters that are missing, required, or at another place."""
    if theirs is None or own is None:
        return [] if theirs is None else ["cannot be called"]
    if any(kind == "VAR_KEYWORD" for _, kind, _ in own):
        return []
    names = {name for name, _, _ in theirs}
    missing = [f"has no parameter {name}" for name, _, _ in theirs if name not in {each for each, _, _ in own}]
    required = [
        f"requires {name}" for name, kind, must in own if must and name not in names and not kind.startswith("VAR")
    ]
    if missing or required:
        return missing + required
    order = [name for name, kind, _ in theirs if kind == "POSITIONAL_OR_KEYWORD"]
    own_order = [name for name, kind, _ in own if kind == "POSITIONAL_OR_KEYWORD"]
    optional = {name for name, _, must in theirs if not must}
    stricter = [f"requires {name}" for name, _, must in own if must and name in optional]
    return stricter + ([] if own_order[: len(order)] == order else [f"takes {own_order}, not {order}"])
