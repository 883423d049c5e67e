"""Run every step of examples/generic_api, as its README says, in fewer epochs. They train with PyTorch."""

import importlib.util
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from documents import blocks

from cluster import ROOT, Client, Cluster, clean_environment, copy_example, det

EXAMPLE = ROOT / "examples" / "generic_api"
BATCHES = 64  # of 2048 records in an epoch
needs_torch = pytest.mark.skipif(
    importlib.util.find_spec("torch") is None, reason="needs PyTorch: install redetermined[torch] beside the tests"
)


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """The example with two epochs in place of fifty."""
    model = copy_example("generic_api", tmp_path / "model")
    for script in model.glob("*.py"):
        script.write_text(script.read_text().replace("EPOCHS = 50", "EPOCHS = 2"))
    return model


def _run(
    cluster: Cluster, client: Client, home: Path, model: Path, config: str, **changes: Any
) -> list[dict[str, Any]]:
    """The trials of a finished experiment. `changes`: config values by their path, `__` for a dot."""
    flags = [word for key, value in changes.items() for word in ("--config", f"{key.replace('__', '.')}={value}")]
    command = ["e", "create", config, ".", "-f", *flags]
    done = det(home, *command, master=cluster.url, cwd=model, timeout=600)
    match = re.search(r"Created experiment (\d+)", done.stdout)
    assert match, done.stdout
    assert client.wait_state(int(match[1]), "COMPLETED", "ERROR", seconds=600) == "COMPLETED", done.stdout
    return client.trials(int(match[1]))


def _losses(client: Client, trial: dict[str, Any], group: str) -> dict[int, float]:
    key = "validation_metrics" if group == "validation" else "avg_metrics"
    return {r["totalBatches"]: r["metrics"][key]["loss"] for r in client.metrics(trial["id"], group)}


def test_the_readme_runs_every_step() -> None:
    commands = "\n".join(block.script for block in blocks(EXAMPLE / "README.md"))
    steps = sorted(path.name for path in EXAMPLE.glob("*.yaml"))
    assert [step for step in steps if f"det e create {step} . -f" not in commands] == []
    assert len(steps) == 4


@needs_torch
@pytest.mark.timeout(900)
def test_step_0_keeps_its_checkpoint_by_a_bind_mount(
    cluster: Cluster, client: Client, home: Path, model: Path, tmp_path: Path
) -> None:
    kept = tmp_path / "kept"
    kept.mkdir()
    config = model / "0_start.yaml"
    config.write_text(config.read_text().replace("/srv/generic_api_checkpoints", str(kept)))
    (trial,) = _run(cluster, client, home, model, config.name)
    assert (kept / "weights.pt").exists()
    assert "after epoch 1, eval_loss=" in "\n".join(client.log_lines(trial["id"]))


@needs_torch
@pytest.mark.timeout(900)
@pytest.mark.slow
def test_step_1_reports_tensors_as_metrics_and_saves_a_checkpoint(
    cluster: Cluster, client: Client, home: Path, model: Path
) -> None:
    (trial,) = _run(cluster, client, home, model, "1_metrics.yaml")
    training, validation = _losses(client, trial, "training"), _losses(client, trial, "validation")
    assert list(training) == list(validation) == [BATCHES, 2 * BATCHES]
    assert validation[2 * BATCHES] < training[BATCHES]
    (checkpoint,) = client.get(f"/api/v1/trials/{trial['id']}/checkpoints")["checkpoints"]
    assert "my_checkpoint" in checkpoint["resources"]
    assert checkpoint["metadata"]["steps_completed"] == 2 * BATCHES


@needs_torch
@pytest.mark.timeout(900)
@pytest.mark.slow
def test_step_2_searches(cluster: Cluster, client: Client, home: Path, model: Path) -> None:
    changes = {"searcher__max_trials": 2, "searcher__max_length__epochs": 2, "hyperparameters__batch_size": 32}
    trials = _run(cluster, client, home, model, "2_hpsearch.yaml", **changes)
    assert len({trial["hparams"]["learning_rate"] for trial in trials}) == 2
    for trial in trials:
        assert list(_losses(client, trial, "validation")) == [BATCHES, 2 * BATCHES]


@needs_torch
@pytest.mark.timeout(600)
def test_step_3_goes_on_where_it_stopped(cluster: Cluster, client: Client, home: Path, model: Path) -> None:
    changes = {
        "searcher__max_trials": 2, "searcher__max_length__epochs": 4, "hyperparameters__batch_size": 32,
        "searcher__bracket_rungs": "[2]", "searcher__divisor": 2,
    }  # fmt: skip
    trials = _run(cluster, client, home, model, "3_fault_tolerance.yaml", **changes)
    epochs = [[batches // BATCHES for batches in _losses(client, trial, "validation")] for trial in trials]
    assert sorted(epochs) == [[1, 2], [1, 2, 3, 4]]
    (promoted,) = [trial for trial, seen in zip(trials, epochs, strict=True) if seen == [1, 2, 3, 4]]
    assert [line for line in client.log_lines(promoted["id"]) if line.endswith("|| going on after epoch 1")]
    losses = list(_losses(client, promoted, "validation").values())
    assert losses == sorted(losses, reverse=True), "the weights went on as well"


@needs_torch
@pytest.mark.timeout(900)
def test_the_last_step_runs_with_plain_python_and_no_master(tmp_path: Path, model: Path) -> None:
    env = clean_environment(HOME=str(tmp_path), XDG_DATA_HOME=str(tmp_path / "data"))
    command = [sys.executable, "-W", "error", "3_fault_tolerance.py"]
    done = subprocess.run(command, cwd=model, env=env, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    assert "after epoch 4, " in done.stdout
