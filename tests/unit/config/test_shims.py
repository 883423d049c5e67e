"""Older generations' keys and short forms."""

from typing import Any

import pytest

from determined.config import ExperimentConfig, Length, Unit, apply_defaults, canonicalize, check_complete, generation
from determined.schema.text import parse_yaml
from determined.search.methods.classic.adaptive import Adaptive
from determined.search.methods.classic.pbt import Pbt
from determined.search.methods.classic.sync_halving import SyncHalving

STORAGE = {"type": "shared_fs", "host_path": "/tmp"}


def whole(raw: dict[str, Any]) -> ExperimentConfig:
    return check_complete(apply_defaults({"checkpoint_storage": STORAGE, **raw}, seed=0, name="a-b-c"))


def test_steps_become_batches_of_the_step_size_given() -> None:
    config = whole(
        {
            "batches_per_step": 50,
            "min_validation_period": 5,
            "min_checkpoint_period": 2,
            "searcher": {"name": "random", "metric": "loss", "max_steps": 10, "max_trials": 2},
        }
    )
    assert config.scheduling_unit == 50
    assert config.min_validation_period == Length(Unit.BATCHES, 250)
    assert config.min_checkpoint_period == Length(Unit.BATCHES, 100)
    assert config.searcher.max_length == Length(Unit.BATCHES, 500)
    assert config.generation == "classic"


def test_a_step_was_a_hundred_batches() -> None:
    config = whole(
        {
            "searcher": {
                "name": "sync_halving",
                "metric": "loss",
                "num_rungs": 2,
                "target_trial_steps": 3,
                "step_budget": 20,
            }
        }
    )
    assert isinstance(config.searcher, SyncHalving)
    assert config.searcher.max_length == Length(Unit.BATCHES, 300)
    assert config.searcher.budget == Length(Unit.BATCHES, 2000)


def test_first_generation_adaptive_and_pbt_are_read() -> None:
    adaptive = whole(
        {
            "searcher": {
                "name": "adaptive",
                "metric": "m",
                "target_trial_steps": 1,
                "step_budget": 2,
                "mode": "aggressive",
            }
        }
    ).searcher
    assert isinstance(adaptive, Adaptive) and adaptive.mode == "aggressive"
    pbt = whole(
        {
            "searcher": {
                "name": "pbt",
                "metric": "m",
                "population_size": 4,
                "num_rounds": 3,
                "steps_per_round": 2,
                "replace_function": {"truncate_fraction": 0.5},
                "explore_function": {"resample_probability": 0.1, "perturb_factor": 0.3},
            }
        }
    ).searcher
    assert isinstance(pbt, Pbt)
    assert (pbt.length_per_round, pbt.replace_function.truncate_fraction) == (Length(Unit.BATCHES, 200), 0.5)
    assert (pbt.explore_function.resample_probability, pbt.explore_function.perturb_factor) == (0.1, 0.3)


def test_a_new_key_beside_the_old_one_wins() -> None:
    searcher = canonicalize({"searcher": {"name": "single", "max_steps": 1, "max_length": {"epochs": 2}}})["searcher"]
    assert searcher == {"name": "single", "max_length": {"epochs": 2}}


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ({"labels": {"a": True, "b": False}}, {"labels": ["a"]}),
        ({"labels": ["a", "b", "a"]}, {"labels": ["a", "b"]}),
        ({"environment": {"image": "i"}}, {"environment": {"image": {"cpu": "i", "cuda": "i", "rocm": "i"}}}),
        ({"environment": {"image": {"gpu": "g"}}}, {"environment": {"image": {"cuda": "g"}}}),
        ({"environment": {"image": {"gpu": "g", "cuda": "c"}}}, {"environment": {"image": {"cuda": "c"}}}),
        (
            {"environment": {"environment_variables": {"gpu": ["A=1"]}}},
            {"environment": {"environment_variables": {"cuda": ["A=1"]}}},
        ),
        ({"resources": {"shm_size": "4g"}}, {"resources": {"shm_size": 4294967296}}),
        (
            {"resources": {"devices": ["/a:/b:r"]}},
            {"resources": {"devices": [{"host_path": "/a", "container_path": "/b", "mode": "r"}]}},
        ),
        (
            {"log_policies": [{"pattern": "x", "action": {"type": "exclude_node"}}]},
            {"log_policies": [{"pattern": "x", "action": "exclude_node"}]},
        ),
        (
            {"checkpoint_storage": {"type": "s3", "bucket": "b", "prefix": "/pre/.//fix"}},
            {"checkpoint_storage": {"type": "s3", "bucket": "b", "prefix": "pre/fix"}},
        ),
        ({"version": 0, "debug": None, "resources": {"priority": None}}, {"resources": {}}),
    ],
)
def test_short_forms_are_written_out(raw: dict[str, Any], expected: dict[str, Any]) -> None:
    assert canonicalize(raw) == expected


