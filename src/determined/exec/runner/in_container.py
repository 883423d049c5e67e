"""Differences for a runner inside a container: the engine has made the mounts, and `python3` is the image's."""

import os
import shutil
from collections.abc import Iterable, Iterator

from determined.rundir import container
from determined.wire.report import BindMount, LaunchFile


def is_inside(launch: LaunchFile) -> bool:
    return launch.resources_type == container.RESOURCES_TYPE


def linked(mounts: Iterable[BindMount]) -> Iterator[BindMount]:
    """Yield the mounts under the working directory, by where the engine has mounted them. It enforces `read_only`."""
    for mount in mounts:
        relative = container.under_workdir(os.path.normpath(mount.container_path))
        if relative is not None:
            yield BindMount(host_path=container.bound_at(relative), container_path=relative)


def python_of_image(path: str) -> str | None:
    """Return the `python3` of the image. `path`: the PATH of the image."""
    return shutil.which("python3", path=path)
