"""A trial of recovery.py: prints and reports every step, checkpoints every 20th. `recovery_trial.py FOLDER`."""

import sys
import time
from pathlib import Path

import determined as det
from determined import core
from recovery_steps import CHECKPOINT, PAUSE, Diary


def main(folder: Path) -> None:
    info = det.get_cluster_info()
    assert info is not None and info.trial is not None
    diary, step = Diary(folder, str(info.trial.trial_id)), 0
    with core.init() as context:
        while not diary.over():
            time.sleep(PAUSE)
            step += 1
            print(f"line {step}", flush=True)
            begin = time.perf_counter()
            context.train.report_training_metrics(steps_completed=step, metrics={"x": float(step)})
            call = time.perf_counter() - begin
            if step % CHECKPOINT == 0:
                _checkpoint(context, step)
            diary.note(step, call)


def _checkpoint(context: core.Context, step: int) -> None:
    context.train.report_validation_metrics(steps_completed=step, metrics={"x": float(step)})
    with context.checkpoint.store_path({"steps_completed": step}) as (path, _):
        (path / "step").write_text(str(step))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
