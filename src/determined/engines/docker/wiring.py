"""Wiring of a Docker engine from a master's config."""

import socket

from determined.engines.context import EngineContext
from determined.engines.docker.config import DockerManager
from determined.engines.docker.engine import DockerEngine, DockerNode


def build(context: EngineContext[DockerManager]) -> DockerEngine:
    manager, machine, pools = context.manager, context.machine, context.pools
    host = socket.gethostname()
    node = DockerNode(
        id=host if context.is_alone else f"{host}-{context.name}",
        pool=pools[0].pool_name,
        also_pools=tuple(pool.pool_name for pool in pools[1:]),
        slots=manager.slots if manager.slots is not None else machine.slots,
        slot_type=manager.slot_type or machine.slot_type,
        visible_gpus=manager.visible_gpus or machine.visible_gpus,
        max_aux=pools[0].max_aux_containers_per_agent,
    )
    runs = context.own_dir / "runs"
    return DockerEngine(runs, node, manager, context.cluster_id, context.python, name=context.name)
