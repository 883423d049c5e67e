"""Trials of a search fork from an interpreter with their packages, each as if it were the first."""

import os
import signal
from pathlib import Path
from typing import Any

import psutil

from cluster import Client, Cluster, eventually, write_experiment

# `sqlite3` is of Python itself; `yaml` lies among the packages. Who is not forked has neither.
SCRIPT = """
import sys
there = "yaml" in sys.modules
forked = "determined.exec.runner.forked.script" in sys.modules
import builtins, yaml
marks = hasattr(builtins, "MARK") or hasattr(yaml, "MARK")
builtins.MARK = yaml.MARK = True
from determined import core

with core.init() as context:
    print("forked", forked, "imported", there, "marks", marks)
    context.train.report_validation_metrics(steps_completed=1, metrics={"loss": 1.0})
"""
SEARCH: dict[str, Any] = {
    "searcher": {"name": "random", "metric": "loss", "max_trials": 12, "max_concurrent_trials": 2},
    "hyperparameters": {"x": {"type": "double", "minval": 0, "maxval": 1}},
}


def _words(client: Client, experiment: int) -> list[str]:
    """What each trial has printed, in the order of the trials."""
    lines = [line for trial in client.trials(experiment) for line in client.log_lines(trial["id"])]
    return [line.partition("forked ")[2].strip() for line in lines if " marks " in line]


def _servers(cluster: Cluster) -> list[psutil.Process]:
    assert cluster.process is not None
    return [child for child in psutil.Process(cluster.process.pid).children() if _is_server(child)]


def _is_server(process: psutil.Process) -> bool:
    try:
        return process.cmdline()[:1] == ["det-fork-server"]
    except psutil.Error:
        return False  # it has ended


def test_later_trials_of_a_search_are_forked_with_their_packages(
    cluster: Cluster, client: Client, tmp_path: Path
) -> None:
    """How many trials end before that depends on the machine."""
    endless = {**SEARCH, "searcher": {**SEARCH["searcher"], "max_trials": 1000}}
    experiment = client.submit(write_experiment(tmp_path / "warm", SCRIPT, endless))
    eventually(lambda: "True imported True marks False" in _words(client, experiment))
    client.post(f"/api/v1/experiments/{experiment}/kill")
    client.wait_state(experiment, "CANCELED")
    assert not [line for line in _words(client, experiment) if not line.endswith("marks False")]


def test_config_turns_it_off(cluster: Cluster, client: Client, tmp_path: Path) -> None:
    cold = {**SEARCH, "resources": {"warm": False}}
    experiment = client.submit(write_experiment(tmp_path / "cold", SCRIPT, cold))
    client.wait_state(experiment, "COMPLETED")
    assert set(_words(client, experiment)) == {"False imported False marks False"}


def test_search_goes_on_when_its_servers_are_killed(cluster: Cluster, client: Client, tmp_path: Path) -> None:
    experiment = client.submit(write_experiment(tmp_path / "killed", SCRIPT, SEARCH))
    for server in eventually(lambda: _servers(cluster)):
        os.kill(server.pid, signal.SIGKILL)
    client.wait_state(experiment, "COMPLETED")
    assert [trial["state"] for trial in client.trials(experiment)] == ["STATE_COMPLETED"] * 12
    assert all(line.endswith("marks False") for line in _words(client, experiment))


def test_servers_end_with_a_killed_master(cluster: Cluster, client: Client, tmp_path: Path) -> None:
    experiment = client.submit(write_experiment(tmp_path / "master", SCRIPT, SEARCH))
    servers = eventually(lambda: _servers(cluster))
    cluster.kill()
    eventually(lambda: not any(server.is_running() for server in servers))
    cluster.start()
    client.wait_state(experiment, "COMPLETED")
    assert [trial["state"] for trial in client.trials(experiment)] == ["STATE_COMPLETED"] * 12
