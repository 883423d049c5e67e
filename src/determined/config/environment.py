"""The environment section and bind mounts: images, variables, capabilities, ports, registry login, packages."""

from dataclasses import dataclass, field
from typing import Any

from determined.config.node import AddedList, Boolean, Integer, KeyedList, ListOf, MapOf, Text
from determined.config.objects import Atomic, Field, Object
from determined.config.pod_spec import PodSpec
from determined.config.python_environment import PythonEnvironment, parse_python_environment
from determined.config.python_schema import PYTHON_ENVIRONMENT

DEVICE_TYPES = ("cpu", "cuda", "rocm")
DOCKER = ("docker",)  # the engine that runs containers


@dataclass(frozen=True, slots=True)
class ProxyPort:
    proxy_port: int
    proxy_tcp: bool = False
    unauthenticated: bool = False
    default_service_id: bool = False


@dataclass(frozen=True, slots=True)
class Environment:
    """`image` and `environment_variables` are by device type: cpu, cuda, rocm."""

    image: dict[str, str | None] = field(default_factory=dict)
    environment_variables: dict[str, list[str]] = field(default_factory=dict)
    force_pull_image: bool = False
    registry_auth: dict[str, Any] | None = field(default=None, repr=False)
    add_capabilities: tuple[str, ...] = ()
    drop_capabilities: tuple[str, ...] = ()
    ports: dict[str, int] = field(default_factory=dict)
    proxy_ports: tuple[ProxyPort, ...] = ()
    pod_spec: dict[str, Any] | None = None
    python: PythonEnvironment | None = None
    shared_tmp: bool = False

    def variables(self, device: str) -> list[str]:
        """`NAME=VALUE` entries for a device type; later ones win."""
        return list(self.environment_variables.get(device, ()))


@dataclass(frozen=True, slots=True)
class BindMount:
    """A relative `container_path` lies under the task's working directory."""

    host_path: str
    container_path: str
    read_only: bool = False
    propagation: str = "rprivate"


def parse_environment(raw: dict[str, Any]) -> Environment:
    return Environment(
        image=dict(raw["image"]),
        environment_variables={device: list(entries) for device, entries in raw["environment_variables"].items()},
        force_pull_image=raw["force_pull_image"],
        registry_auth=raw["registry_auth"],
        add_capabilities=tuple(raw["add_capabilities"]),
        drop_capabilities=tuple(raw["drop_capabilities"]),
        ports=dict(raw["ports"]),
        proxy_ports=tuple(ProxyPort(**port) for port in raw["proxy_ports"]),
        pod_spec=raw["pod_spec"],
        python=parse_python_environment(raw["python"]),
        shared_tmp=raw["shared_tmp"],
    )


def parse_bind_mounts(raw: list[dict[str, Any]]) -> tuple[BindMount, ...]:
    return tuple(BindMount(**mount) for mount in raw)


def canonical_environment(raw: Any) -> Any:
    """Image and variables by device type; the old key `gpu` means cuda."""
    if not isinstance(raw, dict):
        return raw
    changed = dict(raw)
    for key, expand in (("image", canonical_image), ("environment_variables", canonical_variables)):
        if key in raw:
            changed[key] = expand(raw[key])
    return changed


def canonical_image(raw: Any) -> Any:
    if isinstance(raw, str):
        return dict.fromkeys(DEVICE_TYPES, raw)
    return _gpu_to_cuda(raw)


def canonical_variables(raw: Any) -> Any:
    if isinstance(raw, list):
        return {device: list(raw) for device in DEVICE_TYPES}
    return _gpu_to_cuda(raw)


def add_variable(config: dict[str, Any], entry: str) -> dict[str, Any]:
    """The canonical config with one more variable for every device type; a second time changes nothing."""
    environment = config.get("environment")
    if environment is not None and not isinstance(environment, dict):
        return config
    variables = (environment or {}).get("environment_variables") or {}
    if not isinstance(variables, dict):
        return config
    extended = {device: _with_entry(variables.get(device), entry) for device in DEVICE_TYPES}
    return {**config, "environment": {**(environment or {}), "environment_variables": {**variables, **extended}}}


def _with_entry(entries: Any, entry: str) -> Any:
    if entries is not None and not isinstance(entries, list):
        return entries
    return entries if entries and entry in entries else [*(entries or []), entry]


def _gpu_to_cuda(raw: Any) -> Any:
    if not isinstance(raw, dict) or "gpu" not in raw:
        return raw
    changed = {key: value for key, value in raw.items() if key != "gpu"}
    if changed.get("cuda") is None:
        changed["cuda"] = raw["gpu"]
    return changed


def _variable_problem(text: str) -> str | None:
    name = text.partition("=")[0]
    return f"`{text}` has no variable name; write NAME=VALUE" if not name.strip() else None


def _host_path_problem(path: str) -> str | None:
    return None if path.startswith("/") else f"host_path must be absolute, not `{path}`"


def _container_path_problem(path: str) -> str | None:
    return 'container_path must not be "."' if path == "." else None


_VARIABLES = AddedList(Text(problem=_variable_problem))
IMAGE = Object({device: Field(Text(), default=None) for device in DEVICE_TYPES})
VARIABLES = Object({device: Field(_VARIABLES, default=[]) for device in DEVICE_TYPES})
REGISTRY_AUTH = Atomic(
    {
        key: Field(Text())
        for key in ("username", "password", "serveraddress", "email", "auth", "identitytoken", "registrytoken")
    }
)
CAPABILITIES = ListOf(Text())
PROXY_PORTS = KeyedList(
    Object(
        {
            "proxy_port": Field(Integer(low=1, high=65535), required=True),
            "proxy_tcp": Field(Boolean(), default=False),
            "unauthenticated": Field(Boolean(), default=False),
            "default_service_id": Field(Boolean(), default=False),
        }
    ),
    key="proxy_port",
)
ENVIRONMENT = Object(
    {
        "image": Field(IMAGE, default={}, honoured_by=DOCKER),
        "environment_variables": Field(VARIABLES, default={}),
        "force_pull_image": Field(Boolean(), default=False, honoured_by=DOCKER),
        "registry_auth": Field(REGISTRY_AUTH, default=None, honoured_by=DOCKER),
        "add_capabilities": Field(CAPABILITIES, default=[], honoured_by=DOCKER),
        "drop_capabilities": Field(CAPABILITIES, default=[], honoured_by=DOCKER),
        "ports": Field(MapOf(Integer(low=0, high=65535)), default={}, honoured_by=DOCKER),
        "proxy_ports": Field(PROXY_PORTS, default=[], honoured_by=()),
        "pod_spec": Field(PodSpec(), default=None, honoured_by=()),
        "python": Field(PYTHON_ENVIRONMENT, default=None),
        "shared_tmp": Field(Boolean(), default=False),
    }
)
BIND_MOUNTS = KeyedList(
    Object(
        {
            "host_path": Field(Text(problem=_host_path_problem), required=True),
            "container_path": Field(Text(problem=_container_path_problem), required=True),
            "read_only": Field(Boolean(), default=False),
            "propagation": Field(Text(), default="rprivate", honoured_by=DOCKER),
        }
    ),
    key="container_path",
)
