"""What a program that serves a task's users is told by the runner."""

import json
import shutil
import sys
from pathlib import Path

import pytest

from determined.errors import FailedPrecondition
from determined.exec import service_program
from determined.exec.runner import service
from determined.rundir.layout import RunDir
from determined.wire.notebook_settings import NotebookSettings
from determined.wire.report import Service, TaskSpec


@pytest.fixture
def run_dir(tmp_path: Path) -> RunDir:
    made = RunDir(tmp_path / "run")
    made.create()
    return made


def _spec() -> TaskSpec:
    return TaskSpec(
        task_id="t1", task_type="NOTEBOOK", cluster_id="c", master_id="m", username="u", entrypoint=[],
        services=[Service()], settings={"token": "sesame"},
    )  # fmt: skip


def _as_task(run_dir: RunDir, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in service.provide(_spec(), run_dir).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("DET_RUN_DIR", str(run_dir.path))


def test_it_reads_what_the_runner_has_written(run_dir: RunDir, monkeypatch: pytest.MonkeyPatch) -> None:
    _as_task(run_dir, monkeypatch)
    program = service_program.read()
    assert program.prefix == "/proxy/t1/"
    assert program.settings(NotebookSettings).token == "sesame"
    assert program.socket == service.service_path(run_dir)


def test_installers_get_the_nodes_variables_and_not_those_of_the_tasks_python(
    run_dir: RunDir, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UV_INDEX_URL", "http://index.of.the.node/simple")
    monkeypatch.setenv("DET_ENVIRONMENT_CACHE", "/cache")
    _as_task(run_dir, monkeypatch)
    assert run_dir.installer.stat().st_mode & 0o777 == 0o600
    monkeypatch.delenv("UV_INDEX_URL")
    monkeypatch.setenv("PIP_PREFIX", "/of/the/task")
    place = service_program.read().environments()
    assert place.variables["UV_INDEX_URL"] == "http://index.of.the.node/simple"
    assert "PIP_PREFIX" not in place.variables
    assert place.root == Path("/cache")


def test_installers_find_the_uv_beside_the_runners_python_after_all_others(
    run_dir: RunDir, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    node = tmp_path / "node"
    node.mkdir()
    (node / "uv").write_text("#!/bin/sh\n")
    (node / "uv").chmod(0o700)
    monkeypatch.setenv("PATH", "/of/the/node")
    monkeypatch.setattr(sys, "executable", str(node / "python3"))
    _as_task(run_dir, monkeypatch)
    path = service_program.read().environments().variables["PATH"]
    assert path.startswith("/of/the/node:")
    uv = shutil.which("uv", path=path)
    assert uv is not None
    assert Path(uv).samefile(node / "uv")
    assert list(Path(uv).parent.iterdir()) == [Path(uv)]


def test_without_the_runners_file_the_tasks_own_variables_do(run_dir: RunDir, monkeypatch: pytest.MonkeyPatch) -> None:
    _as_task(run_dir, monkeypatch)
    run_dir.installer.unlink()
    monkeypatch.setenv("UV_INDEX_URL", "http://index.of.the.task/simple")
    monkeypatch.setenv("PYTHONPATH", "/of/the/task")
    variables = service_program.read().environments().variables
    assert variables["UV_INDEX_URL"] == "http://index.of.the.task/simple"
    assert "PYTHONPATH" not in variables


def test_it_does_not_start_outside_of_a_task(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DET_SERVICE_SOCKET", "DET_SERVICE_PREFIX", "DET_SERVICE_SETTINGS"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(FailedPrecondition, match="DET_SERVICE_SOCKET"):
        service_program.read()


def test_settings_that_make_no_sense_are_named(run_dir: RunDir, monkeypatch: pytest.MonkeyPatch) -> None:
    _as_task(run_dir, monkeypatch)
    program = service_program.read()
    program.settings_file.write_text(json.dumps({"token": 7}))
    with pytest.raises(FailedPrecondition, match=r"service\.json"):
        program.settings(NotebookSettings)
