"""What the master tells the program of a TensorBoard."""

from typing import Any

from determined.config.job import JobConfig
from determined.master.services.tensorboard_settings import SourceTrial, tensorboard_settings

SHARED = {"type": "shared_fs", "host_path": "/shared", "storage_path": None, "propagation": "rslave"}
BUCKET = {"type": "s3", "bucket": "b", "access_key": "k", "secret_key": "s"}


def _sources(experiments: dict[int, dict[str, Any]], trials: list[SourceTrial]) -> list[tuple[str, str, Any]]:
    settings = tensorboard_settings(experiments, trials, JobConfig.load({}), "cluster")
    return [(one["name"], one["prefix"], one["storage"]) for one in settings["sources"]]


def test_each_source_has_its_own_storage_and_the_directory_that_trials_write_to() -> None:
    from determined.tensorboard.manager import event_prefix

    found = _sources({2: BUCKET, 1: SHARED}, [SourceTrial(9, 3, BUCKET)])
    assert found == [
        ("experiment/1", "cluster/tensorboard/experiment/1", SHARED),
        ("experiment/2", "cluster/tensorboard/experiment/2", BUCKET),
        ("trial/9", event_prefix("cluster", 3, 9), BUCKET),
    ]


def test_an_experiment_and_some_of_its_trials_are_the_experiment() -> None:
    found = _sources({1: SHARED}, [SourceTrial(4, 1, SHARED), SourceTrial(4, 1, SHARED)])
    assert [name for name, _, _ in found] == ["experiment/1"]


def test_a_trial_with_a_storage_of_its_own_is_shown_beside_its_experiment() -> None:
    found = _sources({1: SHARED}, [SourceTrial(4, 1, BUCKET)])
    assert [name for name, _, _ in found] == ["experiment/1", "trial/4"]


def test_the_users_arguments_are_passed_on() -> None:
    config = JobConfig.load({"tensorboard_args": ["--samples_per_plugin=images=9"]})
    settings = tensorboard_settings({}, [], config, "cluster")
    assert settings["args"] == ["--samples_per_plugin=images=9"]
