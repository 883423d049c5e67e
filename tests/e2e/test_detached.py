"""Detached mode with real scripts: they run by themselves, and their master hears all of it, also of a kill -9."""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from cluster import HANG_SECONDS, ROOT, Client, Cluster, clean_environment, eventually, running_cluster

EXAMPLES = ROOT / "examples" / "detached"
LONG = """
import pathlib, sys, time
from determined.experimental import core_v2

core_v2.init(config=core_v2.Config(name="long", external_experiment_id=sys.argv[1]))
gate = pathlib.Path(sys.argv[2])
step = 0
while not gate.exists():
    step += 1
    core_v2.train.report_training_metrics(step, {"x": step})
    print("step", step, flush=True)
    time.sleep(0.02)
print("last", step, flush=True)
"""


def variables(cluster: Cluster, home: Path) -> dict[str, str]:
    return clean_environment(
        HOME=str(home),
        XDG_CONFIG_HOME=str(home / "config"),
        XDG_DATA_HOME=str(home / "data"),
        DET_MASTER=cluster.url,
        DET_USER="determined",
        DET_PASS="",
    )


def run(cluster: Cluster, home: Path, *words: str, cwd: Path, python: str = sys.executable) -> Any:
    return subprocess.run(
        [python, *words], env=variables(cluster, home), cwd=cwd, capture_output=True, text=True, timeout=HANG_SECONDS,
        check=False,
    )  # fmt: skip


def start(cluster: Cluster, home: Path, *words: str, cwd: Path) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, *words], env=variables(cluster, home), cwd=cwd, stdout=subprocess.PIPE, text=True
    )


def newest(client: Client) -> dict[str, Any]:
    path = "/api/v1/experiments?limit=1&sortBy=SORT_BY_ID&orderBy=ORDER_BY_DESC"
    found: dict[str, Any] = client.get(path)["experiments"][0]
    return found


def by_external_id(client: Client, external_id: str) -> list[dict[str, Any]]:
    listed = client.get("/api/v1/experiments?limit=1000")["experiments"]
    return [one for one in listed if one.get("externalExperimentId") == external_id]


@pytest.fixture
def work(tmp_path: Path) -> Path:
    shutil.copytree(EXAMPLES, tmp_path / "work")
    return tmp_path / "work"


def test_a_single_script_is_an_experiment(cluster: Cluster, client: Client, home: Path, work: Path) -> None:
    done = run(cluster, home, "1_single.py", cwd=work)
    assert done.returncode == 0, done.stderr
    experiment = newest(client)
    assert (experiment["name"], experiment["state"], experiment["labels"]) == (
        "detached single", "STATE_COMPLETED", ["example"],
    )  # fmt: skip
    [trial] = client.trials(experiment["id"])
    assert (trial["hparams"], trial["state"]) == ({"lr": 0.1}, "STATE_COMPLETED")
    assert [m["totalBatches"] for m in client.metrics(trial["id"], "training")] == list(range(10, 101, 10))
    lines = client.log_lines(trial["id"])
    assert [line for line in lines if "batch 100: loss" in line] and "the script has ended" in lines[-1]
    assert not list((home / "data" / "determined" / "detached").iterdir()), "everything is delivered"


def test_external_ids_go_on_from_the_latest_checkpoint(
    cluster: Cluster, client: Client, home: Path, work: Path
) -> None:
    for started_at in (0, 10):
        done = run(cluster, home, "2_checkpoints.py", "resumed", "one", cwd=work)
        assert (done.returncode, f"starting at batch {started_at}" in done.stdout) == (0, True), done.stderr
    [experiment] = by_external_id(client, "resumed")
    [trial] = client.trials(experiment["id"])
    assert [m["totalBatches"] for m in client.metrics(trial["id"], "training")] == list(range(1, 21))
    checkpoints = client.get(f"/api/v1/trials/{trial['id']}/checkpoints?limit=10")["checkpoints"]
    assert (len(checkpoints), len({c["storageId"] for c in checkpoints})) == (2, 1)
    assert checkpoints[0]["storageId"] is not None


