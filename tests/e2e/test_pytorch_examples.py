"""examples/pytorch/mnist and cifar10 in both generations: single trials, searches, two slots, and with no cluster.

Every configuration is submitted as the README says, and shortened by --config.
"""

import importlib.util
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from documents import blocks, read_through

from cluster import ROOT, Client, Cluster, clean_environment, copy_example, det

pytestmark = [
    pytest.mark.timeout(900),
    pytest.mark.skipif(
        importlib.util.find_spec("torch") is None, reason="needs PyTorch: install redetermined[torch] beside the tests"
    ),
]
EXAMPLES = ["mnist", pytest.param("cifar10", marks=pytest.mark.slow)]
GENERATIONS = {"classic": "", "late": "_late"}
EPOCH = 32  # batches: 2048 records, 64 at a time
RUNG, TOP = EPOCH, 2 * EPOCH  # of the classic search; its promoted trial goes on where an epoch begins
LATE_RUNG, LATE_TOP = 3, 12  # epochs; three quarters of the way are left to hear that a trial is to stop
# Two trials, one after the other: the first learns well, the second hardly at all.
POINTS = {
    "mnist": ["{n_filters1: 8, n_filters2: 16, dropout: 0.25, learning_rate: %s}", "0.003", "0.00001"],
    "cifar10": ["{width: 8, lr_decay: 0.7, weight_decay: 0.0005, lr: %s}", "0.05", "0.0001"],
}
SEARCH = ["searcher.max_trials=2", "searcher.bracket_rungs=[2]", "searcher.max_concurrent_trials=1"]
SEARCH += ["resources.max_slots=1"]  # the second does not start before the first has left
ALWAYS = ["max_restarts=0", 'environment.environment_variables=["OMP_NUM_THREADS=1"]']


@dataclass(frozen=True, slots=True)
class Ended:
    """An experiment at its end; `output` is what `det e create -f` printed."""

    state: str
    trials: list[dict[str, Any]]
    output: str


Runs = Callable[[str, str], Ended]


