"""Body of Docker's create-container request for one runner: image, user, mounts, devices, network, limits. Pure."""

import ipaddress
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from determined.constants import ENV_ENVIRONMENT_CACHE
from determined.engines.docker.mounts import mounts_of
from determined.engines.model import Container, Device, Launch
from determined.errors import FailedPrecondition

DEFAULT_SHM_BYTES = 4 * 1024**3
# The runner writes next to nothing there: its log is in the run directory, the task's output in journals.
_LOG = {"Type": "json-file", "Config": {"max-size": "1m", "max-file": "1"}}
_ROCM = ("/dev/kfd", "/dev/dri")


@dataclass(frozen=True, slots=True)
class EngineValues:
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


def container_body(launch: Launch, values: EngineValues) -> dict[str, Any]:
    """Return the body of the request that creates the container.

    Raises FailedPrecondition for an impossible mount, or for a network that cannot reach the master.
    """
    wanted = launch.container or Container()
    network = wanted.network or values.network
    _check_master_reachable(network, launch.master_url)
    mounts = mounts_of(
        wanted, run_dir=values.run_dir, environments=values.environments, python_mounts=values.python_mounts
    )
    return {
        "Image": values.image_id,
        "Entrypoint": [values.python, *_flags(values), "-m", "determined.exec.runner", values.run_dir],
        "Cmd": [],
        "User": values.user,
        "WorkingDir": values.run_dir,
        "Env": _variables(launch, wanted, values),
        "Labels": dict(values.labels),
        "ExposedPorts": {} if network == "host" else {f"{port}/tcp": {} for port in wanted.ports},
        "HostConfig": {
            "NetworkMode": network,
            "Mounts": mounts,
            "ShmSize": wanted.shm_bytes or DEFAULT_SHM_BYTES,
            "CapAdd": list(wanted.add_capabilities),
            "CapDrop": list(wanted.drop_capabilities),
            "GroupAdd": list(values.groups),
            # The author of an image can put setuid-root programs into it.
            "SecurityOpt": [] if values.user.startswith("0:") else ["no-new-privileges:true"],
            "Memory": values.memory or 0,
            # Without room to swap: else a limit of memory is twice what it says.
            "MemorySwap": values.memory or 0,
            "LogConfig": _LOG,
            **_devices(launch, wanted, values.gpus),
        },
    }


def visible_devices(launch: Launch) -> str | None:
    """Return the task's numbers of its accelerators: Docker shows a container only its own, numbered anew."""
    return ",".join(map(str, range(len(launch.slot_ids)))) if launch.device is Device.CUDA else None


def _check_master_reachable(network: str, master_url: str) -> None:
    """Check that the network can reach the master: otherwise the runner would try for ever."""
    host = urlsplit(master_url).hostname or ""
    has_own_loopback = network != "host" and not network.startswith("container:")
    if network == "none" or (has_own_loopback and _is_loopback(host)):
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


def _flags(values: EngineValues) -> list[str]:
    """Return the flags of the interpreter.

    -P: the working directory must not shadow modules. -E: an image's settings for its own Python must not affect a
    mounted one.
    """
    return ["-E", "-P"] if values.python_mounts else ["-P"]


def _variables(launch: Launch, wanted: Container, values: EngineValues) -> list[str]:
    """Return only what the container runtime reads: every user of Docker sees these, so the task's are left out."""
    # An image may say `all` here, which is not for a task without GPUs.
    hidden = [] if launch.device is Device.CUDA and launch.slot_ids else ["NVIDIA_VISIBLE_DEVICES=void"]
    kept = values.environments
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
