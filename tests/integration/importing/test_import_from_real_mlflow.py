"""`det master import mlflow` from MLflow's own server: the same runs as from its database."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from importer import Importer
from real_mlflow import mlflow_server, run_client

from determined.master.importing.sources.mlflow.mapping import MlflowSource
from determined.master.importing.tracked import TrackedExperiment

_FILL = f"""
sys.path.insert(0, {str(Path(__file__).parent)!r})
import make_tracker_stores
make_tracker_stores.fill_mlflow({{uri!r}}, "s3://bucket/artifacts")
result = True
"""


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_a_server_gives_what_its_database_has(sqlite_importer: Importer, tmp_path: Path) -> None:
    with mlflow_server(tmp_path) as uri:
        run_client(_FILL.format(uri=uri), uri)
        assert list(plain(uri)) == list(plain(f"sqlite:///{tmp_path / 'mlflow.db'}"))
        sqlite_importer.kind = "mlflow"
        events = sqlite_importer.run("--source", uri)
        assert (events[0]["counts"], events[-1]["problems"]) == ({"experiments": 4, "trials": 5}, [])
        again = sqlite_importer.run("--source", uri)
    assert again[0]["counts"] == {"experiments": 0, "trials": 0}


def plain(source: str) -> Iterator[list[Any]]:
    """Yield what a store has, in a form that can be compared."""
    for experiment in MlflowSource(source).experiments():
        trials = [
            [repr(trial.hparams), trial.metadata, trial.state, trial.started_at, trial.ended_at]
            for trial in experiment.trials
        ]
        reports = [repr(list(trial.reports())) for trial in experiment.trials]
        yield [
            experiment.name,
            experiment.project,
            experiment.metric,
            sorted(trials, key=repr),
            reports,
            rules(experiment),
        ]


def rules(experiment: TrackedExperiment) -> list[tuple[str, str]]:
    return [(note.rule.name, note.example) for note in experiment.findings]
