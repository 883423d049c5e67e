"""A config as the task's log shows it."""

from determined.config.display import without_defaults
from determined.config.experiment_schema import EXPERIMENT

GIVEN = {
    "name": "mine",
    "entrypoint": "python3 train.py",
    "searcher": {"name": "single", "metric": "loss"},
    "checkpoint_storage": {"type": "shared_fs", "host_path": "/data"},
    "hyperparameters": {"lr": {"type": "const", "val": 0.1}},
    "resources": {"slots_per_trial": 2},
    "environment": {"shared_tmp": True},
}


def test_only_what_was_set_is_shown() -> None:
    assert without_defaults(EXPERIMENT.fill(GIVEN)) == GIVEN


def test_config_of_defaults_alone_shows_its_kinds() -> None:
    bare = {"searcher": {"name": "single"}, "checkpoint_storage": {"type": "shared_fs"}}
    assert without_defaults(EXPERIMENT.fill(bare)) == bare
