"""Our side of report_metrics.py: the entrypoint of a real trial. `python report_metrics_task.py FOLDER EFFORT MODE`.

Says `ready`, waits for `go` (the master may be taken away in between), measures, leaves `result.json`.
"""

import json
import sys
import time
from pathlib import Path

import calls
from determined import core
from report_metrics_peer import VALUES

_PATIENCE = 120.0


def main(folder: Path, effort: str, mode: str) -> None:
    with core.init(tensorboard_mode=core.TensorboardMode[mode]) as context:
        train = context.train

        def report(step: int) -> None:
            train.report_metrics("training", step, VALUES)

        report(0)
        (folder / "ready").touch()
        _wait_for(folder / "go")
        measured = calls.measure(report, calls.QUICK if effort == "quick" else calls.FULL)
    fresh = folder / "result.new"
    fresh.write_text(json.dumps(measured.plain()))
    fresh.rename(folder / "result.json")


def _wait_for(path: Path) -> None:
    deadline = time.monotonic() + _PATIENCE
    while not path.exists():
        if time.monotonic() > deadline:
            raise SystemExit(f"nobody made {path.name} within {_PATIENCE:.0f} s")
        time.sleep(0.01)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], sys.argv[3])