@pytest.fixture(scope="module")
def runs(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Runs:
    """A configuration of an example, by its name; trained when it is first asked for."""
    models: dict[str, Path] = {}
    known: dict[tuple[str, str], Ended] = {}

    def run(example: str, name: str) -> Ended:
        if example not in models:
            models[example] = copy_example(f"pytorch/{example}", tmp_path_factory.mktemp(example) / "model")
        if (example, name) not in known:
            known[example, name] = _run(cluster, models[example], f"{name}.yaml", _changes(example, name))
        return known[example, name]

    return run


def _changes(example: str, config: str) -> list[str]:
    if not config.startswith("adaptive"):
        return ["hyperparameters.workers=0"] if example == "cifar10" and config.startswith("distributed") else []
    form, *rates = POINTS[example]
    points = f"searcher.initial_points=[{', '.join(form % rate for rate in rates)}]"
    if not config.endswith("_late"):
        length = f"batches={TOP}" if example == "mnist" else f"records={64 * TOP}"
        return [*SEARCH, points, "searcher.divisor=2", f"searcher.max_length.{length}"]
    unit = 1 if example == "mnist" else EPOCH
    times = [f"hyperparameters.epochs={LATE_TOP}", f"searcher.max_time={LATE_TOP * unit}"]
    return [*SEARCH, points, "searcher.divisor=4", *times]


def _run(cluster: Cluster, model: Path, config: str, changes: list[str]) -> Ended:
    home = model.parent / f"home-{config}"
    home.mkdir()
    flags = [word for change in [*changes, *ALWAYS] for word in ("--config", change)]
    done = det(home, "e", "create", config, ".", "-f", *flags, master=cluster.url, cwd=model, check=False, timeout=600)
    match = re.search(r"Created experiment (\d+)", done.stdout)
    assert match, done.stdout + done.stderr
    client = Client(cluster.url)
    state = client.wait_state(int(match[1]), "COMPLETED", "ERROR", seconds=600)
    return Ended(state, client.trials(int(match[1])), done.stdout)


def _values(client: Client, trial: dict[str, Any], group: str, name: str) -> dict[int, float]:
    """Return a metric by batch. AssertionError for a batch reported twice."""
    key = "validation_metrics" if group == "validation" else "avg_metrics"
    reports = client.metrics(trial["id"], group)
    assert len({report["totalBatches"] for report in reports}) == len(reports), "no batch twice"
    return {report["totalBatches"]: report["metrics"][key][name] for report in reports}


def _starts(client: Client, trial: dict[str, Any]) -> int:
    return sum("|| INFO: started on " in line for line in client.log_lines(trial["id"]))


@pytest.mark.parametrize("example", ["mnist", "cifar10"])
def test_the_readme_shows_every_configuration(example: str) -> None:
    directory = ROOT / "examples" / "pytorch" / example
    commands = "\n".join(block.script for block in blocks(directory / "README.md")).splitlines()
    configs = sorted(path.name for path in directory.glob("*.yaml"))
    assert len(configs) == 6
    assert [config for config in configs if f"det e create {config} . -f" not in commands] == []
    assert "python3 train.py" in commands


@pytest.mark.parametrize("generation", GENERATIONS)
@pytest.mark.parametrize("example", EXAMPLES)
def test_one_trial_learns_and_keeps_checkpoints(client: Client, runs: Runs, example: str, generation: str) -> None:
    ended = runs(example, f"const{GENERATIONS[generation]}")
    assert ended.state == "COMPLETED", ended.output
    (trial,) = ended.trials
    training = _values(client, trial, "training", "loss")
    assert list(training) == [16, 32, 48, 64]
    losses = _values(client, trial, "validation", "validation_loss")
    assert list(losses) == [EPOCH, 2 * EPOCH]
    assert losses[2 * EPOCH] < losses[EPOCH]
    assert losses[2 * EPOCH] < training[16] / 2
    checkpoints = client.get(f"/api/v1/trials/{trial['id']}/checkpoints")["checkpoints"]
    last = max(checkpoints, key=lambda checkpoint: checkpoint["metadata"]["steps_completed"])
    assert last["metadata"]["steps_completed"] == 2 * EPOCH
    assert {"state_dict.pth", "load_data.json", "code/model_def.py"} <= last["resources"].keys()


@pytest.mark.slow
@pytest.mark.parametrize("generation", GENERATIONS)
@pytest.mark.parametrize("example", EXAMPLES)
def test_two_slots_train_together(client: Client, runs: Runs, example: str, generation: str) -> None:
    ended = runs(example, f"distributed{GENERATIONS[generation]}")
    assert ended.state == "COMPLETED", ended.output
    (trial,) = ended.trials
    losses = _values(client, trial, "validation", "validation_loss")
    assert list(losses) == [EPOCH, 2 * EPOCH], "half of each batch on each slot: epochs have as many batches as on one"
    assert losses[2 * EPOCH] < losses[EPOCH]
    epochs = _values(client, trial, "validation", "epochs")
    assert list(epochs.values()) == [1, 2]
    told = [line for line in client.log_lines(trial["id"]) if "validated: 512 records in " in line]
    assert len(told) == 2, "by the chief, about all slots"
    assert all("in 16 batches (" in line for line in told), "a slot's batches are half as large"


@pytest.mark.parametrize("example", EXAMPLES)
def test_classic_trials_wait_between_rungs_and_go_on_where_they_stopped(
    client: Client, runs: Runs, example: str
) -> None:
    ended = runs(example, "adaptive")
    assert ended.state == "COMPLETED", ended.output
    promoted, left = sorted(ended.trials, key=lambda trial: int(trial["id"]))
    assert list(_values(client, left, "validation", "validation_loss")) == [RUNG]
    assert list(_values(client, promoted, "validation", "validation_loss")) == [RUNG, TOP]
    assert (_starts(client, left), _starts(client, promoted)) == (1, 2)
    losses = _values(client, promoted, "training", "loss")
    assert list(losses) == [16, 32, 48, 64], "each batch once"
    assert losses[48] < losses[32], "the weights went on as well"
    assert {trial["restarts"] for trial in ended.trials} == {0}


@pytest.mark.slow
@pytest.mark.parametrize("example", EXAMPLES)
def test_late_trials_that_fall_behind_are_stopped(client: Client, runs: Runs, example: str) -> None:
    ended = runs(example, "adaptive_late")
    assert ended.state == "COMPLETED", ended.output
    first, stopped = sorted(ended.trials, key=lambda trial: int(trial["id"]))
    assert list(_values(client, first, "validation", "epochs").values()) == list(range(1, LATE_TOP + 1))
    reached = max(_values(client, stopped, "validation", "epochs").values())
    assert LATE_RUNG <= reached < LATE_TOP
    assert {trial["state"] for trial in ended.trials} == {"STATE_COMPLETED"}


@pytest.mark.parametrize("example", EXAMPLES)
def test_the_script_runs_with_plain_python_and_no_master(tmp_path: Path, example: str) -> None:
    model = copy_example(f"pytorch/{example}", tmp_path / "model")
    before = set(model.iterdir())
    env = clean_environment(HOME=str(tmp_path), XDG_DATA_HOME=str(tmp_path / "data"), OMP_NUM_THREADS="1")
    command = [sys.executable, "-W", "error", "train.py"]
    done = subprocess.run(command, cwd=model, env=env, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    assert f"validation metrics at steps_completed={2 * EPOCH}: " in done.stderr
    assert {path.name for path in set(model.iterdir()) - before} <= {"__pycache__"}, "it leaves nothing behind"


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("example", ["mnist", "cifar10"])
def test_what_the_readme_shows_works(example: str, tmp_path: Path) -> None:
    read_through(ROOT / "examples" / "pytorch" / example / "README.md", tmp_path, block_seconds=600)
