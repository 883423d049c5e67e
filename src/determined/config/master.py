"""The config of a master: its file, environment and flags, and what follows from them."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from dataclasses import field as dataclass_field
from functools import cached_property

from determined._json import JsonObject, JsonValue
from determined.config.docker_manager import docker_settings
from determined.config.master_schema import MasterFile, Telemetry
from determined.config.ray_manager import ray_manager, ray_pool
from determined.config.resource_manager import PoolConfig, ResourceManager
from determined.config.slurm_manager import SlurmSettings, slurm_settings
from determined.schema.layers import checked, layered
from determined.schema.node import Text
from determined.schema.section import field
from determined.schema.unused import unused_keys


@dataclass(frozen=True, slots=True)
class EngineConfig:
    """One resource manager as the engine it names: `settings` are all of its keys, read by that engine's own config."""

    name: str = "local"
    type: str = "agent"
    settings: JsonObject = dataclass_field(default_factory=dict, repr=False)


class Pool(PoolConfig):
    """A resource pool with its engine, and with the scheduler that it has in the end."""

    engine: str = field(Text(), "The name of the engine it belongs to.", default="local")


class MasterConfig(MasterFile):
    """A master config with all that follows from it."""

    @cached_property
    def engines(self) -> tuple[EngineConfig, ...]:
        """The engines of all managers, the first one's first."""
        return tuple(EngineConfig(one.engine_name, one.type, one.raw) for one, _ in self._managers)

    @cached_property
    def pools(self) -> tuple[Pool, ...]:
        """The pools of all managers, the first one's first."""
        alone = (PoolConfig(pool_name="default"),)
        return tuple(_pool(pool, manager) for manager, pools in self._managers for pool in pools or alone)

    @cached_property
    def ignored(self) -> JsonObject:
        """By dotted path, what is set and this master has no use for."""
        return dict(_ignored(self.raw, self.engines))

    def pool(self, name: str) -> Pool | None:
        return next((pool for pool in self.pools if pool.pool_name == name), None)

    @property
    def _managers(self) -> list[tuple[ResourceManager, tuple[PoolConfig, ...]]]:
        first = (self.resource_manager, self.resource_pools)
        return [first, *((one.resource_manager, one.resource_pools) for one in self.additional_resource_managers)]


def load_master_config(file_data: JsonObject | None, env: Mapping[str, str], flags: JsonObject) -> MasterConfig:
    """Lay the file under `DET_*` variables under flags.

    Raises:
        InvalidConfig: with every violation.
    """
    raw = layered(MasterFile, file_data, env, flags)
    filled = checked(MasterFile, raw, "invalid master configuration")
    config = MasterConfig.load(filled)
    config = config.replace(
        port=config.port if "port" in filled or not config.security.tls.enabled else 8443,
        data_dir=filled.get("data_dir") or _default_data_dir(env),
        resource_manager=_with_default_pools(config),
    )
    _check_engines(config)
    return config


def _default_data_dir(env: Mapping[str, str]) -> str:
    """A directory of this user's own where there is a user, as no root is needed to run a master."""
    if env.get("XDG_DATA_HOME"):
        return f"{env['XDG_DATA_HOME']}/determined/master"
    return f"{env['HOME']}/.local/share/determined/master" if env.get("HOME") else MasterConfig().data_dir


def _with_default_pools(config: MasterConfig) -> ResourceManager:
    """A cluster without a pool called `default` uses its first one where none is named."""
    names, manager = [pool.pool_name for pool in config.pools], config.resource_manager
    fallback = "default" if "default" in names else names[0]
    return manager.replace(
        default_aux_resource_pool=manager.raw.get("default_aux_resource_pool") or fallback,
        default_compute_resource_pool=manager.raw.get("default_compute_resource_pool") or fallback,
    )


def _pool(pool: PoolConfig, manager: ResourceManager) -> Pool:
    own = pool.raw.get("scheduler") or manager.scheduler.raw
    return Pool.load({**pool.raw, "pool_name": pool.pool_name, "scheduler": own, "engine": manager.engine_name})


def _check_engines(config: MasterConfig) -> None:
    """Check what only an engine's own settings can tell of, before anything is started."""
    rays = {engine.name for engine in config.engines if engine.type == "ray"}
    for engine in config.engines:
        if engine.type == "ray":
            ray_manager(engine.settings)
        elif engine.type == "slurm":
            slurm_settings(engine.settings)
        elif engine.type == "docker":
            docker_settings(engine.settings)
    for pool in config.pools:
        if pool.engine in rays:
            ray_pool(pool.pool_name, pool.ray)


def _ignored(raw: JsonObject, engines: tuple[EngineConfig, ...]) -> Iterator[tuple[str, JsonValue]]:
    """Find, by path, what the file sets and none of these engines honours, and keys of upstream's managers."""
    for path, value, _ in unused_keys(MasterFile.schema, raw, {engine.type for engine in engines}):
        yield path, value
    sections = {"": raw}
    for index, section in enumerate(raw.get("additional_resource_managers") or []):
        sections[f"additional_resource_managers[{index}]."] = section
    for at, section in sections.items():
        manager = section.get("resource_manager") or {}
        for key, value in _unknown(manager, _MANAGER_KEYS.get(manager.get("type") or "agent")):
            yield f"{at}resource_manager.{key}", value
    for key, value in _unknown(raw.get("telemetry") or {}, Telemetry.schema.fields):
        yield f"telemetry.{key}", value


def _unknown(section: JsonObject, known: Collection[str] | None) -> Iterator[tuple[str, JsonValue]]:
    """None: that engine's own config refuses keys that it does not know."""
    if known is not None:
        yield from ((key, value) for key, value in section.items() if key not in known)


_MANAGER_KEYS: dict[str, Collection[str]] = {
    "agent": ResourceManager.schema.fields,
    "slurm": SlurmSettings.schema.fields,
}
