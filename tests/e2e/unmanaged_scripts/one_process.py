"""Report from a process without ids: metrics of 100 steps, a validation and the progress after every tenth.

With `older` as its argument it names its experiment as 0.25 and 0.26 did.
"""

import random
import sys

from determined.experimental import core_v2

STEPS = 100

if sys.argv[1:] == ["older"]:
    core_v2.init(
        defaults=core_v2.DefaultConfig(name="one process", hparams={"lr": 0.1}, searcher=None, checkpoint_storage=None),
        unmanaged=core_v2.UnmanagedConfig(workspace="Uncategorized", project="Uncategorized"),
    )
else:
    core_v2.init(config=core_v2.Config(name="one process"))
for step in range(STEPS):
    print(f"step {step}")
    core_v2.train.report_training_metrics(steps_completed=step, metrics={"loss": random.random()})
    if step % 10 == 9:
        core_v2.train.report_validation_metrics(steps_completed=step, metrics={"loss": random.random()})
        core_v2.train.report_progress(step / float(STEPS))
core_v2.close()
