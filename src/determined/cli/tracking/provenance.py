"""Provenance of a run for its metadata: the command, the state of git, the packages of its Python."""

import platform
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from determined._json import JsonObject
from determined.cli.tracking.secret_words import masked_words, remote_without_credentials

_SECONDS = 20.0
_INTERPRETER = re.compile(r"(?:python|pypy)[0-9.]*")
# Without the current directory: a csv.py of the user would be imported.
_LIST_PACKAGES = """
import sys
sys.path[:] = [directory for directory in sys.path if directory]
import importlib.metadata as m
print(sys.version.split()[0])
names = {(d.metadata["Name"] or "").lower(): d.version for d in m.distributions()}
print("\\n".join(f"{n}=={v}" for n, v in sorted(names.items()) if n))
"""


def of_command(command: Sequence[str], directory: Path) -> JsonObject:
    """Return what is known at once."""
    return {"command": masked_words(command), "directory": str(directory), "host": platform.node()}


def git_state(directory: Path, script: str | None) -> JsonObject | None:
    """Return commit, branch, remote without credentials, and what differs from the commit; None outside of git.

    `dirty`: a file that git tracks was changed, or the script is not tracked; `untracked`: how many files are
    not, but for ignored ones. What git does not say in time is left out.
    """
    commit = _git(directory, "rev-parse", "HEAD")
    if commit is None:
        return None
    remote = _git(directory, "remote", "get-url", "origin")
    changes = _git(directory, "status", "--porcelain", "--untracked-files=no")
    others = _git(directory, "ls-files", "--others", "--exclude-standard", "--", ":/")
    is_untracked = _is_untracked(directory, script) if script else None
    state = {
        "commit": commit,
        "branch": _git(directory, "rev-parse", "--abbrev-ref", "HEAD"),
        "dirty": True if is_untracked else None if changes is None else bool(changes),
        "untracked": None if others is None else len(others.splitlines()),
        "script_untracked": is_untracked,
        "remote": None if remote is None else remote_without_credentials(remote),
    }
    return {name: value for name, value in state.items() if value is not None}


def script_of(command: Sequence[str]) -> str | None:
    """Return the Python file of a command; None where it names none."""
    return next((word for word in command if word.endswith(".py")), None)


def python_of(command: Sequence[str]) -> str | None:
    """Return the interpreter that runs a command: itself, or the one beside a script such as `torchrun`."""
    program = shutil.which(command[0])
    if program is None:
        return None
    if _INTERPRETER.fullmatch(Path(program).name):
        return program
    beside = Path(program).with_name("python")
    return str(beside) if beside.exists() else None


def packages(python: str) -> JsonObject | None:
    """Return the version of an interpreter and its packages as `pip freeze` lists them; None where it does not say."""
    said = _output([python, "-c", _LIST_PACKAGES])
    if not said:
        return None
    version, _, lines = said.partition("\n")
    return {"python": version, "executable": python, "packages": lines.splitlines()}


def _is_untracked(directory: Path, script: str) -> bool | None:
    """Return whether git does not know a file of its tree; None for a file elsewhere."""
    known = _git(directory, "ls-files", "--", script)
    return None if known is None else not known


def _git(directory: Path, *words: str) -> str | None:
    return _output(["git", "-C", str(directory), "--no-optional-locks", *words])


def _output(words: list[str]) -> str | None:
    try:
        done = subprocess.run(
            words, stdin=subprocess.DEVNULL, capture_output=True, timeout=_SECONDS, check=False, start_new_session=True
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.decode(errors="replace").strip() if done.returncode == 0 else None
