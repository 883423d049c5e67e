"""A trial that forgets to wrap its engine."""

import model_def

from determined.pytorch import deepspeed as det_ds


class WithoutEngine(model_def.Trial):
    def __init__(self, context: det_ds.DeepSpeedTrialContext) -> None:
        self.context = context
