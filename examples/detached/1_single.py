"""A script that reports to a master from wherever it runs."""

import random

from determined.experimental import core_v2


def main() -> None:
    config = core_v2.Config(name="detached single", hparams={"lr": 0.1}, labels=["example"])
    core_v2.init(config=config)
    loss = 1.0
    for step in range(1, 101):
        loss -= core_v2.info.trial.hparams["lr"] * loss * random.random()
        if step % 10 == 0:
            core_v2.train.report_training_metrics(steps_completed=step, metrics={"loss": loss})
            print(f"batch {step}: loss {loss:.4f}")
    core_v2.train.report_validation_metrics(steps_completed=100, metrics={"loss": loss})
    core_v2.close()


if __name__ == "__main__":
    main()