def test_ranks_of_torchrun_share_one_experiment(cluster: Cluster, client: Client, home: Path, work: Path) -> None:
    torchrun = ("-m", "torch.distributed.run", "--standalone", "--nproc_per_node", "2")
    done = run(cluster, home, *torchrun, "3_torch_distributed.py", "job", cwd=work)
    assert done.returncode == 0, done.stderr
    [experiment] = by_external_id(client, "job")
    [trial] = client.trials(experiment["id"])
    assert trial["state"] == "STATE_COMPLETED"
    assert len(client.metrics(trial["id"], "training")) == 10
    lines = client.log_lines(trial["id"])
    for rank in (0, 1):
        assert [line for line in lines if f"[rank={rank}]" in line and f"rank {rank} of 2" in line], lines
    [checkpoint] = client.get(f"/api/v1/trials/{trial['id']}/checkpoints?limit=10")["checkpoints"]
    assert {"shard-0", "shard-1"} <= set(checkpoint["resources"]) and checkpoint["storageId"] is not None


@pytest.mark.parametrize(
    ("end", "status", "said"),
    [("raise RuntimeError('on purpose')", 1, "on purpose"), ("import sys; sys.exit(3)", 3, "has exited with 3")],
)
def test_a_script_that_fails_is_an_error_at_once(
    cluster: Cluster, client: Client, home: Path, tmp_path: Path, end: str, status: int, said: str
) -> None:
    script = "from determined.experimental import core_v2\ncore_v2.init(config=core_v2.Config(name='failing'))\n"
    (tmp_path / "fails.py").write_text(script + end)
    done = run(cluster, home, "fails.py", cwd=tmp_path)
    assert done.returncode == status, done.stderr
    experiment = newest(client)
    assert client.state(experiment["id"]) == "ERROR"
    [trial] = client.trials(experiment["id"])
    assert said in "\n".join(client.log_lines(trial["id"]))


