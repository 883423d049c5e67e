"""The fields of a master config: every key upstream has, and ours. What follows from them: master.py."""

import ipaddress
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote, urlencode

from determined._json import JsonObject, JsonValue
from determined.config.container_defaults import TaskContainerDefaults
from determined.config.storage import CHECKPOINT_STORAGE
from determined.master.config.managers import AdditionalManager, AnyManager, AnyPool
from determined.master.config.rules import (
    advertised_url_whole,
    default_pools_exist,
    devices_once,
    unique_managers,
    unique_pools,
)
from determined.master.config.schedule import schedule_problem
from determined.schema.lists import FreeMap, ListOf
from determined.schema.node import Boolean, Integer, Node, Text
from determined.schema.objects import Field, Object
from determined.schema.quantity_nodes import Duration
from determined.schema.section import Section, field
from determined.storage.section import CheckpointStorage

_PORT = Integer(low=0, high=65535)


def _tls_whole(value: JsonObject) -> Iterator[tuple[str, str]]:
    if (value.get("cert") is None) != (value.get("key") is None):
        yield "", "`cert` and `key` must both be given, or neither"


def _lifespans_ordered(value: JsonObject) -> Iterator[tuple[str, str]]:
    longest, default = value.get("max_lifespan_days", 30), value.get("default_lifespan_days", 30)
    if longest != -1 and (default == -1 or default > longest):
        yield "", f"default_lifespan_days={default} exceeds max_lifespan_days={longest}; -1 means without end"


class SshKeys(Section):
    key_type: str | None = field(Text(choices=("ED25519", "ECDSA", "RSA")), "Kind.", default=None, fill=False)
    rsa_key_size: int | None = field(Integer(low=1, high=16384), "Bits.", default=None, fill=False)


class AgentUser(Section):
    """The OS identity of tasks whose user is linked to none."""

    user: str = field(Text(), "Name.", default="root")
    uid: int = field(Integer(low=0), "Number; 0 means: as the master itself.", default=0)
    group: str = field(Text(), "Name.", default="root")
    gid: int = field(Integer(low=0), "Number.", default=0)


class Tls(Section, rules=(_tls_whole,)):
    """The certificate of the master."""

    cert: str | None = field(Text(), "PEM file.", default=None, fill=False)
    key: str | None = field(Text(), "PEM file.", default=None, fill=False)

    @property
    def enabled(self) -> bool:
        return self.cert is not None


class TokenLifespans(Section, rules=(_lifespans_ordered,)):
    """Days; -1 is without end."""

    max_lifespan_days: int = field(Integer(low=-1), "-1 is without end.", default=30)
    default_lifespan_days: int = field(Integer(low=-1), "-1 is without end.", default=30)


class Security(Section):
    """Users, TLS, tokens."""

    default_task: AgentUser = field(
        AgentUser, "OS user of tasks whose owner is linked to none. The default leaves it to the master.", default={}
    )
    tls: Tls = field(Tls, "Serve HTTPS.", default={})
    ssh: SshKeys | None = field(SshKeys, "Keys of shells.", default=None, fill=False)
    authz: JsonObject | None = field(FreeMap(), "Upstream's paid authorisation.", default=None, fill=False, engines=())
    token: TokenLifespans = field(TokenLifespans, "Access tokens.", default={})
    # None where the config sets none; an empty string is a deliberate blank password.
    initial_user_password: str | None = field(
        Text(),
        "Of `admin` and `determined` at the first start. Unset: a random one is made.",
        default=None,
        secret=True,
    )
    require_user_isolation: bool = field(
        Boolean(), "Refuse tasks that would run as the master's own user.", default=False
    )
    session_lifespan: float | None = field(Duration(), "Sessions last 7 days.", default=None, fill=False, engines=())


class _Database(Object[Any]):
    """A string is a URL."""

    def canonical(self, value: JsonValue) -> JsonValue:
        return {"url": value} if isinstance(value, str) else super().canonical(value)

    def json_schema(self) -> JsonObject:
        return {"anyOf": [{"type": "string"}, super().json_schema()]}


