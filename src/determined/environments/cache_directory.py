"""Directory of environments on a machine, the variables they are made with, and the kind of machine they are for."""

import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from determined.constants import ENV_ENVIRONMENT_CACHE, ENV_ENVIRONMENT_CACHE_DAYS, ENV_ENVIRONMENT_CACHE_GIB
from determined.errors import InvalidArgument

_DAYS, _GIB = 30.0, 50.0


@dataclass(frozen=True, slots=True)
class Bounds:
    """Environments that nobody has used for so many days go, and the longest unused beyond so many bytes."""

    days: float = _DAYS
    size: int = int(_GIB * 2**30)


@dataclass(frozen=True, slots=True)
class Place:
    """Place of environments, and how they are made.

    `variables` are those of uv (indexes, certificates, proxies); `say` gets each line that people should see.
    `in_child` runs in each process that is started, before its program: a runner makes them end with itself there.
    """

    root: Path
    variables: Mapping[str, str]
    say: Callable[[str], None]
    bounds: Bounds = Bounds()
    in_child: Callable[[], None] | None = None

    @property
    def environments(self) -> Path:
        return self.root / "environments"

    @property
    def resolutions(self) -> Path:
        return self.root / "resolutions"


def place_of(
    variables: Mapping[str, str], say: Callable[[str], None], in_child: Callable[[], None] | None = None
) -> Place:
    """Return the cache of the user who runs this: one user's environments are never another's."""
    return Place(cache_root(variables), variables, say, _bounds(variables), in_child)


def cache_root(variables: Mapping[str, str]) -> Path:
    given = variables.get(ENV_ENVIRONMENT_CACHE)
    if given:
        return Path(given)
    base = variables.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path(variables.get("HOME") or "/") / ".cache") / "determined"


def platform_tag(version: str | None) -> str:
    """Return the machine and Python that a resolution is for: `linux-x86_64-py3.11`."""
    return f"{sys.platform}-{os.uname().machine}-py{version or own_version()}"


def base_python(version: str | None) -> str:
    """Return the Python to ask uv for: our own interpreter if its version is wanted, else the version."""
    if version is None or version == own_version():
        return os.path.realpath(getattr(sys, "_base_executable", None) or sys.executable)
    return version


def own_version() -> str:
    return f"{sys.version_info[0]}.{sys.version_info[1]}"


def libc() -> str:
    """Return the version of libc, in which a host and a container that share a cache may differ."""
    try:
        return os.confstr("CS_GNU_LIBC_VERSION") or ""
    except (AttributeError, ValueError, OSError):
        return ""


def _bounds(variables: Mapping[str, str]) -> Bounds:
    days = _number(variables, ENV_ENVIRONMENT_CACHE_DAYS, _DAYS)
    size = _number(variables, ENV_ENVIRONMENT_CACHE_GIB, _GIB) * 2**30
    return Bounds(days, int(min(size, sys.maxsize)))  # `inf` is a number too: no bound


def _number(variables: Mapping[str, str], name: str, default: float) -> float:
    text = variables.get(name)
    if not text:
        return default
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not value >= 0:
        raise InvalidArgument(f"{name}={text!r} is not a number of at least 0; correct it on this machine")
    return value
