"""LightningAdapter: which modules it trains and how, and which it refuses."""

from pathlib import Path
from typing import Any

import pytest
import torch
from adapted import Line, LineTrial, data, trained
from torch import nn

from determined import core, pytorch
from determined.errors import InvalidModelException
from determined.pytorch import CheckpointLoadContext, LRScheduler
from determined.pytorch.lightning import LightningAdapter
from determined.pytorch.lightning._optimizers import configured
from determined.storage import SharedFSStorageManager


def test_what_a_module_logs_and_returns_is_reported(tmp_path: Path, off_cluster: Path) -> None:
    trial, reported = trained(Line, tmp_path=tmp_path)
    first, last = reported["training"]
    assert first["loss"] == pytest.approx(first["logged"])
    assert last["logged"] < first["logged"]
    assert "x" not in first
    expected = nn.functional.mse_loss(trial.lm.net(data().tensors[0]), data().tensors[1]).item()
    assert reported["validation"][-1]["val_loss"] == pytest.approx(expected)
    assert list((tmp_path / "tensorboard").glob("*tfevents*"))


def test_hooks_are_called_where_lightning_calls_them(tmp_path: Path, off_cluster: Path) -> None:
    class Hooked(Line):
        pass

    hooks = {
        "on_train_start": 0, "on_train_epoch_start": 0, "on_train_batch_start": 2, "on_before_backward": 1,
        "on_after_backward": 0, "on_before_optimizer_step": 1, "on_before_zero_grad": 1, "on_train_batch_end": 3,
        "on_train_epoch_end": 0, "on_validation_start": 0, "on_validation_epoch_start": 0,
        "on_validation_batch_start": 2, "on_validation_batch_end": 3, "on_validation_epoch_end": 0,
        "on_validation_end": 0, "on_train_end": 0,
    }  # fmt: skip
    for hook in hooks:
        setattr(Hooked, hook, lambda self, *_arguments, _hook=hook: self.seen.append(_hook))
    trial, _ = trained(Hooked, epochs=1, tmp_path=tmp_path)
    batch = [
        "on_train_batch_start", "on_before_backward", "on_after_backward", "on_before_optimizer_step",
        "on_before_zero_grad", "on_train_batch_end",
    ]  # fmt: skip
    validation = ["on_validation_start", "on_validation_epoch_start"]
    validation += 4 * ["on_validation_batch_start", "on_validation_batch_end"]
    validation += ["on_validation_epoch_end", "on_validation_end"]
    start, end = ["on_train_start", "on_train_epoch_start"], ["on_train_epoch_end"]
    assert trial.lm.seen == [*start, *4 * batch, *end, *validation, "on_train_end"]


def test_batches_are_counted_within_an_epoch_and_the_trainer_tells_the_epoch(tmp_path: Path, off_cluster: Path) -> None:
    class Counting(Line):
        def training_step(self, batch: Any, batch_idx: int) -> Any:
            self.seen.append(f"{self.current_epoch}.{batch_idx}.{self.global_step}")
            return super().training_step(batch, batch_idx)

    trial, _ = trained(Counting, tmp_path=tmp_path)
    assert trial.lm.seen == [f"{batch // 4}.{batch % 4}.{batch}" for batch in range(8)]


def test_a_modules_logger_writes_for_tensorboard(tmp_path: Path, off_cluster: Path) -> None:
    class Writing(Line):
        def training_step(self, batch: Any, batch_idx: int) -> Any:
            self.logger.experiment.add_scalar("mine/by_writer", 1.0, self.global_step)
            self.logger.log_metrics({"mine/by_logger": torch.tensor(2.0)}, step=self.global_step)
            self.logger.log_metrics({"mine/parts": {"of_two": 3.0}}, step=self.global_step)
            assert self.loggers == [self.logger]
            return super().training_step(batch, batch_idx)

    _, reported = trained(Writing, epochs=1, tmp_path=tmp_path)
    written = b"".join(file.read_bytes() for file in (tmp_path / "tensorboard").glob("*tfevents*"))
    assert b"mine/by_writer" in written and b"mine/by_logger" in written and b"mine/parts/of_two" in written
    assert not [name for name in reported["training"][0] if name.startswith("mine")]


def test_nothing_of_the_adapters_own_is_taken_for_state_of_the_users(
    tmp_path: Path, off_cluster: Path, caplog: pytest.LogCaptureFixture
) -> None:
    trained(Line, tmp_path=tmp_path)
    assert "which no checkpoint holds" not in caplog.text


