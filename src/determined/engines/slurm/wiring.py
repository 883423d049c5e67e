"""Wiring of a Slurm engine from a master's config; if that names no pools, each partition of sinfo becomes one."""

import asyncio
import logging
from pathlib import Path

from determined.engines.context import EngineContext, FoundPools
from determined.engines.resource_pool import PoolConfig
from determined.engines.slurm.commands import Slurm
from determined.engines.slurm.config import SlurmManager, SlurmPoolKeys
from determined.engines.slurm.engine import SlurmEngine
from determined.engines.slurm.partitions import Host, parse_hosts
from determined.engines.slurm.records import Records
from determined.errors import FailedPrecondition, Unavailable

logger = logging.getLogger(__name__)


def build(context: EngineContext[SlurmManager]) -> SlurmEngine:
    partitions = {pool.pool_name: _partition(pool) for pool in context.pools}
    return SlurmEngine(
        context.manager, partitions, context.own_dir, context.cluster_id, context.python, name=context.name
    )


async def find_pools(manager: SlurmManager, own_dir: Path) -> FoundPools:
    """Name a pool for each partition.

    Raises:
        Unavailable: Slurm does not answer, and never has. Without its pools a master would end their experiments.
    """
    hosts = await _hosts(manager, own_dir)
    names = tuple(dict.fromkeys(host.partition for host in hosts))
    return FoundPools(names, next((host.partition for host in hosts if host.is_default), names[0]))


async def _hosts(manager: SlurmManager, own_dir: Path) -> tuple[Host, ...]:
    records = Records(own_dir)
    try:
        lines = await Slurm(manager.path).hosts()
    except (Unavailable, FailedPrecondition) as e:
        lines = await asyncio.to_thread(records.hosts)
        logger.warning("sinfo does not answer: %s; the pools are the partitions that were there before", e.message)
    hosts = parse_hosts(lines)
    if not hosts:
        raise Unavailable(
            "Slurm tells no partitions (sinfo), so there are no resource pools; start slurmctld, or name resource_pools"
        )
    return hosts


def _partition(pool: PoolConfig) -> str:
    """Read the partition that the pool's config names, else the one of the pool's name."""
    return SlurmPoolKeys.load(pool.raw).partition or pool.pool_name
