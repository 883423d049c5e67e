"""A training for test_killed_saves that saves in the background every few batches, until it is killed or at its end."""

import os
import random
import sys
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import numpy as np
import torch
from small_trial import BATCH, SmallTrial, dataset

from determined import pytorch

PERIOD, BALLAST = 3, 1 << 19


class Killed(SmallTrial):
    """Draws random numbers, and has a buffer that changes in every batch and takes a while to be stored."""

    ready: Connection

    def __init__(self, context: pytorch.PyTorchTrialContext) -> None:
        super().__init__(context)
        self.model.register_buffer("ballast", torch.zeros(BALLAST))

    def build_training_data_loader(self) -> pytorch.DataLoader:
        return pytorch.DataLoader(dataset(5 * BATCH), batch_size=BATCH, shuffle=True)

    def train_batch(self, batch: Any, epoch_idx: int, batch_idx: int) -> dict[str, Any]:
        self.ready.send(batch_idx)
        x, y = batch
        self.model.ballast.add_(random.random() + float(np.random.rand()))
        return super().train_batch((x + torch.randn_like(x), y), epoch_idx, batch_idx)


def train(run_dir: str, batches: int, period: int, latest: str | None, ready: Connection, log: str) -> None:
    """Train trial 7 in a process of its own, from a checkpoint or from the beginning."""
    with Path(log).open("ab") as output:
        os.dup2(output.fileno(), 1)
        os.dup2(output.fileno(), 2)
    os.environ |= {"DET_RUN_DIR": run_dir, "DET_RETRY_CONFIG": '{"total": 0}'}
    torch.set_num_threads(1)
    Killed.ready = ready
    with pytorch.init(enable_tensorboard_logging=False) as context:
        pytorch.Trainer(Killed(context), context).fit(
            max_length=pytorch.Batch(batches),
            checkpoint_period=pytorch.Batch(period),
            reporting_period=pytorch.Batch(1),
            checkpoint_policy="none",
            latest_checkpoint=latest,
        )