def test_metrics_of_torchmetrics_and_of_the_end_of_a_validation_are_reported(tmp_path: Path, off_cluster: Path) -> None:
    torchmetrics = pytest.importorskip("torchmetrics")

    class Measured(Line):
        def __init__(self) -> None:
            super().__init__()
            self.error = torchmetrics.MeanAbsoluteError()

        def validation_step(self, batch: Any, batch_idx: int) -> None:
            _, y = batch
            self.error(torch.zeros_like(y), y)
            self.log("error", self.error, on_epoch=True)
            self.log("largest", y.max(), reduce_fx="max")

        def on_validation_epoch_end(self) -> None:
            self.log("late", 5.0)

    _, reported = trained(Measured, tmp_path=tmp_path)
    for metrics in reported["validation"]:
        assert metrics["error"] == pytest.approx(1.5)
        assert metrics["largest"] == pytest.approx(3.0)
        assert metrics["late"] == 5.0


def test_each_of_several_optimizers_trains_its_own_parameters(tmp_path: Path, off_cluster: Path) -> None:
    class Two(Line):
        def __init__(self) -> None:
            super().__init__()
            self.other = nn.Linear(1, 1)

        def training_step(self, batch: Any, batch_idx: int, optimizer_idx: int) -> Any:  # type: ignore[override]
            x, y = batch
            nets = self.net, self.other
            assert [net.weight.requires_grad for net in nets] == [optimizer_idx == 0, optimizer_idx == 1]
            if optimizer_idx == 1 and batch_idx == 3:
                return None
            loss = nn.functional.mse_loss(nets[optimizer_idx](x), y)
            return {"loss": loss, f"own{optimizer_idx}": loss} if batch_idx != 3 else None

        def configure_optimizers(self) -> Any:
            return [torch.optim.SGD(net.parameters(), lr=0.1) for net in (self.net, self.other)]

    alone = core.DummyDistributedContext()
    context = pytorch.PyTorchTrialContext(
        core_context=core.Context(
            core.DummyCheckpointContext(alone, SharedFSStorageManager(str(tmp_path))), distributed=alone
        ),
        trial_seed=7, hparams={"global_batch_size": 4}, exp_conf={}, slots_per_trial=1, num_gpus=0,
    )  # fmt: skip
    trial = type("Trial", (LineTrial,), {"module": Two})(context)
    trial.build_callbacks()
    metrics = trial.train_batch(batch=list(data().tensors), epoch_idx=0, batch_idx=0)
    assert sorted(metrics) == ["opt0_loss", "opt1_loss", "own0", "own1"]


@pytest.mark.parametrize(("precision", "dtype"), [("bf16", "torch.bfloat16"), (16, "torch.float16")])
def test_mixed_precision_is_over_the_whole_step(
    precision: int | str, dtype: str, tmp_path: Path, off_cluster: Path
) -> None:
    class Halved(Line):
        def training_step(self, batch: Any, batch_idx: int) -> Any:
            self.seen.append(str(self.net(batch[0]).dtype))
            return super().training_step(batch, batch_idx)

    alone = core.DummyDistributedContext()
    core_context = core.Context(
        core.DummyCheckpointContext(alone, SharedFSStorageManager(str(tmp_path))), distributed=alone
    )
    context = pytorch.PyTorchTrialContext(
        core_context=core_context, trial_seed=7, hparams={}, exp_conf={}, slots_per_trial=1, num_gpus=0
    )
    trial = type("Trial", (LineTrial,), {"module": Halved, "precision": precision})(context)
    trial.build_callbacks()
    trial.train_batch(batch=list(data().tensors), epoch_idx=0, batch_idx=0)
    assert trial.lm.seen == [dtype]
    assert (context._scaler is not None) == (precision == 16)
    assert trial.lm.net.weight.grad is None  # zeroed by the step
    with pytest.raises(ValueError, match="precision=64 is not one of 32"):
        LightningAdapter.__init__(trial, context, Line(), precision=64)


@pytest.mark.parametrize(
    ("name", "function", "words"),
    [
        ("optimizer_step", lambda self, *_: None, "has optimizer_step, which LightningAdapter does not support"),
        ("setup", lambda self, stage: None, "do it in __init__"),
        ("test_step", lambda self, batch, batch_idx: None, "test with Lightning's own Trainer"),
        ("training_epoch_end", lambda self, outputs: None, "use on_train_epoch_end"),
        ("configure_callbacks", lambda self: [], "return PyTorchCallbacks from build_callbacks"),
        ("on_train_epoch_end", lambda self, outputs: None, "on_train_epoch_end with outputs"),
        ("validation_step", lambda self, batch, batch_idx, dataloader_idx: None, "validation_step with dataloader_idx"),
        ("training_step", lambda self, batch, batch_idx, hiddens: None, "training_step with hiddens"),
        ("training_step", lambda self, batch, batch_idx, optimizer_idx: None, "returned 1 optimizer"),
    ],
)
def test_hooks_without_a_place_are_refused_by_name(name: str, function: Any, words: str) -> None:
    module = type("Refused", (Line,), {name: function})
    with pytest.raises(InvalidModelException, match=words):
        type("Trial", (LineTrial,), {"module": module})(CheckpointLoadContext())


