"""A master that is away for long, or comes back knowing nothing: what becomes of the runners it had started."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from clocks import MOVED_CLOCK, MovedClock

from cluster import Client, Cluster, eventually, lives, write_experiment

AWAY_SECONDS = 15 * 60
STEP_SECONDS = 2  # not in one leap: the runner rests up to 5 s between two attempts, and is to make many

TRAINING = """
import os, pathlib, time, determined as det
print("begins", os.getpid(), flush=True)
step = 0
with det.core.init() as core:
    while not core.preempt.should_preempt():
        step += 1
        core.train.report_training_metrics(steps_completed=step, metrics={"x": float(step)})
        print("did step", step, flush=True)
        pathlib.Path(os.environ["PROGRESS"]).write_text(str(step))
        time.sleep(1)
"""


@pytest.fixture
def clock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> MovedClock:
    clock = MovedClock(tmp_path / "clock")
    for name, value in clock.variables.items():
        monkeypatch.setenv(name, value)  # the master inherits it, and the runner from the master
    return clock


@pytest.fixture
def absent(tmp_path: Path, clock: MovedClock) -> Iterator[Cluster]:
    cluster = Cluster(tmp_path / "cluster", slots=1, program=(str(MOVED_CLOCK / "moved_master.py"),))
    cluster.start()
    yield cluster
    cluster.stop()
    cluster.end_runners()


def test_master_away_for_fifteen_minutes_loses_nothing_and_restarts_nothing(
    absent: Cluster, clock: MovedClock, tmp_path: Path
) -> None:
    progress = tmp_path / "progress"
    experiment, trial, runner_log = _begin_training(absent, clock, tmp_path, progress)
    absent.kill()
    before, tried = eventually(lambda: _number(progress)), _attempts(runner_log)
    steps = {before}

    def long_away() -> bool:
        # Not before the trial has noticed the last time: whoever is slow does not see hours pass at once.
        if (step := _number(progress)) not in steps:
            steps.add(step)
            clock.advance(STEP_SECONDS)
        went_on = step >= before + 100 and _attempts(runner_log) >= tried + 50
        return went_on and clock.ahead >= AWAY_SECONDS

    eventually(long_away, poll_seconds=0.005)
    absent.start()
    client = Client(absent.url)
    client.post(f"/api/v1/experiments/{experiment}/pause")  # heard through the token the runner has had all along
    client.wait_state(experiment, "PAUSED")
    eventually(lambda: not client.get("/tasks"))
    last = _number(progress)
    assert [report["totalBatches"] for report in client.metrics(trial, "training")] == list(range(1, last + 1))
    lines = client.log_lines(trial)
    told = [int(line.rpartition(" ")[2]) for line in lines if "did step" in line]
    assert told == list(range(1, last + 1))
    assert sum("begins" in line for line in lines) == 1
    assert client.trials(experiment)[0]["restarts"] == 0
    eventually(lambda: not list((absent.directory / "runs").glob("*")), explain=lambda: "its runner did not leave")


def test_runners_that_the_database_knows_nothing_of_are_ended_and_kept_aside(tmp_path: Path) -> None:
    cluster = Cluster(tmp_path / "cluster", slots=1)
    cluster.start()
    try:
        Client(cluster.url).submit(write_experiment(tmp_path / "model", "import time\ntime.sleep(600)\n"))
        run_dir = eventually(lambda: _started(cluster))
        runner = psutil.Process(int((run_dir / "pid").read_text()))
        family = [runner, *eventually(lambda: runner.children(recursive=True))]
        cluster.kill()
        for path in cluster.directory.glob("master.db*"):
            path.unlink()
        cluster.start()
        eventually(lambda: not [one for one in family if lives(one.pid)], explain=lambda: f"not all are gone: {family}")
        assert (cluster.directory / "runs" / "lost" / run_dir.name / "journals").is_dir()
        assert not run_dir.exists()
        assert f"{run_dir.name}: the database knows nothing of this runner" in cluster.log()
        config = write_experiment(tmp_path / "next", "print('fine')\n")
        client = Client(cluster.url)
        client.wait_state(client.submit(config), "COMPLETED")
    finally:
        cluster.stop()
        cluster.end_runners()


def _begin_training(cluster: Cluster, clock: MovedClock, tmp_path: Path, progress: Path) -> tuple[int, int, Path]:
    client = Client(cluster.url)
    variables = {**clock.variables, "PROGRESS": str(progress)}
    environment = {"environment_variables": [f"{name}={value}" for name, value in variables.items()]}
    experiment = client.submit(write_experiment(tmp_path / "model", TRAINING, {"environment": environment}))
    trial = eventually(lambda: client.trials(experiment))[0]["id"]
    run_dir = eventually(lambda: _started(cluster))
    eventually(lambda: client.metrics(trial, "training"))
    return experiment, trial, run_dir / "runner.log"


def _started(cluster: Cluster) -> Any:
    """The directory of the one runner whose task has begun."""
    return next((file.parent for file in (cluster.directory / "runs").glob("*/started") if file.read_text()), None)


def _attempts(runner_log: Path) -> int:
    return runner_log.read_text().count("journal_upload: master away")


def _number(path: Path) -> int:
    try:
        return int(path.read_text())
    except (FileNotFoundError, ValueError):
        return 0  # just being written
