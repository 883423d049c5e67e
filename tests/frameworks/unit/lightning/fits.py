"""Small fits of a task: left alone, or paused at a batch and gone on with in what could be another process."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import lightning.pytorch as L
import torch
from task_around import FakeRunner
from torch import nn
from torch.utils.data import DataLoader, Dataset, IterableDataset

from determined import lightning as det_lightning
from determined.wire.report import CheckpointReport, MetricReport

RECORDS, BATCH = 20, 4  # five batches an epoch
SEARCHER = {"name": "single", "metric": "val_loss"}

Metrics = dict[str, Any]


class Noisy(Dataset[Any]):
    """Records that are moved at random whenever they are read."""

    def __len__(self) -> int:
        return RECORDS

    def __getitem__(self, index: int) -> torch.Tensor:
        return torch.full((3,), index / RECORDS) + 0.1 * torch.rand(3)


class Stream(IterableDataset[Any]):
    """The same without a length, in an order of its own."""

    def __iter__(self) -> Iterator[torch.Tensor]:
        for index in torch.randperm(RECORDS).tolist():
            yield torch.full((3,), index / RECORDS)


class Net(L.LightningModule):
    """Dropout, a scheduler, and an average of its weights that only its own hook moves."""

    def __init__(self, scheduler: str = "step") -> None:
        super().__init__()
        self.net = nn.Sequential(nn.Linear(3, 4), nn.Dropout(0.5), nn.Linear(4, 1))
        self.scheduler = scheduler
        self.register_buffer("average", torch.zeros(1))
        self.hooks: list[str] = []

    def training_step(self, batch: torch.Tensor, batch_idx: int) -> torch.Tensor:
        loss = (self.net(batch).sum(dim=1) - batch.sum(dim=1)).square().mean()
        self.log("loss", loss)
        self.log("mean_loss", loss, on_step=False, on_epoch=True)
        return loss

    def validation_step(self, batch: torch.Tensor, batch_idx: int) -> None:
        self.log("val_loss", (self.net(batch).sum(dim=1) - batch.sum(dim=1)).square().mean())

    def on_train_batch_end(self, outputs: Any, batch: Any, batch_idx: int) -> None:
        self.average.mul_(0.5).add_(self.net[0].weight.detach().mean())

    def configure_optimizers(self) -> Any:
        optimizer = torch.optim.Adam(self.parameters(), lr=0.05)
        if self.scheduler == "plateau":
            plateau = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, factor=0.5, patience=0, threshold=10.0)
            return {"optimizer": optimizer, "lr_scheduler": {"scheduler": plateau, "monitor": "val_loss"}}
        return [optimizer], [torch.optim.lr_scheduler.StepLR(optimizer, 1, gamma=0.8)]


class Counting(L.Callback):
    """Has a state of its own, and pauses the task in the middle of batch `pause_in` (from 1) of the trial."""

    def __init__(self, pause: Callable[[], None], pause_in: int | None) -> None:
        self.pause, self.pause_in = pause, pause_in
        self.started, self.ended, self.epochs = 0, 0, 0

    def on_train_batch_start(self, trainer: Any, pl_module: Any, batch: Any, batch_idx: int) -> None:
        self.started += 1
        if self.started == self.pause_in:
            self.pause()

    def on_train_batch_end(self, trainer: Any, pl_module: Any, outputs: Any, batch: Any, batch_idx: int) -> None:
        self.ended += 1

    def on_train_epoch_start(self, trainer: Any, pl_module: Any) -> None:
        self.epochs += 1

    def state_dict(self) -> dict[str, int]:
        return {"started": self.started, "ended": self.ended, "epochs": self.epochs}

    def load_state_dict(self, state_dict: dict[str, int]) -> None:
        self.started, self.ended, self.epochs = state_dict["started"], state_dict["ended"], state_dict["epochs"]


@dataclass
class Fitted:
    """Result of a fit."""

    weights: dict[str, list[float]] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    rate: float = 0.0
    training: dict[int, Metrics] = field(default_factory=dict)
    validation: dict[int, Metrics] = field(default_factory=dict)
    checkpoints: list[str] = field(default_factory=list)
    is_preempted: bool = False


def fit(
    task: Callable[..., None],
    runner: FakeRunner,
    *,
    pause_in: int | None = None,
    latest: str | None = None,
    loader: Callable[[], Any] | None = None,
    scheduler: str = "step",
    searcher: dict[str, Any] | None = None,
    every_n_batches: int | None = None,
    own: Callable[[], list[Any]] = list,
    module: Callable[[], Any] | None = None,
    **options: Any,
) -> Fitted:
    """Train, from `latest` on. Metrics are those of this fit alone."""
    task(searcher=searcher or SEARCHER, latest_checkpoint=latest)
    runner.control.preempt = False
    first = len(runner.records)

    def pause() -> None:
        runner.control.preempt = True

    with det_lightning.init(every_n_batches=every_n_batches) as context:
        trained, counting = module() if module is not None else Net(scheduler), Counting(pause, pause_in)
        quiet = {"enable_model_summary": False, "log_every_n_steps": 1, "callbacks": [counting, *own()]}
        trainer = L.Trainer(**context.trainer_kwargs(**{"max_epochs": 3, **quiet, **options}))
        loaders = (loader or noisy_loader)(), DataLoader(Noisy(), batch_size=BATCH)
        trainer.fit(trained, *loaders, ckpt_path=context.resume_path())
    records = runner.records[first:]
    return Fitted(
        weights={name: value.flatten().tolist() for name, value in trained.state_dict().items()},
        counts=counting.state_dict(),
        rate=trainer.optimizers[0].param_groups[0]["lr"],
        training=_metrics(records, "training"),
        validation=_metrics(records, "validation"),
        checkpoints=[record.uuid for record in records if isinstance(record, CheckpointReport)],
        is_preempted=context.is_preempted,
    )


def check_same(alone: Fitted, paused: Fitted, resumed: Fitted, when: str) -> None:
    """A fit that was paused came to what one that was left alone did, and reported nothing twice."""
    assert resumed.counts == alone.counts, when
    assert resumed.weights == alone.weights, when
    assert resumed.rate == alone.rate, when
    assert {**paused.validation, **resumed.validation} == alone.validation, when
    assert not set(paused.validation) & set(resumed.validation), when
    assert {**paused.training, **resumed.training} == alone.training, when


def noisy_loader(**options: Any) -> Any:
    return DataLoader(Noisy(), batch_size=BATCH, shuffle=True, **options)


def stream_loader() -> Any:
    return DataLoader(Stream(), batch_size=BATCH)


def _metrics(records: list[Any], group: str) -> dict[int, Metrics]:
    found: dict[int, Metrics] = {}
    for record in records:
        if isinstance(record, MetricReport) and record.group == group:
            found.setdefault(record.steps, {}).update(record.metrics)
    return found
