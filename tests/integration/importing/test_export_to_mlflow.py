"""`det experiment export --to-mlflow`: runs appear once, whole, also after an export that broke off."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import bundle_ground
import pytest
from bundle_ground import UUIDS
from mlflow_recorder import Recorder, serving

from determined.api.login import login
from determined.api.session import Session
from determined.cli.exporting import mlflow
from determined.cli.exporting.mlflow_server import MlflowRefused, MlflowServer
from determined.errors import InvalidArgument, Unavailable

ROWS = 1200
LIVE_TRIAL, LIVE = 4, 4  # a trial and its experiment
GROUPS = [f"group {n:03} ü" if n % 2 else f"group-{n:03}" for n in range(400)]


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("ground")
    bundle_ground.fill(root / "data", None, ROWS, root / "files")
    bundle_ground.add_groups(root / "data", LIVE_TRIAL, GROUPS)
    return root / "data"


@pytest.fixture
def session(start_master: Callable[..., Any], ground: Path) -> Iterator[Session]:
    url = start_master(data_dir=ground).url
    with Session(url, token=login(url, "determined", "")) as session:
        yield session


def values(run: dict[str, Any]) -> dict[str, int]:
    """Return how many values each metric of a run has."""
    counted: dict[str, int] = {}
    for metric in run["metrics"]:
        counted[metric["key"]] = counted.get(metric["key"], 0) + 1
    return counted


def test_trials_become_runs_of_their_project(session: Session) -> None:
    recorder = Recorder()
    with serving(recorder) as uri:
        done = mlflow.export(session, [1, 2], uri)
    assert (done.counts.trials, done.counts.new_runs, done.counts.experiments) == (3, 3, 2)
    assert set(recorder.experiments) == {"Vision/Cats / dogs", "Uncategorized/Uncategorized"}
    continued, odd, unmanaged = recorder.runs.values()
    assert values(continued) == {
        "training/loss": ROWS + 59, "training/count": ROWS + 59, "validation/loss": 1, "validation/acc": 1,
        "gpu/node0/GPU-1/util": 3, "gpu/node0/GPU-1/free": 1,
    }  # fmt: skip
    assert continued["params"] == {"lr": "0.1", "n": "3", "whole": "3.0", "nested.a": "[1,null,true]"}
    assert str(continued["tags"][mlflow.CHECKPOINT]).endswith(f"/files/{UUIDS[0]}")
    assert continued["tags"][mlflow.TRIAL] == "1"
    assert (continued["status"], unmanaged["status"]) == ("FINISHED", "RUNNING")
    assert "end_time" not in unmanaged
    kept = {metric["key"]: metric["value"] for metric in odd["metrics"]}
    assert (kept["training/nan"], kept["training/inf"], kept["training/minus"]) == ("NaN", "Infinity", "-Infinity")
    assert not {"training/true", "training/text", "training/none", "training/list"} & kept.keys()
    assert done.counts.values_left_out == 5
    assert "5 values are no numbers" in done.warnings[0]


@pytest.mark.parametrize("batches", [0, 1, 2, 4, 6])
def test_an_export_that_broke_off_goes_on_and_sends_nothing_twice(session: Session, batches: int) -> None:
    whole, broken = Recorder(), Recorder()
    with serving(whole) as uri:
        mlflow.export(session, [1], uri)
    broken.breaks_after = batches
    with serving(broken) as uri:
        with pytest.raises(MlflowRefused):
            mlflow.export(session, [1], uri)
        broken.breaks_after = None
        mlflow.export(session, [1], uri)
        again = mlflow.export(session, [1], uri)
    assert (again.counts.new_runs, again.counts.metrics) == (0, 0)
    assert [values(run) for run in broken.runs.values()] == [values(run) for run in whole.runs.values()]


def test_the_progress_of_hundreds_of_groups_fits_into_tags(session: Session) -> None:
    recorder = Recorder()
    with serving(recorder) as uri:
        done = mlflow.export(session, [LIVE], uri)
    (run,) = recorder.runs.values()
    assert (done.counts.metrics, set(values(run).values())) == (len(GROUPS), {1})
    progress = [value for key, value in run["tags"].items() if key.startswith(mlflow.SENT)]
    assert progress == ["[1,1,1]"] * len(GROUPS)


@pytest.mark.parametrize("uri", ["mlruns", "sqlite:///mlflow.db", "databricks://profile", "file:///tmp/mlruns"])
def test_what_is_no_server_is_refused_with_a_way_out(uri: str) -> None:
    with pytest.raises(InvalidArgument, match="mlflow server --backend-store-uri"):
        MlflowServer(uri)


def test_a_server_that_is_not_there_and_one_that_is_another_are_told_apart(session: Session) -> None:
    with pytest.raises(Unavailable, match="no MLflow server answers"):
        mlflow.export(session, [1], "http://127.0.0.1:9")
    with pytest.raises(MlflowRefused, match="status 404"):
        mlflow.export(session, [1], session.master_url)


def test_a_password_of_the_address_is_sent_and_not_shown() -> None:
    server = MlflowServer("https://user:p%40ss@mlflow.example.org:8443/base/")
    assert server.address == "https://mlflow.example.org:8443/base"
    assert server._headers["authorization"] == "Basic dXNlcjpwQHNz"
