"""The same training in ours and in each peer, as its own documentation writes it when speed matters.

A loop trains `steps` steps on `batches` and returns the losses it reported, one for every REPORT_EVERY steps. Nothing
is drawn on the screen, written to disk or validated while it trains.
"""

import tempfile
import warnings
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

import torch
from torch import nn

import train_loop_work as work
from train_loop_work import REPORT_EVERY, Batches, Size

_RATE = 1e-3


def plain(size: Size, batches: Batches, steps: int) -> list[float]:
    """The plain loop once more, in the place of a framework: what the method itself adds."""
    reported: list[float] = []
    next(work.plain_loop(size, steps, batches, reported))
    return reported


def ours(size: Size, batches: Batches, steps: int) -> list[float]:
    from determined import pytorch

    reported: list[float] = []

    class Reports(pytorch.PyTorchCallback):
        def on_training_workload_end(self, avg_metrics: dict[str, Any], batch_metrics: list[dict[str, Any]]) -> None:
            reported.append(avg_metrics["loss"])

    class Trial(pytorch.PyTorchTrial):
        def __init__(self, context: pytorch.PyTorchTrialContext) -> None:
            self.context = context
            self.model = context.wrap_model(size.model())
            self.optimizer = context.wrap_optimizer(torch.optim.SGD(self.model.parameters(), lr=_RATE))
            self.compute = nn.CrossEntropyLoss()

        def train_batch(self, batch: Any, epoch_idx: int, batch_idx: int) -> dict[str, torch.Tensor]:
            inputs, labels = batch
            loss = self.compute(self.model(inputs), labels)
            self.context.backward(loss)
            self.context.step_optimizer(self.optimizer)
            return {"loss": loss}

        def evaluate_batch(self, batch: Any) -> dict[str, torch.Tensor]:
            inputs, labels = batch
            return {"validation_loss": self.compute(self.model(inputs), labels)}

        def build_training_data_loader(self) -> pytorch.DataLoader:
            pinned = size.device != "cpu"
            return pytorch.DataLoader(batches, batch_size=size.batch, collate_fn=work.as_it_is, pin_memory=pinned)

        def build_validation_data_loader(self) -> pytorch.DataLoader:
            return pytorch.DataLoader(Batches(size, 1), batch_size=size.batch, collate_fn=work.as_it_is)

        def build_callbacks(self) -> dict[str, pytorch.PyTorchCallback]:
            return {"reports": Reports()}

    with pytorch.init() as context:
        trainer = pytorch.Trainer(Trial(context), context)
        trainer.fit(
            max_length=pytorch.Batch(steps), reporting_period=pytorch.Batch(REPORT_EVERY), checkpoint_policy="none"
        )
    return reported


def lightning_trainer(size: Size, batches: Batches, steps: int) -> list[float]:
    import lightning
    from lightning.pytorch.loggers.logger import Logger

    reported: list[float] = []

    class InMemory(Logger):
        name, version = "memory", 0

        def log_metrics(self, metrics: dict[str, float], step: int | None = None) -> None:
            reported.append(metrics["loss"])

        def log_hyperparams(self, *_: Any, **__: Any) -> None:
            return

    class Module(lightning.LightningModule):
        def __init__(self) -> None:
            super().__init__()
            self.model = size.model()
            self.compute = nn.CrossEntropyLoss()

        def training_step(self, batch: Any, batch_idx: int) -> torch.Tensor:
            inputs, labels = batch
            loss: torch.Tensor = self.compute(self.model(inputs), labels)
            self.log("loss", loss)
            return loss

        def configure_optimizers(self) -> torch.optim.Optimizer:
            return torch.optim.SGD(self.parameters(), lr=_RATE)

    with tempfile.TemporaryDirectory() as folder:
        trainer = lightning.Trainer(
            accelerator=_accelerator(size),
            devices=1,
            max_steps=steps,
            logger=InMemory(),
            log_every_n_steps=REPORT_EVERY,
            enable_checkpointing=False,
            enable_progress_bar=False,
            enable_model_summary=False,
            default_root_dir=folder,
        )
        trainer.fit(Module(), work.loader(batches, size))
    return reported


def lightning_fabric(size: Size, batches: Batches, steps: int) -> list[float]:
    from lightning.fabric import Fabric

    fabric = Fabric(accelerator=_accelerator(size), devices=1)
    model = size.model()
    model, optimizer = fabric.setup(model, torch.optim.SGD(model.parameters(), lr=_RATE))
    data = fabric.setup_dataloaders(work.loader(batches, size))
    compute = nn.CrossEntropyLoss()
    losses: list[torch.Tensor] = []
    reported: list[float] = []
    for step, (inputs, labels) in enumerate(data, 1):
        loss = compute(model(inputs), labels)
        fabric.backward(loss)
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.detach())
        if step % REPORT_EVERY == 0:
            reported.append(torch.stack(losses).mean().item())
            losses.clear()
            fabric.log("loss", reported[-1], step)
        if step == steps:
            break
    return reported


