"""Pools out of partitions, and the settings of a Slurm manager."""

from pathlib import Path

import pytest
from slurm_cluster import SlurmCluster

from determined.engines.context import Certificate, EngineContext, Machine
from determined.engines.resource_manager import ResourceManager
from determined.engines.slurm.config import SlurmManager
from determined.engines.slurm.records import Records
from determined.engines.slurm.wiring import build
from determined.errors import InvalidConfig, Unavailable
from determined.master.config import MasterConfig, load_master_config
from determined.master.engine_wiring import with_found_pools


def _config(place: Path, **more: object) -> MasterConfig:
    return load_master_config({"data_dir": str(place), "resource_manager": {"type": "slurm", **more}}, {}, {})


def _context(config: MasterConfig) -> EngineContext[ResourceManager]:
    return EngineContext(
        name="slurm",
        manager=config.engines[0].manager,
        pools=config.pools,
        default_pool="main",
        data_dir=Path(config.data_dir),
        machine=Machine(),
        is_alone=True,
        python="python3",
        cluster_id="c",
        secret=b"",
        master_url="http://127.0.0.1:1",
        certificate=Certificate,
    )


async def test_every_partition_is_a_pool_where_none_is_configured(at_slurm: SlurmCluster, tmp_path: Path) -> None:
    found = await with_found_pools(_config(tmp_path, default_aux_resource_pool="small"))
    assert sorted(pool.pool_name for pool in found.pools) == ["main", "shut", "small", "urgent"]
    assert {pool.engine for pool in found.pools} == {"slurm"}
    assert found.resource_manager.default_compute_resource_pool == "main"
    assert found.resource_manager.default_aux_resource_pool == "small"
    engine = build(_context(found))
    await engine.open()
    await engine.close()
    assert {node.id: len(node.slots) for node in engine.nodes()} == {"n1": 2, "n2": 2, "n3": 2}


async def test_configured_pools_are_left_alone(tmp_path: Path) -> None:
    raw = {"resource_manager": {"type": "slurm"}, "resource_pools": [{"pool_name": "a", "partition": "main"}]}
    config = load_master_config(raw, {}, {})
    assert await with_found_pools(config) is config


async def test_partitions_of_the_last_answer_are_the_pools_while_slurm_is_away(tmp_path: Path) -> None:
    nowhere = _config(tmp_path, path=str(tmp_path / "no-commands"))
    with pytest.raises(Unavailable, match="tells no partitions"):
        await with_found_pools(nowhere)
    (tmp_path / "slurm").mkdir()
    Records(tmp_path / "slurm").remember_hosts(["main*|n1|idle|8|n/a|infinite|n1|gpu:2"])
    found = await with_found_pools(nowhere)
    assert [pool.pool_name for pool in found.pools] == ["main"]


def test_settings_are_checked_when_the_config_is_read() -> None:
    with pytest.raises(InvalidConfig, match="slots_per_node"):
        _config(Path("unused"), slots_per_node=0)
    assert SlurmManager.of({"slot_type": "gpu", "launcher_jvm_args": "upstream's own"}).slot_type == "cuda"
