"""Which engines a master starts with, as its config says."""

from pathlib import Path
from typing import Any

import pytest
from litestar import Litestar

from determined.errors import FailedPrecondition, InvalidArgument
from determined.master.app import create_app
from determined.master.config import load_master_config
from determined.master.lifecycle import cluster as clusters
from determined.master.services.pool import check_capacity

# Nobody answers there: the master starts and waits.
RAY = {
    "resource_manager": {"type": "ray", "dashboard_url": "http://127.0.0.1:9"},
    "resource_pools": [{"pool_name": "gpus", "ray": {}}],
}


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


@pytest.mark.parametrize(
    ("pool", "way"),
    [
        ("default", "det master start --slots 9"),
        ("small", "det deploy local agent-up localhost --agent-name small-1 --agent-resource-pool small --slots 9"),
    ],
)
async def test_request_that_is_too_large_names_the_way_to_more_slots_of_its_pool(
    tmp_path: Path, pool: str, way: str
) -> None:
    app = _app(tmp_path, resource_pools=[{"pool_name": "default"}, {"pool_name": "small"}], slots=1)
    async with app.lifespan():
        with pytest.raises(InvalidArgument) as refused:
            await check_capacity(app.state.ctx, pool, 9, single_node=False)
    assert way in refused.value.message
    assert ("master start" in refused.value.message) is (pool == "default")


async def test_this_machine_is_in_its_own_pool_where_the_default_one_is_anothers(tmp_path: Path) -> None:
    here = {"resource_manager": {"type": "agent", "name": "here"}, "resource_pools": [{"pool_name": "desk"}]}
    app = _app(tmp_path, **RAY, additional_resource_managers=[here], slots=3)
    async with app.lifespan():
        [placed] = clusters.of(app.state.ctx.bus).nodes()
        assert (placed.node.pool, len(placed.node.slots)) == ("desk", 3)


@pytest.mark.parametrize(
    ("advertised", "warned"), [(None, True), ("http://localhost:8080", True), ("http://login1:8080", False)]
)
@pytest.mark.parametrize("kind", ["ray", "slurm"])
async def test_address_that_other_hosts_cannot_reach_is_warned_of(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, kind: str, advertised: str | None, warned: bool
) -> None:
    named = {} if advertised is None else {"advertised_url": advertised}
    pools = RAY["resource_pools"] if kind == "ray" else [{"pool_name": "main"}]
    manager = RAY["resource_manager"] if kind == "ray" else {"type": "slurm", "path": str(tmp_path)}
    app = _app(tmp_path, resource_manager=manager, resource_pools=pools, **named)
    async with app.lifespan():
        pass
    assert ("cannot reach this master" in caplog.text) is warned


def _app(place: Path, **config: Any) -> Litestar:
    return create_app(load_master_config({"data_dir": str(place), **config}, {}, {}))
