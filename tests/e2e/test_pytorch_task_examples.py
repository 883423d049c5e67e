"""Detection, a GAN and a language model: they train, on one slot and on two, and their READMEs can be followed."""

import importlib.util
from pathlib import Path
from typing import Any

import pytest
from documents import read_through
from stage_4 import finished, submit

from cluster import ROOT, Client, Cluster, copy_example, det

pytestmark = [
    pytest.mark.skipif(
        importlib.util.find_spec("torch") is None, reason="needs PyTorch: install redetermined[torch] beside the tests"
    ),
    pytest.mark.timeout(900),
]
SEEDED = ("--config", "reproducibility.experiment_seed=5")
TWO_SLOTS = ("--config", "resources.slots_per_trial=2")


def _config(**values: Any) -> list[str]:
    return [word for key, value in values.items() for word in ("--config", f"{key.replace('__', '.')}={value}")]


def _trained(cluster: Cluster, client: Client, home: Path, model: Path, *flags: str) -> int:
    return finished(client, submit(cluster, home, model, "config.yaml", *SEEDED, *flags), 600)


def _validations(client: Client, trial: int, name: str) -> dict[int, float]:
    found = client.metrics(trial, "validation")
    return {report["totalBatches"]: report["metrics"]["validation_metrics"][name] for report in found}


def _last_files(client: Client, trial: int) -> set[str]:
    checkpoints = client.get(f"/api/v1/trials/{trial}/checkpoints")["checkpoints"]
    return set(max(checkpoints, key=lambda each: each["metadata"]["steps_completed"])["resources"])


def test_detection_learns_from_nested_batches_and_ranks_all_detections_of_two_slots(
    cluster: Cluster, client: Client, home: Path, tmp_path: Path
) -> None:
    model = copy_example("pytorch/detection", tmp_path / "model")
    trial = _trained(cluster, client, home, model, *TWO_SLOTS, *_config(hyperparameters__epochs=5))
    (precision,) = _validations(client, trial, "mAP").values()
    assert precision > 0.2, "chance finds less than a tenth"
    lines = client.log_lines(trial)
    assert any("validated: 64 records" in line for line in lines), "get_batch_length counts pictures, not colours"


@pytest.mark.slow
def test_a_gan_trains_two_models_with_two_optimizers_and_two_schedulers(
    cluster: Cluster, client: Client, home: Path, tmp_path: Path
) -> None:
    model = copy_example("pytorch/gan", tmp_path / "model")
    trial = _trained(cluster, client, home, model, *_config(searcher__max_length__epochs=4))
    before, after = _validations(client, trial, "energy_distance").values()
    assert after < before / 4
    last = client.metrics(trial, "training")[-1]["metrics"]["avg_metrics"]
    assert last["generator_lr"] == pytest.approx(0.0005 * 0.95**3), "it steps after each epoch"
    assert 0.001 < last["discriminator_lr"] < 0.002, "it steps after every fourth batch"
    directory = tmp_path / "checkpoint"
    det(home, "trial", "download", str(trial), "--latest", "-o", str(directory), master=cluster.url)
    state = _state(directory)
    assert {key: len(state[key]) for key in ("models_state_dict", "optimizers_state_dict")} == {
        "models_state_dict": 2,
        "optimizers_state_dict": 2,
    }
    assert [schedule["last_epoch"] for schedule in state["lr_schedulers_state_dict"]] == [4, 32]


def _state(directory: Path) -> dict[str, Any]:
    import torch

    # Written a moment ago by our own code; numpy's random state in it is more than weights.
    found: dict[str, Any] = torch.load(directory / "state_dict.pth", weights_only=False)
    return found


@pytest.mark.slow
def test_a_language_model_sharded_over_two_slots_goes_on_on_one(
    cluster: Cluster, client: Client, home: Path, tmp_path: Path
) -> None:
    model = copy_example("pytorch/language_model", tmp_path / "model")
    short = _config(hyperparameters__pieces=640, hyperparameters__epochs=2)
    two = _trained(cluster, client, home, model, *short)
    sharded = _validations(client, two, "bits_per_letter")
    assert list(sharded) == [20, 40]
    assert sharded[40] < sharded[20] < 3.5, "letters at random take 4.8 bits"
    assert len([file for file in _last_files(client, two) if file.endswith(".distcp")]) == 2
    follow = [*_config(searcher__source_trial_id=two, resources__slots_per_trial=1, hyperparameters__warmup=1), *short]
    one = _trained(cluster, client, home, model, *follow, *_config(hyperparameters__epochs=1))
    went_on = _validations(client, one, "bits_per_letter")
    assert went_on[20] < sharded[40], "it began with the weights that two slots had saved"
    assert not [file for file in _last_files(client, one) if file.endswith(".distcp")]


@pytest.mark.slow
@pytest.mark.parametrize("compile_by", ["aot_eager", "yes"])
def test_a_language_model_is_compiled_sharded_and_aggregates_gradients(
    cluster: Cluster, client: Client, home: Path, tmp_path: Path, compile_by: str
) -> None:
    model = copy_example("pytorch/language_model", tmp_path / "model")
    flags = _config(hyperparameters__compile=f"{compile_by!r}", hyperparameters__aggregation=2)
    short = _config(hyperparameters__pieces=640, hyperparameters__epochs=4, hyperparameters__warmup=4)
    trial = _trained(cluster, client, home, model, *flags, *short)
    found = _validations(client, trial, "bits_per_letter")
    assert found[80] < found[20]


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("example", ["detection", "gan", "language_model"])
def test_what_the_readme_of_a_pytorch_example_shows_works(tmp_path: Path, example: str) -> None:
    read_through(ROOT / "examples" / "pytorch" / example / "README.md", tmp_path, block_seconds=240)
