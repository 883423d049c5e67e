"""Ray tasks on any machines, each a trial of one experiment."""

import sys

import ray

from determined.experimental import core_v2


@ray.remote
def train(experiment: str, lr: float) -> float:
    config = core_v2.Config(
        name="detached ray", hparams={"lr": lr}, external_experiment_id=experiment, external_trial_id=f"lr-{lr}"
    )
    with core_v2.init_context(config=config) as core_context:
        loss = 1.0
        for step in range(1, 11):
            loss *= 1 - lr
            core_context.train.report_training_metrics(step, {"loss": loss})
        core_context.train.report_validation_metrics(10, {"loss": loss})
        return loss


def main(experiment: str) -> None:
    ray.init()
    losses = ray.get([train.remote(experiment, lr) for lr in (0.1, 0.2, 0.3)])
    print(f"best loss {min(losses):.4f}")


if __name__ == "__main__":
    main(sys.argv[1])
