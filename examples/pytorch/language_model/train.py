"""A language model over any number of slots: FSDP2, bfloat16, torch.compile, and checkpoints saved in parts."""

import logging
import math
import os
from typing import Any

import torch
from data import LETTERS, Sentences
from model import Block, LanguageModel
from torch import nn
from torch.nn import functional

import determined as det
from determined import pytorch

DEFAULTS = {
    "global_batch_size": 32, "pieces": 320, "length": 64, "width": 64, "heads": 4, "layers": 2, "dropout": 0.1,
    "lr": 0.003, "warmup": 5, "epochs": 2, "compile": "no", "aggregation": 1,
}  # fmt: skip


class LanguageModelTrial(pytorch.PyTorchTrial):
    def __init__(self, context: pytorch.PyTorchTrialContext) -> None:
        self.context = context
        self.hparams = context.get_hparams()
        # Before wrap_model. Products are computed in bfloat16; weights, gradients and Adam's moments stay float32.
        context.experimental.use_amp(torch.bfloat16)
        shape = {name: self.hparams[name] for name in ("length", "width", "heads", "layers", "dropout")}
        # On several slots every Block is sharded by itself; on one slot `shard` changes nothing.
        self.model = context.wrap_model(
            LanguageModel(len(LETTERS), **shape), shard=(Block,), compile=compile_options(self.hparams["compile"])
        )
        # After wrap_model: sharding has replaced the parameters.
        optimizer = torch.optim.AdamW(groups(self.model), lr=self.hparams["lr"], betas=(0.9, 0.95))
        self.optimizer = context.wrap_optimizer(optimizer)
        self.schedule = context.wrap_lr_scheduler(
            torch.optim.lr_scheduler.LambdaLR(self.optimizer, self._share_of_lr),
            step_mode=pytorch.LRScheduler.StepMode.STEP_EVERY_OPTIMIZER_STEP,
        )

    def _share_of_lr(self, step: int) -> float:
        """A warm-up, then half a cosine down to a tenth."""
        h = self.hparams
        warmup, steps = h["warmup"], h["epochs"] * h["pieces"] // (h["global_batch_size"] * h["aggregation"])
        if step < warmup:
            return (step + 1) / warmup
        done = min((step - warmup) / max(steps - warmup, 1), 1.0)
        return 0.1 + 0.45 * (1 + math.cos(math.pi * done))

    def build_training_data_loader(self) -> pytorch.DataLoader:
        data = Sentences(self.hparams["pieces"], self.hparams["length"], seed=1)
        return pytorch.DataLoader(data, batch_size=self.context.get_per_slot_batch_size(), shuffle=True, drop_last=True)

    def build_validation_data_loader(self) -> pytorch.DataLoader:
        data = Sentences(64, self.hparams["length"], seed=2)
        return pytorch.DataLoader(data, batch_size=self.context.get_per_slot_batch_size())

    def train_batch(self, batch: pytorch.TorchData, epoch_idx: int, batch_idx: int) -> dict[str, Any]:
        loss = self._loss(batch)
        self.context.backward(loss)
        self.context.step_optimizer(
            self.optimizer, clip_grads=lambda parameters: nn.utils.clip_grad_norm_(parameters, 1.0)
        )
        return {"loss": loss, "lr": self.schedule.get_last_lr()[0]}

    def evaluate_batch(self, batch: pytorch.TorchData) -> dict[str, Any]:
        return {"bits_per_letter": self._loss(batch) / math.log(2)}

    def _loss(self, batch: Any) -> torch.Tensor:
        tokens, following = batch
        return functional.cross_entropy(self.model(tokens).flatten(0, 1), following.flatten())


def compile_options(words: str) -> bool | dict[str, Any]:
    """The hyperparameter `compile`: "no", "yes", or a backend of torch.compile."""
    return words == "yes" if words in ("no", "yes") else {"backend": words}


def groups(model: nn.Module) -> list[dict[str, Any]]:
    """Weight decay for matrices alone."""
    matrices = [parameter for parameter in model.parameters() if parameter.dim() > 1]
    others = [parameter for parameter in model.parameters() if parameter.dim() < 2]
    return [{"params": matrices, "weight_decay": 0.1}, {"params": others, "weight_decay": 0.0}]


def main() -> None:
    logging.basicConfig(level=logging.INFO, format=det.LOG_FORMAT)
    info = det.get_cluster_info()
    hparams = info.trial.hparams if info else DEFAULTS
    # On a cluster the platform knows who this process is; off it, torchrun has said it.
    by_torchrun = info is None and "TORCHELASTIC_RUN_ID" in os.environ
    distributed = det.core.DistributedContext.from_torch_distributed() if by_torchrun else None
    with pytorch.init(
        hparams=hparams, distributed=distributed, aggregation_frequency=hparams["aggregation"]
    ) as context:
        trainer = pytorch.Trainer(LanguageModelTrial(context), context)
        trainer.fit(
            max_length=pytorch.Epoch(hparams["epochs"]),
            validation_period=pytorch.Epoch(1),
            checkpoint_period=pytorch.Epoch(2),
            checkpoint_policy="none",  # a checkpoint of a large model is not worth every small gain
            reporting_period=pytorch.Batch(10),
            latest_checkpoint=info.latest_checkpoint if info else None,
        )


if __name__ == "__main__":
    main()
