"""The MLflow side of import_upstream.py, run by a python that has MLflow: the same values out of its own files.

`mlflow migrate-filestore` is its bulk import: a tracking directory into SQLite. The directory is written by hand.
"""

import json
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

_EXPERIMENT = "1"
_RUN = """\
artifact_uri: {folder}/{run}/artifacts
end_time: 1767225700000
entry_point_name: ''
experiment_id: '{experiment}'
lifecycle_stage: active
run_id: {run}
run_name: trial-{trial}
run_uuid: {run}
source_name: ''
source_type: 4
source_version: ''
start_time: 1767225600000
status: 3
tags: []
user_id: bench
"""


def main(folder: str, trials: int, rows: int) -> None:
    import mlflow

    source, target = Path(folder) / "mlruns", Path(folder) / "mlflow.db"
    fill(source, trials, rows)
    command = ["-m", "mlflow", "migrate-filestore", "--source", str(source), "--target", f"sqlite:///{target}"]
    begin = time.perf_counter()
    subprocess.run([sys.executable, *command, "--no-progress"], check=True, stdout=sys.stderr)
    seconds = time.perf_counter() - begin
    values = sqlite3.connect(target).execute("SELECT count(*) FROM metrics").fetchone()[0]
    assert values == 2 * trials * rows, f"{values} values came in"
    print(json.dumps({"version": mlflow.__version__, "values": values, "seconds": seconds}))


def fill(source: Path, trials: int, rows: int) -> None:
    """Write an experiment with a run for each trial: the metrics that import_upstream.py writes into PostgreSQL."""
    for name, number in (("Default", "0"), ("upstream", _EXPERIMENT)):
        place = source / number
        place.mkdir(parents=True)
        (place / "meta.yaml").write_text(
            f"artifact_location: {place}\ncreation_time: 1767225600000\nexperiment_id: '{number}'\n"
            f"last_update_time: 1767225600000\nlifecycle_stage: active\nname: {name}\n"
        )
    for trial in range(1, trials + 1):
        run = f"{trial:032x}"
        home = source / _EXPERIMENT / run
        for part in ("metrics", "params", "tags", "artifacts"):
            (home / part).mkdir(parents=True)
        (home / "meta.yaml").write_text(
            _RUN.format(folder=source / _EXPERIMENT, run=run, experiment=_EXPERIMENT, trial=trial)
        )
        (home / "params" / "lr").write_text("0.1")
        steps = range(1, rows + 1)
        (home / "metrics" / "loss").write_text(
            "".join(f"1767225600000 {1.0 / (trial + step)!r} {step * 10}\n" for step in steps)
        )
        (home / "metrics" / "accuracy").write_text(
            "".join(f"1767225600000 {step * 0.001!r} {step * 10}\n" for step in steps)
        )


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
