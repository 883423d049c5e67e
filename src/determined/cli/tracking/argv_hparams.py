"""Hyperparameters in a command line: `--lr 0.1`, `--lr=0.1`, `lr=0.1`. Pure."""

import json
import math
import re
from collections.abc import Iterator, Sequence

from determined._json import JsonObject
from determined.cli.tracking.secret_words import is_secret, masked_text, masked_value
from determined.constants import MASKED

_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,99}")
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
_WORDS = {"true": True, "false": False, "none": None, "null": None}
_INTERPRETERS = re.compile(r"(?:.*/)?(?:python[0-9.]*|pypy[0-9.]*)")
_LONGEST_VALUE = 1000
_MOST = 500


def hparams_of(command: Sequence[str]) -> JsonObject:
    """Return the hyperparameters among the arguments of a script; dots in names become nested maps.

    Values of names that sound like secrets are masked.
    """
    found: JsonObject = {}
    for key, value in list(_pairs(arguments_of(command)))[:_MOST]:
        _put(found, key.split("."), MASKED if is_secret(key) else value)
    return found


def arguments_of(command: Sequence[str]) -> list[str]:
    """Return the words that are the script's own: after `script.py`, or after `-m module` of an interpreter."""
    for at, word in enumerate(command):
        if word.endswith(".py") or (at and command[at - 1] == "-m" and _is_python(command, at)):
            return list(command[at + 1 :])
    return list(command[1:])


def _is_python(command: Sequence[str], at: int) -> bool:
    return any(_INTERPRETERS.fullmatch(word) for word in command[: at - 1])


def _pairs(words: Sequence[str]) -> Iterator[tuple[str, object]]:
    rest = list(words)
    while rest:
        word = rest.pop(0)
        name, given, text = word.lstrip("-+").partition("=")
        if word == "--" or not _KEY.fullmatch(name):
            continue
        if given:
            yield _name(name), _value(text)
        elif word.startswith("-"):
            # A secret may begin with a dash: as a name of its own it would be shown.
            has_value = rest and (is_secret(name) or _is_value(rest[0]))
            yield _name(name), _value(rest.pop(0)) if has_value else True


def _name(text: str) -> str:
    """Return the name as scripts know it: argparse turns `--learning-rate` into `learning_rate`."""
    return text.replace("-", "_").strip(".")


def _is_value(word: str) -> bool:
    return not word.startswith("-") or _NUMBER.fullmatch(word) is not None


def _value(text: str) -> object:
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    if _NUMBER.fullmatch(text):
        return _number(text)
    if text[:1] in {"[", "{"} and len(text) <= _LONGEST_VALUE:
        try:
            return masked_value(json.loads(text))
        except (ValueError, RecursionError):
            pass
    return masked_text(text)[:_LONGEST_VALUE]


def _number(text: str) -> object:
    """Return the number; its text where no float or 64-bit integer holds it: `12e4567` is a commit."""
    number = float(text)
    if set(text) & set(".eE"):
        return number if math.isfinite(number) else text[:_LONGEST_VALUE]
    return int(text) if abs(number) < 1 << 63 else text[:_LONGEST_VALUE]


def _put(found: JsonObject, path: list[str], value: object) -> None:
    *outer, last = [part for part in path if part] or ["_"]
    for part in outer:
        inner = found.setdefault(part, {})
        if not isinstance(inner, dict):
            inner = found[part] = {"": inner}
        found = inner
    found[last] = value
