"""A module that optimizes by hand, which the adapter cannot follow."""

import model_def
from module import Regression

from determined import pytorch
from determined.pytorch.lightning import LightningAdapter


class ManualTrial(model_def.Trial):
    def __init__(self, context: pytorch.PyTorchTrialContext) -> None:
        module = Regression(0.1)
        module.automatic_optimization = False
        LightningAdapter.__init__(self, context, module)
