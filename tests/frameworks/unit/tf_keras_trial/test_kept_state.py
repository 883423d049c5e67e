"""State that a TFKerasTrial keeps on `self` is named, and how to keep it."""

from pathlib import Path
from typing import Any

import pytest
import tensorflow as tf
from small_keras_trial import Run, SmallTrial

from determined.keras import TFKerasTrialContext


class Forgetful(SmallTrial):
    def __init__(self, context: TFKerasTrialContext) -> None:
        super().__init__(context)
        self.history: dict[str, list[float]] = {"loss": []}

    def keras_callbacks(self) -> list[Any]:
        class Noting(tf.keras.callbacks.Callback):  # type: ignore[misc,name-defined]
            def on_train_batch_end(noting, batch: int, logs: Any = None) -> None:
                self.history["loss"].append(logs["loss"])

        return [Noting()]


def test_state_is_named_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    Run(tmp_path, Forgetful, batches=10, config={"checkpoint_policy": "all"})
    (said,) = [text for text in caplog.messages if "while it trained" in text]
    assert said.startswith("Forgetful changed self.history while it trained")
    assert "get_state and load_state" in said


def test_a_trial_without_state_is_let_be(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    Run(tmp_path, batches=10, config={"checkpoint_policy": "all"})
    assert "while it trained" not in caplog.text
