"""State that a DeepSpeedTrial keeps on `self`, an engine that is not wrapped included, is named."""

from collections.abc import Iterator
from typing import Any

import deepspeed
import pytest
import torch
from small_ds_trial import FEATURES, SmallTrial, config_of, fitted
from torch import nn

from determined import pytorch
from determined.pytorch import deepspeed as det_ds


class Forgetful(SmallTrial):
    def __init__(self, context: det_ds.DeepSpeedTrialContext) -> None:
        super().__init__(context)
        net = nn.Linear(FEATURES, 1)
        config = config_of({"accumulation": 1})
        self.second, *_ = deepspeed.initialize(model=net, model_parameters=net.parameters(), config=config)
        self.history: dict[str, list[int]] = {"batches": []}

    def train_batch(self, dataloader_iter: Iterator[Any] | None, epoch_idx: int, batch_idx: int) -> dict[str, Any]:
        self.history["batches"].append(batch_idx)
        self.second.backward(self.second(torch.ones(2, FEATURES)).sum())
        self.second.step()
        return super().train_batch(dataloader_iter, epoch_idx, batch_idx)


def _said(trial_class: type[SmallTrial], caplog: pytest.LogCaptureFixture) -> list[str]:
    fitted({"zero": 1}, 4, trial_class=trial_class, checkpoint_period=pytorch.Batch(2))
    return [text for text in caplog.messages if "while it trained" in text or "wrap_optimizer" in text]


def test_state_and_an_engine_that_is_not_wrapped_are_named_once(caplog: pytest.LogCaptureFixture) -> None:
    (said,) = _said(Forgetful, caplog)
    assert said.startswith("Forgetful changed self.second, self.history while it trained")
    assert "wrap_model_engine" in said


def test_a_trial_without_state_is_let_be(caplog: pytest.LogCaptureFixture) -> None:
    assert _said(SmallTrial, caplog) == []
