"""The surroundings of what installs packages: the node's own settings, the user's last."""

from pathlib import Path

import pytest

from determined.exec.runner import environment
from determined.rundir.layout import RunDir
from determined.wire.report import TaskSpec


def _spec(*entries: str) -> TaskSpec:
    return TaskSpec(
        task_id="t", task_type="TRIAL", cluster_id="c", master_id="m", username="u", environment=list(entries)
    )


def test_settings_of_the_node_are_kept_and_those_of_the_runner_are_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = {"UV_INDEX_URL": "https://i", "SSL_CERT_FILE": "/ca", "PIP_FIND_LINKS": "/w", "DET_ENVIRONMENT_CACHE": "/c"}
    left_out = {"DET_MASTER": "http://m", "VIRTUAL_ENV": "/v", "PYTHONPATH": "/p", "CONDA_PREFIX": "/x"}
    for name, value in {**kept, **left_out}.items():
        monkeypatch.setenv(name, value)
    found = environment.for_installer(_spec(), RunDir(tmp_path))
    assert {name: found.get(name) for name in kept} == kept
    assert not left_out.keys() & found.keys()


def test_variables_of_the_experiment_come_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UV_INDEX_URL", "https://node")
    monkeypatch.setenv("UV_FIND_LINKS", "/w")
    found = environment.for_installer(_spec("UV_INDEX_URL=https://own", "UV_FIND_LINKS"), RunDir(tmp_path))
    assert found["UV_INDEX_URL"] == "https://own"
    assert "UV_FIND_LINKS" not in found


def test_a_user_without_a_home_does_not_use_the_cache_of_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", "/")
    monkeypatch.setenv("XDG_CACHE_HOME", "/of/another")
    monkeypatch.setattr(environment, "_home", lambda inherited, run_dir: str(tmp_path))
    found = environment.for_installer(_spec(), RunDir(tmp_path))
    assert found["HOME"] == str(tmp_path)
    assert "XDG_CACHE_HOME" not in found
