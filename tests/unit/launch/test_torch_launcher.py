"""torch_distributed: torchrun's variables without torchrun, torchrun itself with options of it, and real gloo."""

import json
import socket
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from .conftest import Task

LAUNCHER = "torch_distributed"
NAMES = (
    "RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "GROUP_RANK", "GROUP_WORLD_SIZE", "ROLE_RANK",
    "ROLE_WORLD_SIZE", "ROLE_NAME", "MASTER_ADDR", "MASTER_PORT", "TORCHELASTIC_RUN_ID", "TORCHELASTIC_USE_AGENT_STORE",
    "TORCHELASTIC_RESTART_COUNT", "OMP_NUM_THREADS", "USE_TORCH_DISTRIBUTED", "DET_CHIEF_IP",
)  # fmt: skip
SHOW = f"import json, os; print(json.dumps({{n: os.environ.get(n) for n in {NAMES}}}))"
# One reduction, DDP over it, and FSDP2 on a mesh of the same ranks: each ends with what only all ranks together give.
TRAIN = """
import sys, torch, torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("gloo")
rank, size = dist.get_rank(), dist.get_world_size()
total = torch.tensor([float(rank + 1)])
dist.all_reduce(total)
torch.manual_seed(0)
model = torch.nn.Linear(2, 1, bias=False)
parallel = DistributedDataParallel(model)
parallel(torch.full((1, 2), float(rank))).sum().backward()
sharded = torch.nn.Linear(4, 4, bias=False)
fully_shard(sharded, mesh=init_device_mesh("cpu", (size,)))
sharded(torch.full((1, 4), float(rank))).sum().backward()
full = sharded.weight.grad.full_tensor()
print("result", total.item(), model.weight.grad[0, 0].item(), full[0, 0].item(), flush=True)
if "fail" in sys.argv and rank == 1:
    dist.destroy_process_group()  # its threads may abort a process that ends beside them, which changes the status
    raise ValueError("broken on purpose")
if "fail" in sys.argv:
    dist.barrier()
dist.destroy_process_group()
"""


def shown(lines: str) -> list[dict[str, Any]]:
    found = [json.loads(line.partition("] ")[2]) for line in lines.splitlines()]
    return sorted(found, key=lambda one: int(one["RANK"]))


def test_ranks_get_the_variables_of_torchrun(task: "Task") -> None:
    done = task.launch(LAUNCHER, sys.executable, "-c", SHOW)
    first, second = shown(done.stdout)
    port = first["MASTER_PORT"]
    assert first == {
        "RANK": "0", "WORLD_SIZE": "2", "LOCAL_RANK": "0", "LOCAL_WORLD_SIZE": "2", "GROUP_RANK": "0",
        "GROUP_WORLD_SIZE": "1", "ROLE_RANK": "0", "ROLE_WORLD_SIZE": "2", "ROLE_NAME": "default",
        "MASTER_ADDR": "localhost", "MASTER_PORT": port, "TORCHELASTIC_RUN_ID": "1.t.1",
        "TORCHELASTIC_USE_AGENT_STORE": "False", "TORCHELASTIC_RESTART_COUNT": "0", "OMP_NUM_THREADS": "1",
        "USE_TORCH_DISTRIBUTED": "True", "DET_CHIEF_IP": "127.0.0.1",
    }  # fmt: skip
    assert second == first | {"RANK": "1", "LOCAL_RANK": "1", "ROLE_RANK": "1"}


def test_ranks_of_unequal_nodes_are_counted_on(task: "Task") -> None:
    task.extra = {"C10D_PORT": "29555", "OMP_NUM_THREADS": "3"}
    ranks = shown(task.be([1, 2, 3], node=2).launch(LAUNCHER, sys.executable, "-c", SHOW).stdout)
    assert [one["RANK"] for one in ranks] == ["3", "4", "5"]
    assert [one["LOCAL_RANK"] for one in ranks] == ["0", "1", "2"]
    for one in ranks:
        assert (one["WORLD_SIZE"], one["LOCAL_WORLD_SIZE"], one["GROUP_RANK"], one["GROUP_WORLD_SIZE"]) == tuple("6323")
        assert (one["MASTER_ADDR"], one["MASTER_PORT"], one["DET_CHIEF_IP"]) == ("127.0.0.1", "29555", "127.0.0.1")
        assert one["OMP_NUM_THREADS"] == "3"


