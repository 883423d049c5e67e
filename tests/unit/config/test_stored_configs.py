"""What the master stored is read as it is: no reader makes its canonical form, or writes its defaults, again."""

from typing import Any

import pytest

from determined.config import ExperimentConfig, prepare
from determined.config.container_defaults import TaskContainerDefaults
from determined.master.lifecycle.containers import of_experiment
from determined.schema.objects import Object, Tagged
from determined.trial import ExperimentConfig as TrialConfig


def stored(**user: Any) -> dict[str, Any]:
    searcher = {"name": "random", "metric": "loss", "max_trials": 2, "max_length": {"batches": 5}}
    storage = {"type": "shared_fs", "host_path": "/data"}
    return prepare(
        {"entrypoint": "train", "searcher": searcher, "checkpoint_storage": storage, **user},
        template=None,
        pool_tcd=None,
        cluster_tcd=None,
        workspace_storage=None,
        master_storage=None,
        default_priority=42,
        invariants=[],
        seed=7,
        name="a-b-c",
        managed=True,
    ).active


@pytest.fixture
def untouched(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> None:
        raise AssertionError("a stored config was canonicalised or filled again")

    for kind in (Object, Tagged):
        for step in ("canonical", "fill", "merge", "check"):
            monkeypatch.setattr(kind, step, refuse)


@pytest.fixture
def active() -> dict[str, Any]:
    return stored(
        environment={"image": "x", "environment_variables": ["A=1"]},
        resources={"shm_size": "1k", "devices": ["/dev/a:/dev/b"]},
        optimizations={"aggregation_frequency": 2},
    )


def test_the_master_reads_a_stored_config_as_it_is(active: dict[str, Any], untouched: None) -> None:
    config = ExperimentConfig.load(active)
    assert config.raw is active
    assert (config.reproducibility.experiment_seed, config.resources.priority) == (7, 42)
    container = of_experiment(config, "cuda", TaskContainerDefaults())
    assert (container.image, container.shm_bytes, container.devices[0].target) == ("x", 1024, "/dev/b")
    assert repr(config).startswith("ExperimentConfig(name='Experiment (a-b-c)'")


def test_a_trial_reads_what_the_master_stored(active: dict[str, Any], untouched: None) -> None:
    config = TrialConfig(active)
    assert (config.slots_per_trial(), config.experiment_seed(), config.scheduling_unit()) == (1, 7, 100)
    assert config.get_optimizations_config()["aggregation_frequency"] == 2
    assert config.get_optimizations_config() == active["optimizations"]
    assert config.get_min_validation_period() == {"batches": 0}


def test_a_key_that_is_younger_than_a_stored_config_has_its_default(active: dict[str, Any], untouched: None) -> None:
    del active["watchdog"], active["resources"]["is_single_node"]
    config = ExperimentConfig.load(active)
    assert (config.watchdog.silent_seconds, config.resources.is_single_node) == (1800, None)
