"""A PyTorch trial that is paused and killed at random batches ends as one left alone: weights, optimizer, learning
rate, random numbers and every reported metric are bit-equal; 3 interruptions here, 20 in `make test-chaos`."""

import importlib.util
import json
import random
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cluster import Client, Cluster, det, eventually

pytestmark = [
    pytest.mark.timeout(300),
    pytest.mark.skipif(
        importlib.util.find_spec("torch") is None, reason="needs PyTorch: install redetermined[torch] beside the tests"
    ),
]
MODEL = Path(__file__).parent / "exact_trial"
REPORTING, VALIDATION, CHECKPOINT = 5, 8, 7  # batches
BATCH = 8  # records of a rank
WAIT_SECONDS = 600.0  # on a busy machine importing torch alone takes a minute
POLL_SECONDS = 0.3  # oftener would take time from the trials


@dataclass(frozen=True, slots=True)
class Case:
    workers: int = 0
    optimizer: str = "sgd"
    schedule: str = "epoch"
    sampler: str = "shuffle"
    bf16: bool = False
    aggregation: int = 1
    ranks: int = 1
    looks_at_files: bool = False  # checkpoints are else written in the background, from a copy

    def hparams(self) -> dict[str, Any]:
        names = ("workers", "optimizer", "schedule", "sampler", "bf16", "looks_at_files")
        return {name: getattr(self, name) for name in names} | {"global_batch_size": BATCH * self.ranks}


@dataclass(frozen=True, slots=True)
class Outcome:
    """Result of a trial: its reports by batch, the content of its last checkpoint, and when it saved any."""

    training: list[tuple[int, dict[str, Any]]]
    validation: list[tuple[int, dict[str, Any]]]
    state: dict[str, Any]
    saved: set[int]
    restarts: int
    log: str


CASES = {
    "plain": Case(),
    "accumulated": Case(optimizer="adam", schedule="batch", aggregation=3),
    "bf16": Case(workers=2, optimizer="adam", schedule="batch", bf16=True),
    "mid-epoch": Case(workers=2, sampler="own"),
    "files first": Case(looks_at_files=True),
}


@pytest.mark.slow
def test_three_interruptions_change_nothing(cluster: Cluster, tmp_path: Path) -> None:
    """A trial class in plain steps, and a script with everything else, end like the other kind left alone."""
    everything = Case(workers=2, optimizer="adam", schedule="batch", sampler="own", bf16=True, aggregation=3)
    lab = Lab(cluster, tmp_path, length=30)

    def compare(interrupted: str, alone: str, case: Case) -> None:
        lab.compare(lab.left_alone(alone, case), interrupted, case, interruptions=3)

    _at_once(lambda: compare("classic", "late", Case()), lambda: compare("late", "classic", everything))


@pytest.mark.chaos
@pytest.mark.timeout(2400)
@pytest.mark.parametrize("name", CASES)
def test_twenty_interruptions_change_nothing(cluster: Cluster, tmp_path: Path, name: str) -> None:
    lab = Lab(cluster, tmp_path, length=141)
    alone = lab.left_alone("classic", CASES[name])
    _at_once(
        lambda: lab.compare(alone, "classic", CASES[name], interruptions=20),
        lambda: lab.compare(alone, "late", CASES[name], interruptions=20),
    )


@pytest.mark.chaos
@pytest.mark.timeout(900)
@pytest.mark.parametrize(("generation", "aggregation"), [("classic", 1), ("late", 3)])
def test_interruptions_of_two_ranks_change_nothing(
    cluster: Cluster, tmp_path: Path, generation: str, aggregation: int
) -> None:
    case = Case(optimizer="adam", aggregation=aggregation, ranks=2)
    lab = Lab(cluster, tmp_path, length=30)
    lab.compare(lab.left_alone(generation, case), generation, case, interruptions=4)


def _killed_while_pausing(log: str) -> int:
    """A process that is killed when it was about to leave for a pause has not failed: that costs no restart."""
    runs = log.split("|| INFO: started on ")
    return sum("SIGKILL" in run and "allocation ended (preempted)" in run for run in runs)


