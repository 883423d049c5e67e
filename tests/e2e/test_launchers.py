"""Launchers in real trials on two nodes of two slots: ranks find one another; one that fails ends all, and says why."""

import base64
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cluster import Client, Cluster, det, eventually, free_port, lives

TORCH = "python3 -m determined.launch.torch_distributed python3 train.py"
SHOW = """
import json, os
names = ["RANK", "WORLD_SIZE", "LOCAL_RANK", "GROUP_RANK", "MASTER_ADDR", "MASTER_PORT"]
print("I am", json.dumps({n: os.environ[n] for n in names}))
"""
# Everybody but rank 3 ignores TERM. It fails once all are up, and says when.
ONE_FAILS = """
import os, pathlib, signal, sys, time
here, rank = pathlib.Path({directory!r}), int(os.environ["RANK"])
signal.signal(signal.SIGTERM, signal.SIG_IGN)
(here / f"{{rank}}.new").write_text(str(os.getpid()))
(here / f"{{rank}}.new").rename(here / str(rank))
while not all((here / str(n)).exists() for n in range(4)): time.sleep(0.01)
if rank == 3:
    print("loss is nan", flush=True)
    (here / "failed").touch()
    {end}
time.sleep(600)
"""
# The first form of the Generic API: the layer starts one script per slot and tells each who it is.
LAYER = """
import json, os, subprocess, sys
counts, node = json.loads(os.environ["DET_CONTAINER_SLOT_COUNTS"]), int(os.environ["DET_CONTAINER_RANK"])
first = sum(counts[:node])
wrap = [sys.executable, "-m", "determined.launcher.wrap_rank"]
started = [subprocess.Popen([*wrap, str(first + n), *sys.argv[1:]]) for n in range(counts[node])]
sys.exit(max(child.wait() for child in started))
"""
INVALID = """
import logging
import determined as det
from determined import core
logging.basicConfig(level=logging.INFO, format=det.LOG_FORMAT)
with core.init(distributed=core.DistributedContext.from_torch_distributed()) as context:
    if context.distributed.rank == 3:
        raise det.InvalidHP("no such optimizer")
    context.distributed.allgather(1)
"""
GLOO = """
import torch, torch.distributed as dist
dist.init_process_group("gloo")
total = torch.tensor([float(dist.get_rank() + 1)])
dist.all_reduce(total)
print("sum", total.item())
if {fails} and dist.get_rank() == 3:
    raise ValueError("broken on purpose")
if {fails}:
    dist.barrier()
dist.destroy_process_group()
"""


@pytest.fixture(scope="module")
def nodes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    running = Cluster(tmp_path_factory.mktemp("nodes"), slots=2, config={"local_agents": 2})
    running.start()
    yield running
    running.stop()
    running.end_runners()


@pytest.fixture
def user(nodes: Cluster) -> Client:
    return Client(nodes.url)


def test_ranks_of_two_nodes_know_themselves_and_their_lines_are_found_by_rank(
    nodes: Cluster, user: Client, home: Path
) -> None:
    trial = _completed(user, {"entrypoint": TORCH}, train=SHOW)
    found = [json.loads(match[1]) for line in user.log_lines(trial) if (match := re.search(r"I am (\{.*\})$", line))]
    by_rank = {int(one["RANK"]): one for one in found}
    assert sorted(by_rank) == [0, 1, 2, 3] and len(found) == 4
    assert [by_rank[rank]["GROUP_RANK"] for rank in range(4)] == ["0", "0", "1", "1"]
    assert [by_rank[rank]["LOCAL_RANK"] for rank in range(4)] == ["0", "1", "0", "1"]
    assert len({(one["WORLD_SIZE"], one["MASTER_ADDR"], one["MASTER_PORT"]) for one in found}) == 1
    lines = det(home, "trial", "logs", str(trial), "--rank-id", "2", master=nodes.url).stdout.splitlines()
    assert len(lines) == 1
    assert "[rank=2] || I am" in lines[0]


@pytest.mark.parametrize(
    ("end", "how"), [("sys.exit(7)", "with status 7"), ("os.kill(os.getpid(), 9)", "ended by SIGKILL (out of memory?)")]
)
def test_one_dead_rank_ends_all_nodes_and_is_the_reason(user: Client, tmp_path: Path, end: str, how: str) -> None:
    experiment = _submit(user, {"entrypoint": TORCH}, train=ONE_FAILS.format(directory=str(tmp_path), end=end))
    eventually((tmp_path / "failed").exists)
    pids = [int((tmp_path / str(rank)).read_text()) for rank in range(4)]
    eventually(lambda: not any(lives(pid) for pid in pids))
    user.wait_state(experiment, "ERROR")
    (trial,) = user.trials(experiment)
    log = "\n".join(user.log_lines(trial["id"]))
    assert f"ERROR: rank 3 failed first here, {how}. Its last lines:" in log
    assert f"rank 3 failed first here, {how}" in log.splitlines()[-1] + log.splitlines()[-2]
    reason = _exit_reason(user, trial)
    assert f"rank 3 failed first here, {how}. Its last lines:\n    loss is nan" in reason


