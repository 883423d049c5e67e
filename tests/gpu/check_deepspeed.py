"""For a machine with an NVIDIA GPU (`make test-gpu`): DeepSpeed trains there in bf16 with ZeRO 1, 2 and 3, through
DeepSpeedTrial and its Trainer, and goes on from a checkpoint as if it had not been interrupted.

Needs deepspeed and torch with CUDA.
"""

import os
import sys
import tempfile
from collections.abc import Iterator
from typing import Any

import torch
from torch import nn
from torch.utils.data import TensorDataset

import determined.pytorch as pytorch

WIDTH, BATCHES, PAUSE = 64, 8, 4


def main() -> int:
    if not torch.cuda.is_available():
        print("no GPU that torch can use; DeepSpeed was not checked")
        return 1
    import deepspeed

    from determined.pytorch import deepspeed as det_ds

    class GpuTrial(det_ds.DeepSpeedTrial):
        def __init__(self, context: det_ds.DeepSpeedTrialContext) -> None:
            self.context = context
            net = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.GELU(), nn.Dropout(0.1), nn.Linear(WIDTH, 1))
            config = {
                "train_micro_batch_size_per_gpu": 8,
                "gradient_accumulation_steps": 2,
                "bf16": {"enabled": True},
                "optimizer": {"type": "Adam", "params": {"lr": 0.01, "torch_adam": True}},
                "zero_optimization": {"stage": context.get_hparam("stage")},
                "steps_per_print": 10**6,
            }
            engine, *_ = deepspeed.initialize(model=net, model_parameters=net.parameters(), config=config)
            self.engine: Any = context.wrap_model_engine(engine)

        def build_training_data_loader(self) -> pytorch.DataLoader:
            return pytorch.DataLoader(numbers(seed=1), batch_size=8, shuffle=True)

        def build_validation_data_loader(self) -> pytorch.DataLoader:
            return pytorch.DataLoader(numbers(seed=2), batch_size=8)

        def train_batch(self, dataloader_iter: Iterator[Any] | None, epoch_idx: int, batch_idx: int) -> dict[str, Any]:
            loss = self._loss(dataloader_iter)
            self.engine.backward(loss)
            self.engine.step()
            return {"loss": loss}

        def evaluate_batch(self, dataloader_iter: Iterator[Any] | None, batch_idx: int) -> dict[str, Any]:
            return {"validation_loss": self._loss(dataloader_iter)}

        def build_callbacks(self) -> dict[str, pytorch.PyTorchCallback]:
            self.seen = Seen()
            return {"seen": self.seen}

        def _loss(self, dataloader_iter: Any) -> torch.Tensor:
            inputs, targets = self.context.to_device(next(dataloader_iter))
            return nn.functional.mse_loss(self.engine(inputs.bfloat16()).float(), targets)

    def fitted(stage: int, batches: int, latest: str | None = None) -> Any:
        with det_ds.init(hparams={"stage": stage}) as context:
            torch.manual_seed(3)
            trial = GpuTrial(context)
            assert context.device.type == "cuda", f"trained on {context.device}"
            det_ds.Trainer(trial, context).fit(
                max_length=pytorch.Batch(batches), checkpoint_policy="none", latest_checkpoint=latest
            )
        return trial.seen

    failed = 0
    for stage in (1, 2, 3):
        alone, first = fitted(stage, BATCHES), fitted(stage, PAUSE)
        then = fitted(stage, BATCHES, first.checkpoints[-1])
        is_equal, is_better = then.losses == alone.losses, alone.losses[-1] < first.losses[-1]
        print(f"ZeRO {stage}: {first.losses[-1]:.4f} after {PAUSE} batches, {alone.losses[-1]:.4f} after {BATCHES}, "
              f"{then.losses[-1]:.4f} with a pause: {'equal' if is_equal else 'NOT EQUAL'}")  # fmt: skip
        failed += not (is_equal and is_better)
    return min(failed, 1)


class Seen(pytorch.PyTorchCallback):
    def __init__(self) -> None:
        self.losses: list[float] = []
        self.checkpoints: list[str] = []

    def on_validation_end(self, metrics: dict[str, Any]) -> None:
        self.losses.append(metrics["validation_loss"])

    def on_checkpoint_upload_end(self, uuid: str) -> None:
        self.checkpoints.append(uuid)


def numbers(seed: int) -> TensorDataset:
    inputs = torch.randn(256, WIDTH, generator=torch.Generator().manual_seed(seed))
    return TensorDataset(inputs, inputs[:, :4].sum(dim=1, keepdim=True))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as directory:
        os.environ["XDG_DATA_HOME"] = directory
        os.chdir(directory)
        sys.exit(main())
