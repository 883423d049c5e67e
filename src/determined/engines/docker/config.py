"""`resource_manager: {type: docker}`."""

from collections.abc import Iterator
from typing import Any

from determined._json import JsonObject, JsonValue
from determined.engines.resource_manager import ResourceManager
from determined.schema.node import Integer, Text
from determined.schema.quantities import parse_size
from determined.schema.quantity_nodes import Size
from determined.schema.section import field

DEFAULT_SOCKET = "/var/run/docker.sock"
_MOST_SOCKET_BYTES = 107  # what the kernel takes
_LEAST_MEMORY = 6 * 1024**2  # what Docker takes


class _Socket(Text):
    def load(self, value: Any) -> str:
        return str(value).removeprefix("unix://")


class _Memory(Size):
    """Canonical as it was written, so that messages show it."""

    def canonical(self, value: JsonValue) -> JsonValue:
        return value


def _socket_usable(value: JsonObject) -> Iterator[tuple[str, str]]:
    path = value.get("socket")
    if not isinstance(path, str):
        return
    if not path.removeprefix("unix://").startswith("/"):
        yield "socket", f"`{path}` is no path of a socket on this machine; a Docker elsewhere cannot be used"
    elif len(path.removeprefix("unix://").encode()) > _MOST_SOCKET_BYTES:
        yield "socket", f"`{path}` is longer than the {_MOST_SOCKET_BYTES} bytes that a socket's path may have"


def _memory_enough(value: JsonObject) -> Iterator[tuple[str, str]]:
    memory = value.get("memory")
    if memory is not None and parse_size(memory) < _LEAST_MEMORY:
        yield "memory", f"{memory} is less than Docker takes (6m); write a size such as 32g"


class DockerManager(ResourceManager, rules=(_socket_usable, _memory_enough)):
    """An operator's Docker. Unknown keys are refused: one that is written wrongly would change nothing, unsaid."""

    kind = "docker"
    where = "this machine, in containers"
    page = "docker.md"
    runs_here = True
    runs_containers = True
    device_keys = ("slots", "slot_type", "visible_gpus")

    type: str = field(Text(), "`docker`.", default="docker")
    socket: str = field(_Socket(), "The daemon's socket on this machine.", default=DEFAULT_SOCKET)
    network: str = field(Text(), "Network of containers whose `task_container_defaults` name none.", default="host")
    python: str | None = field(
        Text(),
        "The interpreter that is mounted into images without determined. Default: the master's own.",
        default=None,
    )
    slots: int | None = field(
        Integer(low=0), "Artificial CPU slots. Default: as the master's own `slots` says.", default=None
    )
    slot_type: str | None = field(
        Text(choices=("auto", "cuda", "gpu", "rocm", "cpu", "none")),
        "What a slot is. Default: as the master's own `slot_type` says.",
        default=None,
    )
    visible_gpus: str | None = field(
        Text(),
        "Which of the machine's GPUs are offered, as CUDA_VISIBLE_DEVICES would say it. Default: all.",
        default=None,
    )
    memory: int | None = field(_Memory(), "Memory that each container may have. Default: all.", default=None)

    @property
    def remote_callers(self) -> str | None:
        return None if self.network == "host" else f"containers of network '{self.network}'"
