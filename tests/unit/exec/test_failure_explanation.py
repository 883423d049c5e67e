"""Explanation of a failed task by its runner."""

from pathlib import Path

from determined.exec.runner.failure_explanation import explain, own_modules
from determined.rundir.failure import Failure
from determined.rundir.failure_cause import Cause

ENDED = "the entrypoint exited with status 1"


def test_line_of_a_rank_that_a_launcher_names_is_told_before_the_launchers_own() -> None:
    recent = [(("rank 1 failed first here", "ERROR", None), "stderr")]
    failure = Failure(1, 1, 1.0, ["loading", "no weights"])
    assert explain(recent, ENDED, failure=failure) == Cause(f"{ENDED}; last line of its stderr: no weights")
    assert explain(recent, ENDED, failure=Failure(1, 139, 1.0)) == Cause(ENDED)


def test_modules_of_the_submitted_directory_are_the_users(tmp_path: Path) -> None:
    (tmp_path / "pkg").mkdir()
    (tmp_path / "model.py").touch()
    (tmp_path / "data.csv").touch()
    assert own_modules(tmp_path) == {"pkg", "model"}
    assert own_modules(tmp_path / "gone") == frozenset()
