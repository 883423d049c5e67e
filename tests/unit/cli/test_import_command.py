"""det master import: the words for the events of the process that imports."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from determined.cli.main import main
from determined.deploy import importing

NOTE = {"count": 3, "text": "Artifacts stay where they are.", "examples": ["run 1", "run 2"]}
SURVEY = {"event": "survey", "source": "mlruns", "counts": {"trials": 2}, "notes": {"x": NOTE}, "dry_run": True}


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DET_STATE_DIR", str(tmp_path / "state"))

    def run(*_: Any) -> Iterator[dict[str, Any]]:
        yield SURVEY
        yield {"event": "done", "problems": [], "files": ["report.md"]}

    monkeypatch.setattr(importing, "run", run)
    return tmp_path / "state"


def test_notes_are_sentences(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["master", "import", "mlflow", "--source", "mlruns", "--dry-run"]) == 0
    assert "Artifacts stay where they are. 3 in all, for example: run 1" in capsys.readouterr().err


def test_a_cluster_that_does_not_exist_is_not_made(state: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["master", "import", "mlflow", "--source", "mlruns", "--cluster-name", "misspelt"]) == 1
    assert "no cluster 'misspelt'" in capsys.readouterr().err
    assert not state.exists()
