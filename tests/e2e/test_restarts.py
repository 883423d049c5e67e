"""Kill processes and see trials go on: training processes, the master, runners."""

import os
import re
import signal
from pathlib import Path

from cluster import Client, Cluster, det, eventually, write_experiment

COUNTER = """
import os, time, pathlib, determined as det
info = det.get_cluster_info()
start = 0
with det.core.init() as core:
    if info.latest_checkpoint:
        with core.checkpoint.restore_path(info.latest_checkpoint) as path:
            start = int((path / "step").read_text())
    print(f"starting at {start} pid {os.getpid()}", flush=True)
    for step in range(start + 1, 31):
        time.sleep(0.05)
        core.train.report_training_metrics(steps_completed=step, metrics={"x": step})
        if step % 5 == 0:
            with core.checkpoint.store_path({"steps_completed": step}) as (path, uuid):
                (path / "step").write_text(str(step))
            if step == 10:
                STAY
        if core.preempt.should_preempt():
            break
pathlib.Path("finished").touch()
"""


def _create(cluster: Cluster, home: Path, config: Path, *flags: str) -> int:
    output = det(home, "e", "create", str(config), str(config.parent), *flags, master=cluster.url).stdout
    return int(output.split("Created experiment ")[1].split()[0])


def test_a_killed_training_process_restarts_from_its_checkpoint_until_restarts_are_spent(
    cluster: Cluster, client: Client, home: Path, tmp_path: Path
) -> None:
    config = write_experiment(tmp_path / "crash", COUNTER.replace("STAY", "time.sleep(600)"), {"max_restarts": 1})
    experiment = _create(cluster, home, config)
    trial = eventually(lambda: client.trials(experiment))[0]["id"]
    pids: list[int] = []
    for _ in range(2):
        pid = eventually(lambda: _newest_pid(client, trial, pids))
        pids.append(pid)
        eventually(lambda: 10 in _saved(client, trial))  # there it stays, the first time
        if len(pids) == 1:
            os.kill(pid, signal.SIGKILL)
    lines = "\n".join(client.log_lines(trial))
    assert "starting at 0" in lines
    assert "starting at 10" in lines, lines
    assert client.trials(experiment)[0]["restarts"] == 1
    client.wait_state(experiment, "COMPLETED")
    steps = [m["totalBatches"] for m in client.metrics(trial, "training")]
    assert steps == list(range(1, 31))


def test_restarts_end_in_error_when_spent(cluster: Cluster, client: Client, home: Path, tmp_path: Path) -> None:
    config = write_experiment(tmp_path / "fail", "raise SystemExit(3)", {"max_restarts": 2})
    experiment = _create(cluster, home, config)
    client.wait_state(experiment, "ERROR")
    assert client.trials(experiment)[0]["restarts"] == 3 or client.trials(experiment)[0]["restarts"] == 2
    lines = client.log_lines(client.trials(experiment)[0]["id"])
    assert any("3" in line and "exit" in line.lower() for line in lines)


def test_a_script_that_never_asks_about_preemption_is_ended_by_a_pause(
    cluster: Cluster, client: Client, home: Path, tmp_path: Path
) -> None:
    config = write_experiment(tmp_path / "deaf", "import time\nprint('up', flush=True)\ntime.sleep(300)")
    experiment = _create(cluster, home, config)
    trial = eventually(lambda: client.trials(experiment))[0]["id"]
    eventually(lambda: any("up" in line for line in client.log_lines(trial)))
    det(home, "e", "pause", str(experiment), master=cluster.url)
    client.wait_state(experiment, "PAUSED")
    eventually(lambda: not client.get("/tasks"))
    assert client.trials(experiment)[0]["restarts"] == 0
    det(home, "e", "kill", str(experiment), master=cluster.url)
    client.wait_state(experiment, "CANCELED")


def test_training_goes_on_while_the_master_is_dead_and_everything_arrives(home: Path, tmp_path: Path) -> None:
    cluster = Cluster(tmp_path / "cluster", slots=1)
    cluster.start()
    try:
        client = Client(cluster.url)
        gate = tmp_path / "gate"
        wait = f"while not pathlib.Path({str(gate)!r}).exists(): time.sleep(0.02)"
        config = write_experiment(tmp_path / "model", COUNTER.replace("STAY", wait))
        experiment = _create(cluster, home, config)
        trial = eventually(lambda: client.trials(experiment))[0]["id"]
        eventually(lambda: client.metrics(trial, "training"))
        cluster.kill()
        gate.touch()
        # The process trains on: wait for it to end by itself, with nobody to report to.
        eventually(lambda: list((cluster.directory / "runs").glob("*/workdir/finished")))
        cluster.start()
        client = Client(cluster.url)
        client.wait_state(experiment, "COMPLETED")
        assert [m["totalBatches"] for m in client.metrics(trial, "training")] == list(range(1, 31))
        assert client.trials(experiment)[0]["restarts"] == 0
    finally:
        cluster.stop()
        cluster.end_runners()


def _saved(client: Client, trial: int) -> list[int]:
    found = client.get(f"/api/v1/trials/{trial}/checkpoints?limit=1000")["checkpoints"]
    return [int(checkpoint["metadata"]["steps_completed"]) for checkpoint in found]


def _newest_pid(client: Client, trial: int, known: list[int]) -> int | None:
    lines = client.log_lines(trial)
    pids = [int(found[1]) for line in lines if (found := re.search(r"starting at \d+ pid (\d+)$", line))]
    fresh = [p for p in pids if p not in known]
    return fresh[-1] if fresh else None
