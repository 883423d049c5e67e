"""Scripts with the calls of upstream's unmanaged examples run unchanged with our package and the official client."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from official_scripts import run, run_beside

from cluster import HANG_SECONDS, ROOT, Client, Cluster, clean_environment, eventually

SCRIPTS = Path(__file__).parent / "unmanaged_scripts"
RAY = ROOT / ".venv-ray" / "bin" / "python"
TORCHRUN = ("-m", "torch.distributed.run", "--standalone", "--nproc_per_node", "2")


@pytest.fixture(params=["ours", pytest.param("official", marks=pytest.mark.official)])
def package(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


def start(package: str, cluster: Cluster, home: Path, *words: str, cwd: Path, python: Path | str | None = None) -> str:
    """Run a script to its successful end and return its standard output. `python`: one with a framework."""
    if package == "ours":
        done = run_ours(cluster, home, str(python or sys.executable), *words, cwd=cwd)
    elif python is None:
        done = run(cluster, home, *words, cwd=cwd)
    else:
        done = run_beside(cluster, home, str(python), *words, cwd=cwd)
    assert done.returncode == 0, done.stdout + done.stderr
    output: str = done.stdout
    return output


def run_ours(cluster: Cluster, home: Path, *words: str, cwd: Path) -> Any:
    variables = clean_environment(HOME=str(home), DET_MASTER=cluster.url, DET_USER="determined", DET_PASS="")
    return subprocess.run(
        words, env=variables, cwd=cwd, capture_output=True, text=True, timeout=HANG_SECONDS, check=False
    )


def newest(client: Client) -> dict[str, Any]:
    path = "/api/v1/experiments?limit=1&sortBy=SORT_BY_ID&orderBy=ORDER_BY_DESC"
    found: dict[str, Any] = client.get(path)["experiments"][0]
    return found


def steps(client: Client, trial_id: int, group: str) -> list[int]:
    return [report["totalBatches"] for report in client.metrics(trial_id, group)]


def checkpoints(client: Client, trial_id: int) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = client.get(f"/api/v1/trials/{trial_id}/checkpoints?limit=1000")["checkpoints"]
    return found


def completed(client: Client, experiment_id: int) -> list[dict[str, Any]]:
    return [trial for trial in client.trials(experiment_id) if trial["state"] == "STATE_COMPLETED"]


@pytest.mark.parametrize("words", [(), ("older",)], ids=["config", "defaults"])
def test_one_process_reports(
    package: str, cluster: Cluster, client: Client, home: Path, tmp_path: Path, words: tuple[str, ...]
) -> None:
    start(package, cluster, home, str(SCRIPTS / "one_process.py"), *words, cwd=tmp_path)
    experiment = newest(client)
    assert (experiment["name"], experiment["state"]) == ("one process", "STATE_COMPLETED")
    [trial] = client.trials(experiment["id"])
    assert (trial["state"], trial["hparams"]) == ("STATE_COMPLETED", {"lr": 0.1} if words else {})
    assert steps(client, trial["id"], "training") == list(range(100))
    assert steps(client, trial["id"], "validation") == list(range(9, 100, 10))
    assert any("step 99" in line for line in client.log_lines(trial["id"]))


def test_external_ids_go_on_from_the_latest_checkpoint(
    package: str, cluster: Cluster, client: Client, home: Path, tmp_path: Path
) -> None:
    words = (str(SCRIPTS / "resumed.py"), f"{package} resumed", str(tmp_path / "stored"))
    begins = [start(package, cluster, home, *words, cwd=tmp_path) for _ in range(2)]
    experiment = newest(client)
    shown = [
        f"experiment {experiment['id']} begins at {step}" in output
        for step, output in zip((0, 29), begins, strict=True)
    ]
    assert shown == [True, True], begins
    [trial] = client.trials(experiment["id"])
    assert (trial["state"], experiment["state"]) == ("STATE_COMPLETED", "STATE_COMPLETED")
    assert sorted(set(steps(client, trial["id"], "training"))) == list(range(59))
    assert sorted(set(steps(client, trial["id"], "validation"))) == [9, 19, 29, 39, 49]
    saved = sorted(c["metadata"]["steps_completed"] for c in checkpoints(client, trial["id"]))
    assert saved == [9, 19, 29, 29, 39, 49], "the second run does its first step again"


def test_every_rank_reports_and_saves(
    package: str, cluster: Cluster, client: Client, home: Path, tmp_path: Path
) -> None:
    script = str(SCRIPTS / "torch_ranks.py")
    output = start(package, cluster, home, *TORCHRUN, script, cwd=tmp_path, python=sys.executable)
    experiment = newest(client)
    assert f"{cluster.url}/det/experiments/{experiment['id']}" in output
    assert (experiment["name"], experiment["state"]) == ("torch ranks", "STATE_COMPLETED")
    [trial] = client.trials(experiment["id"])
    reports = client.metrics(trial["id"], "training")
    ranks = {report["totalBatches"]: report["metrics"]["avg_metrics"]["rank"] for report in reports}
    assert ranks == {step: step % 2 + 0.01 for step in range(100)}
    assert steps(client, trial["id"], "validation") == list(range(9, 100, 10))
    saved = {c["metadata"]["steps_completed"]: c for c in checkpoints(client, trial["id"])}
    assert sorted(saved) == list(range(100))
    for checkpoint in saved.values():
        assert {"part_0", "part_1"} <= set(checkpoint["resources"])
        assert (checkpoint["metadata"]["rank_0"], checkpoint["metadata"]["rank_1"]) == ("ok", "ok")


@pytest.mark.engines
def test_workers_of_ray_tune_share_one_experiment(
    package: str, cluster: Cluster, client: Client, home: Path, tmp_path: Path
) -> None:
    words = (str(SCRIPTS / "ray_search.py"), f"{package}-search", str(tmp_path / "results"))
    output = start(package, cluster, home, *words, cwd=tmp_path, python=RAY)
    assert "errors 0" in output
    experiment = newest(client)
    assert (experiment["name"], experiment["externalExperimentId"]) == (f"{package}-search",) * 2
    assert experiment["config"]["searcher"]["name"] == "custom"
    trials = client.trials(experiment["id"])
    assert len({trial["hparams"]["hp"] for trial in trials}) == len(trials) == 6
    if package == "ours":  # not tested: what upstream's client has sent when ASHA ends a worker in the middle
        eventually(lambda: len(completed(client, experiment["id"])) == 6)
    done = [steps(client, trial["id"], "validation") for trial in completed(client, experiment["id"])]
    assert all(some == list(range(9, 100, 10))[: len(some)] and len(some) >= 5 for some in done), done
    assert any(len(some) == 10 for some in done), done
