"""The schema of a master config: every key upstream has, and ours. Which ones this master uses: master.py."""

import re
from collections.abc import Iterator
from typing import Any

from determined.config.container_defaults import TASK_CONTAINER_DEFAULTS
from determined.config.node import Boolean, FreeMap, Integer, ListOf, Node, Report, Text
from determined.config.objects import Field, Object
from determined.config.quantities import parse_duration
from determined.config.resources import PRIORITY_RANGE
from determined.config.storage import CHECKPOINT_STORAGE
from determined.errors import InvalidArgument


class Duration(Node):
    """A Go duration such as `25s`, or a number of seconds."""

    def check(self, value: Any, at: str, report: Report) -> None:
        if isinstance(value, int | float) and not isinstance(value, bool):
            return None if value >= 0 else report.add(at, f"must be at least 0, not {value}")
        try:
            seconds = parse_duration(value)
        except InvalidArgument as error:
            return report.add(at, error.message)
        return None if seconds >= 0 else report.add(at, f"must not be negative, not {value!r}")


def _tls_whole(value: dict[str, Any]) -> Iterator[tuple[str, str]]:
    if (value.get("cert") is None) != (value.get("key") is None):
        yield "", "`cert` and `key` must both be given, or neither"


def _lifespans_ordered(value: dict[str, Any]) -> Iterator[tuple[str, str]]:
    longest, default = value.get("max_lifespan_days", 30), value.get("default_lifespan_days", 30)
    if longest != -1 and (default == -1 or default > longest):
        yield "", f"default_lifespan_days={default} exceeds max_lifespan_days={longest}; -1 means without end"


def _advertised_url_whole(value: dict[str, Any]) -> Iterator[tuple[str, str]]:
    url = value.get("advertised_url")
    if isinstance(url, str) and not re.fullmatch(r"https?://[^\s/?#]+(/[^\s?#]*)?", url):
        yield "advertised_url", f"`{url}` is no URL that others could use; write it as http://HOST:PORT or https://HOST"


def _pool_names(value: dict[str, Any]) -> list[Any]:
    """Of all managers."""
    sections = [value, *(value.get("additional_resource_managers") or [])]
    return [pool.get("pool_name") for section in sections for pool in section.get("resource_pools") or []]


def _unique_managers(value: dict[str, Any]) -> Iterator[tuple[str, str]]:
    sections = [value, *(value.get("additional_resource_managers") or [])]
    managers = [section.get("resource_manager") or {} for section in sections]
    kinds = [manager.get("type") or "agent" for manager in managers]
    if kinds.count("agent") > 1:
        yield (
            "additional_resource_managers",
            "two managers have type `agent`: that is this one machine; merge their pools",
        )
    names = [
        manager.get("name") or ("local" if kind == "agent" else kind)
        for manager, kind in zip(managers, kinds, strict=True)
    ]
    for name in sorted({name for name in names if names.count(name) > 1}):
        yield "additional_resource_managers", f"two managers are called `{name}`; give each a `name` of its own"


