"""The official client sees rules of the master about the start and end of tasks: log policies, agents that drain."""

import re
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from cluster import Client, Cluster, det, eventually, official, running_cluster, write_experiment

pytestmark = pytest.mark.official

Program = Callable[..., "subprocess.CompletedProcess[str]"]
NO_RETRY = {
    "max_restarts": 3,
    "log_policies": [{"pattern": ".*out of memory.*", "action": "cancel_retries"}],
}


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with running_cluster(tmp_path_factory.mktemp("cluster"), slots=2) as running:
        yield running


def test_a_log_policy_against_retries_is_named_in_the_trials_log(
    cluster: Cluster, client: Client, home: Path, tmp_path: Path
) -> None:
    model = tmp_path / "model"
    write_experiment(model, "print('CUDA out of memory', flush=True)\nraise SystemExit(1)\n", NO_RETRY)
    created = official(home, "e", "create", "config.yaml", ".", "-f", master=cluster.url, cwd=model, check=False)
    match = re.search(r"Created experiment (\d+)", created.stdout)
    assert match, created.stdout + created.stderr
    experiment = int(match[1])
    client.wait_state(experiment, "ERROR")
    [trial] = client.trials(experiment)
    log = official(home, "trial", "logs", str(trial["id"]), master=cluster.url).stdout
    assert "trial failed and matched logs to a don't retry policy" in log, log
    assert (trial["restarts"], log.count("New trial runner")) == (0, 1)


@pytest.mark.parametrize("program", [official, det], ids=["official", "ours"])
def test_a_draining_agent_finishes_what_runs_and_starts_nothing_new(
    cluster: Cluster, client: Client, home: Path, tmp_path: Path, program: Program
) -> None:
    program(home, "user", "login", "admin", master=cluster.url, stdin="\n")
    [agent] = [one["id"] for one in client.get("/api/v1/agents")["agents"]]
    go_on, began = tmp_path / "go-on", tmp_path / "began"
    script = f"from pathlib import Path\nimport time\nPath({str(began)!r}).touch()\n"
    script += f"while not Path({str(go_on)!r}).exists():\n    time.sleep(0.05)\n"
    running = client.submit(write_experiment(tmp_path / "running", script))
    eventually(began.exists)
    drained = program(home, "-u", "admin", "agent", "disable", agent, "--drain", master=cluster.url)
    assert f"Disabled agent {agent}" in drained.stderr + drained.stdout
    assert program is det or "Tasks still in progress on draining nodes" in drained.stdout
    [shown] = client.get("/api/v1/agents")["agents"]
    assert (shown["enabled"], shown["draining"]) == (False, True)
    started_at = tmp_path / "started-at"
    later = client.submit(
        write_experiment(tmp_path / "later", f"import time\nopen({str(started_at)!r}, 'w').write(str(time.time()))\n")
    )
    assert client.state(running) == "RUNNING"
    go_on.touch()
    client.wait_state(running, "COMPLETED")
    assert client.trials(running)[0]["restarts"] == 0
    assert client.state(later) == "QUEUED"
    enabled_at = time.time()
    program(home, "-u", "admin", "agent", "enable", agent, master=cluster.url)
    client.wait_state(later, "COMPLETED")
    assert float(started_at.read_text()) >= enabled_at, "it was started on a node that drained"
