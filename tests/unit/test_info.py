"""What a task knows about itself."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from determined import _info

CLUSTER: dict[str, Any] = {
    "master_url": "http://m:8080/", "cluster_id": "c", "agent_id": "a", "slot_ids": [0, 1], "task_id": "t",
    "allocation_id": "t.1", "session_token": "s", "task_type": "TRIAL", "master_cert_name": None,
    "master_cert_file": None, "latest_checkpoint": "uuid",
}  # fmt: skip
TRIAL = {"trial_id": 1, "experiment_id": 2, "trial_seed": 3, "hparams": {"x": 1}, "config": {"data": None}}


def write(directory: Path, **files: Any) -> Path:
    for name, content in files.items():
        (directory / f"{name}.json").write_text(json.dumps(content))
    return directory


def test_off_cluster_there_is_no_info(tmp_path: Path) -> None:
    assert _info.read_info(tmp_path) is None


def test_trial_task_has_everything(tmp_path: Path) -> None:
    rendezvous = {"container_addrs": ["h1", "h2"], "container_rank": 1, "container_slot_counts": [2, 2]}
    resources = {"gpu_uuids": ["GPU-1"]}
    info = _info.read_info(write(tmp_path, cluster=CLUSTER, trial=TRIAL, rendezvous=rendezvous, resources=resources))
    assert info is not None
    assert info.master_url == "http://m:8080"
    assert (info.trial.trial_id, info.trial._steps_completed, info.user_data) == (1, 0, {})
    assert (info.container_addrs, info.container_rank, info.container_slot_counts) == (["h1", "h2"], 1, [2, 2])
    assert (info.latest_checkpoint, info.gpu_uuids) == ("uuid", ["GPU-1"])


def test_task_that_is_no_trial_has_plain_answers(tmp_path: Path) -> None:
    info = _info.read_info(write(tmp_path, cluster=CLUSTER | {"task_type": "COMMAND"}))
    assert info is not None
    assert info.latest_checkpoint is None
    assert (info.user_data, info.container_addrs, info.container_slot_counts, info.container_rank) == (
        {}, ["127.0.0.1"], [2], 0,
    )  # fmt: skip
    with pytest.raises(RuntimeError, match="COMMAND, not a TRIAL"):
        _ = info.trial
    with pytest.raises(RuntimeError, match=r"resources\.json"):
        _ = info.gpu_uuids


def test_before_rendezvous_addresses_are_an_error(tmp_path: Path) -> None:
    info = _info.read_info(write(tmp_path, cluster=CLUSTER, trial=TRIAL))
    assert info is not None
    with pytest.raises(RuntimeError, match="after rendezvous"):
        _ = info.container_addrs


def test_damaged_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "cluster.json").write_text("{")
    with pytest.raises(RuntimeError, match=r"cluster\.json is not JSON"):
        _info.read_info(tmp_path)


@pytest.mark.parametrize("variable", ["DET_INFO_DIR", "DET_RUN_DIR"])
def test_info_is_read_once_from_where_the_environment_says(tmp_path: Path, variable: str) -> None:
    directory = tmp_path / "info"
    directory.mkdir()
    write(directory, cluster=CLUSTER, trial=TRIAL)
    value = directory if variable == "DET_INFO_DIR" else tmp_path
    code = (
        "import os, sys; from determined._info import get_cluster_info as g; a = g()\n"
        f"os.remove({str(directory / 'cluster.json')!r})\n"
        "assert a is g() and a.trial.trial_id == 1\n"
        "assert not {'msgspec', 'urllib3'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, env={variable: str(value)})