def test_a_closed_trial_is_opened_again(cluster: Cluster, client: Client, home: Path, tmp_path: Path) -> None:
    script = """
from determined.experimental import core_v2

core_v2.init(config=core_v2.Config(name="reopened"))
core_v2.train.report_training_metrics(1, {"loss": 0.5})
closed = core_v2.info
core_v2.close()
core_v2._reopen(closed, None)
core_v2.train.report_metrics("test", 1, {"loss": 0.25})
"""
    (tmp_path / "reopens.py").write_text(script)
    done = run(cluster, home, "reopens.py", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    experiment = newest(client)
    assert (experiment["name"], client.state(experiment["id"])) == ("reopened", "COMPLETED")
    [trial] = client.trials(experiment["id"])
    counts = [len(client.metrics(trial["id"], group)) for group in ("training", "test")]
    assert counts == [1, 1], "the second run archives nothing of the first"


def test_a_script_that_fails_in_a_block_is_an_error_with_a_traceback(
    cluster: Cluster, client: Client, home: Path, tmp_path: Path
) -> None:
    script = """
from determined.experimental import core_v2

core_v2.init(config=core_v2.Config(name="closed in finally"))
try:
    raise RuntimeError("on purpose")
finally:
    core_v2.close()
"""
    (tmp_path / "fails.py").write_text(script)
    assert run(cluster, home, "fails.py", cwd=tmp_path).returncode == 1
    experiment = newest(client)
    assert client.state(experiment["id"]) == "ERROR"
    [trial] = client.trials(experiment["id"])
    text = "\n".join(client.log_lines(trial["id"]))
    assert "Traceback (most recent call last):" in text and "RuntimeError: on purpose" in text


def test_a_script_that_is_killed_is_an_error_soon(cluster: Cluster, client: Client, home: Path, tmp_path: Path) -> None:
    (tmp_path / "long.py").write_text(LONG)
    with start(cluster, home, "long.py", "killed", "never", cwd=tmp_path) as process:
        assert process.stdout is not None
        last = [process.stdout.readline() for _ in range(5)][-1].split()[-1]
        process.send_signal(signal.SIGKILL)
    [experiment] = by_external_id(client, "killed")
    client.wait_state(experiment["id"], "ERROR")
    [trial] = client.trials(experiment["id"])
    assert "was killed" in client.log_lines(trial["id"])[-1]
    steps = [m["totalBatches"] for m in client.metrics(trial["id"], "training")]
    assert steps == list(range(1, len(steps) + 1)) and len(steps) >= int(last), "what it had reported arrives"


def test_nothing_is_lost_while_the_master_is_away(home: Path, tmp_path: Path) -> None:
    (tmp_path / "long.py").write_text(LONG)
    gate = tmp_path / "gate"
    with running_cluster(tmp_path / "cluster") as cluster:
        with start(cluster, home, "long.py", "absent", str(gate), cwd=tmp_path) as process:
            assert process.stdout is not None
            process.stdout.readline()
            cluster.kill()
            for _ in range(20):
                process.stdout.readline()
            gate.touch()
            last = int(process.stdout.read().split()[-1])
        assert process.returncode == 0
        cluster.start()
        client = Client(cluster.url)
        [experiment] = by_external_id(client, "absent")
        client.wait_state(experiment["id"], "COMPLETED")
        [trial] = client.trials(experiment["id"])
        assert [m["totalBatches"] for m in client.metrics(trial["id"], "training")] == list(range(1, last + 1))
        assert f"last {last}" in "\n".join(client.log_lines(trial["id"]))


def test_the_next_run_delivers_what_a_run_and_its_delivery_left_that_were_killed_together(
    cluster: Cluster, client: Client, home: Path, work: Path, tmp_path: Path
) -> None:
    (tmp_path / "long.py").write_text(LONG)
    with start(cluster, home, "long.py", "orphaned", "never", cwd=tmp_path) as process:
        assert process.stdout is not None
        process.stdout.readline()
        [left] = (home / "data" / "determined" / "detached").iterdir()
        eventually(lambda: _deliveries(left))
        [delivery] = _deliveries(left)
        os.kill(delivery, signal.SIGKILL)
        last = [process.stdout.readline() for _ in range(5)][-1].split()[-1]
        process.send_signal(signal.SIGKILL)
    [experiment] = by_external_id(client, "orphaned")
    assert client.state(experiment["id"]) == "RUNNING"
    assert run(cluster, home, "1_single.py", cwd=work).returncode == 0
    client.wait_state(experiment["id"], "ERROR")
    eventually(lambda: not left.exists())
    [trial] = client.trials(experiment["id"])
    steps = [m["totalBatches"] for m in client.metrics(trial["id"], "training")]
    assert steps == list(range(1, len(steps) + 1)) and len(steps) >= int(last), "each value is there once"


def test_delivery_outlives_a_worker_that_kills_its_children(
    cluster: Cluster, client: Client, home: Path, tmp_path: Path
) -> None:
    """Workers of Ray send SIGKILL to their direct children when they end."""
    script = """
import os, pathlib, signal
from determined.experimental import core_v2

core_v2.init(config=core_v2.Config(name="worker", external_experiment_id="worker"))
for step in range(1, 11):
    core_v2.train.report_validation_metrics(step, {"x": step})
for task in pathlib.Path("/proc/self/task").iterdir():
    for child in (task / "children").read_text().split():
        os.kill(int(child), signal.SIGKILL)
os.kill(os.getpid(), signal.SIGKILL)
"""
    (tmp_path / "worker.py").write_text(script)
    assert run(cluster, home, "worker.py", cwd=tmp_path).returncode == -signal.SIGKILL
    [experiment] = by_external_id(client, "worker")
    client.wait_state(experiment["id"], "ERROR")
    [trial] = client.trials(experiment["id"])
    assert [m["totalBatches"] for m in client.metrics(trial["id"], "validation")] == list(range(1, 11))


def test_the_first_detached_mode_runs(cluster: Cluster, client: Client, home: Path, tmp_path: Path) -> None:
    script = """
from determined.experimental import Determined, unmanaged

client = Determined()
text = "name: first mode\\nsearcher: {name: single, metric: x}\\n"
info = unmanaged.create_unmanaged_cluster_info(client, text, {"lr": 1})
with unmanaged.init(unmanaged_info=info, client=client) as context:
    context.train.report_validation_metrics(1, {"x": 0.5})
print(unmanaged.url_reverse_webui_exp_view(client, info.trial.experiment_id))
"""
    (tmp_path / "first.py").write_text(script)
    done = run(cluster, home, "first.py", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    experiment = newest(client)
    assert (experiment["name"], experiment["state"]) == ("first mode", "STATE_COMPLETED")


@pytest.mark.engines
def test_ray_workers_share_one_experiment(cluster: Cluster, client: Client, home: Path, work: Path) -> None:
    done = run(cluster, home, "4_ray_workers.py", "sweep", cwd=work, python=str(ROOT / ".venv-ray" / "bin" / "python"))
    assert done.returncode == 0, done.stderr
    [experiment] = by_external_id(client, "sweep")
    trials = client.trials(experiment["id"])
    assert sorted(t["hparams"]["lr"] for t in trials) == [0.1, 0.2, 0.3]


def _deliveries(run_dir: Path) -> list[int]:
    """Return the processes that deliver what is in a run directory."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            words = (process / "cmdline").read_text().split("\0")
            if "determined.exec.detached" in words and str(run_dir) in words:
                found.append(int(process.name))
    return found
