"""Variables of a task: the node's few, the platform's, the user's last; whatever bytes they are of."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from determined.exec.runner import command, environment
from determined.rundir.layout import RunDir
from determined.wire.report import LaunchFile, TaskSpec

PYTHON = {"PATH": "/env/bin", "PYTHONPATH": "/site"}
NOT_UTF_8 = b"/home/jos\xe9/bin".decode(errors="surrogateescape")


def launch(**changes: Any) -> LaunchFile:
    fields: dict[str, Any] = {
        "master_url": "http://master:8080", "token": "t", "allocation_id": "a", "resource_id": "r",
        "container_id": "c", "node_id": "node", "rank": 0, "slot_ids": [2, 3],
    }  # fmt: skip
    return LaunchFile(**(fields | changes))


def spec(*entries: str, **changes: Any) -> TaskSpec:
    fields: dict[str, Any] = {"task_id": "t", "task_type": "TRIAL", "cluster_id": "c", "master_id": "m"}
    return TaskSpec(**(fields | {"username": "ann", "environment": list(entries)} | changes))


@pytest.fixture
def build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("PATH", "/usr/bin")
    run_dir = RunDir(tmp_path / "run")
    run_dir.create()

    def make(task: TaskSpec | None = None, **changes: Any) -> dict[str, str]:
        return environment.build(launch(**changes), task or spec(), run_dir, dict(PYTHON), tmp_path)

    return make


def test_of_the_nodes_variables_a_task_gets_only_the_harmless(build: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_SECRET_ACCESS_KEY", "TMPDIR", "MASTER_DB_PASSWORD", "LC_ALL", "https_proxy", "NO_PROXY", "TZ"):
        monkeypatch.setenv(name, "x")
    found = build()
    assert {name for name in found if found[name] == "x"} == {"LC_ALL", "https_proxy", "NO_PROXY", "TZ"}


def test_a_node_without_a_path_still_finds_programs(build: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PATH")
    assert build()["PATH"].startswith("/env/bin:/usr/local/sbin:")


def test_the_users_variables_win_and_a_bare_name_removes_one(build: Any) -> None:
    found = build(spec("DET_TRIAL_SEED=7", "A=1", "A=b=c", "EMPTY=", "HOME", "NOT_THERE"))
    assert (found["DET_TRIAL_SEED"], found["A"], found["EMPTY"]) == ("7", "b=c", "")
    assert "HOME" not in found and "NOT_THERE" not in found


def test_a_python_path_of_the_user_comes_first_and_ours_stays(build: Any) -> None:
    assert build(spec("PYTHONPATH=/mine"))["PYTHONPATH"] == "/mine:/site"
    assert build()["PYTHONPATH"] == "/site"


def test_the_last_value_that_the_user_gives_counts() -> None:
    task = spec("DET_PYTHON=1", "DET_PYTHON_EXECUTABLE=/a", "DET_PYTHON_EXECUTABLE=/b")
    assert environment.user_value(task, "DET_PYTHON_EXECUTABLE") == "/b"
    assert environment.user_value(task, "DET_PYTHON_EXEC") is None


@pytest.mark.parametrize(
    ("url", "host", "port", "tls"),
    [
        ("http://m", "m", "80", "false"), ("https://m", "m", "443", "true"),
        ("https://[::1]:8443/base", "::1", "8443", "true"), ("http://10.0.0.1:8080", "10.0.0.1", "8080", "false"),
    ],
)  # fmt: skip
def test_the_address_of_the_master_is_told_in_parts(build: Any, url: str, host: str, port: str, tls: str) -> None:
    found = build(master_url=url)
    names = ("DET_MASTER", "DET_MASTER_HOST", "DET_MASTER_ADDR", "DET_MASTER_PORT", "DET_USE_TLS")
    assert [found[name] for name in names] == [url, host, host, port, tls]


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"device": "cuda"}, {"CUDA_DEVICE_ORDER": "PCI_BUS_ID", "CUDA_VISIBLE_DEVICES": "2,3"}),
        ({"device": "cuda", "slot_ids": []}, {"CUDA_DEVICE_ORDER": "PCI_BUS_ID", "CUDA_VISIBLE_DEVICES": ""}),
        ({"device": "rocm"}, {"ROCR_VISIBLE_DEVICES": "2,3"}),
        ({"device": "cuda", "visible_devices": "GPU-a,GPU-b"}, {"CUDA_VISIBLE_DEVICES": "GPU-a,GPU-b"}),
        ({"device": "rocm", "visible_devices": ""}, {"ROCR_VISIBLE_DEVICES": ""}),
    ],
)
def test_a_task_sees_the_devices_of_its_slots_and_no_others(
    build: Any, changes: dict[str, Any], expected: dict[str, str]
) -> None:
    found = build(**changes)
    assert {name: found.get(name) for name in expected} == expected


def test_only_a_trial_has_the_variables_of_one(build: Any) -> None:
    assert "DET_TRIAL_ID" not in build(spec(task_type="COMMAND"))
    found = build(spec(trial_id=7, experiment_id=3, hparams={"lr": 0.1}, steps_completed=5, latest_checkpoint="u"))
    assert (found["DET_TRIAL_ID"], found["DET_EXPERIMENT_ID"], found["DET_TRIAL_SEED"]) == ("7", "3", "0")
    assert json.loads(found["DET_HPARAMS"]) == {"lr": 0.1}
    assert (found["DET_STEPS_COMPLETED"], found["DET_LATEST_CHECKPOINT"]) == ("5", "u")
    assert "DET_LATEST_CHECKPOINT" not in build(spec(trial_id=7, experiment_id=3))


def test_ports_of_the_allocation_are_variables(build: Any) -> None:
    found = build(spec(ports={"C10D_PORT": 29400, "DTRAIN_SSH_PORT": 12350}))
    assert (found["C10D_PORT"], found["DTRAIN_SSH_PORT"]) == ("29400", "12350")


def test_a_value_that_no_program_could_be_started_with_is_dropped_and_named() -> None:
    variables = {"SMALL": "x", "LONG": "x" * 130_000, "WIDE": "€" * 41_000, "FITS": "x" * 122_000}
    assert environment.drop_oversized(variables) == ["LONG", "WIDE"]
    assert variables.keys() == {"SMALL", "FITS"}


def test_values_that_are_not_utf_8_reach_the_task_as_the_bytes_that_they_were(
    build: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", NOT_UTF_8)
    found = build()
    assert environment.drop_oversized(found) == []
    assert os.fsencode(found["PATH"]) == b"/env/bin:/home/jos\xe9/bin"
    run_dir = RunDir(tmp_path / "run")
    (run_dir.path / "train").mkdir()
    command.keep_exported(run_dir, found)
    assert command.exported(run_dir) == found


def test_a_home_of_another_user_or_none_is_not_the_tasks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run_dir = RunDir(tmp_path)
    assert environment._home(str(tmp_path), run_dir) == str(tmp_path)
    monkeypatch.setattr(os, "getuid", lambda: 4_000_000_000)  # nobody
    assert environment._home("/root", run_dir) == str(run_dir.path)
    assert environment._names(spec()) == {"USER": "ann", "LOGNAME": "ann"}


def test_exported_variables_with_lines_and_equal_signs_come_back(tmp_path: Path) -> None:
    run_dir = RunDir(tmp_path)
    (tmp_path / "train").mkdir()
    assert command.exported(run_dir) == {}
    variables = {"A": "1\n2", "B": "x=y", "C": "", "D": "é"}
    command.keep_exported(run_dir, variables)
    assert command.exported(run_dir) == variables
    assert (tmp_path / "train" / "exported").stat().st_mode & 0o777 == 0o600
