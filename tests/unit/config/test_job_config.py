"""Configs of commands, notebooks, shells and TensorBoards."""

from typing import Any

import pytest

from determined.config.job import JobConfig, prepare_job
from determined.errors import InvalidArgument, InvalidConfig


def job(raw: dict[str, Any], **layers: Any) -> JobConfig:
    defaults: dict[str, Any] = {
        "template": None,
        "container_defaults": {},
        "default_priority": 42,
        "has_context": False,
    }
    return prepare_job(raw, **{**defaults, **layers})


def test_a_bare_job_takes_one_slot() -> None:
    config = job({"entrypoint": ["ls", "-l"]})
    assert config.entrypoint == ("ls", "-l")
    assert (config.resources.slots, config.resources.priority, config.resources.weight) == (1, 42, 1)
    assert (config.idle_timeout, config.notebook_idle_type) == (None, "kernels_or_terminals")
    assert JobConfig.load(config.raw) == config


def test_layers_defaults_template_user() -> None:
    config = job(
        {"resources": {"slots": 2}, "environment": {"environment_variables": ["A=user"]}, "idle_timeout": "1h30m"},
        template={
            "resources": {"slots": 1, "weight": 3},
            "environment": {"environment_variables": ["A=template"]},
            "searcher": {"name": "single"},
            "bind_mounts": [{"host_path": "/t", "container_path": "x"}],
        },
        container_defaults={
            "environment_variables": ["A=tcd"],
            "bind_mounts": [{"host_path": "/d", "container_path": "x"}, {"host_path": "/d", "container_path": "y"}],
            "work_dir": "/w",
            "preemption_timeout": 5,
        },
    )
    assert (config.resources.slots, config.resources.weight, config.idle_timeout) == (2, 3, 5400)
    assert config.environment.environment_variables.of("cpu") == ["A=tcd", "A=template", "A=user"]
    assert [mount.host_path for mount in config.bind_mounts] == ["/t", "/d"]
    assert config.work_dir == "/w"


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        ({"idle_timeout": 90}, "is not a duration"),
        ({"idle_timeout": "90"}, "is not a duration"),
        ({"resources": {"is_single_node": True}}, "is_single_node: must be null"),
        ({"resources": {"slots_per_trial": 1}}, "additional property `slots_per_trial` not allowed"),
        ({"resources": {"weight": 0}}, "must be greater than 0"),
        ({"resources": {"slots": 3, "max_slots": 2}}, "slots=3 exceeds max_slots=2"),
        ({"entrypoint": []}, "entrypoint: must not be empty"),
        ({"entrypoint": "ls"}, "entrypoint: must be a list"),
        ({"searcher": {}}, "additional property `searcher` not allowed"),
        ({"notebook_idle_type": "never"}, "must be one of kernels_or_terminals"),
    ],
)
def test_a_wrong_job_config_is_refused(raw: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidConfig) as caught:
        job(raw)
    assert message in caught.value.message


def test_work_dir_and_a_context_exclude_each_other() -> None:
    with pytest.raises(InvalidArgument, match="cannot set work_dir and context directory at the same time"):
        job({"work_dir": "/w"}, has_context=True)
    assert job({}, container_defaults={"work_dir": "/w"}, has_context=True).work_dir is None