class Database(Section, node=_Database):
    """The database: an SQLite file in the data directory, unless a URL or a host is given."""

    url: str | None = field(
        Text(), "`postgresql://user:password@host:5432/name`.", default=None, fill=False, secret=True
    )
    user: str = field(Text(), "Used with `db.host`.", default="postgres", fill=False)
    password: str | None = field(Text(), "Used with `db.host`.", default=None, fill=False, secret=True)
    host: str | None = field(Text(), "Turns PostgreSQL on without a URL.", default=None, fill=False)
    port: int = field(_PORT, "Default: 5432.", default=5432, fill=False)
    name: str = field(Text(), "Default: determined.", default="determined", fill=False)
    ssl_mode: str = field(Text(), "As libpq's `sslmode`.", default="disable", fill=False)
    ssl_root_cert: str | None = field(Text(), "As libpq's `sslrootcert`.", default=None, fill=False)
    migrations: JsonValue = field(Node[Any](), "Upstream's own migrations.", default=None, fill=False, engines=())
    views_and_triggers: JsonValue = field(Node[Any](), "Upstream's own views.", default=None, fill=False, engines=())

    @property
    def address(self) -> str | None:
        """The URL to connect to; None for SQLite."""
        if self.url or not self.host:
            return self.url or None
        login = quote(self.user or "postgres", safe="")
        if self.password:
            login += ":" + quote(self.password, safe="")
        options = {"sslmode": self.ssl_mode or "disable"}
        if self.ssl_root_cert:
            options["sslrootcert"] = self.ssl_root_cert
        name = quote(self.name or "determined", safe="")
        return f"postgresql://{login}@{self.host}:{self.port or 5432}/{name}?{urlencode(options)}"


class MasterLog(Section):
    level: str = field(Text(), "trace, debug, info, warning, error.", default="info")
    color: bool = field(Boolean(), "Colours in the log.", default=False, engines=())


class LogRetention(Section):
    log_retention_days: int = field(
        Integer(low=-1, high=32767), "Days after the end of the task; -1 is forever.", default=-1
    )
    schedule: str | None = field(
        Text(problem=schedule_problem),
        "Time between sweeps such as `2h`, or a cron line such as `0 3 * * *` (UTC). Default: daily.",
        default=None,
    )


_TELEMETRY_KEYS = ("segment_master_key", "segment_webui_key", "otel_exported_otlp_endpoint")


class Telemetry(
    Section, extra=True, added=dict.fromkeys(_TELEMETRY_KEYS, Field(Node(), legacy=True, engines=(), secret=True))
):
    enabled: bool = field(Boolean(), "Accepted; nothing is ever sent.", default=True)


class Observability(Section):
    enable_prometheus: bool = field(Boolean(), "Serve `/metrics`.", default=True)


def _network_problem(text: str) -> str | None:
    try:
        ipaddress.ip_network(text)
    except ValueError as error:
        return f"`{text}` is no network such as 10.0.0.0/8: {error}"
    return None


class Webhooks(Section):
    """Requests of the master to other services when something happens ([Webhooks](../webhooks.md))."""

    base_url: str | None = field(
        Text(),
        "Address of the web page as its readers reach it, for links in messages to Slack.",
        default=None,
        fill=False,
    )
    signing_key: str | None = field(
        Text(),
        "Key of the signatures. Default: one of this cluster's own (`det webhook signing-key`).",
        default=None,
        fill=False,
        secret=True,
    )
    allowed_networks: tuple[str, ...] = field(
        ListOf(Text(problem=_network_problem)),
        "Private, loopback and link-local networks, such as `10.0.0.0/8`, whose hosts may be called.",
        default=[],
        since="0.39",
    )
    allow_public: bool = field(
        Boolean(), "Call public addresses; false: only `allowed_networks`.", default=True, since="0.39"
    )


def _domain_problem(domain: str) -> str | None:
    name = domain.partition(":")[0]
    return None if _DOMAIN.fullmatch(domain) and "." in name else f"`{domain}` is no domain such as apps.example.com"


_DOMAIN = re.compile(r"[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?(:[0-9]{1,5})?")


class Proxy(Section):
    """Access of browsers to notebooks, TensorBoards and published ports of tasks ([Ports](../ports.md))."""

    domain: str | None = field(
        Text(problem=_domain_problem),
        "Domain below which each app has a host name of its own, such as `apps.example.com`. It needs a DNS entry and,"
        " with TLS, a certificate for `*.apps.example.com`.",
        default=None,
        fill=False,
        since="0.39",
    )
    listen: int | None = field(
        Integer(low=1, high=65535),
        "Second port of the master, for apps alone, where there is no such domain. Apps then share one origin.",
        default=None,
        fill=False,
        since="0.39",
    )
    same_origin: bool = field(
        Boolean(),
        "Show apps at the master's own address. An app can then act as whoever looks at it: only where all users trust"
        " each other.",
        default=False,
        since="0.39",
    )
    allow_unauthenticated_ports: bool = field(
        Boolean(), "Let anybody reach ports with `unauthenticated: true`.", default=False, since="0.39"
    )
    allow_unauthenticated_shells: bool = field(
        Boolean(),
        "Let clients without a login connect to shells, as upstream's `det` does: its key is the only lock.",
        default=False,
        since="0.39",
    )


