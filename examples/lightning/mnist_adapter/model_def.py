"""A LightningModule as a trial class: `entrypoint: model_def:DigitsTrial`. Without a cluster: python3 model_def.py"""

import logging

from data import digits
from module import DigitClassifier

import determined as det
from determined import pytorch
from determined.pytorch import DataLoader, PyTorchTrialContext
from determined.pytorch.lightning import LightningAdapter

TRAINING_RECORDS, VALIDATION_RECORDS = 1024, 256
HPARAMS = {"global_batch_size": 32, "learning_rate": 0.003, "hidden": 32, "dropout": 0.25}


class DigitsTrial(LightningAdapter):
    def __init__(self, context: PyTorchTrialContext) -> None:
        module = DigitClassifier(
            learning_rate=context.get_hparam("learning_rate"),
            hidden=context.get_hparam("hidden"),
            dropout=context.get_hparam("dropout"),
        )
        super().__init__(context, module)

    def build_training_data_loader(self) -> DataLoader:
        batch_size = self.context.get_per_slot_batch_size()
        return DataLoader(digits(TRAINING_RECORDS, seed=1), batch_size=batch_size, shuffle=True)

    def build_validation_data_loader(self) -> DataLoader:
        return DataLoader(digits(VALIDATION_RECORDS, seed=2), batch_size=self.context.get_per_slot_batch_size())


def main() -> None:
    logging.basicConfig(level=logging.INFO, format=det.LOG_FORMAT)
    with pytorch.init(hparams=HPARAMS) as context:
        trainer = pytorch.Trainer(DigitsTrial(context), context)
        trainer.fit(max_length=pytorch.Epoch(2), validation_period=pytorch.Epoch(1), reporting_period=pytorch.Batch(16))


if __name__ == "__main__":
    main()
