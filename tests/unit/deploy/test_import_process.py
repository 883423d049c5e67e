"""The process that imports says how it ended; one that says nothing has failed."""

import sys
from pathlib import Path

import pytest

from determined.deploy import importing

SURVEY = '{"event":"survey"}'


def process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *events: str, status: int) -> None:
    """Let a script that prints these events take the place of the import."""
    script = tmp_path / "python"
    script.write_text(
        "#!/bin/sh\nread source\n" + "".join(f"echo '{event}'\n" for event in events) + f"exit {status}\n"
    )
    script.chmod(0o700)
    monkeypatch.setattr(sys, "executable", str(script))


@pytest.mark.parametrize("status", [0, 1, 3])
def test_an_import_that_ends_without_its_last_event_has_failed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    """Status 1 is also that of a Python program that an unforeseen error ends."""
    process(tmp_path, monkeypatch, SURVEY, status=status)
    with pytest.raises(importing.ImportFailed, match=f"ended with status {status}"):
        list(importing.run(importing.Place(), "mlruns", ["mlflow"]))


def test_an_import_that_is_done_is_not_failed_by_its_problems(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    process(tmp_path, monkeypatch, SURVEY, '{"event":"done","problems":["trial 3"],"files":[]}', status=1)
    events = list(importing.run(importing.Place(), "mlruns", ["mlflow"]))
    assert [event["event"] for event in events] == ["survey", "done"]
