"""For a machine with an NVIDIA GPU (`make test-gpu`): checkpoints that are copied while the GPU goes on hold the state
of the step they were taken at, and cost a small part of a step.

Prints how long a save keeps the training, in steps, with copies that overlap, with copies that are waited for, with
torch.save, and with torch.distributed.checkpoint.async_save. Needs torch with CUDA.

    python tests/gpu/check_saves.py [--device cpu]

On a CPU it only shows that the script itself works: there is nothing to overlap with.
"""

import argparse
import io
import os
import statistics
import sys
import tempfile
import time
import warnings
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import torch.distributed.checkpoint as dcp
from torch import nn

from determined import pytorch
from determined.pytorch import _device_copies, _saves
from determined.pytorch._copies import Copies

_LIMIT = 0.10  # of a step
_EVERY, _SAVES = 20, 4


@dataclass(frozen=True, slots=True)
class Size:
    """A model with Adam's state: `layers * width**2 * 12` bytes."""

    device: str
    width: int
    layers: int
    batch: int


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", default="cuda")
    device = parser.parse_args().device
    if device == "cuda" and not torch.cuda.is_available():
        print("this check needs an NVIDIA GPU and torch with CUDA")
        return 1
    warnings.filterwarnings("ignore")
    size = Size("cuda", 2048, 21, 65536) if device == "cuda" else Size("cpu", 64, 2, 8)
    print(torch.cuda.get_device_name() if device == "cuda" else "CPU", "torch", torch.__version__)
    wrong = [*_wrong_copies(device), *_wrong_trial(size), *_slow(size)]
    print("\n".join(wrong) or "all checks passed")
    return 1 if wrong else 0


class Own:
    """An object of a user's class, with a tensor in it."""

    def __init__(self, device: str) -> None:
        self.tensor = torch.arange(5, device=device)


def _wrong_copies(device: str) -> list[str]:
    """Copy states of all kinds, change them at once, and compare; with room on the device and without."""
    wrong = []
    has_room = _device_copies._has_room
    for room in (True, False):
        _device_copies._has_room = lambda *_arguments, room=room: room
        copies = Copies(overlaps=True)
        for number in range(3):
            copies.begin()
            state = _state(device, number)
            expected = _cloned(state)
            file = copies.file(state)
            _change(state)
            out = io.BytesIO()
            copies.write(file, out)
            out.seek(0)
            loaded = torch.load(out, map_location="cpu", weights_only=False)
            wrong += [f"save {number}, room on the device {room}: {place}" for place in _differences(loaded, expected)]
            loaded["base"].zero_()
            if loaded["view"].any():
                wrong.append(f"save {number}, room {room}: tensors that shared memory do not share it in the copy")
    _device_copies._has_room = has_room
    print(f"copies: {'wrong' if wrong else 'bit-equal'}")
    return wrong


def _state(device: str, seed: int) -> dict[str, Any]:
    generator = torch.Generator(device).manual_seed(seed)
    base = torch.randn(8 << 20, generator=generator, device=device)
    weights = OrderedDict(weight=base[5:100], half=torch.randn(1 << 20, device=device).bfloat16())
    weights._metadata = {"": {"version": 1}}  # type: ignore[attr-defined]
    return {
        "base": base,
        "view": base.view(2, -1)[1],
        "turned": torch.randn(100, 200, device=device).t(),
        "weights": weights,
        "list": [torch.randn(3, device=device), ("text", torch.ones(2)), 1.5],
        "parameter": nn.Parameter(torch.randn(7, device=device)),
        "empty": torch.empty(0, device=device),
        "own": Own(device),
    }


def _cloned(node: Any) -> Any:
    if isinstance(node, torch.Tensor):
        return node.detach().cpu().clone()
    if isinstance(node, dict):
        return {key: _cloned(child) for key, child in node.items()}
    if isinstance(node, list | tuple):
        return [_cloned(child) for child in node]
    return _cloned(node.tensor) if isinstance(node, Own) else node


def _change(node: Any) -> None:
    if isinstance(node, torch.Tensor):
        node.detach().zero_()
    for child in node.values() if isinstance(node, dict) else node if isinstance(node, list | tuple) else ():
        _change(child)
    if isinstance(node, Own):
        node.tensor.zero_()


