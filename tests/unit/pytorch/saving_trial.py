"""A trial that saves and restores checkpoints, for tests that need no Trainer."""

from pathlib import Path
from typing import Any

import torch
from made_context import made_context
from small_trial import SmallTrial

from determined import pytorch
from determined.pytorch._callback_set import CallbackSet
from determined.pytorch._checkpoint import Checkpoints, Restored
from determined.pytorch._state import TrialState


class Memory(pytorch.PyTorchCallback):
    """Keeps what it is told, and whatever state it is given."""

    def __init__(self, state: Any = 1) -> None:
        self.state = state
        self.told: list[Any] = []

    def state_dict(self) -> dict[str, Any]:
        return {"state": self.state}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        self.state = state_dict["state"]

    def on_checkpoint_save_start(self, checkpoint: dict[str, Any]) -> None:
        self.told.append(sorted(checkpoint))
        checkpoint["mine"] = "edited"

    def on_checkpoint_load_start(self, checkpoint: dict[str, Any]) -> None:
        self.told.append(checkpoint.get("mine"))

    def on_checkpoint_write_end(self, checkpoint_dir: str) -> None:
        self.told.append(sorted(path.name for path in Path(checkpoint_dir).iterdir()))

    def on_checkpoint_upload_end(self, uuid: str) -> None:
        self.told.append(uuid)


class Made:
    """A trial in a context of its own, with a callback."""

    def __init__(self, directory: Path, trial_class: type[Any] = SmallTrial, **chosen: Any) -> None:
        self.store = directory / "checkpoints"
        self.context = made_context(directory, **chosen)
        self.trial = trial_class(self.context)
        self.memory = Memory()
        callbacks = CallbackSet({"memory": self.memory})
        self.checkpoints = Checkpoints(self.trial, self.context, callbacks, is_trainer=True)

    def train(self, batches: int = 3) -> None:
        for index in range(batches):
            self.context._before_batch(index)
            self.trial.train_batch((torch.rand(4, 3), torch.rand(4, 1)), 0, index)
            self.context._after_batch()
        self.trial.scheduler.step()

    def save(self, state: TrialState | None = None) -> Path:
        return self.store / self.checkpoints.save(state or TrialState(0, batches_trained=3), None)

    def restore(self, checkpoint: Path, trial_id: int = 0) -> Restored:
        return self.checkpoints.restore(checkpoint.name, TrialState(trial_id))
