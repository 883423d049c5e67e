"""PyTorch FSDP2 on the Core API: no rank holds the whole model, and each saves its own part of a checkpoint.

A checkpoint of four ranks can be loaded by two, or by any other number.
"""

import hashlib
import logging
import os

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from torch import nn
from torch.distributed.checkpoint.state_dict import StateDictOptions, get_state_dict, set_state_dict
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard

import determined as det

BATCH_SIZE = 32
SAVE_EVERY = 10


class Block(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.inner = nn.Linear(width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + torch.tanh(self.inner(x))


def build_model(seed: int, device: str) -> nn.Module:
    """Sharded over all ranks, block by block. The seed is the same on every rank, and so are the weights."""
    torch.manual_seed(seed)
    blocks = [Block(16) for _ in range(3)]
    model = nn.Sequential(nn.Linear(8, 16), *blocks, nn.Linear(16, 1)).to(device)
    mesh = init_device_mesh(device, (dist.get_world_size(),))
    for block in blocks:
        fully_shard(block, mesh=mesh)
    return fully_shard(model, mesh=mesh)


def records(batch: int, rank: int, device: str) -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(batch * 1_009 + rank)
    inputs = torch.randn(BATCH_SIZE, 8, generator=generator)
    return inputs.to(device), torch.sin(inputs.sum(dim=1, keepdim=True)).to(device)


def mean_of_ranks(value: torch.Tensor) -> float:
    total = value.detach().clone()
    dist.all_reduce(total)
    return total.item() / dist.get_world_size()


class Training:
    def __init__(self, core_context: det.core.Context, seed: int, lr: float, device: str) -> None:
        self.core_context = core_context
        self.model = build_model(seed, device)
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=lr)
        self.batches = 0
        self.saved_at = 0

    def load(self, checkpoint: str) -> None:
        """Into this number of ranks, whatever number saved it."""
        state = self._state()
        with self.core_context.checkpoint.restore_path(checkpoint) as path:
            dcp.load(state, checkpoint_id=path)
        set_state_dict(self.model, self.optimizer, model_state_dict=state["model"], optim_state_dict=state["optimizer"])
        self.batches = self.saved_at = self.core_context.checkpoint.get_metadata(checkpoint)["steps_completed"]
        self.show("loaded")

    def save(self) -> None:
        """Write each rank's own part: `shard=True` makes one checkpoint of them."""
        if self.saved_at == self.batches:
            return
        self.saved_at = self.batches
        metadata = {"steps_completed": self.batches}
        with self.core_context.checkpoint.store_path(metadata, shard=True) as (path, _):
            dcp.save(self._state(), checkpoint_id=path)
        self.show("saved")

    def show(self, what: str) -> None:
        """A fingerprint of all weights and moments, put together from all ranks."""
        options = StateDictOptions(full_state_dict=True, cpu_offload=True)
        model, optimizer = get_state_dict(self.model, self.optimizer, options=options)
        if self.core_context.distributed.rank != 0:
            return
        digest = hashlib.sha256()
        moments = {f"{name}.{key}": t for name, entry in optimizer["state"].items() for key, t in entry.items()}
        for name, tensor in sorted({**model, **moments}.items()):
            digest.update(name.encode() + tensor.numpy().tobytes())
        logging.info("%s at batch %s by %s ranks: %s", what, self.batches, dist.get_world_size(), digest.hexdigest())

    def _state(self) -> dict:
        model, optimizer = get_state_dict(self.model, self.optimizer)
        return {"model": model, "optimizer": optimizer}


def train(core_context: det.core.Context, hparams: dict, seed: int, latest: str | None, device: str) -> None:
    rank = dist.get_rank()
    training = Training(core_context, seed, hparams["lr"], device)
    if latest is not None:
        training.load(latest)
    while training.batches < hparams["batches"]:
        inputs, targets = records(training.batches, rank, device)
        loss = nn.functional.mse_loss(training.model(inputs), targets)
        training.optimizer.zero_grad()
        loss.backward()
        training.optimizer.step()
        training.batches += 1
        average = mean_of_ranks(loss)
        if rank == 0:
            core_context.train.report_training_metrics(training.batches, {"loss": average})
        if training.batches % SAVE_EVERY == 0:
            training.save()
        if core_context.preempt.should_preempt():
            training.save()
            return
    with torch.no_grad():
        inputs, targets = records(-1 - rank, rank, device)
        final = mean_of_ranks(nn.functional.mse_loss(training.model(inputs), targets))
    if rank == 0:
        core_context.train.report_validation_metrics(training.batches, {"validation_loss": final})
    training.save()


def main() -> None:
    logging.basicConfig(level=logging.INFO, format=det.LOG_FORMAT)
    info = det.get_cluster_info()
    hparams = info.trial.hparams if info else {"lr": 0.01, "batches": 30}
    device = "cuda" if torch.cuda.is_available() else "cpu"
    if device == "cuda":
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    dist.init_process_group("nccl" if device == "cuda" else "gloo")
    try:
        with det.core.init(distributed=det.core.DistributedContext.from_torch_distributed()) as core_context:
            seed = info.trial.trial_seed if info else 0
            train(core_context, hparams, seed, info.latest_checkpoint if info else None, device)
    finally:
        dist.destroy_process_group()


if __name__ == "__main__":
    main()