def _devices_once(value: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Two engines of one machine that both looked for its GPUs would both hand them out."""
    sections = [value, *(value.get("additional_resource_managers") or [])]
    managers = [section.get("resource_manager") or {} for section in sections]
    containers = [manager for manager in managers if manager.get("type") == "docker"]
    for manager in containers:
        divided = any(manager.get(key) is not None for key in ("slots", "slot_type", "visible_gpus"))
        if not divided and (len(containers) > 1 or any((one.get("type") or "agent") == "agent" for one in managers)):
            yield (
                "additional_resource_managers",
                "`agent` and `docker` are both this machine; say in the docker manager what is its own: `slots`,"
                " `slot_type` or `visible_gpus`",
            )


def _unique_pools(value: dict[str, Any]) -> Iterator[tuple[str, str]]:
    names = _pool_names(value)
    for name in sorted({name for name in names if name and names.count(name) > 1}):
        yield "resource_pools", f"pool_name `{name}` is given to more than one pool"


def _default_pools_exist(value: dict[str, Any]) -> Iterator[tuple[str, str]]:
    names = _pool_names(value) if value.get("resource_pools") else ["default", *_pool_names(value)]
    manager = value.get("resource_manager") or {}
    if manager.get("type") == "slurm" and not value.get("resource_pools"):
        return  # its partitions become the pools; which those are is only known when the master starts
    for key in ("default_aux_resource_pool", "default_compute_resource_pool"):
        if manager.get(key) is not None and manager[key] not in names:
            yield f"resource_manager.{key}", f"no pool `{manager[key]}`; pools are {', '.join(names)}"


def _provider_sizes(value: dict[str, Any]) -> Iterator[tuple[str, str]]:
    low, high = value.get("min_instances", 0), value.get("max_instances", 5)
    if isinstance(low, int) and isinstance(high, int) and low > high:
        yield "", f"max_instances={high} is below min_instances={low}"


_TEXT = Field(Text())
_UNUSED_TEXT = Field(Text(), honoured_by=())
_FOREIGN = Field(Node(), legacy=True, honoured_by=())  # upstream's: for its own page, cloud or paid edition
_DAYS = Field(Integer(low=-1), default=30)
_PORT = Integer(low=0, high=65535)

SCHEDULER = Object(
    {
        "type": Field(Text(choices=("priority", "fair_share", "round_robin")), default="priority"),
        "preemption": Field(Boolean(), default=False),
        "default_priority": Field(Integer(*PRIORITY_RANGE), default=42),
        "fitting_policy": Field(Text(choices=("best", "worst")), default="best"),
        "allow_heterogeneous_fits": Field(Boolean(), default=False),
    }
)
POOL = Object(
    {
        "pool_name": Field(Text(), required=True),
        "description": Field(Text(), default=""),
        "scheduler": Field(SCHEDULER),
        "max_aux_containers_per_agent": Field(Integer(low=0), default=100),
        "task_container_defaults": Field(TASK_CONTAINER_DEFAULTS),
        "agent_reconnect_wait": Field(Duration(), default="25s", honoured_by=()),
        "agent_reattach_enabled": Field(Node(), honoured_by=()),
        "provider": Field(Object({"type": _TEXT}, extra=True, rules=(_provider_sizes,)), honoured_by=()),
        "kubernetes_namespace": _UNUSED_TEXT,
        "partition": Field(Text(), honoured_by=("slurm",)),
        "ray": Field(FreeMap(), honoured_by=("ray",)),
    }
)
RESOURCE_MANAGER = Object(
    {
        "type": Field(Text(choices=("agent", "docker", "ray", "slurm", "kubernetes", "pbs")), default="agent"),
        "name": _TEXT,
        "cluster_name": _UNUSED_TEXT,
        "scheduler": Field(SCHEDULER, default={}),
        "default_aux_resource_pool": _TEXT,
        "default_compute_resource_pool": _TEXT,
        "no_default_resource_pools": Field(Boolean(), default=False, honoured_by=()),
        "require_authentication": Field(Boolean(), honoured_by=()),
        "client_ca": _UNUSED_TEXT,
        "metadata": Field(FreeMap(), honoured_by=()),
    },
    extra=True,  # the keys of managers that are not ours
)
ADDITIONAL_MANAGER = Object(
    {
        "resource_manager": Field(RESOURCE_MANAGER, required=True),
        "resource_pools": Field(ListOf(POOL, nonempty=True), required=True),
    }
)
_SSH = Object(
    {
        "key_type": Field(Text(choices=("ED25519", "ECDSA", "RSA"))),
        "rsa_key_size": Field(Integer(low=1, high=16384)),
    }
)
_AGENT_USER = Object(
    {
        "user": Field(Text(), default="root"),
        "uid": Field(Integer(low=0), default=0),
        "group": Field(Text(), default="root"),
        "gid": Field(Integer(low=0), default=0),
    }
)
SECURITY = Object(
    {
        "default_task": Field(_AGENT_USER, default={}),
        "tls": Field(Object({"cert": _TEXT, "key": _TEXT}, rules=(_tls_whole,)), default={}),
        "ssh": Field(_SSH, honoured_by=()),
        "authz": Field(FreeMap(), honoured_by=()),
        "token": Field(
            Object(
                {"max_lifespan_days": _DAYS, "default_lifespan_days": _DAYS},
                rules=(_lifespans_ordered,),
            ),
            default={},
        ),
        "initial_user_password": Field(Text(), default=None),
        "require_user_isolation": Field(Boolean(), default=False),
        "session_lifespan": Field(Duration(), honoured_by=()),
    }
)
DB = Object(
    {
        "url": _TEXT,
        "user": _TEXT,
        "password": _TEXT,
        "host": _TEXT,
        "port": Field(_PORT),
        "name": _TEXT,
        "ssl_mode": Field(Text()),
        "ssl_root_cert": _TEXT,
        "migrations": Field(Node(), honoured_by=()),
        "views_and_triggers": Field(Node(), honoured_by=()),
    }
)
MASTER = Object(
    {
        "host": Field(Text(), default="127.0.0.1"),
        "port": Field(_PORT),
        "root": _FOREIGN,
        "data_dir": _TEXT,
        "db": Field(DB, default={}),
        "checkpoint_storage": Field(CHECKPOINT_STORAGE),
        "task_container_defaults": Field(TASK_CONTAINER_DEFAULTS, default={}),
        "tensorboard_timeout": Field(Integer(low=0), default=300, honoured_by=()),
        "notebook_timeout": Field(Integer(low=0), default=None, honoured_by=()),
        "launch_error": Field(Boolean(), default=True),
        "cluster_name": Field(Text(), default=""),
        "enable_cors": Field(Boolean(), default=False),
        "logging": Field(FreeMap(), honoured_by=()),
        "log": Field(
            Object(
                {
                    "level": Field(Text(), default="info"),
                    "color": Field(Boolean(), default=False, honoured_by=()),
                }
            ),
            default={},
        ),
        "retention_policy": Field(
            Object(
                {
                    "log_retention_days": Field(Integer(low=-1, high=32767), default=-1),
                    "schedule": Field(Text(), default=None),
                }
            ),
            default={},
        ),
        "telemetry": Field(Object({"enabled": Field(Boolean(), default=True)}, extra=True), default={}),
        "observability": Field(Object({"enable_prometheus": Field(Boolean(), default=True)}), default={}),
        "cache": Field(FreeMap(), honoured_by=()),
        "webhooks": Field(Object({"base_url": _TEXT, "signing_key": _TEXT}), default={}, honoured_by=()),
        "feature_switches": Field(ListOf(Text()), default=[], honoured_by=()),
        "reserved_ports": Field(ListOf(_PORT), default=[]),
        "integrations": Field(FreeMap(), honoured_by=()),
        "security": Field(SECURITY, default={}),
        "resource_manager": Field(RESOURCE_MANAGER, default={}),
        "additional_resource_managers": Field(ListOf(ADDITIONAL_MANAGER)),
        "resource_pools": Field(ListOf(POOL)),
        "config_file": _FOREIGN,
        "ui_customization": _FOREIGN,
        "scim": _FOREIGN,
        "saml": _FOREIGN,
        "oidc": _FOREIGN,
        "det_cloud": _FOREIGN,
        "genai": _FOREIGN,
        "hpimportance": _FOREIGN,
        "federation": _FOREIGN,
        "internal": _FOREIGN,
        "__internal": _FOREIGN,
        "version": _FOREIGN,
        "slots": Field(Integer(low=0), default=None),
        "advertised_url": _TEXT,
        "local_agents": Field(Integer(low=0), default=1),
        "slot_type": Field(Text(choices=("auto", "cuda", "gpu", "rocm", "cpu", "none")), default="auto"),
    },
    rules=(_advertised_url_whole, _unique_managers, _devices_once, _unique_pools, _default_pools_exist),
)
