"""Problems of a config as a list for its author: the path, the line, the value, the words. Pure."""

import re

from determined._json import JsonObject
from determined.config.experiment import ROOT
from determined.errors import DeterminedError, InvalidConfig
from determined.schema.yaml_lines import line_of
from determined.wire.dry_run import Problem

_LINE = re.compile(r"\bat line (\d+)")
_UNKNOWN = re.compile(r"additional property `([^`]+)` not allowed")
_MISSING = re.compile(r"`([^`]+)` is a required property|require `([^`]+)`$")
_PATH = re.compile(r"((?:searcher|resources|hyperparameters|checkpoint_storage)(?:\.\w+)+)\b")


def problems_of(error: DeterminedError, at: str, raw: JsonObject, lines: dict[str, int]) -> list[Problem]:
    """Return each violation by itself. `at`: what an error that names no place is about."""
    if isinstance(error, InvalidConfig) and error.violations:
        return [_of_violation(text, raw, lines) for text in error.violations]
    match = _LINE.search(error.message)
    if match:
        return [Problem(path="", message=error.message, line=int(match[1]))]
    named = _PATH.match(error.message)
    return [_problem(named[1] if named else at, error.message, raw, lines)]


def _of_violation(text: str, raw: JsonObject, lines: dict[str, int]) -> Problem:
    """`<config>.path: reason`; a reason that names a key below the path is about that key."""
    place, _, reason = text.partition(": ")
    path = place.removeprefix(ROOT).removeprefix(".")
    key = _UNKNOWN.search(reason) or _MISSING.search(reason)
    if key:
        name = key[1] or key[2]
        path = f"{path}.{name}" if path else name
    return _problem(path, reason, raw, lines)


def _problem(path: str, message: str, raw: JsonObject, lines: dict[str, int]) -> Problem:
    value = _value(raw, path)
    scalar = value if isinstance(value, str | int | float) else None
    return Problem(path=path, message=message, line=line_of(lines, path), value=scalar)


def _value(raw: object, path: str) -> object:
    for name, index in re.findall(r"([^.\[\]]+)|\[(\d{1,9})\]", path):
        if index and isinstance(raw, list) and int(index) < len(raw):
            raw = raw[int(index)]
        elif name and isinstance(raw, dict):
            raw = raw.get(name)
        else:
            return None
    return raw
