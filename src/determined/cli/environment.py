"""The process environment as the command line reads it; the only file of this room that does."""

import os
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

from determined import constants

_NOT_INSTALLERS = ("PYTHON", "VIRTUAL_ENV", "CONDA_")

Action = Callable[[], int | None]


def debug() -> bool:
    return os.environ.get(constants.ENV_DEBUG, "").lower() in {"1", "true", "yes"}


def colorize_json() -> bool:
    return os.environ.get(constants.ENV_CLI_COLORIZE, "").lower() in {"1", "true"}


def no_color() -> bool:
    """Return whether the user wants no colours (https://no-color.org): the variable is there and not empty."""
    return bool(os.environ.get("NO_COLOR"))


def has_screen() -> bool:
    """Return whether a browser started here would be seen; over SSH it would be one in the terminal, or none."""
    if "SSH_CONNECTION" in os.environ:
        return False
    return sys.platform == "darwin" or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def for_installer(entries: Iterable[str] = ()) -> dict[str, str]:
    """Return the surroundings of what installs packages: all but the environment that happens to be active.

    `entries` are `NAME=VALUE` of a config; a bare name takes the variable away.
    """
    variables = {name: value for name, value in os.environ.items() if not name.startswith(_NOT_INSTALLERS)}
    return _changed(variables, entries)


def with_environment(changes: dict[str, str], entries: Iterable[str] = ()) -> dict[str, str]:
    """Return this process's variables with others over them; their PATH and PYTHONPATH come before its own.

    `entries` are those of a config, as for `for_installer`.
    """
    own = _changed(dict(os.environ), entries)
    merged = {**own, **changes}
    for name in ("PATH", "PYTHONPATH"):
        parts = [changes.get(name), own.get(name)]
        if any(parts):
            merged[name] = os.pathsep.join(filter(None, parts))
    return merged


def cache_dir() -> Path:
    """Return where files of this user lie that can be made again."""
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "determined"


def active_python() -> str | None:
    """Return the interpreter of the virtual or conda environment the user has active, if any."""
    for name in ("VIRTUAL_ENV", "CONDA_PREFIX"):
        prefix = os.environ.get(name)
        if prefix and os.access(f"{prefix}/bin/python", os.X_OK):
            return f"{prefix}/bin/python"
    return None


def submitters_python() -> str | None:
    """Return the Python of tasks, also of a deleted virtual environment; the task's log then names what it uses."""
    prefix = os.environ.get("VIRTUAL_ENV")
    return active_python() or (f"{prefix}/bin/python" if prefix else None)


def _changed(variables: dict[str, str], entries: Iterable[str]) -> dict[str, str]:
    for name, given, value in (entry.partition("=") for entry in entries):
        if given:
            variables[name] = value
        else:
            variables.pop(name, None)
    return variables


def mlflow_token() -> str | None:
    """Return the bearer token for a tracking server, as MLflow's own client reads it."""
    return os.environ.get("MLFLOW_TRACKING_TOKEN") or None
