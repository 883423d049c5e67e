"""Every public name and member of the official SDK and of core_v2 is in ours and can be called the same way.

Both are introspected, each by its own Python. A name is a public function, class or enum of
`determined.experimental.client`. What counts as a member:

- of a class: its constructor, public methods and properties, and public attributes that its methods assign to `self`;
- of an enum: its constructor, `name` and `value`, and each constant.

In determined==0.38.1 these are 57 names (30 functions, 14 classes, 13 enums) and 359 members: 27 constructors,
26 times `name` or `value`, 306 constants, methods and attributes.
"""

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
PACKAGE = "determined.experimental"
CLIENT, CORE_V2 = f"{PACKAGE}.client", f"{PACKAGE}.core_v2"
OLDER = [
    f"determined.common.experimental.{name}"
    for name in (
        "checkpoint", "determined", "experiment", "metrics", "model", "oauth2_scim_client", "project", "resource_pool",
        "trial", "user", "workspace",
    )
]  # fmt: skip
DUMP = Path(__file__).with_name("surface_dump.py")
NAMES, MEMBERS = 57, 359
CORE_V2_NAMES = [
    "Config", "DefaultConfig", "UnmanagedConfig", "checkpoint", "close", "distributed", "info", "init", "init_context",
    "preempt", "searcher", "train", "url_reverse_webui_exp_view",
]  # fmt: skip
IMPORTED = {"DistributedContext", "PreemptMode", "TensorboardMode"}  # of determined.core; core_v2 hands them on
SOCKETS = ("DistributedContext", "tempdir")  # where upstream's sockets lie

Surface = dict[str, dict[str, Any]]


@cache
def _surface(python: str, module: str) -> Surface:
    command = [python, "-W", "ignore", str(DUMP), module, *(["--modules"] if module == PACKAGE else [])]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    found: Surface = json.loads(done.stdout)
    return found


def _official(module: str = CLIENT) -> Surface:
    venv = Path(os.environ.get("DET_TEST_OFFICIAL", str(ROOT / ".venv-official")))
    assert venv.exists(), f"the official client is not installed in {venv}; run: make official"
    return _surface(str(venv / "bin" / "python"), module)


def _ours(module: str = CLIENT) -> Surface:
    return _surface(sys.executable, module)


def test_all_of_the_official_surface_is_looked_at() -> None:
    official, ours = _official(), _ours()
    members = [(name, member) for name, each in official.items() for member in each.get("members", {})]
    here = [member for name, member in members if member in ours[name].get("members", {})]
    print(f"{len(official.keys() & ours.keys())} of {len(official)} names, {len(here)} of {len(members)} members")
    assert (len(official), len(members)) == (NAMES, MEMBERS)


@pytest.mark.parametrize("module", [CLIENT, PACKAGE, *OLDER])
def test_every_name_is_here(module: str) -> None:
    official, ours = _official(module), _ours(module)
    assert sorted(official.keys() - ours.keys()) == []
    kinds = {name: (each["kind"], ours[name]["kind"]) for name, each in official.items()}
    assert {name: pair for name, pair in kinds.items() if pair[0] != pair[1]} == {}


def test_modules_of_the_package_are_looked_at() -> None:
    modules = {name for name, each in _official(PACKAGE).items() if each["kind"] == "module"}
    assert modules >= {"checkpoint", "client", "metrics", "model"}


@pytest.mark.parametrize("module", [CLIENT, PACKAGE])
def test_every_member_is_here(module: str) -> None:
    official, ours = _official(module), _ours(module)
    missing = [
        f"{name}.{member}"
        for name, each in official.items()
        for member in each.get("members", {})
        if member not in ours[name].get("members", {})
    ]
    assert missing == []


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


@pytest.mark.parametrize("module", [CLIENT, PACKAGE, CORE_V2])
def test_every_call_takes_the_same_arguments(module: str) -> None:
    official, ours = _official(module), _ours(module)
    different = [
        f"{where} {reason}"
        for name, each in official.items()
        for where, call, own in _calls(name, each, ours[name])
        for reason in _differences(call, own)
    ]
    assert different == []


def test_core_v2_has_its_variables_functions_and_configs() -> None:
    official, ours = _official(CORE_V2), _ours(CORE_V2)
    print(f"{len([name for name in CORE_V2_NAMES if name in ours])} of {len(CORE_V2_NAMES)} names of core_v2")
    assert sorted(official.keys() - IMPORTED) == CORE_V2_NAMES
    assert official.keys() <= ours.keys()
    kinds = {name: (official[name]["kind"], ours[name]["kind"]) for name in official}
    assert {name: pair for name, pair in kinds.items() if pair[0] != pair[1]} == {}
    members = {(n, m) for n, each in official.items() for m in each.get("members", {})} - {SOCKETS}
    assert [pair for pair in sorted(members) if pair[1] not in ours[pair[0]].get("members", {})] == []


def _calls(name: str, theirs: dict[str, Any], own: dict[str, Any]) -> list[tuple[str, Any, Any]]:
    found = [(name, theirs["call"], own["call"])]
    for member, described in theirs.get("members", {}).items():
        if described["kind"] == "method":
            found.append((f"{name}.{member}", described["call"], own["members"][member].get("call")))
    return found


def _differences(theirs: list[list[Any]] | None, own: list[list[Any]] | None) -> list[str]:
    """Return what a caller of `theirs` meets in `own`: parameters that are missing, required, or at another place."""
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
