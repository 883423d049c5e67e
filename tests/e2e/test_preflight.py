"""Starts on two nodes of a real master: what the check before them finds and says; and a training that falls silent."""

import base64
import os
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cluster import Client, Cluster, eventually, write_experiment

PATIENT_RUNNER = Path(__file__).parent / "patient_runner"
HELLO = "import os; print('up as', os.environ['DET_CONTAINER_RANK'], flush=True)"
# Each node has its own packages, and its hook says so.
OLD_TORCH = """
case "$DET_AGENT_ID" in *-1) version=9.9.9;; *) version=8.8.8;; esac
mkdir -p "own packages/torch-$version.dist-info"
export PYTHONPATH="$PWD/own packages:$PYTHONPATH"
"""
STUCK = """
import ctypes, os, pathlib
from determined import core
rank = int(os.environ["DET_CONTAINER_RANK"])
dist = core.DistributedContext(
    rank=rank, size=2, local_rank=0, local_size=1, cross_rank=rank, cross_size=2, chief_ip=os.environ["DET_CHIEF_IP"])

def sleep_in_c():
    while not pathlib.Path(os.environ["GATE"]).exists():  # a signal wakes it
        ctypes.PyDLL(None).usleep(900_000)  # PyDLL: holds the interpreter's lock, as a hanging extension does

def wait_for_the_other():
    dist.allgather(rank)

with core.init(distributed=dist) as context:
    for step in range(5):
        dist.allgather(step)
    if rank == 1:
        sleep_in_c()
    wait_for_the_other()
    print("goes on", rank, flush=True)
"""


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Two nodes of one slot each, with runners that take their time."""
    running = Cluster(tmp_path_factory.mktemp("cluster"), slots=1, config={"local_agents": 2})
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(PATIENT_RUNNER))  # the master inherits it, and the runners from the master
        running.start()
    yield running
    running.stop()
    running.end_runners()


def _run(client: Client, directory: Path, script: str, state: str, hook: str = "", **config: Any) -> list[str]:
    """The log of an experiment on both nodes that has come to its end."""
    experiment = _submit(client, directory, script, hook, **config)
    client.wait_state(experiment, state)
    return client.log_lines(client.trials(experiment)[0]["id"])


def _submit(client: Client, directory: Path, script: str, hook: str = "", **config: Any) -> int:
    full = {"resources": {"slots_per_trial": 2}, **config}
    path = write_experiment(directory, script, full)
    files = {"train.py": script, **({"startup-hook.sh": hook} if hook else {})}
    body = {"config": path.read_text(), "modelDefinition": [_file(*item) for item in files.items()], "activate": True}
    return int(client.post("/api/v1/experiments", body)["experiment"]["id"])


def _file(name: str, text: str) -> dict[str, Any]:
    content = base64.b64encode(text.encode()).decode()
    return {"path": name, "type": 48, "content": content, "mtime": "0", "mode": 0o644, "uid": 0, "gid": 0}


def _saying(lines: list[str], words: str) -> list[str]:
    return [line for line in lines if words in line]


def test_a_good_start_on_two_nodes_is_checked_and_leaves_nothing(
    cluster: Cluster, client: Client, tmp_path: Path
) -> None:
    lines = _run(client, tmp_path / "good", HELLO, "COMPLETED")
    told = _saying(lines, "2 nodes reach each other and fit together")
    assert len(told) == 2, lines
    assert _saying(lines, "up as 0") and _saying(lines, "up as 1")
    assert not list((cluster.directory / "checkpoints").glob(".preflight*"))


def test_another_torch_on_one_node_fails_the_start_before_user_code_and_names_both(
    client: Client, tmp_path: Path
) -> None:
    lines = _run(client, tmp_path / "skew", HELLO, "ERROR", OLD_TORCH)
    told = _saying(lines, "torch differs: ")
    assert all("8.8.8 on " in line and "9.9.9 on " in line and "rank 1)" in line for line in told), told
    assert "allocation ended" in "".join(told)
    assert len(told) >= 3, lines  # both ranks, and the reason of the end
    assert not _saying(lines, "up as")


def test_a_start_goes_on_with_a_warning_where_faults_only_warn(client: Client, tmp_path: Path) -> None:
    lines = _run(client, tmp_path / "warn", HELLO, "COMPLETED", OLD_TORCH, preflight="warn")
    assert len(_saying(lines, "preflight: torch differs: ")) == 2, lines
    assert len(_saying(lines, "up as")) == 2


def test_nothing_is_checked_where_the_check_is_skipped(client: Client, tmp_path: Path) -> None:
    lines = _run(client, tmp_path / "skip", HELLO, "COMPLETED", OLD_TORCH, preflight="skip")
    assert not _saying(lines, "preflight: ")
    assert len(_saying(lines, "up as")) == 2


def test_a_taken_port_of_the_chief_is_named_with_its_owner(client: Client, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        variables = {"environment_variables": [f"C10D_PORT={port}"]}
        lines = _run(client, tmp_path / "port", HELLO, "COMPLETED", environment=variables)
    told = _saying(lines, f"port {port} (C10D_PORT) is taken")
    assert len(told) == 2, lines
    assert f"process {os.getpid()} " in told[0]


def test_a_rank_stuck_in_c_gets_the_stacks_of_both_ranks_into_the_log_and_training_goes_on(
    client: Client, tmp_path: Path
) -> None:
    gate = tmp_path / "gate"
    more = {"watchdog": {"silent_seconds": 2}, "environment": {"environment_variables": [f"GATE={gate}"]}}
    experiment = _submit(client, tmp_path / "stuck", STUCK, **more)
    trial = eventually(lambda: client.trials(experiment))[0]["id"]
    eventually(lambda: _tells_of_both(client.log_lines(trial)), explain=lambda: "\n".join(client.log_lines(trial)))
    assert not _saying(client.log_lines(trial), "goes on ")
    gate.touch()
    client.wait_state(experiment, "COMPLETED")
    lines = client.log_lines(trial)
    assert _saying(lines, "goes on 0") and _saying(lines, "goes on 1")


def _tells_of_both(lines: list[str]) -> bool:
    told = _saying(lines, "no sign of life of this task on")
    named = all(any(f"rank {rank} for" in line for line in told) for rank in (0, 1))
    return named and bool(_saying(lines, "in sleep_in_c") and _saying(lines, "in wait_for_the_other"))
