"""A script that trains by the Trainer."""

from model_def import Trial

import determined as det
from determined import pytorch


def main() -> None:
    info = det.get_cluster_info()
    with pytorch.init(hparams=info.trial.hparams) as context:
        pytorch.Trainer(Trial(context), context).fit(
            validation_period=pytorch.Batch(4),
            reporting_period=pytorch.Batch(2),
            latest_checkpoint=info.latest_checkpoint,
        )


if __name__ == "__main__":
    main()
