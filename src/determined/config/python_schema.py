"""The schema of `environment.python`: requirements to resolve, or a finished lock, and the version of Python."""

import re
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any

from determined.config.node import ListOf, Node, Report, Text
from determined.config.objects import Atomic, Field
from determined.config.text import kind_of

OLDEST_PYTHON = (3, 11)
_VERSION = re.compile(r"3\.(\d{1,3})(\.\d{1,3})?")
_PYLOCK = re.compile(r"pylock(\.[^.]+)?\.toml")
_FOREIGN = re.compile(r"(poetry|pdm)\.lock|Pipfile(\.lock)?|.*\.ya?ml")


class Requirements(Node):
    """The name of a file, or a list of requirement lines."""

    def check(self, value: Any, at: str, report: Report) -> None:
        if not isinstance(value, str | list):
            return report.add(at, f"must be a file name or a list of requirement lines, not {kind_of(value)}")
        (_REQUIREMENTS_FILE if isinstance(value, str) else _LINES).check(value, at, report)


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
    found = _VERSION.fullmatch(version)
    if found is None:
        return f'`{version}` is no Python version; write it in quotes as "3.12" or "3.12.4"'
    if (3, int(found[1])) < OLDEST_PYTHON:
        return f"Python {version} is too old: determined needs {'.'.join(map(str, OLDEST_PYTHON))} or newer"
    return None


class _Version(Text):
    """YAML reads 3.10 without quotes as the number 3.1."""

    def check(self, value: Any, at: str, report: Report) -> None:
        if isinstance(value, int | float) and not isinstance(value, bool):
            return report.add(at, f"must be a string, not the number {value}; put the version in quotes")
        Text.check(self, value, at, report)


class _Section(Atomic):
    """Merges as a whole: a lock of your own replaces the requirements of a template."""

    def check(self, value: Any, at: str, report: Report) -> None:
        if isinstance(value, str | list):
            return report.add(
                at, f"must be a mapping, not {kind_of(value)}; write `requirements:` or `lock:` before it"
            )
        Atomic.check(self, value, at, report)


def _one_of_two(value: dict[str, Any]) -> Iterator[tuple[str, str]]:
    if value.get("requirements") is not None and value.get("lock") is not None:
        yield "", "`requirements` and `lock` exclude each other; a lock holds every package already"


def _something(value: dict[str, Any]) -> Iterator[tuple[str, str]]:
    if value.get("requirements") is None and value.get("lock") is None:
        yield "", "`requirements` or `lock` is needed: a file of the context directory"


_REQUIREMENTS_FILE = Text(problem=_requirements_problem)
_LINES = ListOf(Text(problem=_line_problem), nonempty=True)
PYTHON_ENVIRONMENT = _Section(
    {
        "requirements": Field(Requirements(), default=None),
        "lock": Field(Text(problem=_lock_problem), default=None),
        "version": Field(_Version(problem=_version_problem), default=None),
    },
    rules=(_one_of_two,),
    complete_rules=(_something,),
)
