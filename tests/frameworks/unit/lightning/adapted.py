"""A small LightningModule in a LightningAdapter, trained off cluster, and what it reported."""

from pathlib import Path
from typing import Any

import lightning.pytorch as L
import torch
from torch import nn
from torch.utils.data import TensorDataset

from determined import core, pytorch
from determined.pytorch.lightning import LightningAdapter
from determined.storage import SharedFSStorageManager


class Line(L.LightningModule):
    """Learns y = 3x."""

    def __init__(self) -> None:
        super().__init__()
        self.net = nn.Linear(1, 1)
        self.seen: list[str] = []

    def training_step(self, batch: Any, batch_idx: int) -> Any:
        x, y = batch
        loss = nn.functional.mse_loss(self.net(x), y)
        self.log("logged", loss, prog_bar=True)
        return {"loss": loss, "x": x}

    def validation_step(self, batch: Any, batch_idx: int) -> None:
        x, y = batch
        self.log("val_loss", nn.functional.mse_loss(self.net(x), y), batch_size=len(x))

    def configure_optimizers(self) -> Any:
        return torch.optim.SGD(self.parameters(), lr=0.1)


class LineTrial(LightningAdapter):
    module: type[Line] = Line
    precision: int | str = 32

    def __init__(self, context: Any) -> None:
        super().__init__(context, self.module(), precision=self.precision)

    def build_training_data_loader(self) -> pytorch.DataLoader:
        return pytorch.DataLoader(data(), batch_size=4, shuffle=True)

    def build_validation_data_loader(self) -> pytorch.DataLoader:
        return pytorch.DataLoader(data(), batch_size=4)


def data() -> TensorDataset:
    x = torch.linspace(0, 1, 16).unsqueeze(1)
    return TensorDataset(x, 3 * x)


def trained(module: type[Line], epochs: int = 2, tmp_path: Path | None = None, **chosen: Any) -> Any:
    """A trial after training, with the metrics it reported."""
    reported: dict[str, list[dict[str, Any]]] = {"training": [], "validation": []}

    class Reports(core.DummyTrainContext):
        def report_metrics(self, group: str, steps_completed: int, metrics: dict[str, Any]) -> None:
            reported[group].append(metrics)

    alone = core.DummyDistributedContext()
    assert tmp_path is not None
    core_context = core.Context(
        core.DummyCheckpointContext(alone, SharedFSStorageManager(str(tmp_path / "checkpoints"))),
        distributed=alone,
        train=Reports(tmp_path / "tensorboard"),
    ).start()
    options: dict[str, Any] = {"trial_seed": 7, "hparams": {"global_batch_size": 4}, "exp_conf": {}, **chosen}
    context = pytorch.PyTorchTrialContext(core_context=core_context, slots_per_trial=1, num_gpus=0, **options)
    trial = type("Trial", (LineTrial,), {"module": module})(context)
    pytorch.Trainer(trial, context).fit(
        max_length=pytorch.Epoch(epochs), validation_period=pytorch.Epoch(1), reporting_period=pytorch.Batch(4)
    )
    return trial, reported
