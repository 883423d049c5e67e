"""A master config as typed data: upstream's keys from file, environment and flags, and a few of ours."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urlencode

from determined.config.container_defaults import canonical_container_defaults
from determined.config.docker_manager import docker_settings
from determined.config.layers import checked, layered
from determined.config.master_schema import MASTER, RESOURCE_MANAGER
from determined.config.quantities import parse_duration
from determined.config.ray_manager import ray_manager, ray_pool
from determined.config.slurm_manager import SLURM_MANAGER, slurm_settings
from determined.config.storage import CHECKPOINT_STORAGE, canonical_storage
from determined.config.unused import unused_keys


@dataclass(frozen=True, slots=True)
class DatabaseConfig:
    """`url` is None for the default: an SQLite file in the data directory."""

    url: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class TlsConfig:
    cert: str | None = None
    key: str | None = None

    @property
    def enabled(self) -> bool:
        return self.cert is not None


@dataclass(frozen=True, slots=True)
class AgentUser:
    """The OS identity of tasks whose user is linked to none."""

    user: str = "root"
    uid: int = 0
    group: str = "root"
    gid: int = 0


@dataclass(frozen=True, slots=True)
class TokenLifespans:
    """Days; -1 is without end."""

    max_lifespan_days: int = 30
    default_lifespan_days: int = 30


@dataclass(frozen=True, slots=True)
class SecurityConfig:
    """`initial_user_password` is None where the config sets none; an empty string is a deliberate blank password."""

    initial_user_password: str | None = field(default=None, repr=False)
    default_task: AgentUser = field(default_factory=AgentUser)
    tls: TlsConfig = field(default_factory=TlsConfig)
    token: TokenLifespans = field(default_factory=TokenLifespans)
    require_user_isolation: bool = False


@dataclass(frozen=True, slots=True)
class SchedulerConfig:
    type: str = "priority"
    preemption: bool = False
    default_priority: int = 42
    fitting_policy: str = "best"
    allow_heterogeneous_fits: bool = False


@dataclass(frozen=True, slots=True)
class PoolConfig:
    """A resource pool. `scheduler` is its own, or the resource manager's where it sets none."""

    pool_name: str = "default"
    description: str = ""
    scheduler: SchedulerConfig = field(default_factory=SchedulerConfig)
    max_aux_containers_per_agent: int = 100
    task_container_defaults: dict[str, Any] | None = field(default=None, repr=False)
    agent_reconnect_wait: float = 25.0
    engine: str = "local"  # the name of the engine it belongs to
    settings: dict[str, Any] = field(default_factory=dict, repr=False)  # keys that only its engine knows


@dataclass(frozen=True, slots=True)
class EngineConfig:
    """One resource manager as the engine it names: `settings` are all of its keys, read by that engine's own config."""

    name: str = "local"
    type: str = "agent"
    settings: dict[str, Any] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True)
class ResourceManagerConfig:
    type: str = "agent"
    scheduler: SchedulerConfig = field(default_factory=SchedulerConfig)
    default_aux_resource_pool: str = "default"
    default_compute_resource_pool: str = "default"
    no_default_resource_pools: bool = False


@dataclass(frozen=True, slots=True)
class LogRetention:
    log_retention_days: int = -1
    schedule: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MasterConfig:
    """`ignored` holds, by dotted path, what the file sets and this master has no use for."""

    host: str = "127.0.0.1"
    port: int = 8080
    data_dir: str = "/var/lib/determined"
    db: DatabaseConfig = field(default_factory=DatabaseConfig)
    checkpoint_storage: dict[str, Any] | None = field(default=None, repr=False)
    task_container_defaults: dict[str, Any] = field(default_factory=dict, repr=False)
    tensorboard_timeout: int = 300
    notebook_timeout: int | None = None
    launch_error: bool = True
    cluster_name: str = ""
    enable_cors: bool = False
    log_level: str = "info"
    retention_policy: LogRetention = field(default_factory=LogRetention)
    telemetry_enabled: bool = True
    enable_prometheus: bool = True
    webhook_base_url: str | None = None
    webhook_signing_key: str | None = field(default=None, repr=False)
    feature_switches: tuple[str, ...] = ()
    reserved_ports: tuple[int, ...] = ()
    security: SecurityConfig = field(default_factory=SecurityConfig)
    resource_manager: ResourceManagerConfig = field(default_factory=ResourceManagerConfig)
    resource_pools: tuple[PoolConfig, ...] = (PoolConfig(),)
    engines: tuple[EngineConfig, ...] = (EngineConfig(),)
    advertised_url: str | None = None
    slots: int | None = None
    slot_type: str = "auto"
    local_agents: int = 1
    ignored: dict[str, Any] = field(default_factory=dict, repr=False)
    raw: dict[str, Any] = field(default_factory=dict, repr=False)

    def pool(self, name: str) -> PoolConfig | None:
        return next((pool for pool in self.resource_pools if pool.pool_name == name), None)


