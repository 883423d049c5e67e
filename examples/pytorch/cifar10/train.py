"""The trial class of model_def.py, trained by a script: `pytorch.init` and `Trainer.fit`."""

import logging

from model_def import CIFARTrial

import determined as det
from determined import pytorch

HPARAMS = {
    "epochs": 2,
    "global_batch_size": 64,
    "lr": 0.05,
    "lr_decay": 0.7,
    "momentum": 0.9,
    "weight_decay": 0.0005,
    "width": 8,
    "workers": 2,
}


def main() -> None:
    logging.basicConfig(level=logging.INFO, format=det.LOG_FORMAT)
    info = det.get_cluster_info()
    hparams = info.trial.hparams if info else HPARAMS
    with pytorch.init(hparams=hparams) as context:
        trainer = pytorch.Trainer(CIFARTrial(context), context)
        trainer.fit(
            max_length=pytorch.Epoch(hparams["epochs"]),
            validation_period=pytorch.Epoch(1),
            reporting_period=pytorch.Batch(16),
            checkpoint_policy="all",
            latest_checkpoint=info.latest_checkpoint if info else None,
        )


if __name__ == "__main__":
    main()
