"""LightningAdapter's loop beside Lightning's own, and modules as they were written for Lightning 1."""

import copy
from pathlib import Path
from typing import Any

import lightning.pytorch as L
import numpy as np
import pytest
import torch
from adapted import Line, LineTrial, data, trained
from torch import nn
from torch.utils.data import DataLoader

from determined import pytorch


class Scheduled(Line):
    """Remembers the rate of every batch."""

    options: dict[str, Any] = {}

    def __init__(self) -> None:
        torch.manual_seed(5)
        super().__init__()
        self.rates: list[float] = []

    def training_step(self, batch: Any, batch_idx: int) -> Any:
        self.rates.append(self.trainer.optimizers[0].param_groups[0]["lr"])
        return super().training_step(batch, batch_idx)["loss"]

    def configure_optimizers(self) -> Any:
        optimizer = torch.optim.SGD(self.parameters(), lr=0.1)
        scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.5)
        return [optimizer], [{"scheduler": scheduler, **self.options}]


@pytest.mark.parametrize(
    "options",
    [{}, {"frequency": 2}, {"interval": "step"}, {"interval": "step", "frequency": 2}],
    ids=["epoch", "every second epoch", "step", "every second step"],
)
def test_schedulers_are_stepped_when_lightning_steps_them(
    options: dict[str, Any], tmp_path: Path, off_cluster: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = type("Module", (Scheduled,), {"options": options})
    monkeypatch.setattr(
        LineTrial, "build_training_data_loader", lambda self: pytorch.DataLoader(data(), batch_size=4, shuffle=False)
    )
    trial, _ = trained(module, epochs=4, tmp_path=tmp_path)
    plain = module()
    trainer = L.Trainer(
        max_epochs=4, accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False,
        enable_model_summary=False,
    )  # fmt: skip
    trainer.fit(plain, DataLoader(data(), batch_size=4), DataLoader(data(), batch_size=4))
    assert len(set(plain.rates)) > 1
    assert trial.lm.rates == plain.rates
    assert torch.equal(trial.lm.net.weight, plain.net.weight)


def test_steps_that_are_left_out_have_no_metrics(tmp_path: Path, off_cluster: Path) -> None:
    class Sparing(Line):
        def training_step(self, batch: Any, batch_idx: int) -> Any:
            return None if batch_idx % 2 == 0 else super().training_step(batch, batch_idx)

    class SparingTwo(Line):
        def __init__(self) -> None:
            super().__init__()
            self.other = nn.Linear(1, 1)

        def training_step(self, batch: Any, batch_idx: int, optimizer_idx: int) -> Any:  # type: ignore[override]
            x, y = batch
            loss = nn.functional.mse_loss((self.net, self.other)[optimizer_idx](x), y)
            return None if optimizer_idx == 1 and batch_idx % 2 == 1 else {"loss": loss, "one": 1.0}

        def configure_optimizers(self) -> Any:
            return [torch.optim.SGD(net.parameters(), lr=0.1) for net in (self.net, self.other)]

    _, reported = trained(Sparing, tmp_path=tmp_path)
    assert all(metrics["loss"] == pytest.approx(metrics["logged"]) for metrics in reported["training"])
    _, reported = trained(SparingTwo, tmp_path=tmp_path)
    for metrics in reported["training"]:
        assert metrics["opt1_one"] == 1.0
        assert {"opt0_loss", "opt1_loss", "opt0_one"} <= set(metrics)


def test_a_module_of_lightning_1_gets_what_it_expects(tmp_path: Path, off_cluster: Path) -> None:
    class Old(Line):
        def training_step(self, *arguments: Any) -> Any:  # type: ignore[override]
            batch, batch_idx = arguments
            return {**super().training_step(batch, batch_idx), "share": np.float32(0.5)}

        def validation_step(self, batch: Any, batch_idx: int) -> Any:  # type: ignore[override]
            x, y = batch
            return {"val_loss": nn.functional.mse_loss(self.net(x), y), "targets": y}

        def validation_epoch_end(self, outputs: list[Any]) -> None:
            self.log("mean", torch.stack([output["val_loss"] for output in outputs]).mean())
            self.log("targets", float(len(torch.cat([output["targets"] for output in outputs]))))

        def on_before_optimizer_step(self, optimizer: Any, optimizer_idx: int) -> None:  # type: ignore[override]
            self.seen.append(f"step {optimizer_idx}")

    trial, reported = trained(Old, tmp_path=tmp_path)
    assert trial.lm.seen == 8 * ["step 0"]
    assert reported["training"][0]["share"] == 0.5
    for metrics in reported["validation"]:
        assert metrics["mean"] == pytest.approx(metrics["val_loss"])
        assert metrics["targets"] == 16


def test_a_copy_of_a_module_logs_as_the_module_does(tmp_path: Path, off_cluster: Path) -> None:
    """Averages of weights are kept in copies; what the module logs to is not copied with it."""

    class Copying(Line):
        def on_train_start(self) -> None:
            self.copies = [copy.deepcopy(self)]

        def training_step(self, batch: Any, batch_idx: int) -> Any:
            self.copies[0].log("copied", 1.0)
            return super().training_step(batch, batch_idx)

    trial, reported = trained(Copying, tmp_path=tmp_path)
    assert trial.lm.copies[0].net.weight.item() != trial.lm.net.weight.item()
    assert [metrics["copied"] for metrics in reported["training"]] == [1.0, 1.0]


def test_a_training_that_failed_has_no_end(tmp_path: Path, off_cluster: Path) -> None:
    class Failing(Line):
        def training_step(self, batch: Any, batch_idx: int) -> Any:
            raise ArithmeticError("no loss")

        def on_train_end(self) -> None:
            raise AssertionError("it ended")

    with pytest.raises(ArithmeticError, match="no loss"):
        trained(Failing, tmp_path=tmp_path)


def test_weights_are_read_from_a_checkpoint_by_torch_alone(tmp_path: Path, off_cluster: Path) -> None:
    trial, _ = trained(Line, epochs=1, tmp_path=tmp_path)
    (file,) = (tmp_path / "checkpoints").glob("*/state_dict.pth")
    plain = Line()
    plain.load_state_dict(torch.load(file, weights_only=False)["models_state_dict"][0])
    assert torch.equal(plain.net.weight, trial.lm.net.weight)