def accelerate(size: Size, batches: Batches, steps: int) -> list[float]:
    from accelerate import Accelerator, DataLoaderConfiguration

    accelerator = Accelerator(
        cpu=size.device == "cpu", dataloader_config=DataLoaderConfiguration(non_blocking=size.device != "cpu")
    )
    model = size.model()
    model, optimizer, data = accelerator.prepare(
        model, torch.optim.SGD(model.parameters(), lr=_RATE), work.loader(batches, size)
    )
    compute = nn.CrossEntropyLoss()
    losses: list[torch.Tensor] = []
    reported: list[float] = []
    for step, (inputs, labels) in enumerate(data, 1):
        loss = compute(model(inputs), labels)
        accelerator.backward(loss)
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.detach())
        if step % REPORT_EVERY == 0:
            reported.append(torch.stack(losses).mean().item())
            losses.clear()
            accelerator.log({"loss": reported[-1]}, step)
        if step == steps:
            break
    return reported


def transformers_trainer(size: Size, batches: Batches, steps: int) -> list[float]:
    import transformers

    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.model = size.model()
            self.compute = nn.CrossEntropyLoss()

        def forward(self, inputs: torch.Tensor, labels: torch.Tensor) -> dict[str, torch.Tensor]:
            return {"loss": self.compute(self.model(inputs), labels)}

    class Trainer(transformers.Trainer):
        def get_train_dataloader(self) -> Any:
            return self.accelerator.prepare(work.loader(batches, size, work.as_fields))

    model = Model()
    with tempfile.TemporaryDirectory() as folder:
        arguments = transformers.TrainingArguments(
            output_dir=folder,
            use_cpu=size.device == "cpu",
            max_steps=steps,
            per_device_train_batch_size=size.batch,
            logging_steps=REPORT_EVERY,
            logging_nan_inf_filter=False,  # it would look at the loss of each step
            max_grad_norm=0.0,
            lr_scheduler_type="constant",
            save_strategy="no",
            report_to="none",
            disable_tqdm=True,
            remove_unused_columns=False,
            accelerator_config={"non_blocking": size.device != "cpu"},
        )
        trainer = Trainer(
            model, arguments, train_dataset=batches, optimizers=(torch.optim.SGD(model.parameters(), lr=_RATE), None)
        )
        trainer.remove_callback(transformers.PrinterCallback)
        trainer.train()
    return [entry["loss"] for entry in trainer.state.log_history if "loss" in entry]


def ignite(size: Size, batches: Batches, steps: int) -> list[float]:
    from ignite.engine import Engine, Events, create_supervised_trainer

    model = size.ready_model()
    trainer = create_supervised_trainer(
        model,
        torch.optim.SGD(model.parameters(), lr=_RATE),
        nn.CrossEntropyLoss(),
        device=size.device,
        non_blocking=True,
        output_transform=lambda _inputs, _labels, _found, loss: loss.detach(),
    )
    reported: list[float] = []

    def report(engine: Engine) -> None:
        reported.append(engine.state.output.item())

    trainer.add_event_handler(Events.ITERATION_COMPLETED(every=REPORT_EVERY), report)
    trainer.run(work.loader(batches, size), max_epochs=1, epoch_length=steps)
    return reported


def _accelerator(size: Size) -> str:
    return "cpu" if size.device == "cpu" else "cuda"


Loop = Callable[[Size, Batches, int], list[float]]
# name -> the loop, and the distribution that it needs
LOOPS: dict[str, tuple[Loop, str]] = {
    "plain": (plain, "torch"),
    "determined": (ours, "determined"),
    "fabric": (lightning_fabric, "lightning"),
    "accelerate": (accelerate, "accelerate"),
    "ignite": (ignite, "pytorch-ignite"),
    "lightning": (lightning_trainer, "lightning"),
    "transformers": (transformers_trainer, "transformers"),
}


def version_of(name: str) -> str:
    """Return the version of the distribution behind a loop.

    Raises:
        PackageNotFoundError: it is not installed here.
    """
    if name == "determined":  # found through PYTHONPATH, where it is not installed
        import determined

        return determined.__version__
    return version(LOOPS[name][1])


def quietly() -> None:
    """Advice of the libraries (more workers, GPUs that are not used) goes nowhere."""
    import logging

    warnings.filterwarnings("ignore")
    logging.disable(logging.WARNING)