def test_constants_are_marked_and_nothing_in_a_list_is_a_range() -> None:
    raw = {
        "hyperparameters": {"a": 1, "b": [{"type": "int"}], "c": {"d": "x", "e": {}}, "f": {"type": "const", "val": 2}}
    }
    assert canonicalize(raw)["hyperparameters"] == {
        "a": {"type": "const", "val": 1},
        "b": {"type": "const", "val": [{"type": "int"}]},
        "c": {"d": {"type": "const", "val": "x"}, "e": {}},
        "f": {"type": "const", "val": 2},
    }


def test_a_script_of_the_generic_api_draft_runs_without_metric_or_hyperparameters() -> None:
    config = whole(
        parse_yaml(
            """
            entrypoint_script: python3 train.py
            searcher: {name: single, max_length: {epochs: 1}}
            bind_mounts:
              - {host_path: /my/path, container_path: ./checkpoint_dir}
            """
        )
    )
    assert config.entrypoint == "python3 train.py"
    assert config.searcher.metric is None
    assert config.hyperparameters == {}
    assert config.environment.environment_variables.of("cuda") == ["DET_ENTRYPOINT_SCRIPT=python3 train.py"]


def test_a_launch_layer_wraps_the_script() -> None:
    config = whole(
        {
            "launch_layer": "python3 -m determined.launch.torch_distributed",
            "entrypoint_script": "python3 train.py",
            "searcher": {"name": "single", "max_length": {"epochs": 1}},
            "environment": {"environment_variables": ["A=1"]},
        }
    )
    assert config.entrypoint == "python3 -m determined.launch.torch_distributed python3 train.py"
    assert config.environment.environment_variables.of("cpu") == ["A=1", "DET_ENTRYPOINT_SCRIPT=python3 train.py"]
    assert config.resources.is_single_node is None


def test_a_script_without_launch_layer_stays_on_one_node() -> None:
    raw = {"entrypoint_script": "python3 train.py", "searcher": {"name": "single", "max_length": {"epochs": 1}}}
    assert whole(raw).resources.is_single_node is True
    assert whole({**raw, "resources": {"is_single_node": False}}).resources.is_single_node is False


@pytest.mark.parametrize(
    ("searcher", "expected"),
    [
        ({"name": "single"}, "late"),
        ({"name": "single", "max_length": 5}, "classic"),
        ({"name": "adaptive_asha", "time_metric": "batches", "max_time": 5}, "late"),
        ({"name": "adaptive_asha", "time_metric": "batches", "max_time": 5, "max_length": 5}, "late"),
        ({"name": "adaptive_asha", "time_metric": "batches", "max_length": 5}, "classic"),
        ({"name": "pbt"}, "classic"),
        ({"name": "custom"}, "classic"),
        (None, "late"),
    ],
)
def test_generation_follows_from_the_searcher(searcher: dict[str, Any] | None, expected: str) -> None:
    assert generation({"searcher": searcher}) == expected


@pytest.mark.parametrize(
    "garbage",
    [
        {"labels": 3, "environment": [], "resources": "x", "hyperparameters": 4, "log_policies": "y", "searcher": []},
        {"environment": {"image": 3, "environment_variables": 4}, "entrypoint_script": "s"},
        {"environment": {"environment_variables": {"cpu": "x"}}, "entrypoint_script": "s"},
        {"environment": 3, "entrypoint_script": "s", "launch_layer": 4},
        {"checkpoint_storage": {"prefix": 3}, "min_validation_period": True, "batches_per_step": "a"},
        {"searcher": {"name": ["x"], "max_steps": -1}, "resources": {"devices": [1], "shm_size": "a"}},
    ],
)
def test_garbage_passes_through_for_the_check_to_report(garbage: dict[str, Any]) -> None:
    assert canonicalize(canonicalize(garbage)) == canonicalize(garbage)
