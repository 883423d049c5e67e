"""PyTorch DDP on the Core API: the same script on one process, several GPUs or several nodes.

A paused or restarted training goes on with the very same losses as one that was left alone: model, optimizer and the
place in the data come from the checkpoint, and the data's order from a seed.
"""

import logging
import os
import pathlib

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

import determined as det

RECORDS = 1024
SAVE_EVERY = 20


def dataset() -> tuple[torch.Tensor, torch.Tensor]:
    """The same on every rank: a smooth function of eight numbers, and a little noise."""
    generator = torch.Generator().manual_seed(7)
    inputs = torch.randn(RECORDS, 8, generator=generator)
    noise = 0.05 * torch.randn(RECORDS, 1, generator=generator)
    return inputs, torch.sin(inputs.sum(dim=1, keepdim=True)) + noise


def build_model(seed: int) -> nn.Module:
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(8, 32), nn.Tanh(), nn.Linear(32, 1))


def my_records(batch: int, seed: int, global_batch_size: int, rank: int, size: int) -> torch.Tensor:
    """Return this rank's part of a batch. It depends on nothing but its number, so any batch can be the first one."""
    generator = torch.Generator().manual_seed(seed * 1_000_003 + batch)
    return torch.randperm(RECORDS, generator=generator)[:global_batch_size][rank::size]


def mean_of_ranks(value: torch.Tensor) -> float:
    total = value.detach().clone()
    dist.all_reduce(total)
    return total.item() / dist.get_world_size()


class Training:
    """State that a checkpoint holds, and how it gets there and back."""

    def __init__(self, core_context: det.core.Context, seed: int, lr: float, device: torch.device) -> None:
        self.core_context = core_context
        self.device = device
        self.model = DistributedDataParallel(build_model(seed).to(device))
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=lr)
        self.batches = 0
        self.saved_at = 0
        self._settle()

    def _settle(self) -> None:
        """DDP rearranges its buffers after the first backward pass, and with them the order in which gradients are
        summed. With that behind it, a resumed training rounds exactly as the one it goes on from."""
        self.model(torch.zeros(1, 8, device=self.device)).sum().backward()
        self.optimizer.zero_grad()

    def load(self, checkpoint: str) -> None:
        with self.core_context.checkpoint.restore_path(checkpoint) as path:
            state = torch.load(path / "state.pt", map_location=self.device, weights_only=True)
        self.model.module.load_state_dict(state["model"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.batches = self.saved_at = state["batches"]
        logging.info("going on after batch %s", self.batches)

    def save(self) -> None:
        """Save by the chief: every rank has the same weights, so the chief's are enough."""
        if self.saved_at == self.batches:
            return
        self.saved_at = self.batches
        if self.core_context.distributed.rank == 0:
            with self.core_context.checkpoint.store_path({"steps_completed": self.batches}) as (path, _):
                self._write(path)

    def _write(self, path: pathlib.Path) -> None:
        optimizer, model = self.optimizer.state_dict(), self.model.module.state_dict()
        torch.save({"model": model, "optimizer": optimizer, "batches": self.batches}, path / "state.pt")


def train(core_context: det.core.Context, hparams: dict, seed: int, latest: str | None, device: torch.device) -> None:
    rank, size = dist.get_rank(), dist.get_world_size()
    training = Training(core_context, seed, hparams["lr"], device)
    if latest is not None:
        training.load(latest)
    inputs, targets = (part.to(device) for part in dataset())
    while training.batches < hparams["batches"]:
        mine = my_records(training.batches, seed, hparams["global_batch_size"], rank, size).to(device)
        loss = nn.functional.mse_loss(training.model(inputs[mine]), targets[mine])
        training.optimizer.zero_grad()
        loss.backward()
        training.optimizer.step()
        training.batches += 1
        average = mean_of_ranks(loss)
        if rank == 0:
            core_context.train.report_training_metrics(training.batches, {"loss": average})
        if training.batches % SAVE_EVERY == 0:
            training.save()
        # All ranks ask, and get one answer: they leave after the same batch.
        if core_context.preempt.should_preempt():
            training.save()
            return
    with torch.no_grad():
        share = nn.functional.mse_loss(training.model(inputs[rank::size]), targets[rank::size])
    final = mean_of_ranks(share)
    if rank == 0:
        core_context.train.report_validation_metrics(training.batches, {"validation_loss": final})
    training.save()


def main() -> None:
    logging.basicConfig(level=logging.INFO, format=det.LOG_FORMAT)
    info = det.get_cluster_info()
    hparams = info.trial.hparams if info else {"lr": 0.05, "global_batch_size": 64, "batches": 60}
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"])) if torch.cuda.is_available() else torch.device("cpu")
    dist.init_process_group("nccl" if device.type == "cuda" else "gloo")
    try:
        with det.core.init(distributed=det.core.DistributedContext.from_torch_distributed()) as core_context:
            seed = info.trial.trial_seed if info else 0
            train(core_context, hparams, seed, info.latest_checkpoint if info else None, device)
    finally:
        dist.destroy_process_group()


if __name__ == "__main__":
    main()
