"""Paths inside a container: engines mount things there, the runner and core look there."""

from pathlib import PurePosixPath

from determined.constants import DEFAULT_RUN_DIR

RESOURCES_TYPE = "docker-container"  # LaunchFile.resources_type of a runner in one
SHARED_FS = "/determined_shared_fs"  # checkpoint storage of type shared_fs
_BOUND = "/run/determined-binds"
_WORKDIR = f"{DEFAULT_RUN_DIR}/workdir"


def under_workdir(target: str) -> str | None:
    """Return a mount target under the task's working directory, relative to it; None for any other.

    The working directory is made anew by the runner, so nothing may be mounted inside: the runner links to `bound_at`.
    """
    path = PurePosixPath(target)
    if path.is_relative_to(_WORKDIR) and path != PurePosixPath(_WORKDIR):
        return str(path.relative_to(_WORKDIR))
    return None if path.is_absolute() else str(path)


def bound_at(relative: str) -> str:
    """Return where a path under the working directory is mounted."""
    return f"{_BOUND}/{relative}"
