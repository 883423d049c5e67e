"""`environment.python`: packages of a trial's own Python, as requirements to resolve or as a finished lock."""

import re
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any

from determined._json import JsonObject
from determined.schema.lists import ListOf
from determined.schema.node import Node, Report, Text, kind_of
from determined.schema.objects import Atomic
from determined.schema.section import Section, field

OLDEST_PYTHON = (3, 11)
_VERSION = re.compile(r"3\.(\d{1,3})(\.\d{1,3})?")
_PYLOCK = re.compile(r"pylock(\.[^.]+)?\.toml")
_FOREIGN = re.compile(r"(poetry|pdm)\.lock|Pipfile(\.lock)?|.*\.ya?ml")


class Requirements(Node[str | tuple[str, ...]]):
    """The name of a file, or a list of requirement lines."""

    kind = "string or list"  # an index among the lines may have a login, so that it is not shown

    def check(self, value: object, at: str, report: Report) -> None:
        if not isinstance(value, str | list):
            return report.add(at, f"must be a file name or a list of requirement lines, not {kind_of(value)}")
        (_REQUIREMENTS_FILE if isinstance(value, str) else _LINES).check(value, at, report)

    def load(self, value: Any) -> str | tuple[str, ...]:
        return tuple(value) if isinstance(value, list) else value

    def json_schema(self) -> JsonObject:
        return {"anyOf": [{"type": "string"}, _LINES.json_schema()]}


def _file_problem(name: str) -> str | None:
    parts = PurePosixPath(name).parts
    if not parts or name.startswith("/") or ".." in parts:
        return f"`{name}` must be a file of the context directory: a relative path without `..`"
    return None


def _requirements_problem(name: str) -> str | None:
    last = PurePosixPath(name).name
    if last == "uv.lock" or _PYLOCK.fullmatch(last):
        return f"`{name}` is a lock; give it as `lock`"
    if last.endswith(".toml") and last != "pyproject.toml":
        return f"`{name}` is not read: of TOML files only a pyproject.toml has requirements"
    return _file_problem(name) or _foreign_problem(name)


def _lock_problem(name: str) -> str | None:
    last = PurePosixPath(name).name
    if last == "pyproject.toml":
        return f"`{name}` is no lock; give it as `requirements`, or the uv.lock beside it"
    if last.endswith(".toml") and not _PYLOCK.fullmatch(last):
        return f"`{name}` is not read: a lock in TOML is named pylock.toml or pylock.NAME.toml"
    return _file_problem(name) or _foreign_problem(name)


def _foreign_problem(name: str) -> str | None:
    if not _FOREIGN.fullmatch(PurePosixPath(name).name):
        return None
    return f"`{name}` is the file of another tool, which is not read; write or export it in the format of pip"


def _line_problem(line: str) -> str | None:
    if not line.strip():
        return "an empty line; write a requirement such as `numpy==2.3.0`, or leave it out"
    return "one requirement per entry, not several lines" if "\n" in line or "\r" in line else None


def _version_problem(version: str) -> str | None:
    match = _VERSION.fullmatch(version)
    if match is None:
        return f'`{version}` is no Python version; write it in quotes as "3.12" or "3.12.4"'
    if (3, int(match[1])) < OLDEST_PYTHON:
        return f"Python {version} is too old: determined needs {'.'.join(map(str, OLDEST_PYTHON))} or newer"
    return None


class _Version(Text):
    """YAML reads 3.10 without quotes as the number 3.1."""

    def check(self, value: object, at: str, report: Report) -> None:
        if isinstance(value, int | float) and not isinstance(value, bool):
            return report.add(at, f"must be a string, not the number {value}; put the version in quotes")
        super().check(value, at, report)


class _Whole(Atomic["PythonEnvironment"]):
    """Merges as a whole: a lock of your own replaces the requirements of a template."""

    def check(self, value: object, at: str, report: Report) -> None:
        if isinstance(value, str | list):
            return report.add(
                at, f"must be a mapping, not {kind_of(value)}; write `requirements:` or `lock:` before it"
            )
        super().check(value, at, report)


def _one_of_two(value: JsonObject) -> Iterator[tuple[str, str]]:
    if value.get("requirements") is not None and value.get("lock") is not None:
        yield "", "`requirements` and `lock` exclude each other; a lock holds every package already"


def _something(value: JsonObject) -> Iterator[tuple[str, str]]:
    if value.get("requirements") is None and value.get("lock") is None:
        yield "", "`requirements` or `lock` is needed: a file of the context directory"


_REQUIREMENTS_FILE = Text(problem=_requirements_problem)
_LINES = ListOf(Text(problem=_line_problem), nonempty=True)


class PythonEnvironment(Section, node=_Whole, rules=(_one_of_two,), complete_rules=(_something,)):
    """Packages that a trial's own Python has."""

    requirements: str | tuple[str, ...] | None = field(
        Requirements(),
        "A file of the context directory, or a list of requirement lines: uv resolves them once per experiment.",
        default=None,
    )
    lock: str | None = field(
        Text(problem=_lock_problem),
        "Instead: a file with every version pinned, installed as it is (requirements format, `pylock.toml`,"
        " `uv.lock`).",
        default=None,
    )
    version: str | None = field(
        _Version(problem=_version_problem),
        'Such as `"3.12"`, in quotes. Default: that of the node\'s own Python.',
        default=None,
    )

    @property
    def file(self) -> str | None:
        """The file of the context directory that it names, if it names one."""
        return self.requirements if isinstance(self.requirements, str) else self.lock
