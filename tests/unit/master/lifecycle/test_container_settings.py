"""Settings that need a container are named where tasks are plain processes, and only those that were asked for."""

import json
from typing import Any

import pytest

from determined.engines import registry
from determined.master.lifecycle.spec import _remarks


@pytest.mark.parametrize(
    ("config", "named"),
    [
        ({"environment": {"image": "pytorch:1.9"}}, "environment.image: "),
        ({"environment": {"image": {"cpu": None, "cuda": "pytorch:1.9"}}}, "environment.image: "),
        (
            {"resources": {"shm_size": 4096}, "environment": {"add_capabilities": ["A"]}},
            "resources.shm_size, environment.add_",
        ),
    ],
)
def test_what_needs_a_container_is_named(config: dict[str, Any], named: str) -> None:
    (warning,) = _remarked(config)
    assert warning.startswith(named)


def test_a_config_as_the_master_stores_it_asks_for_no_image() -> None:
    stored = {
        "environment": {"image": {"cpu": None, "cuda": None, "rocm": None}, "add_capabilities": []},
        "resources": {"shm_size": None, "devices": []},
    }
    assert _remarked(stored) == ()


def _remarked(config: dict[str, Any]) -> tuple[str, ...]:
    traits = registry.traits("agent")
    return _remarks(json.dumps(config), traits.names, tuple(sorted(traits.kinds.items())))
