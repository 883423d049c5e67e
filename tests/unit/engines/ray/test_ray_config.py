"""Settings of Ray resource managers and pools."""

import pytest

from determined.engines.ray.config import RayManager, RayPool, ray_pool
from determined.errors import InvalidConfig
from determined.master.config import load_master_config


def test_manager_reads_durations_and_drops_a_trailing_slash() -> None:
    found = RayManager.of({"type": "ray", "dashboard_url": "http://h:8265/", "bridge_silence": "5m", "scheduler": {}})
    assert (found.dashboard_url, found.bridge_silence, found.bridge_grace) == ("http://h:8265", 300.0, 30.0)


def test_pool_without_a_section_is_made_of_gpus() -> None:
    assert ray_pool("p", {}) == RayPool(name="p")


def test_every_violation_of_a_pool_is_named() -> None:
    with pytest.raises(InvalidConfig) as caught:
        ray_pool("p", {"resource": 3, "slots_per_node": 0, "nonsense": True})
    assert "'p'" in caught.value.message
    assert len(caught.value.violations) == 3


def test_master_config_names_a_wrong_key_of_its_ray_manager_and_ignores_none() -> None:
    manager = {"type": "ray", "dashboard_url": "http://h:8265"}
    assert load_master_config({"resource_manager": manager}, {}, {}).ignored == {}
    with pytest.raises(InvalidConfig, match="dashbord_url"):
        load_master_config({"resource_manager": {**manager, "dashbord_url": "x"}}, {}, {})
