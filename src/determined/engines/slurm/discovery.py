"""A Slurm engine out of a master's config; where that names no pools, each partition that sinfo shows becomes one."""

import asyncio
import logging
from pathlib import Path

from determined.config.master import EngineConfig, MasterConfig, Pool
from determined.config.resource_manager import PoolConfig
from determined.config.slurm_manager import slurm_settings
from determined.engines.slurm.commands import Slurm
from determined.engines.slurm.engine import SlurmEngine
from determined.engines.slurm.partitions import Host, parse_hosts
from determined.engines.slurm.records import Records
from determined.errors import FailedPrecondition, Unavailable

logger = logging.getLogger(__name__)


def slurm_engine(config: MasterConfig, engine: EngineConfig, place: Path, cluster_id: str, python: str) -> SlurmEngine:
    """`place`: the engine's own directory. `python`: for nodes where the config names none."""
    pools = {pool.pool_name: _partition(pool) for pool in config.pools if pool.engine == engine.name}
    return SlurmEngine(slurm_settings(engine.settings), pools, place, cluster_id, python, name=engine.name)


async def with_partitions(config: MasterConfig, place: Path) -> MasterConfig:
    """Add to the config a pool for each partition, where the first manager is Slurm and no pools are given.

    Raises:
        Unavailable: Slurm does not answer, and never has. Without its pools a master would end their experiments.
    """
    first = config.engines[0]
    if first.type != "slurm" or config.raw.get("resource_pools"):
        return config
    hosts = await _hosts(first, place)
    names = list(dict.fromkeys(host.partition for host in hosts))
    usual = next((host.partition for host in hosts if host.is_default), names[0])
    manager = config.resource_manager.replace(
        default_aux_resource_pool=first.settings.get("default_aux_resource_pool") or usual,
        default_compute_resource_pool=first.settings.get("default_compute_resource_pool") or usual,
    )
    pools = tuple(PoolConfig(pool_name=name) for name in names)
    return config.replace(resource_pools=pools, resource_manager=manager)


async def _hosts(engine: EngineConfig, place: Path) -> tuple[Host, ...]:
    records = Records(place)
    try:
        lines = await Slurm(slurm_settings(engine.settings).path).hosts()
    except (Unavailable, FailedPrecondition) as e:
        lines = await asyncio.to_thread(records.hosts)
        logger.warning("sinfo does not answer: %s; the pools are the partitions that were there before", e.message)
    hosts = parse_hosts(lines)
    if not hosts:
        raise Unavailable(
            "Slurm tells no partitions (sinfo), so there are no resource pools; start slurmctld, or name resource_pools"
        )
    return hosts


def _partition(pool: Pool) -> str:
    """Named by the pool's config, else of the same name."""
    return pool.partition or pool.pool_name
