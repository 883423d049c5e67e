"""The environment section and bind mounts: images, variables, capabilities, ports, registry login, packages."""

from typing import Any

from determined._json import JsonObject, JsonValue
from determined.config.pod_spec import PodSpec
from determined.config.python_environment import PythonEnvironment
from determined.config.resources import CONTAINERS
from determined.schema.lists import AddedList, KeyedList, ListOf, MapOf
from determined.schema.node import Boolean, Integer, Text
from determined.schema.objects import Atomic, Object
from determined.schema.section import Section, field

DEVICE_TYPES = ("cpu", "cuda", "rocm")


class _ByDevice(Object[Any]):
    """A value by device type, or one for all of them; the old key `gpu` means cuda."""

    short: type = str

    def canonical(self, value: JsonValue) -> JsonValue:
        if isinstance(value, self.short):
            return {device: list(value) if isinstance(value, list) else value for device in DEVICE_TYPES}
        return super().canonical(_gpu_to_cuda(value))

    def json_schema(self) -> JsonObject:
        by_device = super().json_schema()
        one = by_device["properties"]["cpu"]
        by_device["properties"]["gpu"] = {**one, "deprecated": True}
        return {"anyOf": [self.fields["cpu"].node.json_schema(), by_device]}


class _ListsByDevice(_ByDevice):
    short = list


class Images(Section, node=_ByDevice):
    """The container image of each device type."""

    cpu: str | None = field(Text(), "For CPU slots.", default=None)
    cuda: str | None = field(Text(), "For NVIDIA GPUs (older key: `gpu`).", default=None)
    rocm: str | None = field(Text(), "For AMD GPUs.", default=None)

    def of(self, device: str) -> str | None:
        image: str | None = getattr(self, device, None)
        return image


def _variable_problem(text: str) -> str | None:
    name = text.partition("=")[0]
    return f"`{text}` has no variable name; write NAME=VALUE" if not name.strip() else None


class _Entries(AddedList[str]):
    shown = False  # any entry may hold a secret


_ENTRIES = _Entries(Text(problem=_variable_problem))


class Variables(Section, node=_ListsByDevice):
    """Environment variables of each device type, as `NAME=VALUE`; later entries win."""

    cpu: tuple[str, ...] = field(_ENTRIES, "For CPU slots.", default=[])
    cuda: tuple[str, ...] = field(_ENTRIES, "For NVIDIA GPUs.", default=[])
    rocm: tuple[str, ...] = field(_ENTRIES, "For AMD GPUs.", default=[])

    def of(self, device: str) -> list[str]:
        entries: tuple[str, ...] = getattr(self, device, ())
        return list(entries)


class RegistryAuth(Section, node=Atomic):
    """Login at a registry of images, in Docker's words."""

    username: str | None = field(Text(), "Name of the user.", default=None, fill=False)
    password: str | None = field(Text(), "Password.", default=None, fill=False, secret=True)
    serveraddress: str | None = field(Text(), "Address of the registry.", default=None, fill=False)
    email: str | None = field(Text(), "Address of the user.", default=None, fill=False)
    auth: str | None = field(Text(), "User and password in one.", default=None, fill=False, secret=True)
    identitytoken: str | None = field(Text(), "Token instead of a password.", default=None, fill=False, secret=True)
    registrytoken: str | None = field(Text(), "Token of the registry.", default=None, fill=False, secret=True)


class ProxyPort(Section):
    """A port of a task that the master's proxy leads to."""

    proxy_port: int = field(Integer(low=1, high=65535), "The port.")
    proxy_tcp: bool = field(Boolean(), "Raw TCP.", default=False)
    unauthenticated: bool = field(Boolean(), "Without login.", default=False)
    default_service_id: bool = field(Boolean(), "Under the task's own id.", default=False)


class Environment(Section):
    """The surroundings of a task's process."""

    image: Images = field(Images, "One image, or one by device type.", default={}, engines=CONTAINERS)
    environment_variables: Variables = field(
        Variables, "`NAME=VALUE` entries, one list or one by device type; a bare name removes.", default={}
    )
    force_pull_image: bool = field(Boolean(), "Fetch the image each time.", default=False, engines=CONTAINERS)
    registry_auth: RegistryAuth | None = field(
        RegistryAuth, "Registry login, kept secret in what is shown.", default=None, engines=CONTAINERS
    )
    add_capabilities: tuple[str, ...] = field(
        ListOf(Text()), "Linux capabilities to give.", default=[], engines=CONTAINERS
    )
    drop_capabilities: tuple[str, ...] = field(
        ListOf(Text()), "Linux capabilities to take away.", default=[], engines=CONTAINERS
    )
    ports: dict[str, int] = field(
        MapOf(Integer(low=0, high=65535)),
        "Exposed where the network is not the host's.",
        default={},
        engines=CONTAINERS,
    )
    proxy_ports: tuple[ProxyPort, ...] = field(
        KeyedList(ProxyPort, key="proxy_port"), "Ports of a task to reach through the master.", default=[]
    )
    pod_spec: JsonObject | None = field(PodSpec(), "For Kubernetes.", default=None, engines=())
    python: PythonEnvironment | None = field(
        PythonEnvironment,
        "Packages of the trial's own Python ([Environments](../environments.md)); merges as a whole.",
        default=None,
        since="0.39",
    )
    shared_tmp: bool = field(
        Boolean(),
        "Use the node's `/tmp` instead of one of the task's own"
        " ([what a container gave](../migrating.md#what-a-container-gave)).",
        default=False,
        since="0.39",
    )


def _host_path_problem(path: str) -> str | None:
    return None if path.startswith("/") else f"host_path must be absolute, not `{path}`"


def _container_path_problem(path: str) -> str | None:
    return 'container_path must not be "."' if path == "." else None


class BindMount(Section):
    """A directory of the node inside a task."""

    host_path: str = field(Text(problem=_host_path_problem), "Absolute path on the node; it must exist.")
    container_path: str = field(
        Text(problem=_container_path_problem), "Relative to the working directory. Absolute ones need a container."
    )
    read_only: bool = field(Boolean(), "Not enforced without a container; the task log says so.", default=False)
    propagation: str = field(Text(), "For containers.", default="rprivate", engines=CONTAINERS)


BIND_MOUNTS = KeyedList(BindMount, key="container_path")


def add_variable(config: JsonObject, entry: str) -> JsonObject:
    """Copy a canonical config with one more variable for every device type; a second time changes nothing."""
    environment = config.get("environment")
    if environment is not None and not isinstance(environment, dict):
        return config
    variables = (environment or {}).get("environment_variables") or {}
    if not isinstance(variables, dict):
        return config
    extended = {device: _with_entry(variables.get(device), entry) for device in DEVICE_TYPES}
    return {**config, "environment": {**(environment or {}), "environment_variables": {**variables, **extended}}}


def _with_entry(entries: JsonValue, entry: str) -> JsonValue:
    if entries is not None and not isinstance(entries, list):
        return entries
    return entries if entries and entry in entries else [*(entries or []), entry]


def _gpu_to_cuda(raw: JsonValue) -> JsonValue:
    if not isinstance(raw, dict) or "gpu" not in raw:
        return raw
    changed = {key: value for key, value in raw.items() if key != "gpu"}
    if changed.get("cuda") is None:
        changed["cuda"] = raw["gpu"]
    return changed