def test_a_module_with_manual_optimization_a_trainer_or_an_unknown_log_is_refused() -> None:
    module = Line()
    module.automatic_optimization = False
    with pytest.raises(InvalidModelException, match="automatic_optimization = False"):
        LightningAdapter.__init__(object.__new__(LineTrial), CheckpointLoadContext(), module)
    with pytest.raises(InvalidModelException, match="got a Linear"):
        LightningAdapter.__init__(object.__new__(LineTrial), CheckpointLoadContext(), nn.Linear(1, 1))
    trial = LineTrial(CheckpointLoadContext())
    with pytest.raises(InvalidModelException, match="reduce_fx=median"):
        trial.lm.log("x", 1.0, reduce_fx=torch.median)
    with pytest.raises(InvalidModelException, match="metric_attribute"):
        trial.lm.log("x", 1.0, metric_attribute="m")
    with pytest.raises(InvalidModelException, match="a tensor of 2 numbers"):
        trial.lm.log("x", torch.ones(2))
    with pytest.raises(InvalidModelException, match=r"trainer\.strategy"):
        trial.lm.optimizers()
    with pytest.raises(InvalidModelException, match="is attached to a Trainer"):
        LightningAdapter.__init__(object.__new__(LineTrial), CheckpointLoadContext(), trial.lm)


def test_optimizers_are_taken_in_every_form_of_lightning() -> None:
    optimizer = torch.optim.SGD(nn.Linear(1, 1).parameters(), lr=0.1)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1)
    every_batch = {"scheduler": scheduler, "interval": "step", "frequency": 3}
    assert configured(optimizer).optimizers == [optimizer]
    assert configured((optimizer, optimizer)).optimizers == [optimizer, optimizer]
    assert configured(([optimizer], [scheduler])).schedulers[0].step_mode is LRScheduler.StepMode.STEP_EVERY_EPOCH
    found = configured([{"optimizer": optimizer, "lr_scheduler": every_batch}]).schedulers[0]
    assert (found.step_mode, found.frequency) == (LRScheduler.StepMode.STEP_EVERY_BATCH, 3)
    plateau = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer)
    with pytest.raises(InvalidModelException, match="ReduceLROnPlateau"):
        configured({"optimizer": optimizer, "lr_scheduler": plateau})
    with pytest.raises(InvalidModelException, match="with monitor"):
        configured({"optimizer": optimizer, "lr_scheduler": scheduler, "monitor": "val_loss"})
    with pytest.raises(InvalidModelException, match="at least one optimizer"):
        configured(None)


def test_callbacks_that_leave_out_the_modules_hooks_are_noticed(tmp_path: Path) -> None:
    class Forgetful(LineTrial):
        def build_callbacks(self) -> dict[str, Any]:
            return {}

    trial = Forgetful(CheckpointLoadContext())
    trial.build_callbacks()
    with pytest.raises(InvalidModelException, match=r"super\(\).build_callbacks"):
        trial.train_batch(batch=list(data().tensors), epoch_idx=0, batch_idx=0)


def test_hooks_of_checkpoints_find_the_weights_where_lightning_has_them() -> None:
    class Kept(Line):
        def on_save_checkpoint(self, checkpoint: dict[str, Any]) -> None:
            checkpoint["mine"] = sorted(checkpoint["state_dict"])

        def on_load_checkpoint(self, checkpoint: dict[str, Any]) -> None:
            checkpoint["state_dict"] = {"changed": checkpoint["mine"]}

    hooks: Any = type("Trial", (LineTrial,), {"module": Kept})(CheckpointLoadContext()).build_callbacks()
    checkpoint: dict[str, Any] = {"models_state_dict": [{"net.weight": 1}]}
    hooks["_lightning_module"].on_checkpoint_save_start(checkpoint)
    assert checkpoint == {"models_state_dict": [{"net.weight": 1}], "mine": ["net.weight"]}
    hooks["_lightning_module"].on_checkpoint_load_start(checkpoint)
    assert checkpoint["models_state_dict"] == [{"changed": ["net.weight"]}]
