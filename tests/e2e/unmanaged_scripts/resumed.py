"""External ids: a second start goes on from the latest checkpoint, and reports its last step once more."""

import random
import sys

from determined.experimental import core_v2

name = sys.argv[1]
core_v2.init(
    config=core_v2.Config(
        name="resumed", checkpoint_storage=sys.argv[2], external_experiment_id=name, external_trial_id=name
    )
)
begin = 0
if core_v2.info.latest_checkpoint is not None:
    with core_v2.checkpoint.restore_path(core_v2.info.latest_checkpoint) as directory:
        begin = int((directory / "position").read_text().split(",")[0])
# Scripts take the ids from there, too.
print("experiment", core_v2.info._trial_info.experiment_id, "begins at", begin)
for step in range(begin, begin + 30):
    core_v2.train.report_training_metrics(steps_completed=step, metrics={"loss": random.random()})
    if (step + 1) % 10 == 0:
        loss = random.random()
        core_v2.train.report_validation_metrics(steps_completed=step, metrics={"loss": loss})
        with core_v2.checkpoint.store_path({"steps_completed": step}) as (directory, uuid):
            (directory / "position").write_text(f"{step},{loss}")
core_v2.close()
