"""What ranks do for test_async_checkpointing: save in the background, and go on from what was saved."""

import sys
from pathlib import Path
from typing import Any

import torch

sys.path.insert(0, str(Path(__file__).parent))

from small_ds_trial import SmallTrial, fitted

from determined import pytorch
from determined.pytorch import _saves
from determined.pytorch.deepspeed._trial import DeepSpeedTrial

BATCHES, EVERY = 7, 2


class Heard(pytorch.PyTorchCallback):
    def __init__(self) -> None:
        self.stored: list[str] = []

    def on_checkpoint_upload_end(self, uuid: str) -> None:
        self.stored.append(uuid)


class Quiet(SmallTrial):
    """Has no hook that needs the files of a checkpoint."""

    def build_callbacks(self) -> dict[str, pytorch.PyTorchCallback]:
        self.heard = Heard()
        return {"heard": self.heard}


class SavesByItself(Quiet):
    def save(self, context: Any, path: Any) -> None:
        DeepSpeedTrial.save(self, context, path)
        assert any(path.rglob("*.pt")), "it finds what it has saved"


def resumed_everywhere(kinds: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """By the name of a kind: the ways it saved, and the weights of trials left alone and resumed."""
    # One group for all trials: torch finds addresses of the last one in its store, where a second is made in a process.
    torch.distributed.init_process_group("gloo")
    return {name: resumed(hparams) for name, hparams in kinds.items()}


def resumed(hparams: dict[str, Any], trial_class: type[Quiet] = Quiet) -> dict[str, Any]:
    ways: list[str] = []
    left = _saves.Saves.left

    def noted(saves: _saves.Saves, storage_id: str, way: _saves.Way) -> None:
        ways.append(way.value)
        left(saves, storage_id, way)

    _saves.Saves.left = noted  # type: ignore[method-assign]
    try:
        alone: Any = fitted(hparams, BATCHES, trial_class=trial_class, checkpoint_period=pytorch.Batch(EVERY))
    finally:
        _saves.Saves.left = left  # type: ignore[method-assign]
    stored = alone.heard.stored
    then: list[Any] = [fitted(hparams, BATCHES, latest=each, trial_class=trial_class).weights for each in stored]
    return {"ways": ways, "stored": len(stored), "alone": alone.weights, "resumed": then}
