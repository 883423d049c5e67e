"""What `det deploy ray up` refuses, and what it asks of the master."""

import socket

import pytest

from determined.config import load_master_config
from determined.deploy import ray
from determined.errors import FailedPrecondition, InvalidArgument, InvalidConfig


def test_address_that_is_no_dashboard_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="http://HEAD:8265"):
        ray.up("c", ray.RayOptions("head:8265"))


def test_dashboard_that_does_not_answer_is_named_with_what_to_do() -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with pytest.raises(FailedPrecondition, match=f"127.0.0.1:{port}.*--dashboard-host"):
        ray.up("c", ray.RayOptions(f"http://127.0.0.1:{port}"))


def test_options_become_a_manager_and_a_pool_that_a_master_accepts() -> None:
    options = ray.RayOptions("http://h:8265", resource="CPU", slots_per_node=4, max_nodes=2, storage_host_path="/c")
    config = load_master_config(ray._config(options), {"HOME": "/nowhere"}, {})
    assert (config.engines[0].type, config.engines[0].settings["dashboard_url"]) == ("ray", "http://h:8265")
    assert config.resource_pools[0].settings["ray"] == {"resource": "CPU", "slots_per_node": 4, "max_nodes": 2}


def test_impossible_sizes_are_refused_before_anything_is_stopped() -> None:
    with pytest.raises(InvalidConfig, match="slots_per_node"):
        ray._config(ray.RayOptions("http://h:8265", slots_per_node=-1))
