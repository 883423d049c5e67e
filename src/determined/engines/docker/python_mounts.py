"""Paths of this machine's Python to mount read-only into a container whose image has no determined.

They lie at the same paths inside, for that is what a virtual environment and its links speak of.
"""

import json
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from determined.errors import FailedPrecondition

# Packages that the runner, and user code through it, imports.
PACKAGES = ("determined", "msgspec", "urllib3", "fsspec", "pathspec", "psutil", "yaml")
# A Python that is part of the system is mounted file by file alone: the image has programs of its own there.
_SHARED_PREFIXES = ("/", "/usr", "/usr/local")
_ANSWER_SECONDS = 60
_QUESTION = """
import importlib.util, json, os, sys, sysconfig
def place(name):
    spec = importlib.util.find_spec(name)
    return spec and (list(spec.submodule_search_locations or []) or [spec.origin])[0]
library = sysconfig.get_config_var("INSTSONAME") or ""
print(json.dumps({
    "executable": sys.executable,
    "real": os.path.realpath(sys.executable),
    "prefix": sys.prefix,
    "base": sys.base_prefix,
    "stdlib": sysconfig.get_path("stdlib"),
    "library": os.path.join(sysconfig.get_config_var("LIBDIR") or "", library) if ".so" in library else None,
    "packages": {name: place(name) for name in sys.argv[1:]},
}))
"""


@dataclass(frozen=True, slots=True)
class PythonMounts:
    """Mounts of an interpreter: `python` is how it is called, `paths` what must be there for it."""

    python: str
    paths: tuple[str, ...]


def find_python_mounts(python: str) -> PythonMounts:
    """Return the paths that an interpreter needs, by running it. Blocking.

    Raises:
        FailedPrecondition: it does not work, or has no determined.
    """
    try:
        done = subprocess.run(
            [python, "-c", _QUESTION, *PACKAGES],
            capture_output=True, check=True, timeout=_ANSWER_SECONDS, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        paths = json.loads(done.stdout)
    except (OSError, subprocess.SubprocessError, ValueError) as e:
        raise FailedPrecondition(f"{python} does not work as a Python ({e}); correct resource_manager.python") from e
    missing = [name for name, place in paths["packages"].items() if place is None]
    if missing:
        raise FailedPrecondition(
            f"{python} lacks {', '.join(missing)}; install redetermined there (its wheel or a checkout)"
        )
    return PythonMounts(paths["executable"], paths_of(paths))


def paths_of(prefixes: dict[str, object]) -> tuple[str, ...]:
    """Return the fewest paths that hold everything the interpreter needs."""
    prefix, base = str(prefixes["prefix"]), str(prefixes["base"])
    wanted = [prefix] if prefix not in _SHARED_PREFIXES else []
    if base in _SHARED_PREFIXES:
        wanted += [str(prefixes[key]) for key in ("executable", "real", "stdlib", "library") if prefixes[key]]
    else:
        wanted.append(base)
    packages = prefixes["packages"]
    assert isinstance(packages, dict)
    return _outermost([*wanted, *map(str, packages.values())])


def _outermost(paths: Iterable[str]) -> tuple[str, ...]:
    """Return the paths without those inside others. A path that is a link is needed under both of its names."""
    both: Sequence[Path] = sorted({Path(name) for path in paths for name in (path, str(Path(path).resolve()))})
    kept: list[Path] = []
    for path in both:
        if not any(path.is_relative_to(outer) for outer in kept):
            kept.append(path)
    return tuple(str(path) for path in kept)
