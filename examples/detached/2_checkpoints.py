"""A script that goes on with its trial when it is started again: by external ids, from the latest checkpoint."""

import pathlib
import sys

from determined.experimental import core_v2


def main(experiment: str, trial: str, batches: int) -> None:
    config = core_v2.Config(
        name="detached checkpoints",
        external_experiment_id=experiment,
        external_trial_id=trial,
        checkpoint_storage=str(pathlib.Path("checkpoints").absolute()),
    )
    with core_v2.init_context(config=config) as core_context:
        done = 0
        if (latest := core_context.info.latest_checkpoint) is not None:
            with core_context.checkpoint.restore_path(latest) as path:
                done = int((pathlib.Path(path) / "state").read_text())
        print(f"starting at batch {done}")
        for batch in range(done + 1, done + batches + 1):
            core_context.train.report_training_metrics(steps_completed=batch, metrics={"loss": 1 / batch})
        with core_context.checkpoint.store_path({"steps_completed": done + batches}) as (path, _):
            (path / "state").write_text(str(done + batches))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], 10)
