"""A trial that forgets to wrap its optimizer."""

import model_def

from determined import pytorch


class WithoutOptimizer(model_def.Trial):
    def __init__(self, context: pytorch.PyTorchTrialContext) -> None:
        self.context = context
        self.model = context.wrap_model(model_def.nn.Linear(3, 1))
