"""Place where the master finds what tasks of an experiment save. Pure."""

import posixpath
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from determined._json import JsonObject
from determined.config import ExperimentConfig
from determined.config.environment import BindMount
from determined.constants import DEFAULT_RUN_DIR
from determined.master.config import MasterConfig
from determined.storage import registry


@dataclass(frozen=True, slots=True)
class Place:
    """`section`: the storage as the master reaches it, None where only a container has it (`reason` says so).

    `is_here`: tasks save on the master's machine, so the master must see the files before it believes in them.
    `is_shared`: tasks save on other machines, in a directory that is to be the same on all of them. The master must see
    the files if it has that directory; a machine without it may serve a cluster all the same.
    """

    section: JsonObject | None
    is_here: bool = False
    is_shared: bool = False
    reason: str = ""


def place_of(
    config: MasterConfig, active: JsonObject, section: JsonObject | None, engine_name: str | None = None
) -> Place:
    """Say where a storage of an experiment is for the master.

    Args:
        active: The experiment's config.
        section: Its storage, or one that a trial of it has chosen for itself.
        engine_name: What runs the task; None: what runs tasks of its pool now.
    """
    engine = config.engine(engine_name or _engine_of_pool(config, active))
    if section is None or engine is None:
        return Place(section)
    store = registry.section(section.get("type"))
    if not store.path_key or not engine.manager.runs_here:
        return Place(section, is_shared=bool(store.path_key))
    if not engine.manager.runs_containers or not store.is_in_container:
        return Place(section, is_here=True)
    inside = section[store.path_key]
    outside = _outside_of_container(inside, ExperimentConfig.load(active).bind_mounts)
    if outside is not None:
        return Place({**section, store.path_key: outside}, is_here=True)
    reason = (
        f"checkpoint_storage.{store.path_key}: `{inside}` is a directory of the container alone and is deleted with it;"
        f" use type shared_fs, or add to bind_mounts a directory of the host with container_path `{inside}`"
    )
    return Place(None, is_here=True, reason=reason)


def run_roots(config: MasterConfig) -> list[str]:
    """Return directories of this machine whose content is deleted when tasks end."""
    data = Path(config.data_dir).absolute()
    return [str(data / "runs"), *(str(data / engine.name / "runs") for engine in config.engines)]


def _engine_of_pool(config: MasterConfig, active: JsonObject) -> str | None:
    pool = config.pool(ExperimentConfig.load(active).resources.resource_pool)
    return pool.engine if pool is not None else None


def _outside_of_container(path: str, mounts: Iterable[BindMount]) -> str | None:
    """Find the host's path of a container's path; None where no bind mount leads out. The innermost mount counts."""
    host_paths = sorted(_outsides(posixpath.normpath(path), mounts))
    return host_paths[-1][1] if host_paths else None


def _outsides(path: str, mounts: Iterable[BindMount]) -> Iterator[tuple[int, str]]:
    for mount in mounts:
        target = posixpath.normpath(posixpath.join(DEFAULT_RUN_DIR, "workdir", mount.container_path))
        if path == target or path.startswith(target.rstrip("/") + "/"):
            yield len(target), posixpath.normpath(posixpath.join(mount.host_path, path[len(target) :].lstrip("/")))