class Lab:
    """Runs trials on a cluster, left alone and interrupted."""

    def __init__(self, cluster: Cluster, directory: Path, *, length: int) -> None:
        self._cluster = cluster
        self._directory = directory
        self._length = length

    def compare(self, alone: Outcome, generation: str, case: Case, *, interruptions: int) -> None:
        plan = plan_of(random.Random(f"{generation} {case}"), self._length, interruptions)
        broken = self.interrupted(generation, case, plan)
        kills = len(plan["kill"]) + len(plan["kill_in_checkpoint"])
        assert broken.restarts == kills - _killed_while_pausing(broken.log), broken.log
        assert [step for step, _ in broken.training] == [step for step, _ in alone.training], "none lost, none doubled"
        assert broken.training == alone.training
        assert [step for step, _ in broken.validation] == [step for step, _ in alone.validation]
        assert broken.validation == alone.validation
        assert not differences(alone.state, broken.state)
        assert broken.saved >= alone.saved, "every checkpoint of the policy and period was saved"

    def left_alone(self, generation: str, case: Case) -> Outcome:
        client, notes = Client(self._cluster.url), self._notes(f"{generation}-alone")
        return self._outcome(client, self._submit(generation, case, notes))

    def interrupted(self, generation: str, case: Case, plan: dict[str, list[int]]) -> Outcome:
        client, notes = Client(self._cluster.url), self._notes(f"{generation}-interrupted")
        (notes / "plan.json").write_text(json.dumps(plan))
        experiment = self._submit(generation, case, notes)
        for batch in plan["pause"]:
            self._await_note(client, experiment, notes / f"pause-{batch}")
            self._pause_and_activate(client, experiment)
        return self._outcome(client, experiment)

    def _notes(self, name: str) -> Path:
        """With a home for `det`, as several run at once."""
        notes = self._directory / name
        (notes / "home").mkdir(parents=True)
        return notes

    def _submit(self, generation: str, case: Case, notes: Path) -> int:
        config = notes / "config.yaml"
        config.write_text(json.dumps(self._config(generation, case, notes)))
        created = det(notes / "home", "e", "create", str(config), str(MODEL), master=self._cluster.url).stdout
        match = re.search(r"Created experiment (\d+)", created)
        assert match, created
        return int(match[1])

    def _config(self, generation: str, case: Case, notes: Path) -> dict[str, Any]:
        common = {
            "name": notes.name,
            "hyperparameters": case.hparams() | {"notes": str(notes)},
            "reproducibility": {"experiment_seed": 11},
            "resources": {"slots_per_trial": case.ranks},
            "max_restarts": 50,
            "environment": {"environment_variables": ["OMP_NUM_THREADS=1"]},
            "checkpoint_storage": {
                "type": "shared_fs",
                "host_path": str(self._cluster.directory / "checkpoints"),
                "save_trial_latest": 1000,
            },
        }
        searcher = {"name": "single", "metric": "validation_loss", "smaller_is_better": True}
        launcher = "python3 -m determined.launch.torch_distributed " if case.ranks > 1 else ""
        if generation == "late":
            script = f"{launcher}python3 train.py {self._length} {case.aggregation}"
            return common | {"entrypoint": script, "searcher": searcher}
        records = BATCH * case.ranks
        return common | {
            "entrypoint": "exact:ExactTrial",
            "searcher": searcher | {"max_length": {"batches": self._length}},
            "scheduling_unit": REPORTING,
            "min_validation_period": {"records": VALIDATION * records},
            "min_checkpoint_period": {"records": CHECKPOINT * records},
            "optimizations": {"aggregation_frequency": case.aggregation},
        }

    def _await_note(self, client: Client, experiment: int, note: Path) -> None:
        eventually(
            lambda: note.exists() or client.state(experiment) in ("ERROR", "COMPLETED"),
            WAIT_SECONDS,
            lambda: f"no {note.name}\n{_log(client, experiment)}",
            poll_seconds=POLL_SECONDS,
        )
        assert note.exists(), _log(client, experiment)

    def _pause_and_activate(self, client: Client, experiment: int) -> None:
        home, number = self._directory / f"home-{experiment}", str(experiment)
        home.mkdir(exist_ok=True)
        det(home, "e", "pause", number, master=self._cluster.url)
        client.wait_state(experiment, "PAUSED")
        task = client.trials(experiment)[0]["taskId"]
        eventually(
            lambda: task not in json.dumps(client.get("/tasks")),
            WAIT_SECONDS,
            lambda: _log(client, experiment),
            poll_seconds=POLL_SECONDS,
        )
        det(home, "e", "activate", number, master=self._cluster.url)

    def _outcome(self, client: Client, experiment: int) -> Outcome:
        ended = ("COMPLETED", "ERROR")
        eventually(lambda: client.state(experiment) in ended, WAIT_SECONDS, poll_seconds=POLL_SECONDS)
        log = _log(client, experiment)
        assert client.state(experiment) == "COMPLETED", log
        (trial,) = client.trials(experiment)
        listed = client.get(f"/api/v1/trials/{trial['id']}/checkpoints?limit=1000")["checkpoints"]
        listed.sort(key=lambda one: one["reportTime"])
        by_batch = {int(one["metadata"]["steps_completed"]): one["uuid"] for one in listed}
        return Outcome(
            training=_reports(client, trial["id"], "training", "avg_metrics"),
            validation=_reports(client, trial["id"], "validation", "validation_metrics"),
            state=self._state(by_batch[self._length]),
            saved=set(by_batch),
            restarts=trial["restarts"],
            log=log,
        )

    def _state(self, checkpoint: str) -> dict[str, Any]:
        import torch

        file = self._cluster.directory / "checkpoints" / checkpoint / "state_dict.pth"
        state: dict[str, Any] = torch.load(file, weights_only=False)
        assert {"models_state_dict", "optimizers_state_dict", "lr_schedulers_state_dict", "rng_state"} <= set(state)
        return state


