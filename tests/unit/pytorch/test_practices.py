"""A PyTorchTrial is warned, at its first checkpoint, of what that does not hold."""

import copy
from typing import Any

import pytest
import torch
from small_trial import SmallTrial, model

from determined import pytorch


class _Neat(SmallTrial):
    """Keeps nothing; `self.last` is part of a model."""

    def __init__(self, context: pytorch.PyTorchTrialContext) -> None:
        super().__init__(context)
        self.weight = next(iter(self.model.parameters()))
        self.both = {"optimizer": self.optimizer}

    def train_batch(self, batch: Any, epoch_idx: int, batch_idx: int) -> dict[str, Any]:
        metrics = super().train_batch(batch, epoch_idx, batch_idx)
        self.seen.clear()
        return metrics


class _Forgetful(_Neat):
    def __init__(self, context: pytorch.PyTorchTrialContext) -> None:
        super().__init__(context)
        self.mean = torch.zeros(1)
        self.second = torch.optim.SGD(self.model.parameters(), lr=0.1)
        self.elsewhere = torch.optim.SGD(model().parameters(), lr=0.1)
        self.critic = model()
        self.third = torch.optim.SGD(self.critic.parameters(), lr=0.1)

    def train_batch(self, batch: Any, epoch_idx: int, batch_idx: int) -> dict[str, Any]:
        metrics = super().train_batch(batch, epoch_idx, batch_idx)
        self.mean += metrics["loss"].detach()
        return metrics


def _said(trial_class: type[SmallTrial], caplog: pytest.LogCaptureFixture) -> list[str]:
    with pytorch.init() as context:
        pytorch.Trainer(trial_class(context), context).fit(
            max_length=pytorch.Batch(4),
            checkpoint_period=pytorch.Batch(1),
            checkpoint_policy="none",
        )
    texts = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    return [text for text in texts if "while it trained" in text or "wrap_optimizer" in text]


@pytest.mark.usefixtures("own_place")
def test_models_optimizers_and_their_parts_may_be_kept_on_self(caplog: pytest.LogCaptureFixture) -> None:
    assert _said(_Neat, caplog) == []


@pytest.mark.usefixtures("own_place")
def test_state_in_a_tensor_and_an_optimizer_that_was_not_wrapped_are_named_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    unwrapped, with_its_model, changed = _said(_Forgetful, caplog)
    assert unwrapped.startswith("SGD in self.second is over parameters of a wrapped model")
    assert with_its_model.startswith("SGD in self.third is over parameters of a model that is not wrapped either")
    assert changed.startswith("_Forgetful changed self.mean while it trained")


class _Averaging(_Neat):
    """Has a second copy of the model that follows it, a part of the first model, and a running mean."""

    def __init__(self, context: pytorch.PyTorchTrialContext) -> None:
        super().__init__(context)
        self.part = torch.nn.Sequential(*self.model.children())
        self.average = copy.deepcopy(self.model)
        self.running = torch.zeros(1)

    def train_batch(self, batch: Any, epoch_idx: int, batch_idx: int) -> dict[str, Any]:
        metrics = super().train_batch(batch, epoch_idx, batch_idx)
        with torch.no_grad():
            for mean, weight in zip(self.average.parameters(), self.model.parameters(), strict=True):
                mean.lerp_(weight, 0.1)
        for _ in range(2):  # tensors take turns at two addresses
            self.running = self.running * 0.9 + metrics["loss"].detach()
        return metrics


@pytest.mark.usefixtures("own_place")
def test_a_model_that_follows_another_and_a_tensor_that_is_replaced_are_state(caplog: pytest.LogCaptureFixture) -> None:
    (changed,) = _said(_Averaging, caplog)
    assert changed.startswith("_Averaging changed self.average, self.running while it trained")
    assert "wrap_model" in changed
