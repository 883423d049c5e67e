"""Mounts of a runner's container: the task's own, and those that the platform needs. Pure."""

import posixpath
from collections.abc import Iterator, Sequence

from determined._json import JsonObject
from determined.constants import DEFAULT_RUN_DIR
from determined.engines.model import Container, Mount
from determined.errors import FailedPrecondition
from determined.rundir import container as inside


def mounts_of(
    container: Container, *, run_dir: str, environments: str | None, python_mounts: Sequence[str]
) -> list[JsonObject]:
    """Return the mounts as Docker reads them, the task's own first; of two with one target the first counts.

    Args:
        container: that of the task's config.
        run_dir: the run directory, at the same path inside and outside.
        environments: directory of its user's Python environments, which outlive containers.
        python_mounts: paths of this machine that the runner's interpreter needs.

    Raises:
        FailedPrecondition: a target leaves the working directory, or is the run directory.
    """
    by_target: dict[str, Mount] = {}
    for mount in (*map(_resolve_target, container.mounts), *_platform_mounts(container, run_dir)):
        by_target.setdefault(mount.target, mount)
    for path in () if environments is None else (environments,):
        by_target.setdefault(path, Mount(path, path))
    for path in python_mounts:
        by_target.setdefault(path, Mount(path, path, read_only=True))
    return [_described(mount) for mount in by_target.values()]


def _platform_mounts(container: Container, run_dir: str) -> Iterator[Mount]:
    yield Mount(run_dir, run_dir)
    yield Mount(run_dir, DEFAULT_RUN_DIR)
    if container.shared_fs is not None:
        # At two paths: the one that core and upstream's tasks know, and the one outside.
        storage = container.shared_fs
        yield Mount(storage.source, inside.SHARED_FS, storage.read_only, storage.propagation)
        yield Mount(storage.source, storage.source, storage.read_only, storage.propagation)


def _resolve_target(mount: Mount) -> Mount:
    """Return a user's mount with the target that it gets in the container."""
    target = posixpath.normpath(mount.target)
    relative = inside.under_workdir(target)
    if relative is not None:
        if relative.split("/")[0] == "..":
            raise FailedPrecondition(f"bind mount target {mount.target!r} leaves the working directory; correct it")
        target = inside.bound_at(relative)
    elif target == DEFAULT_RUN_DIR or target.startswith(f"{DEFAULT_RUN_DIR}/"):
        raise FailedPrecondition(
            f"bind mount target {mount.target!r}: {DEFAULT_RUN_DIR} is the run directory itself; mount it elsewhere, or"
            f" below {DEFAULT_RUN_DIR}/workdir"
        )
    return Mount(mount.source, target, mount.read_only, mount.propagation)


def _described(mount: Mount) -> JsonObject:
    return {
        "Type": "bind",
        "Source": mount.source,
        "Target": mount.target,
        "ReadOnly": mount.read_only,
        "BindOptions": {"Propagation": mount.propagation},
    }
