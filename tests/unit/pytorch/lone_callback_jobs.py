"""What two ranks do for test_controller_edges: only the chief has a callback."""

import random
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import torch
from made_context import made_context
from small_trial import SmallTrial

from determined import pytorch
from determined.pytorch import Batch
from determined.pytorch._controller import Plan, PyTorchTrialController
from determined.trial import one_leg


class Listener(pytorch.PyTorchCallback):
    def __init__(self) -> None:
        self.heard: list[dict[str, Any]] = []

    def on_validation_end(self, metrics: dict[str, Any]) -> None:
        self.heard.append(metrics)


class Lone(SmallTrial):
    """Draws a random number once its data is there."""

    def build_callbacks(self) -> dict[str, pytorch.PyTorchCallback]:
        self.listener = Listener()
        return {"listener": self.listener} if self.context.distributed.rank == 0 else {}

    def train_batch(self, batch: Any, epoch_idx: int, batch_idx: int) -> dict[str, Any]:
        if batch_idx == 0:
            self.drawn = torch.rand(1).item()
        return super().train_batch(batch, epoch_idx, batch_idx)


def chief_listens(distributed: Any, directory: str) -> tuple[float, int]:
    """A random number drawn in the first batch, and how many validations this rank's callback heard of."""
    context = made_context(Path(directory), distributed, trial_seed=None)
    context._core.preempt.start()
    trial = Lone(context)
    random.seed(5)
    torch.manual_seed(7)
    plan = Plan(reporting_period=Batch(1), validation_period=Batch(1), step_zero_validation=True)
    PyTorchTrialController(trial, context, plan, one_leg(Batch(2))).run()
    return trial.drawn, len(trial.listener.heard)
