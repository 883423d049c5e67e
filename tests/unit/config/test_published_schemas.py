"""`det config schema`: what editors check config files with agrees with what the master takes."""

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from determined.cli.main import main
from determined.config import parse_yaml
from determined.config.published import KINDS, json_schema

EXAMPLES = sorted((Path(__file__).parents[3] / "examples").rglob("*.yaml"))
STORAGE = {"type": "shared_fs", "host_path": "/data"}


def problems(kind: str, config: dict[str, Any]) -> list[str]:
    return [error.message for error in Draft202012Validator(json_schema(kind)).iter_errors(config)]


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_has_a_valid_schema_that_describes_its_keys(kind: str) -> None:
    schema = json_schema(kind)
    Draft202012Validator.check_schema(schema)
    silent = [
        key for key, known in schema["properties"].items() if not ("description" in known or "deprecated" in known)
    ]
    assert not silent


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: "/".join(path.parts[-3:]))
def test_every_example_passes(path: Path) -> None:
    assert problems("experiment", parse_yaml(path.read_text())) == []


@pytest.mark.parametrize(
    "config",
    [
        {"max_restart": 1},
        {"resources": {"slots_per_trial": -1}},
        {"resources": {"slots_per_trial": "1"}},
        {"searcher": {"name": "rando"}},
        {"searcher": {"name": "random", "metric": "loss"}},
        {"searcher": {"name": "single", "max_trials": 3}},
        {"searcher": {"name": "random", "max_trials": 0}},
        {"checkpoint_storage": {"type": "s3"}},
        {"checkpoint_policy": "worst"},
        {"hyperparameters": {"lr": {"type": "double", "minval": 1}}},
        {"min_validation_period": {"batches": 1, "epochs": 1}},
        {"bind_mounts": [{"host_path": "/x"}]},
    ],
    ids=json.dumps,
)
def test_what_the_master_refuses_is_marked(config: dict[str, Any]) -> None:
    assert problems("experiment", config)


@pytest.mark.parametrize(
    "config",
    [
        {},
        {"searcher": {"metric": "loss"}},
        {"searcher": {"name": "custom", "metric": "loss", "mine": 1}},
        {"searcher": {"name": "single", "max_steps": 3, "max_length": 5}},
        {"labels": {"a": True}, "environment": {"image": {"gpu": "x"}, "environment_variables": ["A=1"]}},
        {"environment": {"image": "x", "environment_variables": {"cpu": ["A=1"]}}},
        {"hyperparameters": {"a": 1, "b": [1], "c": {"d": {"type": "int", "minval": 1, "maxval": 2}}, "e": None}},
        {"resources": {"shm_size": "4g", "devices": ["/dev/a:/dev/a"]}, "min_checkpoint_period": 5},
        {"log_policies": [{"pattern": "x", "action": {"type": "cancel_retries"}}], "description": None},
        {"checkpoint_storage": STORAGE, "entrypoint": ["python", "train.py"], "slurm": {"sbatch_args": ["-x"]}},
    ],
    ids=json.dumps,
)
def test_short_forms_old_keys_and_parts_are_accepted(config: dict[str, Any]) -> None:
    assert problems("experiment", config) == []


def test_a_master_config_and_a_task_config_are_checked_too() -> None:
    assert (
        problems("master", {"db": "postgresql://x", "resource_manager": {"type": "slurm", "slots_per_node": 4}}) == []
    )
    assert problems("master", {"db": {"port": "x"}})
    assert problems("notebook", {"idle_timeout": "1h", "resources": {"slots": 1}}) == []
    assert problems("notebook", {"idle_timeout": 3600})
    assert problems("policy", {"constraints": {"priority_limit": 100}})


def test_the_command_prints_the_schema_of_experiments_unless_told_otherwise(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["config", "schema"]) == 0
    assert json.loads(capsys.readouterr().out) == json_schema("experiment")
    assert main(["config", "schema", "agent"]) == 0
    assert json.loads(capsys.readouterr().out)["title"] == "Determined agent config"
