"""Reports one value after another, at uneven distances. `recovery_reporter.py FOLDER NUMBER`."""

import random
import sys
import time
from pathlib import Path

from determined import core
from recovery_steps import Diary


def main(folder: Path, number: int) -> None:
    rng = random.Random(1)
    with core.init() as context:
        diary = Diary(folder, "reporter")
        for step in range(1, number + 1):
            time.sleep(rng.uniform(0.15, 0.45))
            begin = time.perf_counter()
            context.train.report_training_metrics(steps_completed=step, metrics={"x": float(step)})
            diary.note(step, time.perf_counter() - begin)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
