"""A training process that tells MLflow one value a step. `recovery_mlflow_client.py URL FOLDER NAME sync|async`."""

import sys
import time
from pathlib import Path

import mlflow

from recovery_steps import PAUSE, Diary


def main(url: str, folder: Path, name: str, mode: str) -> None:
    mlflow.set_tracking_uri(url)
    mlflow.config.enable_async_logging(mode == "async")
    step = 0
    with mlflow.start_run(run_name=name):
        diary = Diary(folder, name)
        while not diary.over():
            time.sleep(PAUSE)
            step += 1
            begin = time.perf_counter()
            mlflow.log_metric("x", float(step), step=step)
            diary.note(step, time.perf_counter() - begin)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), sys.argv[3], sys.argv[4])