def load_master_config(file_data: dict[str, Any] | None, env: Mapping[str, str], flags: dict[str, Any]) -> MasterConfig:
    """File < `DET_*` variables < flags.

    Raises:
        InvalidConfig: with every violation.
    """
    raw = canonical_master(layered(MASTER, _short_forms(file_data), env, _short_forms(flags)))
    filled = checked(MASTER, raw, "invalid master configuration")
    tls = TlsConfig(**filled["security"]["tls"])
    pools = _pools(filled)
    engines = tuple(_engine(section["resource_manager"]) for section in _managers(filled))
    _check_ray(engines, pools)
    _check_own(engines)
    return MasterConfig(
        host=filled["host"],
        port=filled.get("port", 8443 if tls.enabled else 8080),
        data_dir=filled.get("data_dir") or _default_data_dir(env),
        db=DatabaseConfig(_database_url(filled["db"])),
        checkpoint_storage=CHECKPOINT_STORAGE.fill(filled.get("checkpoint_storage")),
        task_container_defaults=filled["task_container_defaults"],
        tensorboard_timeout=filled["tensorboard_timeout"],
        notebook_timeout=filled["notebook_timeout"],
        launch_error=filled["launch_error"],
        cluster_name=filled["cluster_name"],
        enable_cors=filled["enable_cors"],
        log_level=filled["log"]["level"],
        retention_policy=LogRetention(**filled["retention_policy"]),
        telemetry_enabled=filled["telemetry"]["enabled"],
        enable_prometheus=filled["observability"]["enable_prometheus"],
        webhook_base_url=filled["webhooks"].get("base_url"),
        webhook_signing_key=filled["webhooks"].get("signing_key"),
        feature_switches=tuple(filled["feature_switches"]),
        reserved_ports=tuple(filled["reserved_ports"]),
        security=_security(filled["security"], tls),
        resource_manager=_resource_manager(filled["resource_manager"], pools),
        resource_pools=pools,
        engines=engines,
        advertised_url=filled.get("advertised_url"),
        slots=filled["slots"],
        slot_type=filled["slot_type"],
        local_agents=filled["local_agents"],
        ignored=dict(_ignored(raw, engines)),
        raw=filled,
    )


def canonical_master(raw: dict[str, Any]) -> dict[str, Any]:
    """Older names of keys, and the short forms of the sections shared with experiment configs."""
    changed = dict(raw)
    if "task_container_defaults" in raw:
        changed["task_container_defaults"] = canonical_container_defaults(raw["task_container_defaults"])
    if "checkpoint_storage" in raw:
        changed["checkpoint_storage"] = canonical_storage(CHECKPOINT_STORAGE.strip(raw["checkpoint_storage"]))
    if isinstance(raw.get("resource_manager"), dict):
        changed["resource_manager"] = _renamed(raw["resource_manager"], _OLD_MANAGER_KEYS)
    if isinstance(raw.get("resource_pools"), list):
        changed["resource_pools"] = [_canonical_pool(pool) for pool in raw["resource_pools"]]
    return changed


_OLD_MANAGER_KEYS = {
    "default_cpu_resource_pool": "default_aux_resource_pool",
    "default_gpu_resource_pool": "default_compute_resource_pool",
}
_OLD_POOL_KEYS = {"max_cpu_containers_per_agent": "max_aux_containers_per_agent"}


def _canonical_pool(pool: Any) -> Any:
    if not isinstance(pool, dict):
        return pool
    renamed = _renamed(pool, _OLD_POOL_KEYS)
    if "task_container_defaults" in renamed:
        renamed["task_container_defaults"] = canonical_container_defaults(renamed["task_container_defaults"])
    return renamed


def _renamed(raw: dict[str, Any], names: dict[str, str]) -> dict[str, Any]:
    renamed = {names[key]: value for key, value in raw.items() if key in names}
    return {**renamed, **{key: value for key, value in raw.items() if key not in names}}


def _short_forms(layer: dict[str, Any] | None) -> dict[str, Any]:
    layer = layer or {}
    return {**layer, "db": {"url": layer["db"]}} if isinstance(layer.get("db"), str) else layer


def _default_data_dir(env: Mapping[str, str]) -> str:
    """A directory of this user's own where there is a user, as no root is needed to run a master."""
    if env.get("XDG_DATA_HOME"):
        return f"{env['XDG_DATA_HOME']}/determined/master"
    return f"{env['HOME']}/.local/share/determined/master" if env.get("HOME") else MasterConfig().data_dir


