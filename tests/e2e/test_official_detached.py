"""Detached mode of the official client, determined==0.38.1, on our master."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from clocks import MovedClock
from official_scripts import run, run_beside

from cluster import ROOT, Client, Cluster, official

pytestmark = pytest.mark.official

FAILS = """
from determined.experimental import core_v2
core_v2.init(config=core_v2.Config(name="official failing"))
core_v2.train.report_training_metrics(1, {"loss": 0.5})
raise RuntimeError("on purpose")
"""
VANISHES = """
import os, signal, sys
from determined.experimental import core_v2
core_v2.init(config=core_v2.Config(name=sys.argv[1]))
os.kill(os.getpid(), signal.SIGKILL)
"""
# The sweep that looks for silent trials comes every 30 s of real time, whatever the moved clock says.
MASTER = """
import sys
import moved_master
from determined.master.background import unmanaged
unmanaged.PERIOD_S = 0.2
sys.exit(moved_master.main())
"""


def newest(client: Client) -> dict[str, Any]:
    path = "/api/v1/experiments?limit=1&sortBy=SORT_BY_ID&orderBy=ORDER_BY_DESC"
    found: dict[str, Any] = client.get(path)["experiments"][0]
    return found


def test_a_single_script_is_an_experiment(cluster: Cluster, client: Client, home: Path, tmp_path: Path) -> None:
    done = run(cluster, home, str(ROOT / "examples/detached/1_single.py"), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    experiment = newest(client)
    assert (experiment["name"], client.state(experiment["id"])) == ("detached single", "COMPLETED")
    [trial] = client.trials(experiment["id"])
    assert len(client.metrics(trial["id"], "training")) == 10
    assert any("batch 100" in line for line in client.log_lines(trial["id"]))


def test_external_ids_go_on_from_the_latest_checkpoint(
    cluster: Cluster, client: Client, home: Path, tmp_path: Path
) -> None:
    for started_at in (0, 10):
        done = run(cluster, home, str(ROOT / "examples/detached/2_checkpoints.py"), "official", "one", cwd=tmp_path)
        assert (done.returncode, f"starting at batch {started_at}" in done.stdout) == (0, True), done.stderr
    experiment = newest(client)
    assert (experiment["externalExperimentId"], experiment["numTrials"]) == ("official", 1)
    [trial] = client.trials(experiment["id"])
    checkpoints = client.get(f"/api/v1/trials/{trial['id']}/checkpoints?limit=10")["checkpoints"]
    assert len({c["storageId"] for c in checkpoints}) == 1 and checkpoints[0]["storageId"] is not None


def test_a_raising_script_is_an_error(cluster: Cluster, client: Client, home: Path, tmp_path: Path) -> None:
    (tmp_path / "fails.py").write_text(FAILS)
    assert run(cluster, home, "fails.py", cwd=tmp_path).returncode == 1
    assert client.state(newest(client)["id"]) == "ERROR"


@pytest.fixture
def clock(tmp_path: Path) -> MovedClock:
    return MovedClock(tmp_path / "clock")


@pytest.fixture
def moved(tmp_path: Path, clock: MovedClock, monkeypatch: pytest.MonkeyPatch) -> Iterator[Cluster]:
    """A master on the moved clock that looks for silent trials all the time."""
    program = tmp_path / "master.py"
    program.write_text(MASTER)
    cluster = Cluster(tmp_path / "moved", program=(str(program),))
    with monkeypatch.context() as patch:
        for name, value in clock.variables.items():
            patch.setenv(name, value)
        cluster.start()
    yield cluster
    cluster.stop()


def test_a_trial_whose_heartbeat_stops_ends_in_error(
    moved: Cluster, clock: MovedClock, home: Path, tmp_path: Path
) -> None:
    client = Client(moved.url)
    (tmp_path / "vanishes.py").write_text(VANISHES)
    ids = []
    for minutes, name in ((4, "first"), (2, "second")):
        run(moved, home, "vanishes.py", name, cwd=tmp_path)
        ids.append(newest(client)["id"])
        assert client.state(ids[-1]) == "RUNNING", "nothing said how it ended"
        clock.advance(minutes * 60)
    client.wait_state(ids[0], "ERROR")
    assert client.state(ids[1]) == "RUNNING", "it has been silent for two minutes only"
    clock.advance(4 * 60)
    client.wait_state(ids[1], "ERROR")
    for experiment in ids:
        [trial] = client.trials(experiment)
        assert trial["state"] == "STATE_ERROR" and trial["endTime"]
        assert "ERROR" in official(home, "trial", "describe", str(trial["id"]), master=moved.url).stdout


def test_ranks_of_torchrun_share_one_experiment(cluster: Cluster, client: Client, home: Path, tmp_path: Path) -> None:
    torchrun = ("-m", "torch.distributed.run", "--standalone", "--nproc_per_node", "2")
    script = str(ROOT / "examples/detached/3_torch_distributed.py")
    done = run_beside(cluster, home, sys.executable, *torchrun, script, "official job", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    experiment = newest(client)
    assert (experiment["externalExperimentId"], client.state(experiment["id"])) == ("official job", "COMPLETED")
    [trial] = client.trials(experiment["id"])
    assert len(client.metrics(trial["id"], "training")) == 10
    lines = client.log_lines(trial["id"])
    assert all(any(f"rank {rank} of 2" in line for line in lines) for rank in (0, 1)), lines
    [checkpoint] = client.get(f"/api/v1/trials/{trial['id']}/checkpoints?limit=10")["checkpoints"]
    assert {"shard-0", "shard-1"} <= set(checkpoint["resources"]) and checkpoint["storageId"] is not None


@pytest.mark.engines
def test_ray_workers_share_one_experiment(cluster: Cluster, client: Client, home: Path, tmp_path: Path) -> None:
    script = str(ROOT / "examples/detached/4_ray_workers.py")
    ray = str(ROOT / ".venv-ray" / "bin" / "python")
    done = run_beside(cluster, home, ray, script, "official sweep", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    experiment = newest(client)
    assert experiment["externalExperimentId"] == "official sweep"
    assert sorted(trial["hparams"]["lr"] for trial in client.trials(experiment["id"])) == [0.1, 0.2, 0.3]
