"""Time that a save keeps a trainer, for checkpoint.py: `python checkpoint_torch.py FOLDER SIZE ROUNDS`, JSON last.

Needs torch and the few libraries that determined needs in a training process, so that all run in this one.
"""

import json
import os
import shutil
import subprocess
import sys
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import nn

from determined import pytorch
from determined.storage.directory.manager import DirectoryStorageManager

SAVE = "torch.save"
SAVE_AND_COPY = "torch.save, then cp to the store"
SAVE_AND_STORE = "torch.save inside store_path (hashed, published)"
TRIAL = "a checkpoint of a PyTorchTrial (hashed, published)"
COPY = "cp of such a file"


def main(folder: Path, size: int, rounds: int) -> None:
    state = {f"layer{index}": torch.rand(size // 16 // 4) for index in range(16)}
    saved = folder / "saved.pt"
    torch.save(state, saved)
    cases: dict[str, Callable[[Path], float]] = {
        COPY: lambda place: _timed(lambda: _copy(saved, place / "copy.pt")),
        SAVE: lambda place: _timed(lambda: torch.save(state, place / "state.pt")),
        SAVE_AND_COPY: lambda place: _timed(lambda: _save_and_copy(state, place)),
        SAVE_AND_STORE: lambda place: _timed(lambda: _save_and_store(state, place)),
        TRIAL: lambda place: _save_trial(state, place),
    }
    took: dict[str, list[float]] = {name: [] for name in cases}
    for number in range(rounds + 1):
        for name, case in cases.items():
            place = folder / f"torch-{number}"
            place.mkdir()
            seconds = case(place)
            if number:  # the first round warms up, as it does for the others
                took[name].append(seconds)
            shutil.rmtree(place)
            os.sync()
    print(json.dumps(took))


class Weights(nn.Module):
    """Module with as many parameters as `state` has numbers."""

    def __init__(self, state: dict[str, torch.Tensor]) -> None:
        super().__init__()
        for name, value in state.items():
            self.register_parameter(name, nn.Parameter(value, requires_grad=False))
        self.learnt = nn.Parameter(torch.zeros(1))


class Stall(pytorch.PyTorchCallback):
    """From the end of the last validation, which the last checkpoint follows, until training would go on."""

    begin = seconds = 0.0

    def on_validation_end(self, metrics: dict[str, Any]) -> None:
        self.begin = time.perf_counter()

    def on_checkpoint_upload_end(self, uuid: str) -> None:
        self.seconds = time.perf_counter() - self.begin


class SavingTrial(pytorch.PyTorchTrial):
    def __init__(self, context: pytorch.PyTorchTrialContext, state: dict[str, torch.Tensor]) -> None:
        self.context = context
        self.stall = Stall()
        self.model = context.wrap_model(Weights(state))
        self.optimizer = context.wrap_optimizer(torch.optim.SGD([self.model.learnt], lr=0.1))

    def build_callbacks(self) -> dict[str, pytorch.PyTorchCallback]:
        return {"stall": self.stall}

    def build_training_data_loader(self) -> pytorch.DataLoader:
        return pytorch.DataLoader([1.0])

    build_validation_data_loader = build_training_data_loader

    def train_batch(self, batch: Any, epoch_idx: int, batch_idx: int) -> torch.Tensor:
        loss = (self.model.learnt - batch).square().sum()
        self.context.backward(loss)
        self.context.step_optimizer(self.optimizer)
        return loss

    def evaluate_batch(self, batch: Any) -> dict[str, Any]:
        return {"loss": 0.0}


def _save_trial(state: dict[str, torch.Tensor], place: Path) -> float:
    os.environ["XDG_DATA_HOME"] = str(place)  # where the Core API stores checkpoints off cluster
    with pytorch.init() as context:
        trial = SavingTrial(context, state)
        pytorch.Trainer(trial, context).fit(max_length=pytorch.Batch(1), checkpoint_policy="none")
    stored = sum(path.stat().st_size for path in place.rglob("*.pth"))
    if not trial.stall.seconds or stored < sum(value.nbytes for value in state.values()):
        raise SystemExit(f"the trial stored {stored} bytes in {trial.stall.seconds} s: that is no checkpoint")
    return trial.stall.seconds


def _timed(work: Callable[[], object]) -> float:
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def _copy(source: Path, target: Path) -> None:
    subprocess.run(["cp", str(source), str(target)], check=True)


def _save_and_copy(state: dict[str, torch.Tensor], place: Path) -> None:
    torch.save(state, place / "state.pt")
    _copy(place / "state.pt", place / "stored.pt")


def _save_and_store(state: dict[str, torch.Tensor], place: Path) -> None:
    with DirectoryStorageManager(str(place / "store")).store_path(str(uuid.uuid4())) as directory:
        torch.save(state, directory / "state.pt")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
