"""The module as a PyTorchTrial."""

from module import Regression, points

import determined as det
from determined import pytorch
from determined.pytorch.lightning import LightningAdapter


class Trial(LightningAdapter):
    def __init__(self, context: pytorch.PyTorchTrialContext) -> None:
        lr = float(context.get_hparam("lr"))
        if lr < 0:
            raise det.InvalidHP("lr is negative")
        super().__init__(context, Regression(lr))

    def build_training_data_loader(self) -> pytorch.DataLoader:
        return pytorch.DataLoader(points(), batch_size=4, shuffle=True)

    def build_validation_data_loader(self) -> pytorch.DataLoader:
        return pytorch.DataLoader(points(), batch_size=4)