# Upstream's: for its own page, cloud or paid edition.
_FOREIGN = (
    "root", "config_file", "ui_customization", "scim", "saml", "oidc", "det_cloud", "genai", "hpimportance",
    "federation", "internal", "__internal", "version",
)  # fmt: skip


class MasterFile(
    Section,
    rules=(advertised_url_whole, unique_managers, devices_once, unique_pools, default_pools_exist),
    added=dict.fromkeys(_FOREIGN, Field(Node(), legacy=True, engines=())),
):
    """A master config as files, variables and flags have it."""

    host: str = field(Text(), "Address to listen on. Anything but loopback wants `security.tls`.", default="127.0.0.1")
    port: int = field(_PORT, "Default: 8080, or 8443 with TLS.", default=8080, fill=False)
    data_dir: str = field(
        Text(),
        "Database, run directories, lock. Default: `~/.local/share/determined/master`.",
        default="/var/lib/determined",
        fill=False,
    )
    db: Database = field(Database, "Default: an SQLite file in `data_dir`. A string is a URL.", default={})
    checkpoint_storage: CheckpointStorage | None = field(
        CHECKPOINT_STORAGE,
        "Where experiments store checkpoints unless they say otherwise.",
        default=None,
        fill=False,
    )
    task_container_defaults: TaskContainerDefaults = field(
        TaskContainerDefaults,
        "Laid under every experiment config; a pool's own go before the cluster's.",
        default={},
    )
    tensorboard_timeout: int = field(Integer(low=0), "Seconds without use after which a TensorBoard ends.", default=300)
    notebook_timeout: int | None = field(
        Integer(low=0), "Seconds without use after which a notebook ends. Default: never.", default=None
    )
    launch_error: bool = field(
        Boolean(), "False: queue what no pool can hold, with a warning, instead of refusing it.", default=True
    )
    cluster_name: str = field(Text(), "Shown to users.", default="")
    enable_cors: bool = field(Boolean(), "Let pages of other sites call the API.", default=False)
    logging: JsonObject | None = field(
        FreeMap(), "Where upstream stored task logs.", default=None, fill=False, engines=()
    )
    log: MasterLog = field(MasterLog, "The master's own log: JSON lines on stderr.", default={})
    retention_policy: LogRetention = field(LogRetention, "How long task logs are kept.", default={})
    telemetry: Telemetry = field(Telemetry, "Nothing is ever sent.", default={})
    observability: Observability = field(Observability, "Numbers for operators.", default={})
    cache: JsonObject | None = field(FreeMap(), "Upstream's file cache.", default=None, fill=False, engines=())
    webhooks: Webhooks = field(Webhooks, "Links, signatures and addresses of webhooks.", default={})
    feature_switches: tuple[str, ...] = field(
        ListOf(Text()), "Upstream's experimental features; told to clients.", default=[], engines=()
    )
    reserved_ports: tuple[int, ...] = field(ListOf(_PORT), "Never given to tasks.", default=[])
    integrations: JsonObject | None = field(FreeMap(), "Other systems.", default=None, fill=False, engines=())
    security: Security = field(Security, "Users, HTTPS and access tokens.", default={})
    proxy: Proxy = field(Proxy, "Apps of tasks in browsers.", default={}, since="0.39")
    resource_manager: AnyManager = field(AnyManager, "Scheduling, and which pools serve by default.", default={})
    additional_resource_managers: tuple[AdditionalManager, ...] = field(
        ListOf(AdditionalManager),
        "More engines beside the first, each with a `resource_manager` and its own pools.",
        default=[],
        fill=False,
    )
    resource_pools: tuple[AnyPool, ...] = field(
        ListOf(AnyPool), "Default: one pool, `default`.", default=[], fill=False
    )
    slots: int | None = field(
        Integer(low=0),
        "Number of CPU slots to offer instead of this machine's GPUs. Default: its GPUs, or one CPU slot.",
        default=None,
        since="0.39",
    )
    advertised_url: str | None = field(
        Text(),
        "The URL under which runners on other hosts reach this master; default: host and port.",
        default=None,
        fill=False,
        since="0.39",
    )
    local_agents: int = field(
        Integer(low=0),
        "Nodes to offer on this machine; those beyond the first have `slots`, or one CPU slot.",
        default=1,
        since="0.39",
    )
    slot_type: str = field(
        Text(choices=("auto", "cuda", "gpu", "rocm", "cpu", "none")),
        "Which devices count as slots.",
        default="auto",
        since="0.39",
    )
