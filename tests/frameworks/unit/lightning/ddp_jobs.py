"""Jobs that each of two ranks runs for test_ranks.py, in a process of its own."""

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import lightning.pytorch as L
import torch
from fits import BATCH, Counting, Net, Noisy
from torch.utils.data import DataLoader
from torchmetrics import MeanMetric

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


class _Two(Net):
    """Two optimizers, and a metric that is exchanged between ranks when it is computed."""

    def __init__(self) -> None:
        super().__init__()
        self.other = torch.nn.Linear(3, 1)
        self.measure = MeanMetric()

    def training_step(self, batch: torch.Tensor, batch_idx: int, optimizer_idx: int) -> Any:  # type: ignore[override]
        net = (self.net[0], self.other)[optimizer_idx]
        return (net(batch).sum(dim=1) - 1).square().mean()

    def validation_step(self, batch: torch.Tensor, batch_idx: int) -> None:
        self.measure(batch.mean())
        self.log("measure", self.measure)
        self.log("plain", batch.mean())

    def on_train_batch_end(self, outputs: Any, batch: Any, batch_idx: int) -> None:
        pass

    def configure_optimizers(self) -> Any:
        return [torch.optim.SGD(net.parameters(), lr=0.1) for net in (self.net, self.other)]


class _TwoTrial(_Trial):
    def build_training_data_loader(self) -> Any:
        return pytorch.DataLoader(torch.arange(24.0).reshape(8, 3) / 24, batch_size=2)

    def build_validation_data_loader(self) -> Any:
        return pytorch.DataLoader(torch.full((3, 3), 2.0), batch_size=self.context.get_hparam("validated"))


def adapter_fit(distributed: core.DistributedContext, directory: str, validated: int) -> dict[str, Any]:
    """Weights and validation metrics after an epoch of two batches on each rank."""
    reported: list[dict[str, Any]] = []

    class Reports(core.DummyTrainContext):
        def report_metrics(self, group: str, steps_completed: int, metrics: dict[str, Any]) -> None:
            if group == "validation":
                reported.append(metrics)

    core_context = core.Context(
        core.DummyCheckpointContext(distributed, SharedFSStorageManager(directory)),
        distributed=distributed,
        train=Reports(Path(directory) / "tensorboard"),
    ).start()
    context = pytorch.PyTorchTrialContext(
        core_context=core_context, trial_seed=7, hparams={"validated": validated}, exp_conf={}, slots_per_trial=2,
        num_gpus=0,
    )  # fmt: skip
    torch.manual_seed(1)
    trial = _TwoTrial(context, _Two())
    first = {name: value.clone() for name, value in trial.lm.state_dict().items()}
    pytorch.Trainer(trial, context).fit(max_length=pytorch.Epoch(1))
    weights = {name: value.tolist() for name, value in trial.lm.state_dict().items()}
    return {"weights": weights, "first": {name: value.tolist() for name, value in first.items()}, "reported": reported}
