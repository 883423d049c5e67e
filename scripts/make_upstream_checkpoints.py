"""Writes tests/unit/pytorch/upstream_checkpoints: checkpoints of a tiny trial as releases of upstream wrote them.

Run it with a Python that has determined==0.38.1 (upstream's), torch==2.13.0, numpy and tensorboard:
    python scripts/make_upstream_checkpoints.py tests/unit/pytorch/upstream_checkpoints
`trainer` is what that release wrote; the others are the same content in the layouts of older ones.
"""

import json
import os
import pickle
import random
import shutil
import sys
import tempfile
from pathlib import Path

import numpy as np
import torch

MODEL_DEF = """\
import torch
from torch import nn

from determined import pytorch


class EpochCounter(pytorch.PyTorchCallback):
    def __init__(self):
        self.epochs = 0

    def on_training_epoch_end(self, epoch_idx):
        self.epochs += 1

    def state_dict(self):
        return {"epochs": self.epochs}

    def load_state_dict(self, state):
        self.epochs = state["epochs"]


class TinyTrial(pytorch.PyTorchTrial):
    def __init__(self, context):
        self.context = context
        self.counter = EpochCounter()
        layers = nn.Linear(4, 3), nn.BatchNorm1d(3), nn.Dropout(0.5), nn.Linear(3, 2)
        self.model = context.wrap_model(nn.Sequential(*layers))
        optimizer = torch.optim.Adam(self.model.parameters(), lr=context.get_hparam("lr"))
        self.optimizer = context.wrap_optimizer(optimizer)
        self.scheduler = context.wrap_lr_scheduler(
            torch.optim.lr_scheduler.StepLR(self.optimizer, 2, gamma=0.5),
            step_mode=pytorch.LRScheduler.StepMode.STEP_EVERY_BATCH,
        )

    def build_callbacks(self):
        return {"counter": self.counter}

    def build_training_data_loader(self):
        generator = torch.Generator().manual_seed(0)
        x, y = torch.randn(16, 4, generator=generator), torch.randint(0, 2, (16,), generator=generator)
        return pytorch.DataLoader(torch.utils.data.TensorDataset(x, y), batch_size=4)

    def build_validation_data_loader(self):
        return self.build_training_data_loader()

    def train_batch(self, batch, epoch_idx, batch_idx):
        x, y = batch
        loss = nn.functional.cross_entropy(self.model(x), y)
        self.context.backward(loss)
        self.context.step_optimizer(self.optimizer)
        return {"loss": loss}

    def evaluate_batch(self, batch):
        x, y = batch
        return {"validation_loss": nn.functional.cross_entropy(self.model(x), y)}
"""

HPARAMS = {"lr": 0.01}
CONFIG = {"name": "tiny", "entrypoint": "model_def:TinyTrial", "data": {"classes": 2}}
SAVED_AT, TRAINED_TO = 6, 8


def main(destination: Path) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        saved, later = train(Path(scratch))
        shutil.rmtree(destination, ignore_errors=True)
        destination.mkdir(parents=True)
        keep(saved, destination / "trainer")
        # What the release itself comes to when it trains on; the rest of that checkpoint is of no use.
        weights = torch.load(later / "state_dict.pth", weights_only=False)["models_state_dict"][0]
        torch.save(weights, destination / "trained_on.pth")
    for name, rearrange in LAYOUTS.items():
        shutil.copytree(destination / "trainer", destination / name)
        rearrange(destination / name)


def train(scratch: Path) -> tuple[Path, Path]:
    """Two checkpoints of one run."""
    (scratch / "work").mkdir()
    os.environ["XDG_DATA_HOME"] = str(scratch / "store")
    os.chdir(scratch / "work")
    Path("model_def.py").write_text(MODEL_DEF)
    sys.path.insert(0, str(scratch / "work"))
    import model_def

    from determined import pytorch

    torch.manual_seed(1)
    random.seed(1)
    np.random.seed(1)
    with pytorch.init(hparams=HPARAMS, exp_conf=CONFIG, enable_tensorboard_logging=False) as context:
        pytorch.Trainer(model_def.TinyTrial(context), context).fit(
            max_length=pytorch.Batch(TRAINED_TO), checkpoint_period=pytorch.Batch(SAVED_AT), checkpoint_policy="none"
        )
    stored = {json.loads((path / "metadata.json").read_text())["steps_completed"]: path for path in store(scratch)}
    return stored[SAVED_AT], stored[TRAINED_TO]


