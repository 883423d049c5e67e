"""`det experiment export --to-mlflow` into MLflow's own server: its client and our reader find what was exported."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import bundle_ground
import pytest
from bundle_ground import UUIDS
from real_mlflow import mlflow_server, run_client

from determined.api.login import login
from determined.api.session import Session
from determined.cli.exporting import mlflow
from determined.master.importing.sources.mlflow.mapping import MlflowSource
from determined.master.importing.tracked import TrackedTrial
from determined.master.lifecycle.states import State

ROWS = 1200
GROUPS = [f"group {n:03} ü" if n % 2 else f"group-{n:03}" for n in range(400)]
_READ = """
result = {}
for experiment in client.search_experiments(order_by=["experiment_id"]):
    for run in client.search_runs([experiment.experiment_id]):
        points = {key: [[p.step, p.value] for p in client.get_metric_history(run.info.run_id, key)]
                  for key in list(run.data.metrics)[:50]}
        result[run.data.tags["determined.trial_id"]] = {
            "experiment": experiment.name, "status": run.info.status, "params": run.data.params,
            "tags": run.data.tags, "metrics": len(run.data.metrics), "points": points}
"""


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_mlflows_own_client_and_our_reader_find_what_was_exported(
    start_master: Callable[..., Any], tmp_path: Path
) -> None:
    bundle_ground.fill(tmp_path / "data", None, ROWS, tmp_path / "files")
    bundle_ground.add_groups(tmp_path / "data", 4, GROUPS)
    url = start_master(data_dir=tmp_path / "data").url
    with mlflow_server(tmp_path) as uri, Session(url, token=login(url, "determined", "")) as session:
        first = mlflow.export(session, [1, 2, 3, 4], uri)
        again = mlflow.export(session, [1, 2, 3, 4], uri)
        runs = run_client(_READ, uri)
    assert (first.counts.trials, first.counts.new_runs) == (4, 4)
    assert (again.counts.new_runs, again.counts.metrics) == (0, 0)
    _require_runs(runs)
    _require_trials(f"sqlite:///{tmp_path / 'mlflow.db'}")


def _require_runs(runs: dict[str, Any]) -> None:
    """Compare what MLflow's client has read with the cluster."""
    assert {run["experiment"] for run in runs.values()} == {"Vision/Cats / dogs", "Uncategorized/Uncategorized"}
    continued, odd, unmanaged, live = (runs[str(number)] for number in (1, 2, 3, 4))
    assert (continued["status"], unmanaged["status"]) == ("FINISHED", "RUNNING")
    assert continued["params"] == {"lr": "0.1", "n": "3", "whole": "3.0", "nested.a": "[1,null,true]"}
    assert continued["tags"][mlflow.CHECKPOINT].endswith(f"/files/{UUIDS[0]}")
    assert sorted(continued["points"]["training/loss"]) == [[n, 1 / (n + 1)] for n in range(1, 60 + ROWS)]
    assert math.isnan(continued["points"]["validation/acc"][0][1])
    assert odd["points"]["training/float"] == [[3, 7.0]]
    assert live["metrics"] == len(GROUPS)


def _require_trials(database: str) -> None:
    """Compare what `det master import mlflow` would take."""
    trials = {trial.metadata["tags"][mlflow.TRIAL]: trial for trial in _trials(database)}
    assert trials["1"].state == State.COMPLETED
    assert trials["1"].hparams == {"lr": 0.1, "n": 3, "whole": 3.0, "nested.a": "[1,null,true]"}
    losses = {
        report.step: report.metrics["training/loss"] for report in trials["1"].reports() if _is_loss(report.metrics)
    }
    assert losses == {n: 1 / (n + 1) for n in range(1, 60 + ROWS)}
    infinite = {name: value for report in trials["2"].reports() for name, value in report.metrics.items()}
    assert (infinite["training/inf"], infinite["training/minus"]) == (math.inf, -math.inf)


def _trials(database: str) -> list[TrackedTrial]:
    return [trial for experiment in MlflowSource(database).experiments() for trial in experiment.trials]


def _is_loss(metrics: dict[str, Any]) -> bool:
    return "training/loss" in metrics
