"""Agent configs."""

from typing import Any

import pytest

from determined.config.agent import load_agent_config
from determined.errors import InvalidConfig


def test_defaults_need_only_the_masters_address() -> None:
    config = load_agent_config({"master_host": "m"}, {}, {})
    assert (config.master_host, config.master_port, config.resource_pool, config.slot_type) == (
        "m",
        80,
        "default",
        "auto",
    )
    assert (config.agent_reconnect_attempts, config.agent_reconnect_backoff, config.bind_port) == (5, 5.0, 9090)
    assert (config.agent_id, config.visible_gpus, config.artificial_slots) == (None, None, 0)


def test_layers_tls_and_visible_gpus() -> None:
    env = {
        "DET_MASTER_HOST": "e",
        "DET_ARTIFICIAL_SLOTS": "3",
        "CUDA_VISIBLE_DEVICES": "0,1",
        "ROCR_VISIBLE_DEVICES": "2",
    }
    config = load_agent_config(
        {"master_host": "f", "security": {"tls": {"enabled": True}}, "slot_type": "gpu", "http_proxy": "p"},
        env,
        {"agent_id": "a", "agent_reconnect_backoff": "10s"},
    )
    assert (config.master_host, config.master_port, config.agent_id) == ("e", 443, "a")
    assert (config.visible_gpus, config.slot_type, config.artificial_slots) == ("2", "cuda", 3)
    assert config.agent_reconnect_backoff == 10.0
    assert config.ignored == {"http_proxy": "p"}


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        ({}, "`master_host` is a required property"),
        ({"master_host": "m", "slot_type": "tpu"}, "slot_type: must be one of auto, cuda"),
        ({"master_host": "m", "artifical_slots": 1}, "did you mean `artificial_slots`?"),
        (
            {"master_host": "m", "security": {"tls": {"master_cert": "c", "skip_verify": True}}},
            "master_cert and skip_verify contradict each other",
        ),
        ({"master_host": "m", "security": {"tls": {"client_cert": "c"}}}, "client_cert and client_key must both"),
    ],
)
def test_a_wrong_agent_config_is_refused(raw: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidConfig) as caught:
        load_agent_config(raw, {}, {})
    assert message in caught.value.message
