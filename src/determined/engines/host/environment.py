"""Environment of a runner of another user. The one file of this engine that reads os.environ."""

import os

from determined.config.secret_names import is_secret_variable, mask_logins
from determined.constants import ENV_ENVIRONMENT_CACHE
from determined.rundir.fork_protocol import ROOM, ROOM_VARIABLE

# Settings of package indexes and proxies: the runner may need their logins to install packages for a task.
_FOR_TASKS = ("UV_", "PIP_", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")


def without_secrets() -> dict[str, str]:
    """Return all variables but our own settings and secrets: a task can read the variables of its runner."""
    return {name: value for name, value in os.environ.items() if _is_for_others(name, value)}


def of_fork_server() -> dict[str, str]:
    """Return the variables of a fork server: those of a runner, but for Python the ones that a task starts with."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    # Of ~/.local a task has only what its PYTHONPATH names, so that the server must not look there.
    own = {"PYTHONUNBUFFERED": "1", "PYTHONUSERBASE": "/nonexistent", ROOM_VARIABLE: ROOM}
    return kept | own


def _is_for_others(name: str, value: str) -> bool:
    if name.startswith("DET_"):
        return name.startswith(ENV_ENVIRONMENT_CACHE)
    return name.upper().startswith(_FOR_TASKS) or not (is_secret_variable(name) or mask_logins(value) != value)
