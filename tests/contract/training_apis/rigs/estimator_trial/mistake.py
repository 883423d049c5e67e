"""A trial that forgets to wrap its optimizer."""

from typing import Any

import model_def


class UnwrappedOptimizer(model_def.Trial):
    def optimizer(self) -> Any:
        return model_def.tf.compat.v1.train.GradientDescentOptimizer(self.lr)
