"""`det e create --test`: what becomes of a config so that its code is tried quickly and leaves nothing behind."""

from typing import Any

from determined.cli.commands.experiment_create import _shortened
from determined.config import dump_yaml, parse_yaml


def _tried(**config: Any) -> dict[str, Any]:
    return parse_yaml(_shortened(dump_yaml({"entrypoint": "model_def:MyTrial", **config})))


def test_one_trial_of_one_batch_is_left_of_any_search() -> None:
    search = {"name": "adaptive_asha", "metric": "loss", "smaller_is_better": False, "max_trials": 100,
              "time_metric": "batches", "max_time": 1000}  # fmt: skip
    tried = _tried(searcher=search, max_restarts=5, min_validation_period={"epochs": 1}, scheduling_unit=50)
    assert tried["searcher"] == {
        "name": "single", "max_length": {"batches": 1}, "metric": "loss", "smaller_is_better": False,
    }  # fmt: skip
    assert (tried["max_restarts"], tried["min_validation_period"], tried["scheduling_unit"]) == (0, {"batches": 1}, 1)


def test_no_checkpoint_is_kept_and_the_storage_stays() -> None:
    keep = {"save_experiment_best": 0, "save_trial_best": 0, "save_trial_latest": 0}
    storage = {"type": "shared_fs", "host_path": "/checkpoints", "save_trial_best": 7}
    assert _tried()["checkpoint_storage"] == keep
    assert _tried(checkpoint_storage=storage)["checkpoint_storage"] == storage | keep


def test_it_is_marked_as_a_test() -> None:
    tried = _tried(name="mnist", description="small")
    assert (tried["name"], tried["description"]) == ("[test-mode] mnist", "[test-mode] small")
    assert _tried()["description"] == "[test-mode]"


def test_hyperparameters_keep_their_ranges() -> None:
    ranges = {"lr": {"type": "double", "minval": 0.1, "maxval": 0.2}, "global_batch_size": 32}
    assert _tried(hyperparameters=ranges)["hyperparameters"] == ranges
