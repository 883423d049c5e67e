"""`det trial stacks` and `det trial shell`: looking into a running trial without disturbing it."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from cluster import Client, Cluster, eventually, write_experiment
from determined.api.login import login
from determined.api.token_store import TokenStore
from determined.cli.main import main

SCRIPT = """
import time
from determined import core

def wait_in_here():
    print("waiting", flush=True)
    time.sleep(600)

with core.init():
    wait_in_here()
"""


@pytest.fixture
def running(cluster: Cluster, tmp_path: Path) -> Iterator[int]:
    client = Client(cluster.url)
    experiment = client.submit(write_experiment(tmp_path, SCRIPT, {"name": "waiting", "max_restarts": 0}))
    eventually(lambda: bool(client.trials(experiment)))
    trial = int(client.trials(experiment)[0]["id"])
    eventually(lambda: any(line.rstrip().endswith("waiting") for line in client.log_lines(trial)))
    yield trial
    client.post(f"/api/v1/experiments/{experiment}/kill")


@pytest.fixture(autouse=True)
def signed_in(cluster: Cluster, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DET_MASTER", cluster.url)
    monkeypatch.setenv("DET_DEBUG_CONFIG_PATH", str(home))
    TokenStore(cluster.url, home).save("admin", login(cluster.url, "admin", ""))


def test_stacks_of_a_running_trial_are_shown_and_it_goes_on(running: int, capsys: pytest.CaptureFixture[str]) -> None:
    for request in (1, 2):
        assert main(["trial", "stacks", str(running)]) == 0
        shown = capsys.readouterr().out
        assert "in wait_in_here" in shown
        assert f"(request {request}, " in shown
        assert f"(request {request - 1}, " not in shown


@pytest.mark.skipif(shutil.which("ssh") is None, reason="no OpenSSH client")
def test_a_shell_beside_a_running_trial_has_its_environment_and_files(
    running: int, cluster: Cluster, capfd: pytest.CaptureFixture[str]
) -> None:
    words = 'echo "id=$DET_TRIAL_ID" "dir=$PWD"; cat train.py; touch /tmp/mark; det user whoami; exit 4'
    assert main(["trial", "shell", str(running), "--", words]) == 4
    shown = capfd.readouterr().out
    assert f"id={running} " in shown
    assert "/workdir" in shown
    assert "def wait_in_here" in shown
    assert "You are logged in as user" in shown
    assert main(["trial", "shell", str(running), "--", "ls /tmp/mark"]) == 0  # the trial's own /tmp, twice the same
    assert Client(cluster.url).get(f"/api/v1/trials/{running}")["trial"]["state"] == "STATE_RUNNING"


def test_a_trial_that_does_not_run_has_no_stacks_and_no_shell(
    cluster: Cluster, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    client = Client(cluster.url)
    experiment = client.submit(write_experiment(tmp_path, "print('over')", {"name": "over"}))
    client.wait_state(experiment, "COMPLETED")
    trial = int(client.trials(experiment)[0]["id"])
    for word in ("stacks", "shell"):
        assert main(["trial", word, str(trial)]) == 1
        assert "does not run now" in capsys.readouterr().err
