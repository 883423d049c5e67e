"""The container of one runner, as the Docker Engine API wants it described. Pure."""

import ipaddress
import posixpath
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from determined.constants import DEFAULT_RUN_DIR, ENV_ENVIRONMENT_CACHE
from determined.engines.model import Container, Device, Launch, Mount
from determined.errors import FailedPrecondition
from determined.rundir import container as inside

DEFAULT_SHM_BYTES = 4 * 1024**3
# The runner writes next to nothing there: its log is in the run directory, the task's output in journals.
_LOG = {"Type": "json-file", "Config": {"max-size": "1m", "max-file": "1"}}
_ROCM = ("/dev/kfd", "/dev/dri")


@dataclass(frozen=True, slots=True)
class Place:
    """Values that the engine adds to a launch.

    Args:
        run_dir: The run directory, at the same path inside and outside.
        image_id: The image that `container.image` names now.
        labels: Labels by which the container is found again.
        user: `uid:gid`.
        groups: Further groups of that user.
        python: The interpreter that runs the runner, as it is called inside.
        python_mounts: Paths of this machine that it needs there.
        network: The network of a task that names none.
        memory: Bytes that the container may have; None: all.
        gpus: The devices of the launch's slots, as NVIDIA names them.
        environments: The directory of its user's Python environments, which outlive containers.
    """

    run_dir: str
    image_id: str
    labels: Mapping[str, str]
    user: str
    python: str
    groups: tuple[str, ...] = ()
    python_mounts: tuple[str, ...] = ()
    network: str = "host"
    memory: int | None = None
    gpus: tuple[str, ...] = ()
    environments: str | None = None


def container_body(launch: Launch, place: Place) -> dict[str, Any]:
    """Return the body of the request that creates the container.

    Raises FailedPrecondition for an impossible mount, or for a network that cannot reach the master.
    """
    wanted = launch.container or Container()
    network = wanted.network or place.network
    _check_way(network, launch.master_url)
    return {
        "Image": place.image_id,
        "Entrypoint": [place.python, *_flags(place), "-m", "determined.exec.runner", place.run_dir],
        "Cmd": [],
        "User": place.user,
        "WorkingDir": place.run_dir,
        "Env": _variables(launch, wanted, place),
        "Labels": dict(place.labels),
        "ExposedPorts": {} if network == "host" else {f"{port}/tcp": {} for port in wanted.ports},
        "HostConfig": {
            "NetworkMode": network,
            "Mounts": [_mount(one) for one in _mounts(wanted, place)],
            "ShmSize": wanted.shm_bytes or DEFAULT_SHM_BYTES,
            "CapAdd": list(wanted.add_capabilities),
            "CapDrop": list(wanted.drop_capabilities),
            "GroupAdd": list(place.groups),
            # The author of an image can put setuid-root programs into it.
            "SecurityOpt": [] if place.user.startswith("0:") else ["no-new-privileges:true"],
            "Memory": place.memory or 0,
            # Without room to swap: else a limit of memory is twice what it says.
            "MemorySwap": place.memory or 0,
            "LogConfig": _LOG,
            **_devices(launch, wanted, place.gpus),
        },
    }


def visible_devices(launch: Launch) -> str | None:
    """Return the task's numbers of its accelerators: Docker shows a container only its own, numbered anew."""
    return ",".join(map(str, range(len(launch.slot_ids)))) if launch.device is Device.CUDA else None


def _check_way(network: str, master_url: str) -> None:
    """Check that the network can reach the master: otherwise the runner would try for ever."""
    host = urlsplit(master_url).hostname or ""
    if network != "host" and not network.startswith("container:") and _is_loopback(host):
        raise FailedPrecondition(
            f"containers of network '{network}' cannot reach the master at {master_url}; set its host or advertised_url"
            " to an address that they reach, or the network to host (resource_manager.network,"
            " task_container_defaults.network_mode)"
        )


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _flags(place: Place) -> list[str]:
    """Return the flags of the interpreter.

    -P: the working directory must not shadow modules. -E: an image's settings for its own Python must not affect a
    mounted one.
    """
    return ["-E", "-P"] if place.python_mounts else ["-P"]


def _variables(launch: Launch, wanted: Container, place: Place) -> list[str]:
    """Return only what the container runtime reads: every user of Docker sees these, so the task's are left out."""
    # An image may say `all` here, which is not for a task without GPUs.
    hidden = [] if launch.device is Device.CUDA and launch.slot_ids else ["NVIDIA_VISIBLE_DEVICES=void"]
    kept = place.environments
    cache = [] if kept is None else [f"{ENV_ENVIRONMENT_CACHE}={kept}", f"UV_CACHE_DIR={kept}/downloads"]
    return [*cache, *wanted.variables, *hidden]


def _devices(launch: Launch, wanted: Container, gpus: Sequence[str]) -> dict[str, Any]:
    nodes = [(one.source, one.target, one.mode) for one in wanted.devices]
    requests = []
    if launch.device is Device.CUDA and launch.slot_ids:
        requests = [{"DeviceIDs": list(gpus), "Capabilities": [["gpu"]]}]
    elif launch.device is Device.ROCM and launch.slot_ids:
        nodes += [(path, path, "rwm") for path in _ROCM]
    listed = [
        {"PathOnHost": source, "PathInContainer": target, "CgroupPermissions": mode} for source, target, mode in nodes
    ]
    return {"Devices": listed, "DeviceRequests": requests}


def _mounts(wanted: Container, place: Place) -> Iterator[Mount]:
    """Yield the task's own mounts first; of two with one target the first counts."""
    taken: set[str] = set()
    for mount in (*map(_placed, wanted.mounts), *_ours(wanted, place)):
        if mount.target not in taken:
            taken.add(mount.target)
            yield mount


def _ours(wanted: Container, place: Place) -> Iterator[Mount]:
    yield Mount(place.run_dir, place.run_dir)
    yield Mount(place.run_dir, DEFAULT_RUN_DIR)
    if wanted.shared_fs is not None:
        # At two paths: the one that core and upstream's tasks know, and the one outside.
        storage = wanted.shared_fs
        yield Mount(storage.source, inside.SHARED_FS, storage.read_only, storage.propagation)
        yield Mount(storage.source, storage.source, storage.read_only, storage.propagation)
    if place.environments is not None:
        yield Mount(place.environments, place.environments)
    for path in place.python_mounts:
        yield Mount(path, path, read_only=True)


def _placed(mount: Mount) -> Mount:
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


def _mount(mount: Mount) -> dict[str, Any]:
    return {
        "Type": "bind",
        "Source": mount.source,
        "Target": mount.target,
        "ReadOnly": mount.read_only,
        "BindOptions": {"Propagation": mount.propagation},
    }
