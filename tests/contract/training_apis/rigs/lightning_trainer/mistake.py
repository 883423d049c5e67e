"""A Trainer that can be paused and has nothing to save by."""

import lightning.pytorch as L
from module import Regression, points
from torch.utils.data import DataLoader

from determined import lightning as det_lightning

with det_lightning.init() as context:
    trainer = L.Trainer(callbacks=[context.preemption], logger=False, enable_checkpointing=False, max_epochs=3)
    trainer.fit(Regression(0.1), DataLoader(points(), batch_size=4))
