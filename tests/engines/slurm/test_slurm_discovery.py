"""Pools out of partitions, and the settings of a Slurm manager."""

from pathlib import Path

import pytest
from slurm_cluster import SlurmCluster

from determined.config.master import MasterConfig, load_master_config
from determined.config.slurm_manager import slurm_settings
from determined.engines.slurm.discovery import slurm_engine, with_partitions
from determined.engines.slurm.records import Records
from determined.errors import InvalidConfig, Unavailable


def _config(**more: object) -> MasterConfig:
    return load_master_config({"resource_manager": {"type": "slurm", **more}}, {}, {})


async def test_every_partition_is_a_pool_where_none_is_configured(at_slurm: SlurmCluster, tmp_path: Path) -> None:
    found = await with_partitions(_config(default_aux_resource_pool="small"), tmp_path)
    assert sorted(pool.pool_name for pool in found.resource_pools) == ["main", "shut", "small", "urgent"]
    assert {pool.engine for pool in found.resource_pools} == {"slurm"}
    assert found.resource_manager.default_compute_resource_pool == "main"
    assert found.resource_manager.default_aux_resource_pool == "small"
    engine = slurm_engine(found, found.engines[0], tmp_path, "c", "python3")
    await engine.open()
    await engine.close()
    assert {node.id: len(node.slots) for node in engine.nodes()} == {"n1": 2, "n2": 2, "n3": 2}


async def test_configured_pools_are_left_alone(tmp_path: Path) -> None:
    raw = {"resource_manager": {"type": "slurm"}, "resource_pools": [{"pool_name": "a", "partition": "main"}]}
    config = load_master_config(raw, {}, {})
    assert await with_partitions(config, tmp_path) is config


async def test_partitions_of_the_last_answer_are_the_pools_while_slurm_is_away(tmp_path: Path) -> None:
    nowhere = _config(path=str(tmp_path / "no-commands"))
    with pytest.raises(Unavailable, match="tells no partitions"):
        await with_partitions(nowhere, tmp_path)
    Records(tmp_path).remember_hosts(["main*|n1|idle|8|n/a|infinite|n1|gpu:2"])
    found = await with_partitions(nowhere, tmp_path)
    assert [pool.pool_name for pool in found.resource_pools] == ["main"]


def test_settings_are_checked_when_the_config_is_read() -> None:
    with pytest.raises(InvalidConfig, match="slots_per_node"):
        _config(slots_per_node=0)
    assert slurm_settings({"slot_type": "gpu", "launcher_jvm_args": "upstream's own"}).slot_type == "cuda"
