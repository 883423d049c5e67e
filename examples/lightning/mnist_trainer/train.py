"""The same module with Lightning's own Trainer: `entrypoint: python3 train.py`. Without a cluster: python3 train.py"""

import logging

import lightning as L
from data import digits
from module import DigitClassifier
from torch.utils.data import DataLoader

import determined as det
from determined import lightning as det_lightning

TRAINING_RECORDS, VALIDATION_RECORDS = 1024, 256
HPARAMS = {"epochs": 2, "batch_size": 32, "learning_rate": 0.003, "hidden": 32, "dropout": 0.25}


def main() -> None:
    logging.basicConfig(level=logging.INFO, format=det.LOG_FORMAT)
    with det_lightning.init() as context:
        hparams = {**HPARAMS, **context.hparams}
        module = DigitClassifier(hparams["learning_rate"], hparams["hidden"], hparams["dropout"])
        training = DataLoader(digits(TRAINING_RECORDS, seed=1), batch_size=hparams["batch_size"], shuffle=True)
        validation = DataLoader(digits(VALIDATION_RECORDS, seed=2), batch_size=hparams["batch_size"])
        trainer = L.Trainer(**context.trainer_kwargs(max_epochs=hparams["epochs"], log_every_n_steps=8))
        trainer.fit(module, training, validation, ckpt_path=context.resume_path())


if __name__ == "__main__":
    main()
