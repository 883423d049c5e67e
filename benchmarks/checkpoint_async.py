"""Saves that let training go on, for checkpoint.py: `python checkpoint_async.py FOLDER SIZE ROUNDS`, JSON last.

Every case saves twice behind a step that changes all weights: `first` and `next` are how long training stands still,
`stored` how long it takes until the files of the second are there. A case whose files do not hold the weights of the
step they were saved at ends the measurement. Needs torch, Lightning, Orbax and what determined needs.
"""

import json
import os
import shutil
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
import torch.distributed.checkpoint as dcp

from checkpoint_torch import COPY, SAVE, Weights
from determined import pytorch

TRIAL = "a PyTorchTrial (copied, written, hashed, published)"
WRITTEN = "a PyTorchTrial with a hook that adds files"
DCP = "torch.distributed.checkpoint.async_save"
LIGHTNING = "Lightning's AsyncCheckpointIO"
ORBAX = "Orbax's AsyncCheckpointer"
_SAVES = 2
_TENSORS = 16
_POLL_SECONDS = 0.001

State = dict[str, torch.Tensor]
Save = Callable[[State, Path], Callable[[], object]]  # returns what waits until the files are there


@dataclass
class Took:
    """Seconds of one round."""

    stalls: list[float] = field(default_factory=list)
    stored: float = 0.0


