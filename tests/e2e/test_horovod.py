"""A real Horovod in real trials: on one node, on two nodes over ssh, with a rank that fails, paused and resumed.

It compiles for minutes, so it is not installed by itself: DET_TEST_HOROVOD names a Python that has it.
"""

import base64
import json
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cluster import Client, Cluster, eventually, free_port

PYTHON = os.environ.get("DET_TEST_HOROVOD") and str(Path(os.environ["DET_TEST_HOROVOD"]).absolute())
SSHD = shutil.which("sshd", path="/usr/sbin:/usr/local/sbin:/sbin")
pytestmark = [
    pytest.mark.engines,
    pytest.mark.timeout(600),
    pytest.mark.skipif(
        not PYTHON,
        reason="DET_TEST_HOROVOD names no Python with Horovod; make one: scripts/install_horovod.sh DIRECTORY",
    ),
]
two_nodes = pytest.mark.skipif(SSHD is None, reason="two nodes of Horovod need sshd; install openssh-server")

BEGIN = """
import json, os, pathlib, signal, time
import tensorflow as tf
import horovod.tensorflow as hvd
import determined as det

hvd.init()
def total(value):
    return float(hvd.allreduce(tf.constant(float(value)), op=hvd.Sum))
"""
REDUCE = """
def command_lines():
    for one in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        try:
            yield one.read_bytes()
        except OSError:
            pass  # it has ended meanwhile
with det.core.init(distributed=det.core.DistributedContext.from_horovod(hvd)) as core:
    rank = core.distributed.rank
    token = os.environ["DET_SESSION_TOKEN"].encode()
    print("I am", json.dumps({
        "rank": rank, "sum": total(rank + 1), "ranks": core.distributed.allgather(rank),
        "local": [hvd.local_rank(), hvd.local_size()], "cross": [hvd.cross_rank(), hvd.cross_size()],
        "agent": os.environ["DET_AGENT_ID"], "run": os.environ["DET_RUN_DIR"], "directory": os.getcwd(),
        "own": os.environ["OF_THE_USER"], "use": os.environ["USE_HOROVOD"],
        "told": any(token in line for line in command_lines()),
    }))
    if rank == 0:
        core.train.report_training_metrics(steps_completed=1, metrics={"total": total(1)})
    else:
        total(1)
"""
# The last rank fails once all are up. The others wait outside of Horovod, deaf to TERM, or fail in a reduction with it.
FAIL = """
here = pathlib.Path({directory!r})
(here / str(hvd.rank())).write_text(str(os.getpid()))
total(1)  # from here on all have told
if hvd.rank() == 0:
    (here / "all").touch()
if hvd.rank() == hvd.size() - 1:
    raise ValueError("broken on purpose")
{wait}
"""
PAUSE = """
with det.core.init(distributed=det.core.DistributedContext.from_horovod(hvd)) as core:
    latest, step = det.get_cluster_info().latest_checkpoint, 0
    if latest is not None:
        with core.checkpoint.restore_path(latest) as path:
            step = int((path / "step").read_text())
    first = step
    while latest is None or step < first + 3:
        step += 1
        value = total(step)
        if core.distributed.rank == 0:
            core.train.report_training_metrics(steps_completed=step, metrics={"total": value})
        if core.preempt.should_preempt():
            break
        time.sleep(0.02)
    print("stopped at", step, "after", first, flush=True)
    if core.distributed.rank == 0:
        with core.checkpoint.store_path({"steps_completed": step}) as (path, _):
            (path / "step").write_text(str(step))
"""


