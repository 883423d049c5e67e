"""Search by Ray Tune with ASHA: each worker opens and closes a trial of the experiment that all of them share."""

import random
import sys

import ray
from ray import tune
from ray.tune.schedulers import AsyncHyperBandScheduler

from determined.experimental import core_v2


def objective(config: dict[str, float]) -> None:
    context = tune.get_context()
    experiment, trial = context.get_experiment_name(), context.get_trial_name()
    core_v2.init(
        config=core_v2.Config(
            name=experiment,
            hparams={"hp": config["hp"]},
            searcher={"name": "custom", "metric": "loss", "smaller_is_better": True},
            external_experiment_id=experiment,
            external_trial_id=trial,
        )
    )
    try:
        for step in range(100):
            if (step + 1) % 10 == 0:
                loss = config["hp"] + random.random()
                core_v2.train.report_validation_metrics(steps_completed=step, metrics={"loss": loss})
                tune.report({"iterations": step, "loss": loss})
    finally:
        core_v2.close()


ray.init(num_cpus=2, include_dashboard=False)
tuner = tune.Tuner(
    objective,
    run_config=tune.RunConfig(name=sys.argv[1], storage_path=sys.argv[2], verbose=1),
    tune_config=tune.TuneConfig(
        metric="loss",
        mode="min",
        scheduler=AsyncHyperBandScheduler(grace_period=5, max_t=100),
        num_samples=6,
    ),
    param_space={"hp": tune.uniform(0, 2)},
)
results = tuner.fit()
print("losses", *(result.metrics["loss"] for result in results))
print("errors", results.num_errors)
