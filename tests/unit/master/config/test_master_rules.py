"""Rules across the sections of a master config, and what its message tells the operator to write."""

from typing import Any

import pytest

from determined.config import mask_secrets
from determined.errors import InvalidConfig
from determined.master.config import MasterConfig, load_master_config
from determined.master.config.file import MasterFile

DOCKER_POOL = [{"pool_name": "boxes"}]


def load(env: dict[str, str] | None = None, **file_data: Any) -> MasterConfig:
    return load_master_config(file_data, env or {}, {})


def refusal(env: dict[str, str] | None = None, **file_data: Any) -> str:
    with pytest.raises(InvalidConfig) as refused:
        load(env, **file_data)
    return refused.value.message


def more(manager: dict[str, Any], pools: list[dict[str, Any]] = DOCKER_POOL) -> list[dict[str, Any]]:
    return [{"resource_manager": manager, "resource_pools": pools}]


def test_two_engines_of_one_machine_say_which_devices_are_whose() -> None:
    message = refusal(additional_resource_managers=more({"type": "docker"}))
    assert "`agent` and `docker` are both this machine" in message
    assert "say in the docker manager what is its own: `slots`, `slot_type` or `visible_gpus`" in message
    for key, value in (("slots", 2), ("slot_type", "cpu"), ("visible_gpus", "0")):
        assert len(load(additional_resource_managers=more({"type": "docker", key: value})).engines) == 2


def test_a_docker_engine_alone_has_the_whole_machine() -> None:
    assert [engine.name for engine in load(resource_manager={"type": "docker"}).engines] == ["docker"]


def test_two_managers_of_one_kind_need_names() -> None:
    ray = {"type": "ray"}
    pools = [{"pool_name": "a"}]
    message = refusal(
        resource_manager=ray, resource_pools=[{"pool_name": "b"}], additional_resource_managers=more(ray, pools)
    )
    assert "two managers are called `ray`; give each a `name` of its own" in message
    named = more({"type": "ray", "name": "second"}, pools)
    config = load(resource_manager=ray, resource_pools=[{"pool_name": "b"}], additional_resource_managers=named)
    assert [(pool.pool_name, pool.engine) for pool in config.pools] == [("b", "ray"), ("a", "second")]
    assert config.engine("second") is config.engines[1] and config.engine(None) is None


@pytest.mark.parametrize("key", ["default_aux_resource_pool", "default_compute_resource_pool"])
def test_a_default_pool_that_is_none_is_named_with_those_that_are(key: str) -> None:
    pools = [{"pool_name": "a"}, {"pool_name": "b"}]
    message = refusal(resource_manager={"type": "agent", key: "c"}, resource_pools=pools)
    assert f"<config>.resource_manager.{key}: no pool `c`; pools are a, b" in message


def test_the_default_pool_of_an_engine_that_finds_pools_is_known_later() -> None:
    manager = {"type": "slurm", "default_compute_resource_pool": "gpu"}
    assert load(resource_manager=manager).resource_manager.default_compute_resource_pool == "gpu"
    assert "no pool `gpu`" in refusal(resource_manager=manager, resource_pools=[{"pool_name": "cpu"}])


@pytest.mark.parametrize(
    ("manager", "pools", "message"),
    [
        ({"type": "ray"}, [{"pool_name": "g", "ray": {"per_slot": 0}}], "per_slot: must be at least 1, not 0"),
        ({"type": "ray"}, [{"pool_name": "g", "ray": {"slot": 1}}], "invalid `ray` section of resource pool 'g'"),
        ({"type": "ray"}, [{"pool_name": "g", "ray": [1]}], "<config>.resource_pools[0].ray: must be a mapping"),
        ({"type": "slurm", "slots_per_node": 0}, [], "slots_per_node: must be at least 1, not 0"),
        ({"type": "slurm"}, [{"pool_name": "p", "partition": 5}], "partition: must be a string, not an integer"),
    ],
)  # fmt: skip
def test_keys_that_only_an_engine_knows_are_checked_before_the_master_starts(
    manager: dict[str, Any], pools: list[dict[str, Any]], message: str
) -> None:
    with pytest.raises(InvalidConfig) as refused:
        _ = load(resource_manager=manager, resource_pools=pools).engines
    assert message in refused.value.message


def test_keys_of_managers_that_nothing_reads_are_told_with_the_place_of_their_manager() -> None:
    config = load(
        resource_manager={"type": "agent", "colour": "red"},
        additional_resource_managers=more({"type": "slurm", "launcher": {"a": 1}}, [{"pool_name": "s"}]),
        telemetry={"enabled": False, "odd": 1},
    )
    assert config.ignored == {
        "resource_manager.colour": "red",
        "additional_resource_managers[0].resource_manager.launcher": {"a": 1},
        "telemetry.odd": 1,
    }


def test_a_variable_that_is_no_yaml_is_named_without_its_value() -> None:
    message = refusal({"DET_CHECKPOINT_STORAGE": "{type: s3, secret_key: hush"})
    assert "the environment variable DET_CHECKPOINT_STORAGE cannot be read: " in message
    assert "not valid YAML" in message and "hush" not in message


@pytest.mark.parametrize(
    ("db", "address"),
    [
        ({"host": "h"}, "postgresql://postgres@h:5432/determined?sslmode=disable"),
        (
            {"host": "h", "user": "", "name": "", "ssl_mode": ""},
            "postgresql://postgres@h:5432/determined?sslmode=disable",
        ),
        (
            {"host": "h", "password": "p@:/?#"},
            "postgresql://postgres:p%40%3A%2F%3F%23@h:5432/determined?sslmode=disable",
        ),
        ({"url": "u", "host": "h"}, "u"),
        ({"url": "", "host": ""}, None),
        ({"user": "u", "password": "p"}, None),
    ],
)
def test_the_address_of_the_database_follows_from_its_parts(db: dict[str, Any], address: str | None) -> None:
    assert load(db=db).db.address == address


def test_the_url_of_the_database_is_never_shown() -> None:
    config = load(db="postgresql://u:hush@h/n")
    assert "hush" not in repr(config) and "hush" not in str(mask_secrets(config.raw, MasterFile))


@pytest.mark.parametrize(
    ("token", "fits"),
    [
        ({}, True),
        ({"max_lifespan_days": 30, "default_lifespan_days": 30}, True),
        ({"max_lifespan_days": 30, "default_lifespan_days": 31}, False),
        ({"max_lifespan_days": -1, "default_lifespan_days": 10_000}, True),
        ({"max_lifespan_days": -1, "default_lifespan_days": -1}, True),
        ({"max_lifespan_days": 40, "default_lifespan_days": -1}, False),
        ({"max_lifespan_days": 29}, False),
    ],
)
def test_tokens_last_no_longer_by_default_than_they_may(token: dict[str, int], fits: bool) -> None:
    if fits:
        load(security={"token": token})
    else:
        assert "; -1 means without end" in refusal(security={"token": token})


def test_every_fault_of_a_file_is_told_at_once_and_in_order() -> None:
    lines = refusal(
        port=-1, slots="x", security={"tls": {"key": "k"}}, resource_pools=[{"description": 5}]
    ).splitlines()
    assert lines == [
        "invalid master configuration",
        "<config>.port: must be at least 0, not -1",
        "<config>.resource_pools[0].description: must be a string, not an integer",
        "<config>.resource_pools[0]: `pool_name` is a required property",
        "<config>.security.tls: `cert` and `key` must both be given, or neither",
        "<config>.slots: must be an integer, not a string",
    ]
