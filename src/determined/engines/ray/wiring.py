"""Wiring of a Ray engine from a master's config."""

from pathlib import Path

from determined.engines.context import EngineContext
from determined.engines.ray.bridge_supervisor import Home
from determined.engines.ray.config import RayManager, RayPoolKeys, ray_pool
from determined.engines.ray.engine import RayEngine


def build(context: EngineContext[RayManager]) -> RayEngine:
    known = context.certificate()
    home = Home(
        cluster_id=context.cluster_id,
        secret=context.secret,
        url=context.master_url,
        cert=Path(known.file).read_text() if known.file else None,
        cert_name=known.name,
    )
    pools = [ray_pool(pool.pool_name, RayPoolKeys.load(pool.raw).ray) for pool in context.pools]
    return RayEngine(context.name, home, context.manager, pools)