@pytest.fixture(scope="module")
def user(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    running = Cluster(tmp_path_factory.mktemp("horovod"), slots=2, config={"local_agents": 2})
    running.start()
    yield Client(running.url)
    running.stop()
    running.end_runners()


def test_ranks_of_one_node_reduce_and_no_token_is_in_a_command_line(user: Client) -> None:
    trial = _completed(user, REDUCE, slots=2)
    first, second = _introduced(user, trial)
    assert (first["sum"], first["ranks"], first["local"], first["cross"]) == (3.0, [0, 1], [0, 2], [0, 1])
    assert (second["sum"], second["local"], second["cross"]) == (3.0, [1, 2], [0, 1])
    assert (first["own"], first["use"], first["told"]) == ("kept", "1", False)
    assert first["directory"] == second["directory"] == f"{first['run']}/workdir"
    [report] = user.metrics(trial, "training")
    assert report["metrics"]["avg_metrics"] == {"total": 2.0}


@two_nodes
def test_ranks_of_two_nodes_reduce_over_ssh_each_in_the_surroundings_of_its_node(user: Client) -> None:
    trial = _completed(user, REDUCE, slots=4)
    ranks = _introduced(user, trial)
    assert [one["sum"] for one in ranks] == [10.0] * 4
    assert [one["local"] for one in ranks] == [[0, 2], [1, 2], [0, 2], [1, 2]]
    assert [one["cross"] for one in ranks] == [[0, 2], [0, 2], [1, 2], [1, 2]]
    nodes = [(one["agent"], one["run"]) for one in ranks]
    assert nodes[0] == nodes[1] != nodes[2] == nodes[3]
    assert all(one["directory"] == f"{one['run']}/workdir" and one["own"] == "kept" for one in ranks)
    assert not any(one["told"] for one in ranks)
    [report] = user.metrics(trial, "training")
    assert report["metrics"]["avg_metrics"] == {"total": 4.0}


@pytest.mark.parametrize("wait", ["signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)", "total(1)"])
@pytest.mark.parametrize("slots", [2, pytest.param(4, marks=two_nodes)])
def test_rank_that_raises_is_the_reason_and_ends_all(user: Client, tmp_path: Path, slots: int, wait: str) -> None:
    experiment = _submit(user, FAIL.format(directory=str(tmp_path), wait=wait), slots)
    eventually((tmp_path / "all").exists, 120, poll_seconds=0.01)
    pids = [int((tmp_path / str(rank)).read_text()) for rank in range(slots)]
    eventually(lambda: not _lives(pids[-1]), poll_seconds=0.01)
    eventually(lambda: not any(_lives(pid) for pid in pids), poll_seconds=0.01)
    user.wait_state(experiment, "ERROR")
    (trial,) = user.trials(experiment)
    (allocation,) = user.get(f"/api/v1/tasks/{trial['taskId']}")["task"]["allocations"]
    log = "\n".join(user.log_lines(trial["id"]))
    assert f"rank {slots - 1} failed first here, " in allocation["exitReason"], log
    assert "ValueError: broken on purpose" in allocation["exitReason"]


def test_pause_stops_all_ranks_in_step_and_activation_goes_on_from_there(user: Client) -> None:
    experiment = _submit(user, PAUSE, slots=2)
    (trial,) = eventually(lambda: user.trials(experiment), 60)
    eventually(lambda: len(user.metrics(trial["id"], "training")) > 3, 120)
    user.post(f"/api/v1/experiments/{experiment}/pause")
    eventually(lambda: len(_stops(user, trial["id"])) == 2, 60)
    [(step, _)] = set(_stops(user, trial["id"]))
    user.wait_state(experiment, "PAUSED")
    user.post(f"/api/v1/experiments/{experiment}/activate")
    user.wait_state(experiment, "COMPLETED", seconds=120)
    assert _stops(user, trial["id"])[2:] == [(step + 3, step)] * 2
    steps = [report["totalBatches"] for report in user.metrics(trial["id"], "training")]
    assert steps == list(range(1, step + 4))


def _submit(client: Client, script: str, slots: int) -> int:
    ours = {"DET_PYTHON_EXECUTABLE": PYTHON, "DTRAIN_SSH_PORT": free_port()}
    variables = [f"{name}={value}" for name, value in (ours | {"OF_THE_USER": "kept"}).items()]
    variables.append("TF_CPP_MIN_LOG_LEVEL=3")
    config = {
        "name": "horovod", "entrypoint": "python3 -m determined.launch.horovod --gloo -- python3 train.py",
        "searcher": {"name": "single", "metric": "x", "max_length": {"batches": 1}}, "max_restarts": 0,
        "resources": {"slots_per_trial": slots}, "environment": {"environment_variables": variables},
    }  # fmt: skip
    content = base64.b64encode((BEGIN + script).encode()).decode()
    file = {"path": "train.py", "type": 48, "content": content, "mtime": "0", "mode": 0o644, "uid": 0, "gid": 0}
    body = {"config": json.dumps(config), "modelDefinition": [file], "activate": True}
    return int(client.post("/api/v1/experiments", body)["experiment"]["id"])


def _completed(client: Client, script: str, slots: int) -> int:
    """The only trial of an experiment that went well."""
    experiment = _submit(client, script, slots)
    state = client.wait_state(experiment, "COMPLETED", "ERROR", seconds=180)
    (trial,) = client.trials(experiment)
    assert state == "COMPLETED", "\n".join(client.log_lines(trial["id"]))
    return int(trial["id"])


def _introduced(client: Client, trial: int) -> list[dict[str, Any]]:
    """Return what each rank said of itself, in a line that is marked as its own."""
    lines = [re.search(r"\[rank=(\d)\] \|\| I am (\{.*\})$", line) for line in client.log_lines(trial)]
    found = {int(match[1]): json.loads(match[2]) for match in lines if match}
    assert all(one["rank"] == rank for rank, one in found.items())
    return [found[rank] for rank in sorted(found)]


def _stops(client: Client, trial: int) -> list[tuple[int, int]]:
    lines = [re.search(r"stopped at (\d+) after (\d+)$", line) for line in client.log_lines(trial)]
    return [(int(match[1]), int(match[2])) for match in lines if match]


def _lives(pid: int) -> bool:
    """A zombie is gone: nothing of it runs."""
    try:
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
