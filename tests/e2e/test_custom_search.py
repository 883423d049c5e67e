"""A custom search for real: driven from this machine and from the cluster, while runners and the master are killed."""

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from stage_4 import change

from cluster import HANG_SECONDS, Client, Cluster, clean_environment, copy_example, det, eventually

# Four trials of 5 batches, the better two of them to 10: small enough to be run many times.
SMALL = """
import sys
from halving import Halving
from determined import searcher
searcher.LocalSearchRunner(Halving(trials=4, longest=10), sys.argv[1]).run("config.yaml", model_dir=".")
"""
# Trials stay before they train as far as `from_length`, or farther, until the gate is open or they are paused.
OPERATION = "    for operation in core_context.searcher.operations():\n"
STAYS = """\
        while operation.length >= {from_length} and not pathlib.Path({gate!r}).exists():
            if core_context.preempt.should_preempt(auto_ack=False):
                break
            time.sleep(0.02)
"""


@pytest.fixture
def model(tmp_path: Path) -> Path:
    model = copy_example("custom_search/halving", tmp_path / "model")
    (model / "small.py").write_text(SMALL)
    train = model / "train.py"
    train.write_text(train.read_text().replace("time.sleep(0.01)", "time.sleep(0.001)"))
    return model


def gate_at(model: Path, from_length: int) -> Path:
    """The search is not over before the file that is returned is made."""
    gate = model.parent / "gate"
    change(model, "train.py", OPERATION, OPERATION + STAYS.format(from_length=from_length, gate=str(gate)))
    return gate


@pytest.fixture
def own_cluster(tmp_path: Path) -> Iterator[Cluster]:
    """Start a cluster that may be killed."""
    cluster = Cluster(tmp_path / "cluster")
    cluster.start()
    yield cluster
    cluster.stop()
    cluster.end_runners()


class Runner:
    """A process with a LocalSearchRunner, started as often as it is killed."""

    def __init__(self, cluster: Cluster, model: Path, home: Path) -> None:
        self._command = [sys.executable, "small.py", str(home / "search")]
        self._how = {"cwd": model, "env": clean_environment(HOME=str(home), DET_MASTER=cluster.url)}
        self._log = (home / "runner.log").open("ab")
        self.process: subprocess.Popen[bytes] | None = None
        self.directory = home / "search"

    def start(self) -> None:
        self.process = subprocess.Popen(self._command, stdout=self._log, stderr=self._log, **self._how)  # type: ignore[call-overload]

    def kill(self) -> None:
        assert self.process is not None
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def ended_within(self, seconds: float = HANG_SECONDS) -> bool:
        """Return whether it ended well; a failure is told with its log."""
        assert self.process is not None
        try:
            status = self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        assert status == 0, Path(self._log.name).read_text()
        return True

    def close(self) -> None:
        if self.process is not None and self.process.poll() is None:
            self.kill()
        self._log.close()


@pytest.fixture
def runner(request: pytest.FixtureRequest, model: Path, home: Path) -> Iterator[Runner]:
    name = "own_cluster" if "own_cluster" in request.fixturenames else "cluster"
    made = Runner(request.getfixturevalue(name), model, home)
    yield made
    made.close()


def lengths(client: Client, experiment: int) -> list[list[int]]:
    """Return what each trial was asked to train to, shortest first."""
    trials = client.trials(experiment)
    return sorted([m["totalBatches"] for m in client.metrics(trial["id"], "validation")] for trial in trials)


def check_small(client: Client, experiment: int) -> None:
    client.wait_state(experiment, "COMPLETED")
    assert lengths(client, experiment) == [[5], [5], [5, 10], [5, 10]]
    assert {trial["state"] for trial in client.trials(experiment)} == {"STATE_COMPLETED"}


def custom_experiments(client: Client) -> list[int]:
    found = client.get("/api/v1/experiments?limit=1000")["experiments"]
    return [e["id"] for e in found if e["config"]["searcher"]["name"] == "custom"]


