"""Kill servers at seeded random moments while eight trials train, then count: nothing lost, doubled or restarted."""

import random
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from postgres import PostgresServer

from cluster import Client, Cluster, eventually, write_experiment

TRIALS = 8

# Each trial prints and reports STEPS times, a checkpoint every 20, and takes long enough for all kills to hit it.
WORKER = """
import time, determined as det
with det.core.init() as core:
    for step in range(1, STEPS + 1):
        time.sleep(PAUSE)
        print(f"line {step}", flush=True)
        core.train.report_training_metrics(steps_completed=step, metrics={"x": float(step), "y": 0.5})
        if step % 20 == 0:
            core.train.report_validation_metrics(steps_completed=step, metrics={"x": float(step)})
            with core.checkpoint.store_path({"steps_completed": step}) as (path, uuid):
                (path / "step").write_text(str(step))
"""


@contextmanager
def postgres_server() -> Iterator[PostgresServer]:
    """In a directory of its own under the system's temporary one: the server's user may not enter pytest's."""
    root = Path(tempfile.mkdtemp(prefix="det-pg-"))
    root.chmod(0o755)
    server = PostgresServer(root / "server")
    server.create()
    server.start()
    try:
        yield server
    finally:
        server.stop()
        shutil.rmtree(root, ignore_errors=True)


def run(
    directory: Path, *, kills: int, seed: int, server: PostgresServer | None = None, kill_database: bool = False
) -> None:
    """Run the whole scenario and check every count."""
    rng = random.Random(seed)
    steps = max(100, kills * 40)
    cluster = Cluster(directory / "cluster", slots=TRIALS, db_url=server.url if server else None)
    cluster.start()
    try:
        experiment = _submit(cluster, directory, steps)
        for _ in range(kills):
            _crash(cluster, server, rng, kill_database)
        client = Client(cluster.url)
        state = client.state(experiment)
        assert state not in {"ERROR", "CANCELED"}, _story(cluster, client, experiment)
        client.wait_state(experiment, "COMPLETED", "ERROR", seconds=600)
        check(client, cluster, experiment, steps)
    finally:
        cluster.stop()
        cluster.end_runners()


def check(client: Client, cluster: Cluster, experiment: int, steps: int) -> None:
    trials = client.trials(experiment)
    assert len(trials) == TRIALS
    for trial in trials:
        story = _story(cluster, client, experiment)
        assert trial["state"] == "STATE_COMPLETED", story
        assert trial["restarts"] == 0, story
        number = trial["id"]
        assert [m["totalBatches"] for m in client.metrics(number, "training")] == list(range(1, steps + 1))
        assert [m["metrics"]["avg_metrics"]["x"] for m in client.metrics(number, "training")] == [
            float(s) for s in range(1, steps + 1)
        ]
        expected = list(range(20, steps + 1, 20))
        assert [m["totalBatches"] for m in client.metrics(number, "validation")] == expected
        said = [line.rsplit("|| ", 1)[1] for line in client.log_lines(number) if "|| line " in line]
        assert said == [f"line {s}" for s in range(1, steps + 1)], "a log line was lost, doubled or moved"
        listed = client.get(f"/api/v1/trials/{number}/checkpoints?limit=1000")["checkpoints"]
        kept = sorted(int(c["metadata"]["steps_completed"]) for c in listed)
        assert kept == expected
        assert {c["allocationId"] for c in listed} == {f"{trial['taskId']}.1"}, "one allocation only: never restarted"


def _submit(cluster: Cluster, directory: Path, steps: int) -> int:
    config = write_experiment(
        directory / "model",
        WORKER.replace("STEPS", str(steps)).replace("PAUSE", "0.05"),
        {
            "searcher": {"name": "random", "metric": "x", "max_trials": TRIALS, "max_length": {"batches": steps}},
            "checkpoint_storage": {"type": "shared_fs", "host_path": str(cluster.directory / "checkpoints")}
            | {"save_trial_latest": 1000},
        },
    )
    client = Client(cluster.url)
    experiment = client.submit(config)
    eventually(lambda: len(client.trials(experiment)) == TRIALS)
    return experiment


def _crash(cluster: Cluster, server: PostgresServer | None, rng: random.Random, kill_database: bool) -> None:
    time.sleep(rng.uniform(0.05, 2.0))
    if kill_database:
        assert server is not None
        server.kill()
        time.sleep(rng.uniform(0.0, 1.0))
        server.start()
        eventually(lambda: _serves(cluster))
        return
    cluster.kill()
    time.sleep(rng.uniform(0.0, 1.0))
    cluster.start()


def _serves(cluster: Cluster) -> bool:
    try:
        Client(cluster.url).get("/api/v1/experiments")
    except AssertionError:
        return False
    return True


def _story(cluster: Cluster, client: Client, experiment: int) -> str:
    states = {t["id"]: (t["state"], t["restarts"]) for t in client.trials(experiment)}
    first = client.trials(experiment)[0]["id"]
    return f"{states}\n" + "\n".join(client.log_lines(first)[-30:]) + "\n" + cluster.log()[-3000:]
