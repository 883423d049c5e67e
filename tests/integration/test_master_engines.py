"""Which engines a master starts with, as its config says."""

from pathlib import Path
from typing import Any

import pytest
from litestar import Litestar

from determined.errors import FailedPrecondition
from determined.master.app import create_app
from determined.master.config import load_master_config
from determined.master.lifecycle import cluster as clusters


@pytest.mark.parametrize("kind", ["kubernetes", "pbs"])
async def test_manager_that_is_not_supported_stops_the_start(tmp_path: Path, kind: str) -> None:
    app = _app(tmp_path, resource_manager={"type": kind})
    with pytest.raises(ExceptionGroup) as caught:
        async with app.lifespan():
            pass
    assert caught.group_contains(FailedPrecondition, match=f"type={kind} is not supported; use agent")


async def test_this_machine_is_in_the_default_pool(tmp_path: Path) -> None:
    manager = {"type": "agent", "name": "mine", "default_compute_resource_pool": "second"}
    pools = [{"pool_name": "first"}, {"pool_name": "second"}]
    app = _app(tmp_path, resource_manager=manager, resource_pools=pools, slots=3)
    async with app.lifespan():
        [placed] = clusters.of(app.state.ctx.bus).nodes()
        assert (placed.engine, placed.node.pool, len(placed.node.slots)) == ("local", "second", 3)


def _app(place: Path, **config: Any) -> Litestar:
    return create_app(load_master_config({"data_dir": str(place), **config}, {}, {}))