def store(scratch: Path) -> list[Path]:
    return [path for path in (scratch / "store" / "determined").iterdir() if path.is_dir()]


def keep(saved: Path, destination: Path) -> None:
    shutil.copytree(saved, destination)
    for path in (destination / "code").iterdir():
        if path.name != "model_def.py":
            shutil.rmtree(path)  # event files and caches


def as_script(directory: Path) -> None:
    """`python3 train.py` with the class in it."""
    change_load_data(directory, lambda data: data.update(trial_cls_spec="__main__:TinyTrial"))


def as_entrypoint(directory: Path) -> None:
    """`entrypoint: model_def:TinyTrial`, on two slots, as saved inside DistributedDataParallel."""
    change_load_data(directory, lambda data: data.pop("is_trainer"))
    change_state(directory / "state_dict.pth", under_ddp)


def as_documented_in_0_17(directory: Path) -> None:
    """`state-dict.pth` with four keys, and the state of the workload sequencer."""
    change_state(directory / "state_dict.pth", lambda state: state.pop("rng_state"))
    (directory / "state_dict.pth").rename(directory / "state-dict.pth")
    change_load_data(directory, lambda data: data.pop("is_trainer"))
    as_sequencer(directory, "steps_completed")


def as_before_load_data(directory: Path) -> None:
    """Write a checkpoint without load_data.json, whose content was in metadata.json, in a directory of its own."""
    (directory / "load_data.json").unlink()
    metadata = {"determined_version": "0.12.0", "framework": "torch-1.4.0", "format": "pickle"}
    (directory / "metadata.json").write_text(json.dumps({**metadata, "hparams": HPARAMS, "experiment_config": CONFIG}))
    (directory / "pedl").mkdir()
    (directory / "state_dict.pth").rename(directory / "pedl" / "state_dict.pth")
    as_sequencer(directory, "latest_batch")


def as_one_model(directory: Path) -> None:
    """`checkpoint.pt` with singular keys."""
    change_state(directory / "state_dict.pth", in_singular)
    (directory / "state_dict.pth").rename(directory / "checkpoint.pt")
    change_load_data(directory, lambda data: data.pop("is_trainer"))
    as_sequencer(directory, "latest_batch")


LAYOUTS = {
    "script": as_script,
    "entrypoint": as_entrypoint,
    "documented_in_0_17": as_documented_in_0_17,
    "before_load_data": as_before_load_data,
    "one_model": as_one_model,
}


def as_sequencer(directory: Path, batches: str) -> None:
    with (directory / "trial_state.pkl").open("rb") as stream:
        state = pickle.load(stream)  # noqa: S301  written a moment ago
    (directory / "trial_state.pkl").unlink()
    state[batches] = state.pop("batches_trained")
    del state["epochs_trained"]
    with (directory / "workload_sequencer.pkl").open("wb") as stream:
        pickle.dump(state, stream)


def under_ddp(state: dict) -> None:
    model = state["models_state_dict"][0]
    wrapped = type(model)((f"module.{name}", value) for name, value in model.items())
    versions = {f"module.{name}" if name else "module": version for name, version in model._metadata.items()}
    wrapped._metadata = {"": {"version": 1}, **versions}
    state["models_state_dict"] = [wrapped]


def in_singular(state: dict) -> None:
    (state["model_state_dict"],) = state.pop("models_state_dict")
    (state["optimizer_state_dict"],) = state.pop("optimizers_state_dict")
    (state["lr_scheduler"],) = state.pop("lr_schedulers_state_dict")


def change_state(file: Path, change) -> None:
    state = torch.load(file, weights_only=False)
    change(state)
    torch.save(state, file)


def change_load_data(directory: Path, change) -> None:
    file = directory / "load_data.json"
    data = json.loads(file.read_text())
    change(data)
    file.write_text(json.dumps(data))


if __name__ == "__main__":
    main(Path(sys.argv[1]).absolute())
