"""An agent config as typed data."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from determined.config.layers import checked, layered
from determined.config.master_schema import Duration
from determined.config.node import Boolean, Integer, ListOf, Node, Text
from determined.config.objects import Field, Object
from determined.config.quantities import parse_duration


@dataclass(frozen=True, slots=True)
class AgentTls:
    enabled: bool = False
    skip_verify: bool = False
    master_cert: str | None = None
    master_cert_name: str | None = None
    client_cert: str | None = None
    client_key: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentConfig:
    """`agent_id` is None where the host name serves; `ignored` holds what a node without containers cannot use."""

    master_host: str
    master_port: int
    agent_id: str | None = None
    resource_pool: str = "default"
    slot_type: str = "auto"
    visible_gpus: str | None = None
    artificial_slots: int = 0
    tls: AgentTls = field(default_factory=AgentTls)
    bind_ip: str = "0.0.0.0"
    bind_port: int = 9090
    agent_reconnect_attempts: int = 5
    agent_reconnect_backoff: float = 5.0
    on_connection_lost: tuple[str, ...] = ()
    debug: bool = False
    ignored: dict[str, Any] = field(default_factory=dict, repr=False)


def load_agent_config(file_data: dict[str, Any] | None, env: Mapping[str, str], flags: dict[str, Any]) -> AgentConfig:
    """File < `DET_*` variables < flags. GPUs named by ROCR_VISIBLE_DEVICES or CUDA_VISIBLE_DEVICES count as set.

    Raises:
        InvalidConfig: with every violation.
    """
    raw = layered(AGENT, file_data, env, flags)
    filled = checked(AGENT, raw, "invalid agent configuration")
    tls = AgentTls(**filled["security"]["tls"])
    backoff = filled["agent_reconnect_backoff"]
    return AgentConfig(
        master_host=filled["master_host"],
        master_port=filled["master_port"] or (443 if tls.enabled else 80),
        agent_id=filled["agent_id"],
        resource_pool=filled["resource_pool"],
        slot_type="cuda" if filled["slot_type"] == "gpu" else filled["slot_type"],
        visible_gpus=filled["visible_gpus"] or env.get("ROCR_VISIBLE_DEVICES") or env.get("CUDA_VISIBLE_DEVICES"),
        artificial_slots=filled["artificial_slots"],
        tls=tls,
        bind_ip=filled["bind_ip"],
        bind_port=filled["bind_port"],
        agent_reconnect_attempts=filled["agent_reconnect_attempts"],
        agent_reconnect_backoff=parse_duration(backoff) if isinstance(backoff, str) else float(backoff),
        on_connection_lost=tuple(filled["hooks"]["on_connection_lost"]),
        debug=filled["debug"],
        ignored={key: raw[key] for key in _IGNORED if key in raw},
    )


def _one_trust(value: dict[str, Any]) -> Iterator[tuple[str, str]]:
    if value.get("master_cert") is not None and value.get("skip_verify"):
        yield "", "master_cert and skip_verify contradict each other; remove one"
    if (value.get("client_cert") is None) != (value.get("client_key") is None):
        yield "", "client_cert and client_key must both be given, or neither"


_IGNORED = (
    "container_master_host", "container_master_port", "http_proxy", "https_proxy", "ftp_proxy", "no_proxy",
    "container_auto_remove_disabled", "container_runtime", "image_root", "label", "api_enabled", "log", "fluent",
    "agent_resource_labels", "config_file",
)  # fmt: skip
_OPTIONAL = Field(Text(), default=None)
_PORT = Integer(low=0, high=65535)
_TLS = Object(
    {
        "enabled": Field(Boolean(), default=False),
        "skip_verify": Field(Boolean(), default=False),
        "master_cert": _OPTIONAL,
        "master_cert_name": _OPTIONAL,
        "client_cert": _OPTIONAL,
        "client_key": _OPTIONAL,
    },
    rules=(_one_trust,),
)

AGENT = Object(
    {
        "master_host": Field(Text(), required=True),
        "master_port": Field(_PORT, default=None),
        "agent_id": _OPTIONAL,
        "resource_pool": Field(Text(), default="default"),
        "slot_type": Field(Text(choices=("auto", "cuda", "gpu", "rocm", "cpu", "none")), default="auto"),
        "visible_gpus": _OPTIONAL,
        "artificial_slots": Field(Integer(low=0), default=0),
        "security": Field(Object({"tls": Field(_TLS, default={})}), default={}),
        "bind_ip": Field(Text(), default="0.0.0.0"),
        "bind_port": Field(_PORT, default=9090),
        "agent_reconnect_attempts": Field(Integer(low=0), default=5),
        "agent_reconnect_backoff": Field(Duration(), default=5),
        "hooks": Field(Object({"on_connection_lost": Field(ListOf(Text()), default=[])}), default={}),
        "debug": Field(Boolean(), default=False),
        **{key: Field(Node(), legacy=True) for key in _IGNORED},
    }
)
