"""The model and how to train and evaluate it. It is a toy: one weight that should become 1."""

from collections.abc import Iterable

import torch

Batches = Iterable[tuple[torch.Tensor, torch.Tensor]]


def build_model(learning_rate: float) -> tuple[torch.nn.Module, torch.nn.Module, torch.optim.Optimizer]:
    model = torch.nn.Linear(1, 1, bias=False)
    return model, torch.nn.MSELoss(), torch.optim.SGD(model.parameters(), learning_rate)


def train_model(
    model: torch.nn.Module, loss_fn: torch.nn.Module, opt: torch.optim.Optimizer, train_data: Batches
) -> torch.Tensor:
    """Train one epoch; return the mean loss of its batches."""
    losses = []
    for data, labels in train_data:
        loss = loss_fn(model(data), labels)
        losses.append(loss)
        loss.backward()
        opt.step()
        opt.zero_grad()
    return sum(losses) / len(losses)


@torch.no_grad()
def eval_model(model: torch.nn.Module, loss_fn: torch.nn.Module, eval_data: Batches) -> torch.Tensor:
    losses = [loss_fn(model(data), labels) for data, labels in eval_data]
    return sum(losses) / len(losses)
