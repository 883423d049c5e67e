"""`resource_manager: {type: docker}`."""

from typing import Any

import pytest

from determined.engines.docker.config import DockerManager
from determined.errors import InvalidConfig
from determined.master.config import MasterConfig, load_master_config


def load(**data: Any) -> MasterConfig:
    return load_master_config(data, {}, {})


def test_defaults_are_the_hosts_own_daemon_and_network() -> None:
    assert DockerManager.of({"type": "docker"}) == DockerManager()
    assert DockerManager().network == "host"


def test_sizes_and_socket_urls_are_understood() -> None:
    settings = DockerManager.of({"socket": "unix:///run/user/1000/docker.sock", "memory": "2g"})
    assert (settings.socket, settings.memory) == ("/run/user/1000/docker.sock", 2 * 1024**3)


@pytest.mark.parametrize(
    ("manager", "words"),
    [
        ({"socket": "tcp://other:2375"}, "socket: `tcp://other:2375` is no path"),
        ({"socket": "/" + "x" * 200}, "longer than the 107 bytes"),
        ({"memory": "1m"}, "memory: 1m is less than Docker takes"),
        ({"memory": "lots"}, "memory: 'lots' is not a size"),
        ({"slots": -1}, "slots: must be at least 0"),
        ({"memroy": "2g"}, "`memroy` not allowed; did you mean `memory`"),
    ],
)
def test_bad_settings_are_refused_before_anything_starts(manager: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidConfig, match=words):
        load(resource_manager={"type": "docker", **manager})


def test_pools_of_a_docker_manager_are_its_engines() -> None:
    config = load(resource_manager={"type": "docker", "network": "bridge"}, resource_pools=[{"pool_name": "p"}])
    assert [(engine.name, engine.type) for engine in config.engines] == [("docker", "docker")]
    assert [pool.engine for pool in config.pools] == ["docker"]
    assert config.ignored == {}


def test_two_engines_of_one_machine_must_divide_its_devices() -> None:
    containers: dict[str, Any] = {"resource_manager": {"type": "docker"}, "resource_pools": [{"pool_name": "boxes"}]}
    with pytest.raises(InvalidConfig, match="both this machine"):
        load(additional_resource_managers=[containers])
    containers["resource_manager"]["slots"] = 2
    assert [engine.name for engine in load(additional_resource_managers=[containers]).engines] == ["local", "docker"]