def test_hyperparameters_that_one_rank_finds_invalid_end_the_trial_well(user: Client) -> None:
    trial = _completed(user, {"entrypoint": TORCH}, train=INVALID)
    log = "\n".join(user.log_lines(trial))
    assert "Invalid hyperparameter exception raised: no such optimizer" in log
    assert "Invalid hyperparameter exception raised: rank 3: no such optimizer" in log
    assert "failed first" not in log and "exited successfully with a zero exit code" in log


def test_layer_of_ones_own_runs_on_every_node(user: Client) -> None:
    config = {
        "entrypoint": None, "entrypoint_script": "python3 train.py", "launch_layer": "python3 layer.py",
        "searcher": {"name": "single", "max_length": {"epochs": 1}},
    }  # fmt: skip
    trial = _completed(user, config, train="print('trained')", layer=LAYER)
    ranks = sorted(
        match[1] for line in user.log_lines(trial) if (match := re.search(r"\[rank=(\d)\] \|\| trained", line))
    )
    assert ranks == ["0", "1", "2", "3"]


def test_script_without_a_layer_is_refused_on_more_slots_than_a_node_has(user: Client) -> None:
    config = {
        "entrypoint": None, "entrypoint_script": "python3 train.py",
        "searcher": {"name": "single", "max_length": {"epochs": 1}},
    }  # fmt: skip
    with pytest.raises(AssertionError, match=r"400.*slots_per_trial=4 on a single node exceeds the largest node"):
        _submit(user, config, train="")


def test_trial_class_on_several_slots_runs_in_one_process_each(user: Client) -> None:
    experiment = _submit(user, {"entrypoint": "train:Nothing"}, train="class Nothing: pass")
    user.wait_state(experiment, "ERROR")
    (trial,) = user.trials(experiment)
    lines = [line for line in user.log_lines(trial["id"]) if "Nothing derives from no trial class" in line]
    assert any("[rank=" in line for line in lines)


@pytest.mark.engines
def test_gloo_spans_two_nodes(user: Client) -> None:
    trial = _completed(user, {"entrypoint": TORCH}, train=GLOO.format(fails=False))
    assert len([line for line in user.log_lines(trial) if line.endswith("|| sum 10.0")]) == 4


@pytest.mark.engines
def test_peers_that_lose_a_failed_rank_are_not_the_reason(user: Client) -> None:
    """Peers fail within milliseconds of the rank, and their node may report first."""
    experiment = _submit(user, {"entrypoint": TORCH}, train=GLOO.format(fails=True))
    user.wait_state(experiment, "ERROR", seconds=120)
    (trial,) = user.trials(experiment)
    reason = _exit_reason(user, trial)
    assert "rank 3 failed first here, with status 1" in reason
    assert "broken on purpose" in reason


def _submit(client: Client, config: dict[str, Any], **files: str) -> int:
    """On all four slots. `files`: their names without .py."""
    sent = [
        {
            "path": f"{name}.py", "type": 48, "content": base64.b64encode(text.encode()).decode(), "mtime": "0",
            "mode": 0o644, "uid": 0, "gid": 0,
        }
        for name, text in files.items()
    ]  # fmt: skip
    searcher = {"name": "single", "metric": "x", "max_length": {"batches": 1}}
    # Masters of other tests on this machine hand out the same first port.
    variables = {"environment_variables": [f"C10D_PORT={free_port()}"]}
    full = {
        "name": "launch", "searcher": searcher, "max_restarts": 0, "resources": {"slots_per_trial": 4},
        "environment": variables, **config,
    }  # fmt: skip
    known = {name: value for name, value in full.items() if value is not None}
    body = {"config": json.dumps(known), "modelDefinition": sent, "activate": True}
    return int(client.post("/api/v1/experiments", body)["experiment"]["id"])


def _completed(client: Client, config: dict[str, Any], **files: str) -> int:
    """The only trial of an experiment that went well."""
    experiment = _submit(client, config, **files)
    state = client.wait_state(experiment, "COMPLETED", "ERROR")
    (trial,) = client.trials(experiment)
    assert state == "COMPLETED", "\n".join(client.log_lines(trial["id"]))
    return int(trial["id"])


def _exit_reason(client: Client, trial: dict[str, Any]) -> str:
    (allocation,) = client.get(f"/api/v1/tasks/{trial['taskId']}")["task"]["allocations"]
    found: str = allocation["exitReason"]
    return found
