"""The config of a master: its file, environment and flags, and what follows from them."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from determined._json import JsonObject, JsonValue
from determined.engines import registry
from determined.engines.resource_manager import ResourceManager
from determined.master.config.file import MasterFile, Telemetry
from determined.master.config.managers import AnyManager, AnyPool
from determined.schema.layers import checked, layered
from determined.schema.node import Text
from determined.schema.section import field
from determined.schema.unused import unused_keys


@dataclass(frozen=True, slots=True)
class EngineConfig:
    """Engine: its name, and its resource manager as a section of its own class, which has the engine's traits."""

    name: str
    manager: ResourceManager

    @property
    def type(self) -> str:
        return self.manager.type


class Pool(AnyPool):
    """A resource pool with its engine, and with the scheduler that it has in the end."""

    engine: str = field(Text(), "The name of the engine it belongs to.", default=registry.engine_name(registry.DEFAULT))


class MasterConfig(MasterFile):
    """A master config with all that follows from it."""

    @cached_property
    def engines(self) -> tuple[EngineConfig, ...]:
        """The engines of all managers, the first one's first."""
        return tuple(EngineConfig(one.engine_name, _of_engine(one)) for one, _ in self._managers)

    @cached_property
    def pools(self) -> tuple[Pool, ...]:
        """The pools of all managers, the first one's first."""
        alone = (AnyPool(pool_name="default"),)
        return tuple(_pool(pool, manager) for manager, pools in self._managers for pool in pools or alone)

    @cached_property
    def ignored(self) -> JsonObject:
        """Settings that are set and that this master has no use for, by dotted path."""
        return dict(_ignored(self.raw, self.engines))

    def pool(self, name: str) -> Pool | None:
        return next((pool for pool in self.pools if pool.pool_name == name), None)

    def engine(self, name: str | None) -> EngineConfig | None:
        return next((engine for engine in self.engines if engine.name == name), None)

    @property
    def _managers(self) -> list[tuple[AnyManager, tuple[AnyPool, ...]]]:
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
    _check_pools(config)
    return config


def _of_engine(manager: AnyManager) -> ResourceManager:
    """Type a manager by its engine's section. Raises InvalidConfig with every violation."""
    return registry.manager(manager.type).of({"type": manager.type, **manager.raw})


def _default_data_dir(env: Mapping[str, str]) -> str:
    """Return a directory of this user's own where there is a user, as no root is needed to run a master."""
    if env.get("XDG_DATA_HOME"):
        return f"{env['XDG_DATA_HOME']}/determined/master"
    return f"{env['HOME']}/.local/share/determined/master" if env.get("HOME") else MasterConfig().data_dir


def _with_default_pools(config: MasterConfig) -> AnyManager:
    """Use the first pool where none is named and none is called `default`."""
    names, manager = [pool.pool_name for pool in config.pools], config.resource_manager
    fallback = "default" if "default" in names else names[0]
    return manager.replace(
        default_aux_resource_pool=manager.raw.get("default_aux_resource_pool") or fallback,
        default_compute_resource_pool=manager.raw.get("default_compute_resource_pool") or fallback,
    )


def _pool(pool: AnyPool, manager: AnyManager) -> Pool:
    own = pool.raw.get("scheduler") or manager.scheduler.raw
    return Pool.load({**pool.raw, "pool_name": pool.pool_name, "scheduler": own, "engine": manager.engine_name})


def _check_pools(config: MasterConfig) -> None:
    """Check the keys of pools that only their engine knows, before anything is started."""
    for engine in config.engines:
        for pool in config.pools:
            if pool.engine == engine.name:
                engine.manager.check_pool(pool.pool_name, pool.raw)


def _ignored(raw: JsonObject, engines: tuple[EngineConfig, ...]) -> Iterator[tuple[str, JsonValue]]:
    """Find, by path, what the file sets and none of these engines honours, and keys of upstream's managers."""
    for path, value, _ in unused_keys(MasterFile.schema, raw, registry.traits(*(engine.type for engine in engines))):
        yield path, value
    sections = {"": raw}
    for index, section in enumerate(raw.get("additional_resource_managers") or []):
        sections[f"additional_resource_managers[{index}]."] = section
    for at, section in sections.items():
        manager = section.get("resource_manager") or {}
        known = registry.managers().get(manager.get("type") or registry.DEFAULT)
        for key, value in _unknown(manager, known.schema.fields if known else manager):
            yield f"{at}resource_manager.{key}", value
    for key, value in _unknown(raw.get("telemetry") or {}, Telemetry.schema.fields):
        yield f"telemetry.{key}", value


def _unknown(section: JsonObject, known: Collection[str]) -> Iterator[tuple[str, JsonValue]]:
    yield from ((key, value) for key, value in section.items() if key not in known)
