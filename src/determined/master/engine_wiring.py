"""The engines of a master out of its config: what they are told, and the pools that only they can name."""

import logging
import sys
from pathlib import Path
from urllib.parse import urlsplit

from determined.engines import registry
from determined.engines.base import Engine
from determined.engines.context import Certificate, EngineContext, Machine
from determined.engines.resource_manager import ResourceManager
from determined.errors import FailedPrecondition
from determined.master.auth.browser import LOOPBACK
from determined.master.config import EngineConfig, MasterConfig
from determined.master.config.managers import AnyPool
from determined.master.context import MasterContext
from determined.master.lifecycle.certificate import known_as
from determined.master.lifecycle.identity import advertised_url

logger = logging.getLogger(__name__)


async def with_found_pools(config: MasterConfig) -> MasterConfig:
    """Add the pools that the first engine finds, where the config names none.

    Raises:
        Unavailable: the engine cannot tell, and never could.
    """
    first = config.engines[0]
    if not first.manager.finds_pools or config.raw.get("resource_pools"):
        return config
    found = await registry.wiring(first.type).find_pools(first.manager, Path(config.data_dir) / first.name)
    own = first.manager.raw
    manager = config.resource_manager.replace(
        default_aux_resource_pool=own.get("default_aux_resource_pool") or found.default,
        default_compute_resource_pool=own.get("default_compute_resource_pool") or found.default,
    )
    pools = tuple(AnyPool(pool_name=name) for name in found.names)
    return config.replace(resource_pools=pools, resource_manager=manager)


def build_engines(ctx: MasterContext, visible_gpus: str | None) -> list[Engine]:
    """Make the engine of each resource manager. An engine's code is imported only where it is named.

    Raises:
        FailedPrecondition: there is no engine for one of them.
    """
    return [_engine(ctx, engine, visible_gpus) for engine in ctx.config.engines]


def _engine(ctx: MasterContext, engine: EngineConfig, visible_gpus: str | None) -> Engine:
    if engine.type in registry.NOT_IMPLEMENTED:
        known = registry.described().replace("`", "")
        raise FailedPrecondition(f"resource_manager.type={engine.type} is not supported; use {known}")
    _warn_of_loopback(ctx.config, engine)
    return registry.wiring(engine.type).build(_context(ctx, engine, visible_gpus))


def _context(ctx: MasterContext, engine: EngineConfig, visible_gpus: str | None) -> EngineContext[ResourceManager]:
    config = ctx.config
    return EngineContext(
        name=engine.name,
        manager=engine.manager,
        pools=tuple(pool for pool in config.pools if pool.engine == engine.name),
        default_pool=config.resource_manager.default_compute_resource_pool,
        data_dir=Path(config.data_dir),
        machine=Machine(
            nodes=config.local_agents, slots=config.slots, slot_type=config.slot_type, visible_gpus=visible_gpus
        ),
        is_alone=len(config.engines) == 1,
        python=sys.executable,
        cluster_id=ctx.cluster.cluster_id,
        secret=ctx.cluster.secret,
        master_url=advertised_url(config),
        certificate=lambda: _certificate(config),
    )


def _certificate(config: MasterConfig) -> Certificate:
    known = known_as(config)
    return Certificate(known.file, known.name)


def _warn_of_loopback(config: MasterConfig, engine: EngineConfig) -> None:
    callers, url = engine.manager.remote_callers, advertised_url(config)
    if callers is not None and urlsplit(url).hostname in LOOPBACK:
        logger.warning(
            "%s: %s cannot reach this master at %s; set host (0.0.0.0, or one that they reach),"
            " security.tls, and advertised_url where that is not the address they use",
            engine.name,
            callers,
            url,
        )
