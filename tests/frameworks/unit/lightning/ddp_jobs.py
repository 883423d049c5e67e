"""What each of two ranks does in test_ranks.py, in a process of its own."""

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import lightning.pytorch as L
import torch
from fits import BATCH, Counting, Net, Noisy
from torch.utils.data import DataLoader

from determined import core, pytorch
from determined.lightning import LightningContext
from determined.pytorch.lightning import LightningAdapter
from determined.storage import SharedFSStorageManager


class Asked(core.DummyPreemptContext):
    """Wants the ranks to leave once `is_asked`."""

    is_asked = False

    def _is_flagged(self) -> bool:
        return self.is_asked


def pauses(distributed: core.DistributedContext, directory: str, pause_in: int) -> dict[str, Any]:
    """The weights of a fit left alone and of one that was paused, and whether Lightning has two ranks."""
    alone, _, size = _fit(distributed, directory, None, None)
    _, checkpoint, _ = _fit(distributed, directory, pause_in, None)
    resumed, _, _ = _fit(distributed, directory, None, checkpoint)
    return {"alone": alone, "resumed": resumed, "size": size, "checkpoint": checkpoint}


def _fit(
    distributed: core.DistributedContext, directory: str, pause_in: int | None, latest: str | None
) -> tuple[list[float], str | None, int]:
    asked = Asked(distributed)
    stored: list[str] = []
    checkpoints = core.DummyCheckpointContext(distributed, SharedFSStorageManager(directory))
    checkpoints._report = lambda storage_id, *_: stored.append(storage_id)  # type: ignore[method-assign]
    core_context = core.Context(checkpoints, distributed=distributed, preempt=asked).start()

    def pause() -> None:
        asked.is_asked = True

    L.seed_everything(3, verbose=False)
    context = LightningContext(core_context, every_n_epochs=None)
    module = Net()
    options = {"enable_model_summary": False, "enable_progress_bar": False, "callbacks": [Counting(pause, pause_in)]}
    trainer = L.Trainer(**context.trainer_kwargs(max_epochs=3, **options))
    loader = DataLoader(Noisy(), batch_size=BATCH // 2, shuffle=True)
    path = context.checkpoint.resume_path(latest) if latest else None
    trainer.fit(module, loader, DataLoader(Noisy(), batch_size=BATCH // 2), ckpt_path=path)
    assert context.is_preempted == (pause_in is not None)
    storage_id = distributed.broadcast(stored[-1] if stored else None)
    return module.net[0].weight.flatten().tolist(), storage_id, trainer.world_size


class _Trial(LightningAdapter):
    def build_training_data_loader(self) -> Any:
        raise NotImplementedError

    def build_validation_data_loader(self) -> Any:
        raise NotImplementedError


def adapter_step(distributed: core.DistributedContext, directory: str) -> tuple[list[float], list[float]]:
    """The gradient of a batch that is another on each rank, and the weights after its step."""
    core_context = core.Context(
        core.DummyCheckpointContext(distributed, SharedFSStorageManager(directory)), distributed=distributed
    )
    context = pytorch.PyTorchTrialContext(
        core_context=core_context, trial_seed=7, hparams={}, exp_conf={}, slots_per_trial=2, num_gpus=0
    )
    torch.manual_seed(distributed.rank)  # they begin alike all the same
    trial = _Trial(context, Net().eval())
    trial.build_callbacks()
    gradients: list[float] = []
    trial.lm.on_after_backward = lambda: gradients.extend(trial.lm.net[0].weight.grad.flatten().tolist())
    trial._hooks["on_after_backward"] = trial.lm.on_after_backward
    trial.train_batch(batch=torch.full((2, 3), float(distributed.rank)), epoch_idx=0, batch_idx=0)
    return gradients, trial.lm.net[0].weight.flatten().tolist()
