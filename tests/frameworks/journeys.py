"""The ways each example is run: trained, searched, paused, on two slots, off cluster; each as a user would."""

import json
import math
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from cluster import Client, Cluster, clean_environment, copy_example, det, eventually
from framework_pythons import framework_python
from rows import Row

_STANDSTILL = Path(__file__).parent / "standstill"
_SEED = 7
_RUN_SECONDS = 800.0  # only to end a hang: frameworks take minutes to import on a busy machine
_POLL_SECONDS = 0.3  # oftener would take time from the training

Metrics = dict[str, Any]


@dataclass(slots=True)
class Bench:
    """Cluster on which rows are tried, and what its runs have shown so far."""

    cluster: Cluster
    client: Client
    directory: Path
    trained: dict[str, dict[int, Metrics]] = field(default_factory=dict)  # by row and changes: validations by batch

    @property
    def home(self) -> Path:
        path = self.directory / "home"
        path.mkdir(exist_ok=True)
        return path

    def det(self, *words: str, cwd: Path | None = None, check: bool = True) -> "subprocess.CompletedProcess[str]":
        return det(self.home, *words, master=self.cluster.url, cwd=cwd, check=check, timeout=_RUN_SECONDS)


def train(bench: Bench, row: Row) -> None:
    """Train to the end, with validations."""
    _left_alone(bench, row, {})


def search(bench: Bench, row: Row) -> None:
    """Some trials go further than others."""
    model = _copied(bench, row, "search")
    experiment = _ended(bench, _followed(bench, _written(model, row, row.search, {})))
    trials = bench.client.trials(experiment)
    lengths = sorted(trial["totalBatchesProcessed"] for trial in trials)
    assert len(trials) > 1 and len(set(lengths)) > 1, f"nothing was stopped early or promoted: batches {lengths}"
    assert any(_validations(bench.client, trial["id"]) for trial in trials)


def pause(bench: Bench, row: Row) -> None:
    """Compare the validations of a paused run with those of one that was left alone."""
    alone = _left_alone(bench, row, row.pause_changes)
    model = _copied(bench, row, "pause")
    gate = bench.directory / f"{row.name}-gate"
    held = {"PYTHONPATH": str(_STANDSTILL), "DET_TEST_GATE": str(gate)}
    config = _written(model, row, row.config, row.pause_changes, held)
    experiment = _created(bench.det("e", "create", config.name, ".", cwd=model).stdout)
    trial = _trial_of(bench, experiment)
    _await_reports(bench, experiment, trial)
    bench.det("e", "pause", str(experiment))
    bench.client.wait_state(experiment, "PAUSED", "COMPLETED", "ERROR")
    _await_gone(bench, experiment)
    reached = bench.client.trials(experiment)[0]["totalBatchesProcessed"]
    gate.touch()
    bench.det("e", "activate", str(experiment), check=False)
    _ended(bench, experiment)
    _compare(row, alone, _validations(bench.client, trial))
    assert reached < max(alone), f"it was over before it was paused; make it longer by pause_changes: {reached} batches"


def two_slots(bench: Bench, row: Row) -> None:
    """Train with one process on each slot."""
    model = _copied(bench, row, "two-slots")
    config = _written(model, row, row.distributed or row.config, {"resources": {"slots_per_trial": 2}})
    experiment = _ended(bench, _followed(bench, config))
    assert _validations(bench.client, _trial_of(bench, experiment))


def off_cluster(bench: Bench, row: Row) -> None:
    """Train without a master: by plain Python, or one batch on this machine."""
    model = _copied(bench, row, "off-cluster")
    python = python_of(row)
    home = {"HOME": str(bench.home), "XDG_DATA_HOME": str(bench.home / "data")}
    words = [str(python), *shlex.split(row.script)] if row.script else []
    words = words or [str(python.with_name("det")), "e", "create", row.config, ".", "--local", "--test"]
    search_path = f"{python.parent}{os.pathsep}{os.environ['PATH']}"
    env = clean_environment(**_variables(row), **home, PATH=search_path)
    done = subprocess.run(words, cwd=model, env=env, capture_output=True, text=True, timeout=_RUN_SECONDS, check=False)
    assert done.returncode == 0, (
        f"{shlex.join(words)} -> {done.returncode}\n{done.stdout[-3000:]}\n{done.stderr[-6000:]}"
    )


JOURNEYS: dict[str, Callable[[Bench, Row], None]] = {
    "train": train,
    "search": search,
    "pause": pause,
    "two_slots": two_slots,
    "off_cluster": off_cluster,
}


def python_of(row: Row) -> Path:
    python = framework_python("tf215" if row.python == "tf215" else "current")
    assert python.exists(), f"{row.framework} {row.version} is not installed in {python.parents[1]}; make frameworks"
    return python


def _variables(row: Row) -> dict[str, str]:
    quiet = {"OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": "", "TF_CPP_MIN_LOG_LEVEL": "2"}
    backend = {"KERAS_BACKEND": "torch"} if row.python == "torch" else {}
    return {**quiet, **backend, **row.environment}