def test_the_example_runs_from_this_machine(cluster: Cluster, client: Client, home: Path, model: Path) -> None:
    environment = clean_environment(HOME=str(home), DET_MASTER=cluster.url)
    command = [sys.executable, "run_local.py"]
    done = subprocess.run(
        command, cwd=model, env=environment, capture_output=True, text=True, timeout=HANG_SECONDS, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "4 trials, 0 failed" in done.stdout
    experiment = int(done.stdout.split("experiment ")[1].split(":")[0])
    client.wait_state(experiment, "COMPLETED")
    assert lengths(client, experiment) == [[5], [5], [5, 10], [5, 10, 20]]
    [best] = [t for t in client.trials(experiment) if t["totalBatchesProcessed"] == 20]
    losses = [t["bestValidation"]["metrics"]["avgMetrics"]["loss"] for t in client.trials(experiment)]
    assert best["bestValidation"]["metrics"]["avgMetrics"]["loss"] == min(losses)
    assert client.get(f"/api/v1/experiments/{experiment}")["experiment"]["progress"] == 1


def test_the_example_runs_on_the_cluster_and_survives_a_pause_and_a_crash(
    cluster: Cluster, client: Client, home: Path, model: Path
) -> None:
    gate = gate_at(model, 10)
    before = set(custom_experiments(client))
    driver_code = model / "run_on_cluster.py"
    driver_code.write_text(
        driver_code.read_text()
        .replace("Halving()", "Halving(trials=4, longest=10)")
        .replace("with det.core", "import os; print('driver pid', os.getpid(), flush=True)\n    with det.core")
    )
    output = det(home, "e", "create", "search.yaml", ".", master=cluster.url, cwd=model).stdout
    driver = int(output.split("Created experiment ")[1].split()[0])
    [driven] = eventually(lambda: set(custom_experiments(client)) - before)
    eventually(lambda: len(client.trials(driven)) == 4)

    trial = client.trials(driver)[0]["id"]
    said = eventually(lambda: [line for line in client.log_lines(trial) if "driver pid" in line])
    os.kill(int(said[0].split()[-1]), signal.SIGKILL)
    eventually(lambda: client.trials(driver)[0]["restarts"] == 1)
    client.post(f"/api/v1/experiments/{driver}/pause")
    client.wait_state(driver, "PAUSED")
    client.post(f"/api/v1/experiments/{driver}/activate")
    gate.touch()

    client.wait_state(driver, "COMPLETED")
    check_small(client, driven)
    assert set(custom_experiments(client)) - before == {driven}, "one driver submits one experiment"
    found = client.get(f"/api/v1/trials/{trial}/checkpoints?limit=1000")["checkpoints"]
    steps = [int(c["metadata"]["steps_completed"]) for c in found]
    assert len(steps) == len(set(steps)), "each event is answered, and so saved, once"


@pytest.mark.parametrize("seed", [1, *(pytest.param(n, marks=pytest.mark.slow) for n in (2, 3))])
def test_a_runner_killed_again_and_again_neither_loses_nor_doubles_an_operation(
    client: Client, runner: Runner, seed: int
) -> None:
    before = set(custom_experiments(client))
    rng = random.Random(seed)
    runner.start()
    for _ in range(6):
        if runner.ended_within(rng.uniform(0.3, 1.5)):
            break
        runner.kill()
        runner.start()
    assert runner.ended_within()
    [experiment] = set(custom_experiments(client)) - before
    check_small(client, experiment)


def test_a_runner_waits_for_a_master_that_was_killed(own_cluster: Cluster, runner: Runner, model: Path) -> None:
    gate = gate_at(model, 5)
    runner.start()
    client = Client(own_cluster.url)
    [experiment] = eventually(lambda: custom_experiments(client))
    eventually(lambda: client.trials(experiment))
    for _ in range(2):
        own_cluster.kill()
        time.sleep(0.5)
        own_cluster.start()
    gate.touch()
    assert runner.ended_within()
    check_small(Client(own_cluster.url), experiment)


def test_a_paused_experiment_keeps_its_runner_waiting(client: Client, runner: Runner, model: Path) -> None:
    gate = gate_at(model, 5)
    before = set(custom_experiments(client))
    runner.start()
    [experiment] = eventually(lambda: set(custom_experiments(client)) - before)
    client.post(f"/api/v1/experiments/{experiment}/pause")
    assert not runner.ended_within(2.5), "a paused search is not over"
    client.post(f"/api/v1/experiments/{experiment}/activate")
    gate.touch()
    assert runner.ended_within()
    check_small(client, experiment)


def test_a_killed_experiment_ends_its_runner(client: Client, runner: Runner, model: Path) -> None:
    gate_at(model, 5)  # for ever
    before = set(custom_experiments(client))
    runner.start()
    [experiment] = eventually(lambda: set(custom_experiments(client)) - before)
    client.post(f"/api/v1/experiments/{experiment}/kill")
    assert runner.ended_within()
    client.wait_state(experiment, "CANCELED")
