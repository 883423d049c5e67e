"""`resource_manager: {type: docker}` as typed data."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from determined.config.layers import checked
from determined.config.master_schema import RESOURCE_MANAGER
from determined.config.node import Integer, Text
from determined.config.objects import Field, Object
from determined.config.quantities import parse_size
from determined.config.resources import SIZE

DEFAULT_SOCKET = "/var/run/docker.sock"
_MOST_SOCKET_BYTES = 107  # what the kernel takes
_LEAST_MEMORY = 6 * 1024**2  # what Docker takes


def _socket_usable(value: dict[str, Any]) -> Iterator[tuple[str, str]]:
    path = value.get("socket")
    if not isinstance(path, str):
        return
    if not path.removeprefix("unix://").startswith("/"):
        yield "socket", f"`{path}` is no path of a socket on this machine; a Docker elsewhere cannot be used"
    elif len(path.removeprefix("unix://").encode()) > _MOST_SOCKET_BYTES:
        yield "socket", f"`{path}` is longer than the {_MOST_SOCKET_BYTES} bytes that a socket's path may have"


def _memory_enough(value: dict[str, Any]) -> Iterator[tuple[str, str]]:
    memory = value.get("memory")
    if memory is not None and parse_size(memory) < _LEAST_MEMORY:
        yield "memory", f"{memory} is less than Docker takes (6m); write a size such as 32g"


_OWN = {
    "socket": Field(Text(), default=DEFAULT_SOCKET),
    "network": Field(Text(), default="host"),
    "python": Field(Text(), default=None),
    "slots": Field(Integer(low=0), default=None),
    "slot_type": Field(Text(choices=("auto", "cuda", "gpu", "rocm", "cpu", "none")), default=None),
    "visible_gpus": Field(Text(), default=None),
    "memory": Field(SIZE, default=None),
}
# Nothing but these and what every manager may have: a key that is written wrongly would change nothing, unsaid.
DOCKER_MANAGER = Object({**RESOURCE_MANAGER.fields, **_OWN}, rules=(_socket_usable, _memory_enough))


@dataclass(frozen=True, slots=True)
class DockerSettings:
    """What an operator says about their Docker.

    Args:
        socket: Of the daemon, on this machine.
        network: Of containers whose `task_container_defaults` name none.
        python: The interpreter that is mounted into images without determined; None: the master's own.
        slots: This many artificial CPU slots; None: as the master's own `slots` says.
        slot_type: What a slot is; None: as the master's own `slot_type` says.
        visible_gpus: Which of the machine's GPUs are offered, as CUDA_VISIBLE_DEVICES would say it; None: all.
        memory: Bytes that each container may have; None: all.
    """

    socket: str = DEFAULT_SOCKET
    network: str = "host"
    python: str | None = None
    slots: int | None = None
    slot_type: str | None = None
    visible_gpus: str | None = None
    memory: int | None = None


def docker_settings(raw: dict[str, Any]) -> DockerSettings:
    """Raises InvalidConfig, with every violation."""
    filled = checked(DOCKER_MANAGER, DOCKER_MANAGER.strip(raw), "invalid resource_manager of type docker")
    known = {key: filled[key] for key in _OWN}
    memory = None if known["memory"] is None else parse_size(known["memory"])
    return DockerSettings(**{**known, "socket": known["socket"].removeprefix("unix://"), "memory": memory})
