"""The peers' side of report_metrics.py: `python report_metrics_peer.py PEER FOLDER {full,quick}`, result as JSON.

Each logs the same three floats with a step, by the call its documentation shows, with its defaults.
"""

import json
import sys
from pathlib import Path
from typing import Any

import calls

VALUES = {"loss": 0.25, "accuracy": 0.75, "learning_rate": 0.001}


def main(peer: str, folder: str, effort: str) -> None:
    report, version, close = PEERS[peer](folder)
    measured = calls.measure(report, calls.QUICK if effort == "quick" else calls.PEER, version)
    close()
    (Path(folder) / "result.json").write_text(json.dumps(measured.plain()))


def tensorboard(folder: str) -> tuple[calls.Report, str, Any]:
    import tensorboard
    from torch.utils.tensorboard import SummaryWriter

    writer = SummaryWriter(folder)

    def report(step: int) -> None:
        for name, value in VALUES.items():
            writer.add_scalar(name, value, step)

    return report, tensorboard.__version__, writer.close


def trackio(_folder: str) -> tuple[calls.Report, str, Any]:
    import trackio

    trackio.init(project="benchmark", embed=False)
    return lambda step: trackio.log(VALUES, step=step), trackio.__version__, trackio.finish


def wandb(folder: str) -> tuple[calls.Report, str, Any]:
    import wandb

    run = wandb.init(mode="offline", dir=folder, settings=wandb.Settings(silent=True))
    return lambda step: run.log(VALUES, step=step), wandb.__version__, run.finish


def mlflow(folder: str) -> tuple[calls.Report, str, Any]:
    import mlflow

    mlflow.set_tracking_uri(f"sqlite:///{Path(folder) / 'mlflow.db'}")
    mlflow.set_experiment("benchmark")
    mlflow.start_run()
    return lambda step: mlflow.log_metrics(VALUES, step=step), mlflow.__version__, mlflow.end_run


PEERS = {"TensorBoard": tensorboard, "trackio": trackio, "W&B offline": wandb, "MLflow (SQLite)": mlflow}

if __name__ == "__main__":
    main(*sys.argv[1:])
