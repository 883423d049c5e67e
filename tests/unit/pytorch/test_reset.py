"""Weights initialised anew, as older code asks for it."""

import torch

from determined.pytorch import reset_parameters


def test_every_module_is_initialised_anew() -> None:
    model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU(), torch.nn.Sequential(torch.nn.Linear(4, 1)))
    before = [parameter.clone() for parameter in model.parameters()]
    reset_parameters(model)
    assert not any(torch.equal(old, new) for old, new in zip(before, model.parameters(), strict=True))
