"""The config of an agent."""

from collections.abc import Iterator, Mapping
from typing import Any

from determined._json import JsonObject
from determined.schema.layers import checked, layered
from determined.schema.lists import ListOf
from determined.schema.node import Boolean, Integer, Node, Text
from determined.schema.objects import Field
from determined.schema.quantity_nodes import Duration
from determined.schema.section import Section, field

_PORT = Integer(low=0, high=65535)


def _one_trust(value: JsonObject) -> Iterator[tuple[str, str]]:
    if value.get("master_cert") is not None and value.get("skip_verify"):
        yield "", "master_cert and skip_verify contradict each other; remove one"
    if (value.get("client_cert") is None) != (value.get("client_key") is None):
        yield "", "client_cert and client_key must both be given, or neither"


class AgentTls(Section, rules=(_one_trust,)):
    """Encryption of the way to the master."""

    enabled: bool = field(Boolean(), "Connect over TLS.", default=False)
    skip_verify: bool = field(Boolean(), "Do not check the master's certificate.", default=False)
    master_cert: str | None = field(Text(), "PEM file to check the master's certificate with.", default=None)
    master_cert_name: str | None = field(Text(), "The name in the master's certificate.", default=None)
    client_cert: str | None = field(Text(), "PEM file that the agent shows.", default=None)
    client_key: str | None = field(Text(), "PEM file with its key.", default=None)


class AgentSecurity(Section):
    tls: AgentTls = field(AgentTls, "Encryption.", default={})


class AgentHooks(Section):
    on_connection_lost: tuple[str, ...] = field(
        ListOf(Text()), "A command that is run when the master is lost.", default=[]
    )


class _SlotType(Text):
    """The old word `gpu` means cuda."""

    def load(self, value: Any) -> str:
        return "cuda" if value == "gpu" else str(value)


# Of no use to a node without containers.
_IGNORED = (
    "container_master_host", "container_master_port", "http_proxy", "https_proxy", "ftp_proxy", "no_proxy",
    "container_auto_remove_disabled", "container_runtime", "image_root", "label", "api_enabled", "log", "fluent",
    "agent_resource_labels", "config_file",
)  # fmt: skip


class AgentConfig(Section, added=dict.fromkeys(_IGNORED, Field(Node(), legacy=True, engines=()))):
    """The config of an agent."""

    master_host: str = field(Text(), "Host of the master.")
    master_port: int | None = field(_PORT, "Port of the master. Default: 80, or 443 with TLS.", default=None)
    agent_id: str | None = field(Text(), "Name of the agent. Default: the host name.", default=None)
    resource_pool: str = field(Text(), "The pool that it joins.", default="default")
    slot_type: str = field(
        _SlotType(choices=("auto", "cuda", "gpu", "rocm", "cpu", "none")),
        "Which devices count as slots.",
        default="auto",
    )
    visible_gpus: str | None = field(
        Text(), "GPUs to offer. Default: ROCR_VISIBLE_DEVICES, then CUDA_VISIBLE_DEVICES.", default=None
    )
    artificial_slots: int = field(Integer(low=0), "Slots without a device, for tests.", default=0)
    security: AgentSecurity = field(AgentSecurity, "Encryption.", default={})
    bind_ip: str = field(Text(), "Address to listen on.", default="0.0.0.0")
    bind_port: int = field(_PORT, "Port to listen on.", default=9090)
    agent_reconnect_attempts: int = field(Integer(low=0), "Tries to reach the master again.", default=5)
    agent_reconnect_backoff: float = field(Duration(), "Time between them.", default=5)
    hooks: AgentHooks = field(AgentHooks, "Commands to run.", default={})
    debug: bool = field(Boolean(), "More detail in the log.", default=False)

    @property
    def ignored(self) -> JsonObject:
        """Keys that are set and of no use to a node without containers."""
        return {key: self.raw[key] for key in _IGNORED if key in self.raw}


def load_agent_config(file_data: JsonObject | None, env: Mapping[str, str], flags: JsonObject) -> AgentConfig:
    """Lay the file under `DET_*` variables under flags; ROCR_VISIBLE_DEVICES or CUDA_VISIBLE_DEVICES may name GPUs.

    Raises:
        InvalidConfig: with every violation.
    """
    raw = layered(AgentConfig, file_data, env, flags)
    config = AgentConfig.load(checked(AgentConfig, raw, "invalid agent configuration"))
    return config.replace(
        master_port=config.master_port or (443 if config.security.tls.enabled else 80),
        visible_gpus=config.visible_gpus or env.get("ROCR_VISIBLE_DEVICES") or env.get("CUDA_VISIBLE_DEVICES"),
    )
