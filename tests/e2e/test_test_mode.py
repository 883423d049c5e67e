"""`det e create --test` of a trial class: on a cluster, and on this machine alone."""

import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest

from cluster import Client, Cluster, det, eventually

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("torch") is None, reason="needs PyTorch: install redetermined[torch] beside the tests"
)
MODEL = """
import torch
from determined import pytorch


class MyTrial(pytorch.PyTorchTrial):
    def __init__(self, context):
        self.context = context
        self.model = context.wrap_model(torch.nn.Linear(2, 1))
        optimizer = torch.optim.SGD(self.model.parameters(), lr=context.get_hparam("lr"))
        self.optimizer = context.wrap_optimizer(optimizer)

    def data(self):
        records = torch.utils.data.TensorDataset(torch.ones(64, 2), torch.ones(64, 1))
        return pytorch.DataLoader(records, batch_size=self.context.get_per_slot_batch_size())

    build_training_data_loader = build_validation_data_loader = data

    def loss(self, batch):
        return torch.nn.functional.mse_loss(self.model(batch[0]), batch[1])

    def train_batch(self, batch, epoch_idx, batch_idx):
        print("training batch", batch_idx)
        loss = self.loss(batch)
        self.context.backward(loss)
        self.context.step_optimizer(self.optimizer)
        return {"loss": loss}

    def evaluate_batch(self, batch):
        return {"validation_loss": self.loss(batch)}
"""
CONFIG: dict[str, Any] = {
    "name": "tried",
    "entrypoint": "model_def:MyTrial",
    "hyperparameters": {"global_batch_size": 8, "lr": {"type": "log", "minval": -3, "maxval": -1, "base": 10}},
    "searcher": {"name": "random", "metric": "validation_loss", "max_trials": 4, "max_length": {"epochs": 9}},
}


def _model(directory: Path, text: str = MODEL) -> Path:
    directory.mkdir()
    (directory / "model_def.py").write_text(text)
    config = directory / "config.yaml"
    config.write_text(json.dumps(CONFIG))
    return config


def test_a_trial_class_is_tried_on_the_cluster_and_leaves_nothing(
    cluster: Cluster, client: Client, home: Path, tmp_path: Path
) -> None:
    config = _model(tmp_path / "model")
    done = det(home, "e", "create", str(config), str(config.parent), "--test", master=cluster.url)
    for stage in ("training: ok", "validation: ok", "checkpoint: ok", "test succeeded"):
        assert stage in done.stdout
    (experiment,) = client.get("/api/v1/experiments?archived=true")["experiments"]
    (trial,) = client.trials(experiment["id"])
    assert trial["totalBatchesProcessed"] == 1
    assert sum("training batch" in line for line in client.log_lines(trial["id"])) == 1
    path = f"/api/v1/trials/{trial['id']}/checkpoints"
    states = lambda: {checkpoint["state"] for checkpoint in client.get(path)["checkpoints"]}  # noqa: E731
    eventually(lambda: states() == {"STATE_DELETED"}, 30, lambda: f"its checkpoint is {states()}")


def test_a_trial_class_is_tried_here_without_a_master(home: Path, tmp_path: Path) -> None:
    config = _model(tmp_path / "model")
    done = det(home, "e", "create", "--local", "--test", str(config), str(config.parent))
    assert done.stdout.count("training batch") == 1
    assert "Local test succeeded" in done.stdout
    assert "validation_loss" in done.stderr
    assert not (home / "data").exists(), "no master was started, no checkpoint was kept"


def test_a_trial_class_that_fails_here_fails_the_command(home: Path, tmp_path: Path) -> None:
    config = _model(tmp_path / "model", MODEL.replace('get_hparam("lr")', 'get_hparam("learning_rate")'))
    done = det(home, "e", "create", "--local", "--test", str(config), str(config.parent), check=False)
    assert done.returncode == 1
    assert "learning_rate" in done.stderr
    assert "Local test failed with status 1" in done.stdout
