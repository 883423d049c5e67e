"""The three stages of the Core API tutorial, through the real command line."""

import json
import re
import subprocess
import sys
from pathlib import Path

from held import stays_until_paused

from cluster import HANG_SECONDS, Client, Cluster, clean_environment, copy_example, det, eventually


def _created(output: str) -> int:
    match = re.search(r"Created experiment (\d+)", output)
    assert match, output
    return int(match.group(1))


def test_start_stage_prints_its_lines_while_followed(cluster: Cluster, home: Path, tmp_path: Path) -> None:
    model = copy_example("core_api", tmp_path / "model")
    done = det(home, "e", "create", "0_start.yaml", ".", "-f", master=cluster.url, cwd=model)
    assert "Following first trial with ID" in done.stdout
    assert "Trial log stream ended" in done.stdout
    experiment = _created(done.stdout)
    assert det(home, "e", "wait", str(experiment), "--polling-interval", "0.2", master=cluster.url).returncode == 0


def test_metrics_stage_reports_training_and_validation(
    cluster: Cluster, client: Client, home: Path, tmp_path: Path
) -> None:
    model = copy_example("core_api", tmp_path / "model")
    done = det(home, "e", "create", "1_metrics.yaml", ".", "-f", master=cluster.url, cwd=model)
    experiment = _created(done.stdout)
    client.wait_state(experiment, "COMPLETED")
    trial = client.trials(experiment)[0]["id"]
    training = client.metrics(trial, "training")
    assert [m["totalBatches"] for m in training] == list(range(10, 101, 10))
    assert len(client.metrics(trial, "validation")) >= 1


def test_pausing_frees_the_slot_and_activating_goes_on_from_the_same_batch(
    cluster: Cluster, client: Client, home: Path, tmp_path: Path
) -> None:
    model = stays_until_paused(copy_example("core_api", tmp_path / "model"))
    done = det(home, "e", "create", "2_checkpoints.yaml", ".", master=cluster.url, cwd=model)
    experiment = _created(done.stdout)
    trial = eventually(lambda: client.trials(experiment))[0]["id"]
    eventually(lambda: len(client.metrics(trial, "training")) >= 2)
    det(home, "e", "pause", str(experiment), master=cluster.url)
    client.wait_state(experiment, "PAUSED")
    eventually(lambda: _free_slots(client) == cluster.slots)
    before = client.metrics(trial, "training")
    assert 0 < len(before) < 10
    det(home, "e", "activate", str(experiment), master=cluster.url)
    client.wait_state(experiment, "COMPLETED")
    steps = [m["totalBatches"] for m in client.metrics(trial, "training")]
    assert steps == list(range(10, 101, 10)), "each step once, none lost or doubled"
    assert client.trials(experiment)[0]["restarts"] == 0


def test_continue_trial_keeps_the_weight_and_resets_the_batch(
    cluster: Cluster, client: Client, home: Path, tmp_path: Path
) -> None:
    model = copy_example("core_api", tmp_path / "model")
    first = _created(det(home, "e", "create", "2_checkpoints.yaml", ".", "-f", master=cluster.url, cwd=model).stdout)
    client.wait_state(first, "COMPLETED")
    source = client.trials(first)[0]["id"]
    flags = ["--config", f"searcher.source_trial_id={source}"]
    second = _created(
        det(home, "e", "create", "2_checkpoints.yaml", ".", *flags, "-f", master=cluster.url, cwd=model).stdout
    )
    client.wait_state(second, "COMPLETED")
    trial = client.trials(second)[0]["id"]
    assert trial != source
    first_values = [m["metrics"]["avg_metrics"]["x"] for m in client.metrics(source, "training")]
    values = [m["metrics"]["avg_metrics"]["x"] for m in client.metrics(trial, "training")]
    assert [m["totalBatches"] for m in client.metrics(trial, "training")] == list(range(10, 101, 10))
    assert values[0] > first_values[-1], "the weight goes on from where the source ended"


def test_experiment_continue_resumes_the_same_trial(
    cluster: Cluster, client: Client, home: Path, tmp_path: Path
) -> None:
    model = copy_example("core_api", tmp_path / "model")
    experiment = _created(
        det(home, "e", "create", "2_checkpoints.yaml", ".", "-f", master=cluster.url, cwd=model).stdout
    )
    client.wait_state(experiment, "COMPLETED")
    trial = client.trials(experiment)[0]
    det(home, "e", "continue", str(experiment), "-f", master=cluster.url)
    client.wait_state(experiment, "COMPLETED")
    after = client.trials(experiment)
    assert [t["id"] for t in after] == [trial["id"]]


def test_the_same_scripts_run_with_plain_python_and_no_master(tmp_path: Path) -> None:
    model = copy_example("core_api", tmp_path / "model")
    env = clean_environment(HOME=str(tmp_path), XDG_DATA_HOME=str(tmp_path / "data"))
    for script in ("0_start.py", "1_metrics.py", "2_checkpoints.py"):
        done = subprocess.run(
            [sys.executable, script],
            cwd=model,
            env=env,
            capture_output=True,
            text=True,
            timeout=HANG_SECONDS,
            check=False,
        )
        assert done.returncode == 0, done.stderr


def _free_slots(client: Client) -> int:
    agents = client.get("/api/v1/agents")["agents"]
    return sum(not slot.get("container") for agent in agents for slot in agent["slots"].values())


def test_describe_prints_json_that_scripts_can_read(cluster: Cluster, home: Path) -> None:
    done = det(home, "e", "list", "-a", "--json", master=cluster.url)
    listed = json.loads(done.stdout)
    assert all("id" in e and "state" in e for e in listed)
