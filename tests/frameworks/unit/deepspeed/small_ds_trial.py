"""A DeepSpeedTrial of a few numbers, as ZeRO of any stage or as a pipeline, and how it is trained off cluster."""

from collections.abc import Iterator
from typing import Any

import deepspeed
import torch
from deepspeed.pipe import PipelineModule
from torch import nn
from torch.utils.data import TensorDataset

from determined import pytorch
from determined.pytorch import deepspeed as det_ds

FEATURES = 4


class SmallTrial(det_ds.DeepSpeedTrial):
    def __init__(self, context: det_ds.DeepSpeedTrialContext) -> None:
        self.context = context
        self.hparams = context.get_hparams()
        layers = [nn.Linear(FEATURES, 8), nn.Tanh(), nn.Dropout(0.25), nn.Linear(8, 1)]
        stages = self.hparams.get("stages")
        net: Any = PipelineModule(layers, num_stages=stages, loss_fn=mean_square) if stages else nn.Sequential(*layers)
        parameters = [parameter for parameter in net.parameters() if parameter.requires_grad]
        engine, *_ = deepspeed.initialize(model=net, model_parameters=parameters, config=config_of(self.hparams))
        self.engine: Any = context.wrap_model_engine(engine)

    def build_training_data_loader(self) -> pytorch.DataLoader:
        return self._loader(self.hparams.get("records", 24), seed=1, shuffle=True)

    def build_validation_data_loader(self) -> pytorch.DataLoader:
        return self._loader(self.hparams.get("validation_records", 24), seed=2, shuffle=False)

    def train_batch(self, dataloader_iter: Iterator[Any] | None, epoch_idx: int, batch_idx: int) -> dict[str, Any]:
        if self.context.use_pipeline_parallel:
            return {"loss": self.engine.train_batch(data_iter=dataloader_iter)}
        assert dataloader_iter is not None
        inputs, targets = next(dataloader_iter)
        loss = mean_square(self.engine(inputs), targets)
        self.engine.backward(loss)
        self.engine.step()
        return {"loss": loss}

    def evaluate_batch(self, dataloader_iter: Iterator[Any] | None, batch_idx: int) -> dict[str, Any]:
        if self.context.use_pipeline_parallel:
            return {"validation_loss": self.engine.eval_batch(data_iter=dataloader_iter)}
        assert dataloader_iter is not None
        inputs, targets = next(dataloader_iter)
        return {"validation_loss": mean_square(self.engine(inputs), targets)}

    def build_callbacks(self) -> dict[str, pytorch.PyTorchCallback]:
        self.seen = Seen()
        return {"seen": self.seen}

    def _loader(self, records: int, seed: int, shuffle: bool) -> pytorch.DataLoader:
        size = self.context.get_train_micro_batch_size_per_gpu()
        return pytorch.DataLoader(numbers(records, seed), batch_size=size, shuffle=shuffle)


class Seen(pytorch.PyTorchCallback):
    """Record the hooks of the loop; `batches` is kept in checkpoints."""

    def __init__(self) -> None:
        self.hooks: list[str] = []
        self.training: list[dict[str, Any]] = []
        self.validation: list[dict[str, Any]] = []
        self.checkpoints: list[str] = []
        self.workloads = 0

    def on_training_workload_end(self, avg_metrics: dict[str, Any], batch_metrics: list[dict[str, Any]]) -> None:
        self.workloads += 1
        self.training += batch_metrics

    def on_validation_end(self, metrics: dict[str, Any]) -> None:
        self.validation.append(metrics)

    def on_checkpoint_save_start(self, checkpoint: dict[str, Any]) -> None:
        self.hooks.append("save_start")

    def on_checkpoint_write_end(self, checkpoint_dir: str) -> None:
        self.hooks.append("write_end")

    def on_checkpoint_upload_end(self, uuid: str) -> None:
        self.hooks.append("upload_end")
        self.checkpoints.append(uuid)

    def state_dict(self) -> dict[str, Any]:
        return {"workloads": self.workloads}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        self.workloads = state_dict["workloads"]


def config_of(hparams: dict[str, Any]) -> dict[str, Any]:
    optimizer = {"type": hparams.get("optimizer", "Adam"), "params": {"lr": 0.05}}
    if optimizer["type"] == "Adam":
        optimizer["params"]["torch_adam"] = True  # DeepSpeed's own would be compiled
    return {
        "train_micro_batch_size_per_gpu": hparams.get("micro", 2),
        "gradient_accumulation_steps": hparams.get("accumulation", 2),
        "optimizer": optimizer,
        "zero_optimization": {"stage": hparams.get("zero", 0)},
        "gradient_clipping": 0.0,
        "steps_per_print": 10**6,
    }


def numbers(records: int, seed: int) -> TensorDataset:
    """The first of 64 that follow from the seed."""
    inputs = torch.randn(64, FEATURES, generator=torch.Generator().manual_seed(seed))[:records]
    return TensorDataset(inputs, inputs.sum(dim=1, keepdim=True))


def mean_square(outputs: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    return nn.functional.mse_loss(outputs, targets)


def fitted(
    hparams: dict[str, Any],
    batches: int,
    latest: str | None = None,
    trial_class: type[SmallTrial] = SmallTrial,
    **fit: Any,
) -> SmallTrial:
    """A trial that was trained here, by however many ranks there are."""
    with det_ds.init(hparams=hparams) as context:
        torch.manual_seed(3 if latest is None else 4)  # a resumed trial has the random numbers of its checkpoint
        trial = trial_class(context)
        periods = {"reporting_period": pytorch.Batch(1), "checkpoint_policy": "none"} | fit
        det_ds.Trainer(trial, context).fit(max_length=pytorch.Batch(batches), latest_checkpoint=latest, **periods)
        trial.weights = weights_of(trial.engine)  # type: ignore[attr-defined]
    return trial


def weights_of(engine: Any) -> list[list[float]]:
    """Whole, also where ZeRO 3 has spread them; of a pipeline those of this stage."""
    with deepspeed.zero.GatheredParameters(list(engine.module.parameters())):
        return [parameter.detach().flatten().tolist() for parameter in engine.module.parameters()]