def _left_alone(bench: Bench, row: Row, changes: Mapping[str, Any]) -> dict[int, Metrics]:
    """The validations of an undisturbed run; one is enough for all who ask."""
    key = f"{row.name} {json.dumps(dict(changes), sort_keys=True)}"
    if key not in bench.trained:
        model = _copied(bench, row, f"alone-{len(bench.trained)}")
        experiment = _ended(bench, _followed(bench, _written(model, row, row.config, changes)))
        trial = _trial_of(bench, experiment)
        found = _validations(bench.client, trial)
        assert found, f"no validation metrics\n{_log(bench, experiment)}"
        assert _event_files(bench, experiment, trial), "nothing was stored for TensorBoard"
        bench.trained[key] = found
    return bench.trained[key]


def _copied(bench: Bench, row: Row, purpose: str) -> Path:
    target = bench.directory / f"{row.name}-{purpose}"
    shutil.rmtree(target, ignore_errors=True)
    return copy_example(row.example, target)


def _written(
    model: Path, row: Row, name: str, changes: Mapping[str, Any], variables: Mapping[str, str] | None = None
) -> Path:
    """The example's config beside the original, for this row's Python."""
    config = _merged(yaml.safe_load((model / name).read_text()), changes)
    environment = config.setdefault("environment", {})
    own = environment.get("environment_variables") or []
    pairs = [f"{key}={value}" for key, value in own.items()] if isinstance(own, dict) else list(own)
    asked = {"DET_PYTHON_EXECUTABLE": str(python_of(row)), **_variables(row), **(variables or {})}
    environment["environment_variables"] = [*pairs, *(f"{key}={value}" for key, value in asked.items())]
    config.setdefault("reproducibility", {}).setdefault("experiment_seed", _SEED)
    config["max_restarts"] = 0
    path = model / f"row-{name}"
    path.write_text(yaml.safe_dump(config, sort_keys=False))
    return path


def _merged(one: dict[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    both = {key for key in other if isinstance(one.get(key), dict) and isinstance(other[key], Mapping)}
    return {**one, **{key: _merged(one[key], value) if key in both else value for key, value in other.items()}}


def _followed(bench: Bench, config: Path) -> int:
    done = bench.det("e", "create", config.name, ".", "-f", cwd=config.parent, check=False)
    experiment = _created(done.stdout + done.stderr)
    assert done.returncode == 0, (
        f"det e create -f -> {done.returncode}\n{_log(bench, experiment)}\n{done.stderr[-2000:]}"
    )
    return experiment


def _created(output: str) -> int:
    match = re.search(r"Created experiment (\d+)", output)
    assert match, output
    return int(match[1])


def _ended(bench: Bench, experiment: int) -> int:
    over = ("COMPLETED", "ERROR", "CANCELED")
    eventually(
        lambda: bench.client.state(experiment) in over,
        _RUN_SECONDS,
        lambda: _log(bench, experiment),
        poll_seconds=_POLL_SECONDS,
    )
    assert bench.client.state(experiment) == "COMPLETED", _log(bench, experiment)
    return experiment


def _trial_of(bench: Bench, experiment: int) -> int:
    return int(eventually(lambda: bench.client.trials(experiment), 60, poll_seconds=_POLL_SECONDS)[0]["id"])


def _await_reports(bench: Bench, experiment: int, trial: int) -> None:
    def has_reported() -> bool:
        over = bench.client.state(experiment) in ("COMPLETED", "ERROR")
        return over or bool(bench.client.metrics(trial, "training"))

    eventually(has_reported, _RUN_SECONDS, lambda: _log(bench, experiment), poll_seconds=0.1)


def _await_gone(bench: Bench, experiment: int) -> None:
    task = bench.client.trials(experiment)[0]["taskId"]
    eventually(
        lambda: task not in json.dumps(bench.client.get("/tasks")),
        _RUN_SECONDS,
        lambda: _log(bench, experiment),
        poll_seconds=_POLL_SECONDS,
    )


def _validations(client: Client, trial: int) -> dict[int, Metrics]:
    return {
        report["totalBatches"]: report["metrics"]["validation_metrics"]
        for report in client.metrics(trial, "validation")
    }


def _event_files(bench: Bench, experiment: int, trial: int) -> list[Path]:
    place = f"*/tensorboard/experiment/{experiment}/trial/{trial}"
    return list((bench.cluster.directory / "checkpoints").glob(f"{place}/**/*tfevents*"))


def _compare(row: Row, alone: dict[int, Metrics], paused: dict[int, Metrics]) -> None:
    assert sorted(paused) == sorted(alone), "validated at the same batches"
    margin = row.pause if isinstance(row.pause, float) else 0.0
    for batch, expected in alone.items():
        assert sorted(paused[batch]) == sorted(expected)
        other = {name: (value, paused[batch][name]) for name, value in expected.items()}
        unequal = {name: pair for name, pair in other.items() if not _is_close(*pair, margin)}
        assert not unequal, f"after {batch} batches, left alone and paused: {unequal}"


def _is_close(one: Any, other: Any, margin: float) -> bool:
    if isinstance(one, float | int) and isinstance(other, float | int):
        return one == other or math.isclose(one, other, rel_tol=margin) or (math.isnan(one) and math.isnan(other))
    return bool(one == other)


def _log(bench: Bench, experiment: int) -> str:
    trials = bench.client.trials(experiment)
    return "\n".join(line for trial in trials for line in bench.client.log_lines(trial["id"])[-80:])
