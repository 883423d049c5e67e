"""Entrypoints that a fork can run: Python programs without options, of the interpreter that is imported already."""

import contextlib
import os
import re
import shlex
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from determined.rundir.layout import RunDir

# Words and quotes that mean the same to a shell and to shlex.
_PLAIN = re.compile(r"[A-Za-z0-9_./=:,@%+'\" -]+")
_MODULE = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*")
_LAUNCHERS = "determined.launch"
# Variables that an interpreter, the C library or the loader reads once, when a program starts.
_READ_AT_START = ("PYTHON", "LD_", "LC_", "MALLOC_", "GLIBC_", "GCONV_")
_READ_AT_START_TOO = frozenset({"LANG", "LANGUAGE", "LOCPATH"})


@dataclass(frozen=True, slots=True)
class Program:
    """Python program of a command line: a file or a module, and its arguments."""

    words: tuple[str, ...]  # the whole command line
    file: str | None
    module: str | None
    arguments: tuple[str, ...]


class NotForkable(Exception):
    """The entrypoint needs an interpreter of its own, for the reason in the message."""


def program_of(entrypoint: str | list[str], argv: list[str]) -> Program:
    """Return the Python program that an entrypoint runs. Raises NotForkable.

    `argv`: how it would be executed; a string that is no trial class then goes through a shell.
    """
    words = _plain_words(entrypoint) if isinstance(entrypoint, str) and argv[0] == "sh" else argv
    rest = words[1:]
    if rest[:1] == ["-u"]:
        rest = rest[1:]  # a task's output is not buffered anyway
    if rest[:1] == ["-m"] and len(rest) > 1 and _MODULE.fullmatch(rest[1]):
        if f"{rest[1]}.".startswith(f"{_LAUNCHERS}."):
            raise NotForkable("a launcher starts its own processes")
        return Program(tuple(words), None, rest[1], tuple(rest[2:]))
    if rest and rest[0].endswith(".py") and not rest[0].startswith("-"):
        return Program(tuple(words), rest[0], None, tuple(rest[1:]))
    raise NotForkable("the entrypoint is not `python3 FILE.py` or `python3 -m MODULE`")


def check_variables(variables: Mapping[str, str], started_with: Mapping[str, str], run_dir: RunDir) -> None:
    """Check that no variable which counts at a program's start differs from the server's. Raises NotForkable."""
    own = {"PYTHONPATH", "PYTHONUSERBASE"}  # the task's, and set in the fork
    for name in sorted({*variables, *started_with} - own):
        if _is_read_at_start(name) and variables.get(name) != started_with.get(name):
            raise NotForkable(f"{name} counts only when an interpreter starts")
    if not variables.get("PYTHONPATH", "").startswith(str(run_dir.site)):
        raise NotForkable("PYTHONPATH is the user's own")
    if variables.get("PYTHONUSERBASE") != str(run_dir.userbase):
        raise NotForkable("PYTHONUSERBASE is the user's own")


def check_names(places: Iterable[Path], imported: Container[str]) -> None:
    """Check that no file of these directories has the name of a module that is imported already. Raises NotForkable.

    A new interpreter would import the file, which comes first on its path.
    """
    for place in places:
        for name, path in _importable(place):
            if name in imported:
                raise NotForkable(f"{path.name} has the name of a module that is imported already")


def _plain_words(text: str) -> list[str]:
    words = []
    if _PLAIN.fullmatch(text.strip()):
        with contextlib.suppress(ValueError):
            words = shlex.split(text)
    if not words or "=" in words[0]:
        raise NotForkable("the entrypoint needs a shell")
    return words


def _is_read_at_start(name: str) -> bool:
    return name.startswith(_READ_AT_START) or name in _READ_AT_START_TOO


def _importable(place: Path) -> Iterator[tuple[str, Path]]:
    """Yield the modules and packages of a directory. A directory alone hides nothing."""
    try:
        paths = [Path(entry.path) for entry in os.scandir(place)]
    except OSError:
        return
    for path in paths:
        name, _, ending = path.name.partition(".")
        is_module = ending in ("py", "pyc") or ending.endswith("so") or (path / "__init__.py").is_file()
        if is_module and name != "__main__":
            yield name, path
