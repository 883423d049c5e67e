"""Wiring of a local engine from a master's config."""

import socket

from determined.engines.context import EngineContext
from determined.engines.local.config import LocalManager
from determined.engines.local.engine import LocalEngine, LocalNode
from determined.engines.resource_pool import PoolConfig


def build(context: EngineContext[LocalManager]) -> LocalEngine:
    return LocalEngine(
        run_root=context.data_dir / "runs",
        nodes=_nodes(context),
        visible_gpus=context.machine.visible_gpus,
        warm=context.manager.warm,
    )


def _nodes(context: EngineContext[LocalManager]) -> list[LocalNode]:
    """List the nodes. Devices are looked for once: two nodes that found the same GPU would both hand it out."""
    pool, machine = _pool(context), context.machine
    host = socket.gethostname()
    return [
        LocalNode(
            id=host if number == 0 else f"{host}-{number}",
            pool=pool.pool_name,
            slots=machine.slots if number == 0 or machine.slots is not None else 1,
            slot_type=machine.slot_type,
            max_aux=pool.max_aux_containers_per_agent,
        )
        for number in range(machine.nodes)
    ]


def _pool(context: EngineContext[LocalManager]) -> PoolConfig:
    """Choose the cluster's default pool where that is this engine's, else the first."""
    own = {pool.pool_name: pool for pool in context.pools}
    return own.get(context.default_pool) or context.pools[0]
