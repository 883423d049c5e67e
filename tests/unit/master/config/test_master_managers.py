"""Resource managers and their pools in a master config."""

from typing import Any

import pytest

from determined.errors import InvalidConfig
from determined.master.config import MasterConfig, load_master_config

RAY = {
    "resource_manager": {"type": "ray", "name": "big", "dashboard_url": "http://ray:1"},
    "resource_pools": [{"pool_name": "gpu"}],
}


def load(**file_data: Any) -> MasterConfig:
    return load_master_config(file_data, {}, {})


def test_master_without_a_manager_has_the_local_engine() -> None:
    config = load()
    assert [(engine.name, engine.type) for engine in config.engines] == [("local", "agent")]
    assert [pool.engine for pool in config.pools] == ["local"]
    assert config.engines == MasterConfig().engines


def test_pools_of_several_managers_know_whose_they_are() -> None:
    config = load(
        resource_pools=[{"pool_name": "here"}, {"pool_name": "cpu"}],
        resource_manager={"type": "agent", "scheduler": {"type": "fair_share"}},
        additional_resource_managers=[RAY],
    )
    assert [(pool.pool_name, pool.engine) for pool in config.pools] == [
        ("here", "local"),
        ("cpu", "local"),
        ("gpu", "big"),
    ]
    assert [pool.scheduler.type for pool in config.pools] == ["fair_share", "fair_share", "priority"]
    assert [(engine.name, engine.type) for engine in config.engines] == [("local", "agent"), ("big", "ray")]
    assert config.engines[1].manager.raw["dashboard_url"] == "http://ray:1"
    assert config.resource_manager.default_compute_resource_pool == "here"


def test_manager_without_a_name_is_called_after_its_type() -> None:
    config = load(resource_manager={"type": "slurm"}, resource_pools=[{"pool_name": "p", "partition": "debug"}])
    assert [engine.name for engine in config.engines] == ["slurm"]
    assert [(pool.engine, pool.partition) for pool in config.pools] == [("slurm", "debug")]


def test_default_pool_may_be_any_managers() -> None:
    manager = {"type": "agent", "default_compute_resource_pool": "gpu"}
    config = load(resource_manager=manager, additional_resource_managers=[RAY])
    assert config.resource_manager.default_compute_resource_pool == "gpu"
    assert config.resource_manager.default_aux_resource_pool == "default"


@pytest.mark.parametrize("url", ["master:8080", "10.0.0.1", "https://", "http://a b", "ftp://master", ""])
def test_advertised_url_that_nobody_could_use_is_refused(url: str) -> None:
    with pytest.raises(InvalidConfig, match="http://HOST:PORT"):
        load(advertised_url=url)


def test_advertised_url_is_none_unless_given() -> None:
    assert load().advertised_url is None
    for url in ("https://master.example", "http://[::1]:8080", "https://proxy.example/determined/"):
        assert load(advertised_url=url).advertised_url == url


@pytest.mark.parametrize(
    ("file_data", "message"),
    [
        ({"resource_manager": {"type": "nomad"}}, "resource_manager.type"),
        ({"additional_resource_managers": [RAY, RAY]}, "two managers are called `big`"),
        ({"additional_resource_managers": [RAY], "resource_pools": [{"pool_name": "gpu"}]}, "more than one pool"),
        (
            {"additional_resource_managers": [{**RAY, "resource_manager": {"type": "agent", "name": "x"}}]},
            "two managers have type `agent`",
        ),
        (
            {"additional_resource_managers": [{**RAY, "resource_manager": {"type": "ray", "name": "local"}}]},
            "two managers are called `local`",
        ),
        ({"additional_resource_managers": [{"resource_manager": {"type": "ray"}}]}, "resource_pools"),
        ({"resource_manager": {"default_aux_resource_pool": "none"}}, "no pool `none`"),
    ],
)
def test_managers_that_contradict_each_other_are_refused(file_data: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidConfig, match=message):
        load(**file_data)
