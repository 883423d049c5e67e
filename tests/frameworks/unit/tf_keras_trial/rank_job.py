"""`python rank_job.py RANK PORT STORAGE OUT`: one of two ranks of a trial, first paused and then resumed in the same
process; its weights, and those of a run that was left alone, go to OUT."""

import os
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import numpy as np
from small_keras_trial import PairTrial, Run, SmallTrial

from determined import core


def main(rank: int, port: int, storage: Path, out: Path) -> None:
    os.chdir(storage)
    numbers = {"rank": rank, "local_rank": rank, "cross_rank": 0, "size": 2, "local_size": 2, "cross_size": 1}
    with core.DistributedContext(**numbers, pub_port=port) as ranks:
        alone = Run(storage / "alone", batches=9, distributed=ranks)
        before = Run(storage / "paused", batches=4, distributed=ranks)
        latest = ranks.broadcast(before.saved[-1] if rank == 0 else None)
        after = Run(storage / "paused", batches=9, latest=latest, distributed=ranks)
        trained = Run(storage / "plain", Plain, batches=2, distributed=ranks, config=PLAIN)
        pair = Run(storage / "pair", PairTrial, batches=2, distributed=ranks)
    runs: dict[str, Any] = {"alone": alone, "after": after, "plain": trained, "pair": pair}
    arrays = {f"{name} {place}": value for name, run in runs.items() for place, value in enumerate(run.weights)}
    losses = {
        f"losses {name}": [metrics["val_loss"] for _, metrics in run.reports.validation] for name, run in runs.items()
    }
    np.savez(out, **arrays, **losses)


class Plain(SmallTrial):
    """Nothing random, so that two ranks with half a batch each are one with a whole."""

    def build_model(self) -> Any:
        import tensorflow as tf

        self.model = tf.keras.Sequential([tf.keras.layers.Input([2]), tf.keras.layers.Dense(1)])
        model = self.context.wrap_model(self.model)
        model.compile(self.context.wrap_optimizer(tf.keras.optimizers.SGD(0.1)), "mse")
        self.context.configure_fit(shuffle=False)
        return model


PLAIN = {"hyperparameters": {"global_batch_size": 8}}


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3]), Path(sys.argv[4]))
