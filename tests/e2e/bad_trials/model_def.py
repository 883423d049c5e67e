"""A trial that is wrong in the way its hyperparameter `case` names. It trains well where `case` is unknown to it."""

import math
from collections.abc import Iterator
from typing import Any

import torch
from torch import nn
from torch.utils.data import Dataset, IterableDataset

import determined as det
from determined import pytorch

CHUNK = 64 << 20
CHUNKS = 64  # 4 GiB, should nothing stop it


class Rows(Dataset[Any]):
    def __len__(self) -> int:
        return 16

    def __getitem__(self, index: int) -> Any:
        return torch.tensor([float(index)]), torch.tensor([2.0 * index])


class Lengthless(Dataset[Any]):
    def __getitem__(self, index: int) -> Any:
        return torch.zeros(1), torch.zeros(1)


class Stream(IterableDataset[Any]):
    def __iter__(self) -> Iterator[Any]:
        while True:
            yield torch.zeros(1), torch.zeros(1)


class Failing(pytorch.PyTorchCallback):
    def on_training_epoch_start(self, epoch_idx: int) -> None:
        raise ValueError("broken in a callback")


class MyTrial(pytorch.PyTorchTrial):
    def __init__(self, context: pytorch.PyTorchTrialContext) -> None:
        self.context, self.case = context, context.get_hparam("case")
        if self.case == "constructor":
            raise ValueError("broken in the constructor")
        if self.case == "invalid hp in constructor":
            raise det.InvalidHP("too wide for this data")
        if self.case == "missing hparam":
            context.get_hparam("width")
        if self.case in ("torch stream", "epochs of a stream"):
            context.experimental.disable_dataset_reproducibility_checks()
        model = nn.Linear(1, 1)
        self.model = model if self.case == "no model" else context.wrap_model(model)
        optimizer = torch.optim.SGD(self.model.parameters(), lr=1e-3)
        self.optimizer = optimizer if self.case == "no optimizer" else context.wrap_optimizer(optimizer)

    def build_training_data_loader(self) -> Any:
        size = self.context.get_per_slot_batch_size()
        if self.case == "torch loader":
            return torch.utils.data.DataLoader(Rows(), batch_size=size)
        if self.case in ("torch stream", "epochs of a stream"):
            return torch.utils.data.DataLoader(Stream(), batch_size=size)
        if self.case == "stream":
            return pytorch.DataLoader(Stream(), batch_size=size)
        if self.case == "no length":
            return pytorch.DataLoader(Lengthless(), batch_size=size)
        return pytorch.DataLoader(Rows(), batch_size=size)

    def build_validation_data_loader(self) -> Any:
        return pytorch.DataLoader(Rows(), batch_size=4)

    def build_callbacks(self) -> dict[str, pytorch.PyTorchCallback]:
        return {"failing": Failing()} if self.case == "callback" else {}

    def evaluation_reducer(self) -> Any:
        return {"accuracy": pytorch.Reducer.AVG} if self.case == "wrong reducer" else pytorch.Reducer.AVG

    def train_batch(self, batch: Any, epoch_idx: int, batch_idx: int) -> dict[str, Any]:
        if self.case == "invalid hp in train_batch":
            raise det.InvalidHP("diverges")
        if self.case == "gpu memory":
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 GiB")
        if self.case == "host memory":
            kept = [bytes([i]) * CHUNK for i in range(CHUNKS)]
            raise AssertionError(f"nothing limits this process: it holds {len(kept)} chunks")
        loss = torch.nn.functional.mse_loss(self.model(batch[0]), batch[1])
        if self.case == "no graph":
            loss = loss.detach()
        if self.case != "no step":
            self.context.backward(loss)
            self.context.step_optimizer(self.optimizer)
        if self.case == "nan":
            return {"loss": loss * math.nan}
        return {"loss": loss, "extra": 1} if self.case == "changing keys" and batch_idx else {"loss": loss}

    def evaluate_batch(self, batch: Any) -> dict[str, Any]:
        return {"loss": torch.nn.functional.mse_loss(self.model(batch[0]), batch[1])}