def main(folder: Path, size: int, rounds: int) -> None:
    warnings.filterwarnings("ignore")
    state = {f"layer{index}": torch.zeros(size // _TENSORS // 4) for index in range(_TENSORS)}
    cases: dict[str, Callable[[Path], Took]] = {
        COPY: lambda place: _copied(state, place),
        SAVE: lambda place: _saved(state, place, _torch_save, _read_torch),
        TRIAL: lambda place: _trained(state, place, hook=False),
        WRITTEN: lambda place: _trained(state, place, hook=True),
        DCP: lambda place: _saved(state, place, _dcp(), _read_dcp),
        LIGHTNING: lambda place: _saved(state, place, _lightning(), _read_torch),
        ORBAX: lambda place: _saved(state, place, _orbax(), _read_orbax),
    }
    rows: dict[str, dict[str, list[float]]] = {name: {"first": [], "next": [], "stored": []} for name in cases}
    for number in range(rounds + 1):
        for name, case in cases.items():
            place = folder / f"async-{number}"
            place.mkdir()
            took = case(place)
            if number:  # the first round imports and warms up
                for key, seconds in zip(rows[name], (*took.stalls[:_SAVES], took.stored), strict=True):
                    rows[name][key].append(seconds)
            shutil.rmtree(place)
            os.sync()
    print(json.dumps(rows))


def _copied(state: State, place: Path) -> Took:
    torch.save(state, place / "saved.pt")
    took = Took()
    for number in range(_SAVES):
        begin = time.perf_counter()
        subprocess.run(["cp", str(place / "saved.pt"), str(place / f"{number}.pt")], check=True)
        took.stalls.append(time.perf_counter() - begin)
    took.stored = took.stalls[-1]
    return took


def _saved(state: State, place: Path, save: Save, read: Callable[[Path], torch.Tensor]) -> Took:
    took = Took()
    for number in range(_SAVES):
        _step(state, number + 1)
        begin = time.perf_counter()
        wait = save(state, place / str(number))
        took.stalls.append(time.perf_counter() - begin)
        _step(state, -1)  # training goes on
        wait()
        took.stored = time.perf_counter() - begin
        _check(read(place / str(number)), number + 1)
    return took


def _step(state: State, value: int) -> None:
    for tensor in state.values():
        tensor.fill_(value)


def _check(saved: torch.Tensor, value: int) -> None:
    if not bool((saved == value).all()):
        raise SystemExit(f"what was saved at step {value} holds {saved.unique().tolist()}")


def _torch_save(state: State, path: Path) -> Callable[[], object]:
    torch.save(state, path)
    return lambda: None


def _read_torch(path: Path) -> torch.Tensor:
    tensor: torch.Tensor = torch.load(path, weights_only=True)[f"layer{_TENSORS - 1}"]
    return tensor


def _dcp() -> Save:
    # A new one in every round, as each run of a training has; kept between saves, as its documentation advises.
    stager = dcp.staging.DefaultStager(dcp.staging.StagingOptions(False, False, False, False))

    def save(state: State, path: Path) -> Callable[[], object]:
        answer: Any = dcp.async_save(state, checkpoint_id=path, async_stager=stager, no_dist=True)
        return lambda: getattr(answer, "upload_completion", answer).result()

    return save


def _read_dcp(path: Path) -> torch.Tensor:
    name = f"layer{_TENSORS - 1}"
    tensors = {name: torch.empty(dcp.FileSystemReader(path).read_metadata().state_dict_metadata[name].size)}
    dcp.load(tensors, checkpoint_id=path, no_dist=True)
    return tensors[name]


def _lightning() -> Save:
    from lightning.pytorch.plugins.io import AsyncCheckpointIO, TorchCheckpointIO

    def save(state: State, path: Path) -> Callable[[], object]:
        plugin = AsyncCheckpointIO(TorchCheckpointIO())
        plugin.save_checkpoint(state, path)
        return plugin.teardown

    return save


def _orbax() -> Save:
    import orbax.checkpoint as ocp

    saver = ocp.AsyncCheckpointer(ocp.StandardCheckpointHandler())

    def save(state: State, path: Path) -> Callable[[], object]:
        saver.save(path.absolute(), args=ocp.args.StandardSave({key: value.numpy() for key, value in state.items()}))
        return saver.wait_until_finished

    return save


def _read_orbax(path: Path) -> torch.Tensor:
    import orbax.checkpoint as ocp

    restored = ocp.Checkpointer(ocp.StandardCheckpointHandler()).restore(path.absolute())
    return torch.tensor(restored[f"layer{_TENSORS - 1}"])


class Stepping(pytorch.PyTorchTrial):
    """Changes all weights in every batch, and notes when batches begin and end and when a checkpoint is there."""

    def __init__(self, context: pytorch.PyTorchTrialContext, state: State, place: Path, hook: bool) -> None:
        self.context = context
        self.model = context.wrap_model(Weights(state))
        self.optimizer = context.wrap_optimizer(torch.optim.SGD([self.model.learnt], lr=0.1))
        self._weights = {name: value for name, value in self.model.named_parameters() if name != "learnt"}
        self.took = Took()
        self._place, self._hook, self._ended = place, hook, 0.0

    def build_callbacks(self) -> dict[str, pytorch.PyTorchCallback]:
        return {"adding": Adding()} if self._hook else {}

    def build_training_data_loader(self) -> pytorch.DataLoader:
        return pytorch.DataLoader([1.0] * (_SAVES + 1))

    build_validation_data_loader = build_training_data_loader

    def train_batch(self, batch: Any, epoch_idx: int, batch_idx: int) -> torch.Tensor:
        if batch_idx:
            self.took.stalls.append(time.perf_counter() - self._ended)
        _step(self._weights, -1)
        if batch_idx:
            self._await(batch_idx)
        loss = (self.model.learnt - batch).square().sum()
        self.context.backward(loss)
        self.context.step_optimizer(self.optimizer)
        _step(self._weights, batch_idx + 1)
        self._ended = time.perf_counter()
        return loss

    def evaluate_batch(self, batch: Any) -> dict[str, Any]:
        return {"loss": 0.0}

    def _await(self, saves: int) -> None:
        while len(files := sorted(self._place.glob("determined/[!.]*/state_dict.pth"), key=_changed)) < saves:
            time.sleep(_POLL_SECONDS)
        self.took.stored = time.perf_counter() - self._ended
        saved = torch.load(files[-1], weights_only=False)["models_state_dict"][0][f"layer{_TENSORS - 1}"]
        _check(saved, saves)


class Adding(pytorch.PyTorchCallback):
    def on_checkpoint_write_end(self, checkpoint_dir: str) -> None:
        Path(checkpoint_dir, "added").write_text("1")


def _trained(state: State, place: Path, *, hook: bool) -> Took:
    os.environ["XDG_DATA_HOME"] = str(place)  # where the Core API stores checkpoints off cluster
    with pytorch.init() as context:
        trial = Stepping(context, state, place, hook)
        pytorch.Trainer(trial, context).fit(
            max_length=pytorch.Batch(_SAVES + 1),
            checkpoint_period=pytorch.Batch(1),
            reporting_period=pytorch.Batch(1),
            checkpoint_policy="none",
        )
    return trial.took


def _changed(file: Path) -> int:
    return file.stat().st_mtime_ns


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
