"""A callback's hook before an optimizer steps: the engine steps by itself, and that is said."""

from typing import Any

import pytest
from small_ds_trial import SmallTrial, fitted

from determined import pytorch

HOOK = "on_before_optimizer_step"


class Clipping(pytorch.PyTorchCallback):
    calls = 0

    def on_before_optimizer_step(self, parameters: Any) -> None:
        Clipping.calls += 1


class ClippingTrial(SmallTrial):
    def build_callbacks(self) -> dict[str, pytorch.PyTorchCallback]:
        return {**super().build_callbacks(), "clip": Clipping(), "again": Clipping()}


def test_a_hook_that_is_not_called_is_named_once_with_what_to_do(caplog: pytest.LogCaptureFixture) -> None:
    fitted({}, 2, trial_class=ClippingTrial)
    (said,) = [text for text in caplog.messages if HOOK in text]
    assert "engine steps by itself" in said and "gradient_clipping" in said
    assert Clipping.calls == 0


def test_a_trial_without_that_hook_is_let_be(caplog: pytest.LogCaptureFixture) -> None:
    fitted({}, 1)
    assert HOOK not in caplog.text