def _differences(one: Any, other: Any, place: str = "state") -> list[str]:
    one = one.tensor if isinstance(one, Own) else one
    if isinstance(one, torch.Tensor):
        return [] if torch.equal(one.detach().cpu(), other.cpu()) else [place]
    if isinstance(one, dict):
        return [found for key in one for found in _differences(one[key], other[key], f"{place}.{key}")]
    if isinstance(one, list | tuple):
        pairs = enumerate(zip(one, other, strict=True))
        return [found for number, pair in pairs for found in _differences(*pair, f"{place}[{number}]")]
    return [] if repr(one) == repr(other) else [place]


class Layers(pytorch.PyTorchTrial):
    """Linear layers in bfloat16 with Adam; a batch is a product of matrices."""

    def __init__(self, context: pytorch.PyTorchTrialContext, size: Size) -> None:
        self.context = context
        self.model = context.wrap_model(layers(size))
        self.optimizer = context.wrap_optimizer(torch.optim.Adam(self.model.parameters(), lr=1e-4))
        self.size = size
        self.inputs = torch.randn(size.batch, size.width, device=size.device)

    def build_training_data_loader(self) -> pytorch.DataLoader:
        return pytorch.DataLoader([0.0] * _EVERY * (_SAVES + 1))

    def build_validation_data_loader(self) -> pytorch.DataLoader:
        return pytorch.DataLoader([0.0])

    def train_batch(self, batch: Any, epoch_idx: int, batch_idx: int) -> dict[str, torch.Tensor]:
        with torch.autocast(self.size.device, torch.bfloat16):
            loss = self.model(self.inputs).square().mean()
        self.context.backward(loss)
        self.context.step_optimizer(self.optimizer)
        return {"loss": loss}

    def evaluate_batch(self, batch: Any) -> dict[str, float]:
        return {"loss": 0.0}


def layers(size: Size) -> nn.Module:
    torch.manual_seed(1)
    return nn.Sequential(*(nn.Linear(size.width, size.width, bias=False) for _ in range(size.layers)))


def _train(size: Size, place: Path, period: int | None, *, overlaps: bool, in_background: bool = True) -> float:
    """Train a trial; the seconds of its batches, the first `_EVERY` and the last save left out."""
    os.environ["XDG_DATA_HOME"] = str(place)
    (place / "code").mkdir(parents=True)
    os.chdir(place / "code")  # a trial keeps its directory with each checkpoint
    _saves._OVERLAPS = overlaps
    torch.manual_seed(2)
    with pytorch.init(enable_tensorboard_logging=False) as context:
        trial = Layers(context, size)
        clock = _Clock(trial, size.device)
        pytorch.Trainer(trial, context).fit(
            max_length=pytorch.Batch(_EVERY * (_SAVES + 1)),
            checkpoint_period=None if period is None else pytorch.Batch(period),
            reporting_period=pytorch.Batch(_EVERY),
            checkpoint_policy="none",
            async_checkpointing=in_background,
        )
    return clock.seconds


class _Clock:
    """From the end of the batch after the first save, which takes memory, to the end of the last batch."""

    def __init__(self, trial: Layers, device: str) -> None:
        self.seconds, self._begin = 0.0, 0.0
        self._train_batch, self._device = trial.train_batch, device
        trial.train_batch = self._timed  # type: ignore[method-assign]

    def _timed(self, batch: Any, epoch_idx: int, batch_idx: int) -> dict[str, torch.Tensor]:
        metrics = self._train_batch(batch, epoch_idx, batch_idx)
        if batch_idx == _EVERY + 1:
            _synchronize(self._device)
            self._begin = time.perf_counter()
        if batch_idx == _EVERY * (_SAVES + 1) - 1:
            _synchronize(self._device)
            self.seconds = time.perf_counter() - self._begin
        return metrics


def _synchronize(device: str) -> None:
    if device == "cuda":
        torch.cuda.synchronize()


