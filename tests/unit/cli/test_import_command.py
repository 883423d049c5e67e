"""det master import: the words for the events of the process that imports."""

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from determined.cli.main import main
from determined.deploy import importing
from determined.deploy.process import MasterProcess

NOTE = {"count": 3, "text": "Artifacts stay where they are.", "examples": ["run 1", "run 2"]}
SURVEY = {"event": "survey", "source": "mlruns", "counts": {"trials": 2}, "notes": {"x": NOTE}, "dry_run": True}


PROGRESS = {"event": "progress", "step": "trials", "total": 4, "rows_per_second": 2.0}


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DET_STATE_DIR", str(tmp_path / "state"))

    def run(*_: Any) -> Iterator[dict[str, Any]]:
        yield SURVEY
        yield {**PROGRESS, "rows": 1, "seconds_left": 1.5}
        yield {**PROGRESS, "rows": 4, "seconds_left": 0.0}
        yield {**PROGRESS, "step": "code", "rows": 2, "seconds_left": None, "rows_per_second": None}
        yield {"event": "done", "problems": [], "files": ["report.md"]}

    monkeypatch.setattr(importing, "run", run)
    return tmp_path / "state"


def test_notes_are_sentences(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["master", "import", "mlflow", "--source", "mlruns", "--dry-run"]) == 0
    assert "Artifacts stay where they are. 3 in all, for example: run 1" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--workspace", "old"], "In workspace old. Start the master: det master start"),
        (["--data-dir", "else where"], "Start the master: python -m determined.master --data-dir 'else where'"),
        (["--db-url", "sqlite:///x"], "Start the master: python -m determined.master --db-url ..."),
    ],
)
def test_a_finished_import_says_how_the_master_is_started(
    capsys: pytest.CaptureFixture[str], words: list[str], said: str
) -> None:
    assert main(["master", "import", "mlflow", "--source", "mlruns", *words]) == 0
    assert capsys.readouterr().out.endswith(f"{said}\n")
    assert main(["master", "import", "mlflow", "--source", "mlruns", "--dry-run", *words]) == 0
    assert "Start the master" not in capsys.readouterr().out


def test_an_import_beside_the_running_master_says_that_a_dry_run_needs_it_stopped_too(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(MasterProcess, "find", lambda self: "a master")
    assert main(["master", "import", "mlflow", "--source", "mlruns", "--dry-run"]) == 1
    assert (
        "your master is running; stop it first: det master stop (a dry run needs that, too)" in capsys.readouterr().err
    )


def test_a_cluster_that_does_not_exist_is_not_made(state: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["master", "import", "mlflow", "--source", "mlruns", "--cluster-name", "misspelt"]) == 1
    assert "no cluster 'misspelt'" in capsys.readouterr().err
    assert not state.exists()


def test_progress_is_lines_in_a_pipe_without_a_bar(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["master", "import", "mlflow", "--source", "mlruns"]) == 0
    captured = capsys.readouterr()
    lines = [line for line in captured.out.splitlines() if " of 4" in line]
    assert lines == ["trials: 1 of 4 (2/s, 0:00:02 left)", "trials: 4 of 4 (2/s)", "code: 2 of 4"]
    assert "\x1b" not in captured.out + captured.err


def test_progress_is_a_bar_on_a_terminal_until_a_step_has_ended(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    screen = _Screen()
    monkeypatch.setattr("sys.stderr", screen)
    assert main(["master", "import", "mlflow", "--source", "mlruns"]) == 0
    lines = [line for line in capsys.readouterr().out.splitlines() if " of 4" in line]
    assert lines == ["trials: 4 of 4 (2/s)"], "a line of a step that goes on would push its bar down the screen"
    assert "trials" in screen.getvalue()
    assert "4/4" in screen.getvalue()
    assert "code" in screen.getvalue()


def test_json_has_no_bar(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    screen = _Screen()
    monkeypatch.setattr("sys.stderr", screen)
    assert main(["master", "import", "mlflow", "--source", "mlruns", "--json"]) == 0
    assert [json.loads(line)["event"] for line in capsys.readouterr().out.splitlines()].count("progress") == 3
    assert screen.getvalue() == ""


class _Screen(io.StringIO):
    def isatty(self) -> bool:
        return True
