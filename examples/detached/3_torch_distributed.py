"""Several processes of torchrun that share one experiment, one trial and sharded checkpoints."""

import pathlib
import sys

from determined.experimental import core_v2


def main(experiment: str) -> None:
    distributed = core_v2.DistributedContext.from_torch_distributed()
    config = core_v2.Config(
        name="detached torchrun",
        external_experiment_id=experiment,
        external_trial_id="torchrun",
        checkpoint_storage=str(pathlib.Path("checkpoints").absolute()),
    )
    with core_v2.init_context(config=config, distributed=distributed) as core_context:
        print(f"rank {distributed.rank} of {distributed.size} works on trial {core_context.info.trial.trial_id}")
        for batch in range(1, 11):
            losses = core_context.distributed.allgather(1 / (batch + distributed.rank))
            if distributed.rank == 0:
                core_context.train.report_training_metrics(batch, {"loss": sum(losses) / len(losses)})
        with core_context.checkpoint.store_path({"steps_completed": 10}, shard=True) as (path, _):
            (path / f"shard-{distributed.rank}").write_text(str(distributed.rank))


if __name__ == "__main__":
    main(sys.argv[1])
