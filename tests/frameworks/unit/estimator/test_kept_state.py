"""State that an EstimatorTrial keeps on `self` is named; what a model_fn leaves there is made anew with its graph."""

from collections import deque
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from small_trial import SmallTrial, train

from determined.estimator import EstimatorTrialContext


class Forgetful(SmallTrial):
    def __init__(self, context: EstimatorTrialContext) -> None:
        super().__init__(context)
        self.history: dict[str, list[float]] = {"drawn": []}
        self.window: deque[float] = deque([0.0], maxlen=1)
        self.draws = np.random.default_rng(1)
        self.hooks = (Noting(self),)

    def model_fn(self, features: Any, labels: Any, mode: str) -> Any:
        spec = super().model_fn(features, labels, mode)
        self.loss, self.ops = spec.loss, [spec.train_op]
        return spec


class Noting(tf.compat.v1.train.SessionRunHook):  # type: ignore[misc,name-defined]
    def __init__(self, trial: Forgetful) -> None:
        self.trial = trial

    def after_run(self, run_context: Any, run_values: Any) -> None:
        self.trial.history["drawn"].append(self.trial.draws.random())
        self.trial.window.append(self.trial.draws.random())


def test_state_is_named_once_and_what_belongs_to_a_graph_is_not(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    train(Forgetful, tmp_path, batches=6, config={"checkpoint_policy": "all"})
    (said,) = [text for text in caplog.messages if "while it trained" in text]
    assert said.startswith("Forgetful changed self.history, self.window, self.draws while it trained")
    assert "RunHook" in said


def test_a_trial_without_state_is_let_be(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    train(SmallTrial, tmp_path, batches=6, config={"checkpoint_policy": "all"})
    assert "while it trained" not in caplog.text
