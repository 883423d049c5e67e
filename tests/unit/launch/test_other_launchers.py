"""deepspeed, tensorflow and horovod: the variables and commands they give; frameworks themselves run elsewhere."""

import json
import os
import stat
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from determined.launch._topology import Gang
from determined.launch.horovod import host_names

if TYPE_CHECKING:
    from .conftest import Task

# It stands for horovodrun: says with which words it was called and what it would write into command lines, then starts
# its program once per rank, marking lines as the real one does. The real one is met in tests/e2e/test_horovod.py.
HOROVODRUN = """#!/bin/sh
echo "words: $*"
echo "use: $USE_HOROVOD slurm: $SLURM_JOBID token: $DET_SESSION_TOKEN"
n=$2
until [ "$2" = -m ]; do shift; done
rank=0
while [ $rank -lt $n ]; do
  HOROVOD_RANK=$rank "$@" > "$0.out"; status=$?
  sed "s/^/[$rank]<stdout>:/" "$0.out"
  if [ $status != 0 ]; then echo "Process $rank exit with status code $status."; $HOROVOD_AFTERWARDS; exit 1; fi
  rank=$((rank+1))
done
"""


def shown(task: "Task", launcher: str, names: str) -> list[dict[str, Any]]:
    code = f"import json, os; print(json.dumps([os.environ.get(n) for n in {names.split()}]))"
    done = task.launch(launcher, sys.executable, "-c", code)
    assert done.returncode == 0, done.stderr
    values = sorted(json.loads(line[line.index("[", 1 if line.startswith("[rank") else 0) :])
                    for line in done.stdout.splitlines())  # fmt: skip
    return [dict(zip(names.split(), one, strict=True)) for one in values]


def test_deepspeed_ranks_know_themselves(task: "Task") -> None:
    task.extra = {"C10D_PORT": "29777", "DET_INTER_NODE_NETWORK_INTERFACE": "eth7", "CUDA_VISIBLE_DEVICES": "0,1"}
    names = "RANK WORLD_SIZE LOCAL_RANK LOCAL_SIZE CROSS_RANK CROSS_SIZE USE_DEEPSPEED DET_CHIEF_IP MASTER_ADDR"
    names += " MASTER_PORT NCCL_SOCKET_IFNAME DET_DEEPSPEED_HOSTFILE_PATH"
    first, second = shown(task.be([1, 2], node=1), "deepspeed", names)
    hostfile = first.pop("DET_DEEPSPEED_HOSTFILE_PATH")
    assert Path(hostfile).read_text() == "127.0.0.1 slots=1\n127.0.0.2 slots=2\n"
    assert first == {
        "RANK": "1", "WORLD_SIZE": "3", "LOCAL_RANK": "0", "LOCAL_SIZE": "2", "CROSS_RANK": "1", "CROSS_SIZE": "2",
        "USE_DEEPSPEED": "1", "DET_CHIEF_IP": "127.0.0.1", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29777",
        "NCCL_SOCKET_IFNAME": "eth7",
    }  # fmt: skip
    assert (second["RANK"], second["LOCAL_RANK"]) == ("2", "1")


def test_tensorflow_on_one_node_runs_the_script_as_it_is(task: "Task") -> None:
    done = task.be([2]).launch("tensorflow", "sh", "-c", 'echo "${TF_CONFIG-none} $DET_CHIEF_IP"; exit 5')
    assert done.stdout == "none 127.0.0.1\n"
    assert done.returncode == 5


@pytest.mark.parametrize("words", [["--port", "1234", "--"], ["--port=1234"]])
def test_tensorflow_on_several_nodes_tells_them_of_one_another(task: "Task", words: list[str]) -> None:
    done = task.be([2, 2], node=1).launch("tensorflow", *words, "sh", "-c", 'echo "$TF_CONFIG"')
    assert done.stdout.startswith("[rank=1] ")
    assert json.loads(done.stdout.removeprefix("[rank=1] ")) == {
        "cluster": {"worker": ["127.0.0.1:1234", "127.0.0.2:1234"]},
        "task": {"type": "worker", "index": 1},
    }


def test_tensorflow_on_nodes_of_one_machine_gives_each_a_port(task: "Task") -> None:
    task.be([1, 1, 1], addresses=["10.0.0.1", "10.0.0.1", "10.0.0.2"])
    done = task.launch("tensorflow", "--port", "1234", "sh", "-c", 'echo "$TF_CONFIG"')
    workers = json.loads(done.stdout.removeprefix("[rank=0] "))["cluster"]["worker"]
    assert workers == ["10.0.0.1:1234", "10.0.0.1:1235", "10.0.0.2:1234"]


