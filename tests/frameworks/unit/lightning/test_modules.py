"""Modules of all kinds with Lightning's own Trainer: manual optimization, metrics of torchmetrics, epochs cut short."""

from pathlib import Path
from typing import Any

import pytest
import torch
from fits import Net, check_same, fit
from lightning.pytorch.loggers import CSVLogger
from torch import nn
from torchmetrics import MetricCollection
from torchmetrics.classification import BinaryPrecision, BinaryRecall

from determined.errors import UnsafeCheckpoint
from determined.wire.report import MetricReport


class Manual(Net):
    """Two optimizers that it steps itself."""

    def __init__(self) -> None:
        super().__init__()
        self.automatic_optimization = False
        self.other = nn.Linear(3, 1)

    def training_step(self, batch: torch.Tensor, batch_idx: int) -> None:  # type: ignore[override]
        for optimizer, net in zip(self.optimizers(), (self.net, self.other), strict=True):
            loss = (net(batch).sum(dim=1) - batch.sum(dim=1)).square().mean()
            optimizer.zero_grad()
            self.manual_backward(loss)
            optimizer.step()
        self.log("loss", loss)

    def configure_optimizers(self) -> Any:
        return [torch.optim.Adam(net.parameters(), lr=0.05) for net in (self.net, self.other)]


class Measured(Net):
    """Has metrics that share what they keep."""

    def __init__(self) -> None:
        super().__init__()
        self.measures = MetricCollection([BinaryPrecision(), BinaryRecall()])

    def training_step(self, batch: torch.Tensor, batch_idx: int) -> torch.Tensor:
        self.measures.update(batch.sum(dim=1) / 4, (batch[:, 0] > 0.4).int())
        self.log_dict(self.measures, on_step=False, on_epoch=True)
        return super().training_step(batch, batch_idx)


class Short(Net):
    """Leaves each epoch before its fourth batch."""

    def on_train_batch_start(self, batch: Any, batch_idx: int) -> int | None:
        return -1 if batch_idx == 3 else None


class Configured(Net):
    """Keeps a hyperparameter that is no plain value."""

    def __init__(self, place: Path = Path("here")) -> None:
        super().__init__()
        self.save_hyperparameters()


@pytest.mark.parametrize("module", [Manual, Measured, Short, Configured])
def test_a_pause_of_a_module_changes_nothing(module: type[Net], task: Any, runner: Any) -> None:
    options: dict[str, Any] = {"module": module, "max_epochs": 2}
    alone = fit(task, runner, **options)
    for batch in (2, 4, 5):
        paused = fit(task, runner, pause_in=batch, **options)
        resumed = fit(task, runner, latest=paused.checkpoints[-1], **options)
        check_same(alone, paused, resumed, f"paused in batch {batch}")


def test_a_length_in_batches_is_kept_whatever_the_optimizers_do(task: Any, runner: Any) -> None:
    searcher = {"name": "single", "metric": "val_loss", "max_time": 7, "time_metric": "batches"}
    for options in ({"module": Manual}, {}):
        fitted = fit(task, runner, searcher=searcher, max_epochs=None, **options)
        assert fitted.counts["ended"] == 7
        assert sorted(fitted.validation) == [5, 7]
        resumed = fit(task, runner, searcher=searcher, max_epochs=None, latest=fitted.checkpoints[-1], **options)
        assert resumed.counts == fitted.counts


def test_a_validation_is_reported_in_one_piece(task: Any, runner: Any) -> None:
    """A search that compares trials ends an experiment whose validation lacks its metric."""

    class Steps(Net):
        def validation_step(self, batch: torch.Tensor, batch_idx: int) -> None:
            super().validation_step(batch, batch_idx)
            self.log("size", float(len(batch)), on_step=True, on_epoch=True)

        def on_validation_end(self) -> None:
            self.trainer.loggers[0].log_metrics({"late": 1.0})

    fit(task, runner, module=Steps, max_epochs=2)
    found = [record for record in runner.records if isinstance(record, MetricReport) and record.group == "validation"]
    assert [record.steps for record in found] == [5, 10]
    for record in found:
        assert {"val_loss", "size_step", "size_epoch", "late", "batches", "epochs"} == set(record.metrics)


def test_the_first_logger_of_a_module_is_its_own(task: Any, runner: Any, tmp_path: Path) -> None:
    class Asking(Net):
        def on_train_start(self) -> None:
            assert self.logger.experiment is not None

    fitted = fit(task, runner, module=Asking, max_epochs=1, logger=CSVLogger(tmp_path / "csv"))
    assert sorted(fitted.validation) == [5]


def test_objects_in_a_checkpoint_of_another_trial_are_not_trusted(task: Any, runner: Any, tmp_path: Path) -> None:
    other = fit(task, runner, module=Configured, max_epochs=1).checkpoints[-1]
    about = tmp_path / "checkpoints" / other / "determined.json"
    text = about.read_text().replace('"trial_id": 7', '"trial_id": 6')
    about.unlink()
    about.write_text(text)
    with pytest.raises(UnsafeCheckpoint, match=r"of another trial holds .*Path"):
        fit(task, runner, module=Configured, max_epochs=1, latest=other)
