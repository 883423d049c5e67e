"""Environments of programs that a task needs and its own Python lacks: JupyterLab, TensorBoard, drivers of stores.

The versions are chosen once per machine and kept for a month: a task does not wait for an index when its environment is
there, and a machine that has lost its network goes on with what it has.
"""

import dataclasses
import hashlib
import json
import time
from dataclasses import dataclass
from pathlib import Path

from determined.config.python_environment import PythonEnvironment
from determined.environments import install, resolve
from determined.environments.cache_directory import Place, base_python, platform_tag
from determined.environments.install import Environment
from determined.errors import DeterminedError, FailedPrecondition

_FRESH_SECONDS = 30 * 86400.0
_OWN_WORDS = "environment.python: "


@dataclass(frozen=True, slots=True)
class Program:
    """Program of other people. `extra`: of this package, for those who install it into the task's own Python."""

    name: str
    requirements: tuple[str, ...]
    extra: str


def provide(program: Program, place: Place) -> Environment:
    """Provide an environment that has the program, for the version of Python that runs this.

    Raises:
        FailedPrecondition: it cannot be made here; the message has uv's own words.
    """
    named = dataclasses.replace(place, say=lambda text: place.say(f"{program.name}: {_plain(text)}"))
    wanted = PythonEnvironment(requirements=program.requirements)
    try:
        directory = _directory(place)
        return install.provide(_lock(program, wanted, directory, named), wanted, directory, named)
    except (DeterminedError, OSError) as err:
        raise FailedPrecondition(
            f"{program.name} is not in the Python of this task and cannot be installed on this node: "
            f"{_plain(str(err))}\nGive the node a package index (UV_INDEX_URL, PIP_INDEX_URL), or install "
            f"redetermined[{program.extra}] into the Python of the task"
        ) from err


def _lock(program: Program, wanted: PythonEnvironment, directory: Path, place: Place) -> str:
    """Return the lock: the one that was chosen here before, unless a month has passed."""
    seen = json.dumps([program.requirements, platform_tag(None), base_python(None)])
    file = directory / f"{hashlib.sha256(seen.encode()).hexdigest()[:20]}.txt"
    kept = file.read_text() if file.is_file() else None
    if kept is not None and time.time() - file.stat().st_mtime < _FRESH_SECONDS:
        return kept
    try:
        lock = resolve.resolve(wanted, directory, place)
    except DeterminedError as err:
        if kept is None:
            raise
        place.say(f"looking for newer versions failed, using those of before: {str(err).splitlines()[0]}")
        return kept
    fresh = file.with_suffix(".new")
    fresh.write_text(lock)
    fresh.replace(file)
    return lock


def _directory(place: Place) -> Path:
    """Return the directory of the locks. It is also where uv is started, so that no project of a user is near."""
    directory = place.root / "programs"
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    return directory


def _plain(text: str) -> str:
    return text.removeprefix(_OWN_WORDS)