def _database_url(db: dict[str, Any]) -> str | None:
    if db.get("url"):
        return str(db["url"])
    if not db.get("host"):
        return None
    login = quote(db.get("user") or "postgres", safe="")
    if db.get("password"):
        login += ":" + quote(db["password"], safe="")
    options = {"sslmode": db.get("ssl_mode") or "disable"}
    if db.get("ssl_root_cert"):
        options["sslrootcert"] = db["ssl_root_cert"]
    name = quote(db.get("name") or "determined", safe="")
    return f"postgresql://{login}@{db['host']}:{db.get('port') or 5432}/{name}?{urlencode(options)}"


def _security(raw: dict[str, Any], tls: TlsConfig) -> SecurityConfig:
    return SecurityConfig(
        initial_user_password=raw["initial_user_password"],
        default_task=AgentUser(**raw["default_task"]),
        tls=tls,
        token=TokenLifespans(**raw["token"]),
        require_user_isolation=raw["require_user_isolation"],
    )


def _pools(filled: dict[str, Any]) -> tuple[PoolConfig, ...]:
    """Of all managers, the first one's first."""
    return tuple(
        _pool(pool, section["resource_manager"])
        for section in _managers(filled)
        for pool in section.get("resource_pools") or [{}]
    )


def _managers(filled: dict[str, Any]) -> list[dict[str, Any]]:
    return [filled, *(filled.get("additional_resource_managers") or [])]


def _engine(manager: dict[str, Any]) -> EngineConfig:
    """Upstream calls our local engine an agent resource manager."""
    kind = manager["type"]
    return EngineConfig(manager.get("name") or ("local" if kind == "agent" else kind), kind, manager)


def _check_ray(engines: tuple[EngineConfig, ...], pools: tuple[PoolConfig, ...]) -> None:
    """What only Ray's own settings can be told of, told before anything is started."""
    names = {engine.name for engine in engines if engine.type == "ray"}
    for engine in engines:
        if engine.name in names:
            ray_manager(engine.settings)
    for pool in pools:
        if pool.engine in names:
            ray_pool(pool.pool_name, pool.settings.get("ray") or {})


def _check_own(engines: tuple[EngineConfig, ...]) -> None:
    for engine in engines:
        if engine.type == "slurm":
            slurm_settings(engine.settings)
        elif engine.type == "docker":
            docker_settings(engine.settings)


def _pool(raw: dict[str, Any], manager: dict[str, Any]) -> PoolConfig:
    wait = raw.get("agent_reconnect_wait", 25.0)
    return PoolConfig(
        pool_name=raw.get("pool_name", "default"),
        description=raw.get("description", ""),
        scheduler=SchedulerConfig(**(raw.get("scheduler") or manager["scheduler"])),
        max_aux_containers_per_agent=raw.get("max_aux_containers_per_agent", 100),
        task_container_defaults=raw.get("task_container_defaults"),
        agent_reconnect_wait=parse_duration(wait) if isinstance(wait, str) else float(wait),
        engine=_engine(manager).name,
        settings={key: raw[key] for key in ("partition", "ray") if key in raw},
    )


def _resource_manager(raw: dict[str, Any], pools: tuple[PoolConfig, ...]) -> ResourceManagerConfig:
    names = [pool.pool_name for pool in pools]
    fallback = "default" if "default" in names else names[0]
    return ResourceManagerConfig(
        type=raw["type"],
        scheduler=SchedulerConfig(**raw["scheduler"]),
        default_aux_resource_pool=raw.get("default_aux_resource_pool") or fallback,
        default_compute_resource_pool=raw.get("default_compute_resource_pool") or fallback,
        no_default_resource_pools=raw["no_default_resource_pools"],
    )


def _ignored(raw: dict[str, Any], engines: tuple[EngineConfig, ...]) -> Iterator[tuple[str, Any]]:
    """Find, by path, what the file sets and none of these engines honours, and keys of upstream's managers."""
    for path, value, _ in unused_keys(MASTER, raw, {engine.type for engine in engines}):
        yield path, value
    sections = {"": raw}
    for index, section in enumerate(raw.get("additional_resource_managers") or []):
        sections[f"additional_resource_managers[{index}]."] = section
    for at, section in sections.items():
        manager = section.get("resource_manager") or {}
        for key, value in _unknown(manager, _MANAGER_KEYS.get(manager.get("type") or "agent")):
            yield f"{at}resource_manager.{key}", value
    for key, value in _unknown(raw.get("telemetry") or {}, {"enabled"}):
        yield f"telemetry.{key}", value


def _unknown(section: dict[str, Any], known: Collection[str] | None) -> Iterator[tuple[str, Any]]:
    """None: that engine's own config refuses keys that it does not know."""
    if known is not None:
        yield from ((key, value) for key, value in section.items() if key not in known)


_MANAGER_KEYS: dict[str, Collection[str]] = {
    "agent": RESOURCE_MANAGER.fields,
    "slurm": {*RESOURCE_MANAGER.fields, *SLURM_MANAGER.fields},
}