def _wrong_trial(size: Size) -> list[str]:
    """Checkpoints of a training that went on are those of one that waited."""
    small = Size(size.device, 64, 2, 8)
    with tempfile.TemporaryDirectory() as folder:
        states = []
        for name, overlaps, in_background in (("overlapped", True, True), ("waited", False, False)):
            place = Path(folder, name)
            _train(small, place, 5, overlaps=overlaps, in_background=in_background)
            files = place.glob("determined/*/state_dict.pth")
            loaded = [torch.load(file, map_location="cpu", weights_only=False) for file in files]
            states.append(sorted(loaded, key=_steps))
        if len(states[0]) != len(states[1]):
            return [f"{len(states[0])} checkpoints where training went on, {len(states[1])} where it waited"]
        wrong = [
            f"checkpoint {number}: {place}"
            for number, (one, other) in enumerate(zip(*states, strict=True))
            for key in ("models_state_dict", "optimizers_state_dict", "rng_state")
            for place in _differences(one[key], other[key], key)
        ]
    print(f"{len(states[0])} checkpoints of a trial: {'wrong' if wrong else 'bit-equal to those that were waited for'}")
    return wrong


def _steps(state: dict[str, Any]) -> float:
    return float(state["optimizers_state_dict"][0]["state"][0]["step"])


def _slow(size: Size) -> list[str]:
    """Measure what a save adds to a training, in turns."""
    rows: dict[str, list[float]] = {}
    steps: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        for number in range(3):
            place = Path(folder, str(number))
            alone = _train(size, place / "alone", None, overlaps=False)
            steps.append(alone / (_EVERY * _SAVES - 2))
            for name, overlaps, in_background in (
                ("a trial, copies overlap", True, True),
                ("a trial, copies are waited for", False, True),
                ("a trial, async_checkpointing: false", False, False),
            ):
                took = _train(size, place / name, _EVERY, overlaps=overlaps, in_background=in_background)
                rows.setdefault(name, []).append((took - alone) / (_SAVES - 1))
        for name, save in (("torch.save", _torch_save), ("async_save of DCP", _dcp_save())):
            rows[name] = [_stall(size, save, Path(folder, f"{name}-{number}")) for number in range(3)]
    step = statistics.median(steps)
    mib = size.layers * size.width**2 * 12 >> 20
    print(f"state of {mib} MiB, a step takes {step * 1000:.1f} ms; what a save adds to the training:")
    for name, values in rows.items():
        middle = statistics.median(values)
        print(f"  {name:40} {middle * 1000:9.1f} ms = {middle / step:7.2f} steps  ({_shown(values)})")
    share = statistics.median(rows["a trial, copies overlap"]) / step
    if size.device == "cuda" and share > _LIMIT:
        return [f"a save adds {share:.0%} of a step, more than {_LIMIT:.0%}"]
    return []


def _stall(size: Size, save: Callable[[dict[str, Any], Path], Callable[[], object]], place: Path) -> float:
    """Seconds until another step of a plain loop could begin, of a second save."""
    model = layers(size).to(size.device)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4)
    for _ in range(2):
        model(torch.randn(8, size.width, device=size.device)).square().mean().backward()
        optimizer.step()
    stall = 0.0
    for number in range(2):
        _synchronize(size.device)
        begin = time.perf_counter()
        wait = save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, place / str(number))
        stall = time.perf_counter() - begin
        wait()
    return stall


def _torch_save(state: dict[str, Any], path: Path) -> Callable[[], object]:
    path.parent.mkdir(parents=True, exist_ok=True)
    torch.save(state, path)
    return lambda: None


def _dcp_save() -> Callable[[dict[str, Any], Path], Callable[[], object]]:
    on_gpu = torch.cuda.is_available()
    stager = dcp.staging.DefaultStager(dcp.staging.StagingOptions(on_gpu, False, False, on_gpu))

    def save(state: dict[str, Any], path: Path) -> Callable[[], object]:
        answer: Any = dcp.async_save(state, checkpoint_id=path, async_stager=stager, no_dist=True)
        return lambda: getattr(answer, "upload_completion", answer).result()

    return save


def _shown(values: list[float]) -> str:
    return ", ".join(f"{value * 1000:.1f}" for value in values)


if __name__ == "__main__":
    sys.exit(main())