def test_tensorflow_is_told_ipv6_addresses_in_brackets(task: "Task") -> None:
    task.be([1, 1, 1], addresses=["fd00::1", "fd00::1", "fd00::2"])
    done = task.launch("tensorflow", "--port", "1234", "sh", "-c", 'echo "$TF_CONFIG"')
    told = json.loads(done.stdout.removeprefix("[rank=0] "))
    assert told["cluster"]["worker"] == ["[fd00::1]:1234", "[fd00::1]:1235", "[fd00::2]:1234"]


def test_horovod_calls_horovodrun_with_what_the_config_says(task: "Task", tmp_path: Path) -> None:
    optimizations = {"tensor_fusion_threshold": 32, "tensor_fusion_cycle_time": 5, "auto_tune_tensor_fusion": False}
    task.be([2], config={"optimizations": optimizations, "data": {"__det_dtrain_args": ["--mpi-args", "x"]}})
    task.extra = _with_horovodrun(tmp_path) | {"DTRAIN_SSH_PORT": "12399", "SLURM_JOBID": "7"}
    done = task.launch("horovod", "--verbose", "--", "sh", "-c", "echo hello from $HOROVOD_RANK")
    words, _, *lines = done.stdout.splitlines()
    assert words.split(f" {sys.executable} ")[0] == (
        "words: -np 2 -p 12399 -H localhost:2 --disable-cache --start-timeout 1200 --gloo-timeout-seconds 240 "
        "--fusion-threshold-mb 32 --cycle-time-ms 5 --cache-capacity 1024 --no-hierarchical-allreduce "
        "--no-hierarchical-allgather --mpi-args x --verbose"
    )
    assert lines == ["[rank=0] hello from 0", "[rank=1] hello from 1"]
    assert done.returncode == 0


def test_horovodrun_gets_no_secrets_and_its_ranks_get_everything(task: "Task", tmp_path: Path) -> None:
    secret = {"DET_SESSION_TOKEN": "secret", "SLURM_JOBID": "7", "OF_THE_USER": "x" * 100_000}
    task.extra = _with_horovodrun(tmp_path) | secret
    done = task.launch(
        "horovod", "sh", "-c", 'echo "$DET_SESSION_TOKEN ${#OF_THE_USER} $USE_HOROVOD ${SLURM_JOBID-no}"'
    )
    _, use, *lines = done.stdout.splitlines()
    assert use == "use: 1 slurm:  token: "
    assert lines == ["[rank=0] secret 100000 1 no", "[rank=1] secret 100000 1 no"]
    assert (task.run_dir / "surroundings.json").stat().st_mode & 0o777 == 0o600


def test_horovodrun_that_does_not_leave_after_a_failure_is_ended(task: "Task", tmp_path: Path) -> None:
    task.extra = _with_horovodrun(tmp_path) | {"HOROVOD_AFTERWARDS": "sleep 600"}
    began = time.monotonic()
    done = task.launch("horovod", "sh", "-c", "exit 3")
    assert done.returncode == 3
    assert time.monotonic() - began < 60


def test_horovod_shows_the_rank_that_failed(task: "Task", tmp_path: Path) -> None:
    task.extra = _with_horovodrun(tmp_path)
    done = task.launch("horovod", "sh", "-c", "echo about to fail; exit 3")
    assert done.returncode == 3
    assert "rank 0 failed first here, with status 3. Its last lines:\nERROR:     about to fail\n" in done.stderr


def test_nodes_of_one_machine_have_loopback_addresses_of_their_own() -> None:
    assert host_names(Gang(("127.0.0.1",) * 3, (2, 2, 2), 0)) == ["localhost", "127.0.0.2", "127.0.0.3"]
    assert host_names(Gang(("10.0.0.7", "10.0.0.9"), (2, 2), 1)) == ["localhost", "10.0.0.9"]


def test_automatic_horovod_runs_a_single_slot_plainly(task: "Task") -> None:
    done = task.be([1]).launch("horovod", "--autohorovod", "sh", "-c", "echo plain; exit 2")
    assert (done.stdout, done.returncode) == ("plain\n", 2)


def test_missing_horovodrun_names_what_to_install(task: "Task", tmp_path: Path) -> None:
    task.extra = {"PATH": str(tmp_path)}
    done = task.launch("horovod", "true")
    assert done.returncode == 1
    assert "horovodrun is not installed here; run: pip install 'redetermined[horovod]'" in done.stderr


def _with_horovodrun(directory: Path) -> dict[str, str]:
    program = directory / "bin" / "horovodrun"
    program.parent.mkdir()
    program.write_text(HOROVODRUN)
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return {"PATH": f"{program.parent}{os.pathsep}{os.environ['PATH']}"}
