"""The same trial by a script of its own."""

import sys

from exact import ExactTrial

import determined as det
from determined import pytorch


def main(length: int, aggregation_frequency: int) -> None:
    with pytorch.init(aggregation_frequency=aggregation_frequency) as context:
        pytorch.Trainer(ExactTrial(context), context).fit(
            max_length=pytorch.Batch(length),
            reporting_period=pytorch.Batch(5),
            validation_period=pytorch.Batch(8),
            checkpoint_period=pytorch.Batch(7),
            latest_checkpoint=det.get_cluster_info().latest_checkpoint,
        )


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