def test_node_without_slots_runs_one_rank(task: "Task") -> None:
    (only,) = shown(task.be([0]).launch(LAUNCHER, sys.executable, "-c", SHOW).stdout)
    assert (only["RANK"], only["WORLD_SIZE"], only["OMP_NUM_THREADS"]) == ("0", "1", None)


def test_port_that_somebody_has_is_replaced_on_a_single_node(task: "Task") -> None:
    with socket.create_server(("", 0)) as taken:
        task.extra = {"C10D_PORT": str(taken.getsockname()[1])}
        ranks = shown(task.launch(LAUNCHER, sys.executable, "-c", SHOW).stdout)
    assert ranks[0]["MASTER_PORT"] == ranks[1]["MASTER_PORT"] != task.extra["C10D_PORT"]


def test_trial_class_runs_in_the_harness_of_every_rank(task: "Task") -> None:
    done = task.launch(LAUNCHER, "--trial", "no_such_module:Trial")
    assert done.returncode == 1
    assert "entrypoint no_such_module:Trial: there is no module no_such_module" in done.stderr
    assert "[rank=" in done.stderr


@pytest.mark.parametrize("size", [2, pytest.param(4, marks=pytest.mark.engines)])
def test_gloo_ddp_and_fsdp2_work_on_ranks_started_without_torchrun(task: "Task", tmp_path: Path, size: int) -> None:
    done = task.be([size]).launch(LAUNCHER, sys.executable, _script(tmp_path))
    assert done.returncode == 0, done.stderr
    mean = (size - 1) / 2
    expected = f"result {float(size * (size + 1) // 2)} {mean} {mean}"
    assert sorted(done.stdout.splitlines()) == [f"[rank={rank}] {expected}" for rank in range(size)]


def test_rank_that_raises_is_the_cause_and_not_the_peers_that_lose_it(task: "Task", tmp_path: Path) -> None:
    done = task.launch(LAUNCHER, sys.executable, _script(tmp_path), "fail")
    assert done.returncode == 1
    assert task.failure["rank"] == 1
    assert task.failure["lines"][-1].endswith("ValueError: broken on purpose")
    assert "ERROR: rank 1 failed first here, with status 1. Its last lines:" in done.stderr


@pytest.mark.engines
def test_options_of_torchrun_run_torchrun_itself(task: "Task", tmp_path: Path) -> None:
    show = (
        f"{SHOW}; import sys; sys.exit(os.environ['RANK'] == '1' and os.environ['TORCHELASTIC_RESTART_COUNT'] == '0')"
    )
    done = task.launch(LAUNCHER, "--max_restarts", "1", "--", sys.executable, "-c", show)
    assert done.returncode == 0, done.stderr
    ranks = shown(done.stdout)
    assert {(one["RANK"], one["TORCHELASTIC_RESTART_COUNT"]) for one in ranks} >= {("0", "1"), ("1", "1")}
    assert all(line.startswith("[rank=") for line in done.stdout.splitlines())


@pytest.mark.engines
def test_failure_under_torchrun_is_that_of_the_rank(task: "Task", tmp_path: Path) -> None:
    done = task.launch(
        LAUNCHER, "--max_restarts", "1", "--", "sh", "-c", "echo try $TORCHELASTIC_RESTART_COUNT; exit 5"
    )
    assert done.returncode == 5
    assert task.failure["attempt"] == 1
    assert task.failure["lines"] == ["try 1"]
    assert "failed first here, with status 5. Its last lines:\nERROR:     try 1\n" in done.stderr


def _script(directory: Path) -> str:
    script = directory / "train.py"
    script.write_text(TRAIN)
    return str(script)