def _at_once(*jobs: Callable[[], None]) -> None:
    """Both slots have something to do: most of the time torch is being imported."""
    with ThreadPoolExecutor(len(jobs)) as pool:
        for job in [pool.submit(job) for job in jobs]:
            job.result()


def plan_of(numbers: random.Random, length: int, interruptions: int) -> dict[str, list[int]]:
    """The last interruption is a kill while the last checkpoint is made. The others are pauses and kills in turn, at
    batches far enough apart for a pause at one to be over before the next. Every other kill is moved to the batch
    behind a checkpoint, which is then being stored."""
    count = interruptions - 1
    most = length - 1 - REPORTING * (count - 1)
    batches = [at + REPORTING * n for n, at in enumerate(sorted(numbers.sample(range(most), count)))]
    kills = [batch - batch % CHECKPOINT if n % 2 == 0 else batch for n, batch in enumerate(batches[1::2])]
    return {"pause": batches[::2], "kill": kills, "kill_in_checkpoint": [length]}


def differences(one: Any, other: Any, place: str = "state") -> list[str]:
    """Return where two states are not the same to the last bit."""
    import torch

    if type(one) is not type(other):
        return [f"{place}: {type(one).__name__} and {type(other).__name__}"]
    if isinstance(one, dict):
        if one.keys() != other.keys():
            return [f"{place}: {sorted(map(str, one))} and {sorted(map(str, other))}"]
        return [found for key in one for found in differences(one[key], other[key], f"{place}.{key}")]
    if isinstance(one, list | tuple):
        if len(one) != len(other):
            return [f"{place}: {len(one)} and {len(other)} items"]
        pairs = enumerate(zip(one, other, strict=True))
        return [found for at, pair in pairs for found in differences(*pair, f"{place}[{at}]")]
    if isinstance(one, torch.Tensor):
        return [] if torch.equal(one, other) else [f"{place}: {one} and {other}"]
    if isinstance(one, np.ndarray):
        return [] if np.array_equal(one, other) else [f"{place}: {one} and {other}"]
    return [] if one == other else [f"{place}: {one!r} and {other!r}"]


def _reports(client: Client, trial: int, group: str, key: str) -> list[tuple[int, dict[str, Any]]]:
    return [(report["totalBatches"], report["metrics"][key]) for report in client.metrics(trial, group)]


def _log(client: Client, experiment: int) -> str:
    return "\n".join(line for trial in client.trials(experiment) for line in client.log_lines(trial["id"])[-60:])
