"""Scripts of the Generic API, and scripts of none, on a real cluster. No framework: their model is a number."""

import base64
import io
import json
import re
import tarfile
from pathlib import Path
from typing import Any

from cluster import Client, Cluster, det

PLAIN = """
import os, pathlib
print("seed", os.environ["DET_TRIAL_SEED"])
pathlib.Path("checkpoint_dir/my_checkpoint").write_text("weights")
"""
LAYER = """
import json, os, subprocess, sys
names = ["DET_ENTRYPOINT_SCRIPT", "DET_CONTAINER_RANK", "DET_CHIEF_IP"]
lists = ["DET_CONTAINER_ADDRS", "DET_CONTAINER_SLOT_COUNTS", "DET_SLOT_IDS"]
found = {name: os.environ[name] for name in names} | {name: json.loads(os.environ[name]) for name in lists}
print("layer", json.dumps(found), flush=True)
sys.exit(subprocess.call(sys.argv[1:]))
"""
# The tutorial's loop to the letter: it starts at last_epoch, which is -1 at first.
LOOP = """
import json
import determined as det

context = det.generic.init()
hparams = context.training.hparams
last_epoch = -1
weight = 0.0
if context.latest_checkpoint is not None:
    with context.latest_checkpoint as path:
        with open(f"{path}/my_checkpoint") as file:
            state = json.load(file)
    last_epoch, weight = state["epoch"], state["weight"]
    print("going on after epoch", last_epoch, flush=True)
searcher_op = context.training.basic_search()
for epoch in range(last_epoch, searcher_op.epochs):
    if context.should_preempt(block=False):
        break
    weight += hparams["lr"]
    context.training.report_training_metrics(batches_trained=epoch + 2, metrics={"weight": weight})
    context.training.report_validation_metrics(batches_trained=epoch + 2, metrics={"weight": weight})
    if epoch == searcher_op.epochs - 1:
        searcher_op.complete(weight)
    else:
        searcher_op.report_progress(epoch)
    with context.checkpoint.save_path() as path:
        with open(f"{path}/my_checkpoint", "w") as file:
            json.dump({"epoch": epoch, "weight": weight}, file)
"""
SINGLE = {"name": "single", "max_length": {"epochs": 1}}


def _submit(client: Client, config: dict[str, Any], **files: str) -> int:
    """Send `files` (their names without .py) as any REST client would."""
    sent = [
        {
            "path": f"{name}.py", "type": 48, "content": base64.b64encode(text.encode()).decode(), "mtime": "0",
            "mode": 0o644, "uid": 0, "gid": 0,
        }
        for name, text in files.items()
    ]  # fmt: skip
    full = {"entrypoint_script": "python3 train.py", "max_restarts": 0, **config}
    body = {"config": json.dumps(full), "modelDefinition": sent, "activate": True}
    return int(client.post("/api/v1/experiments", body)["experiment"]["id"])


def _only_trial(client: Client, experiment: int) -> dict[str, Any]:
    (trial,) = client.trials(experiment)
    return trial


def _steps(client: Client, trial: int, group: str) -> list[int]:
    return [report["totalBatches"] for report in client.metrics(trial, group)]


def test_a_plain_script_runs_with_its_log_seed_code_config_and_labels_tracked(
    cluster: Cluster, client: Client, home: Path, tmp_path: Path
) -> None:
    mount = {"host_path": str(tmp_path), "container_path": "./checkpoint_dir"}
    config = {"searcher": SINGLE, "labels": ["draft"], "bind_mounts": [mount]}
    experiment = _submit(client, config, train=PLAIN)
    client.wait_state(experiment, "COMPLETED")
    assert (tmp_path / "my_checkpoint").read_text() == "weights"
    trial = _only_trial(client, experiment)
    seeds = [match[1] for line in client.log_lines(trial["id"]) if (match := re.search(r"\|\| seed (\d+)$", line))]
    assert len(seeds) == 1

    det(home, "e", "label", "add", str(experiment), "reviewed", master=cluster.url)
    kept = client.get(f"/api/v1/experiments/{experiment}")
    assert sorted(kept["experiment"]["labels"]) == ["draft", "reviewed"]
    assert kept["config"]["reproducibility"]["experiment_seed"] >= 0
    assert kept["config"]["entrypoint"] == "python3 train.py"
    assert kept["config"]["searcher"]["max_length"] == {"epochs": 1}
    code = base64.b64decode(client.get(f"/api/v1/experiments/{experiment}/model_def")["b64Tgz"])
    with tarfile.open(fileobj=io.BytesIO(code)) as archive:
        file = archive.extractfile("train.py")
        assert file is not None and file.read().decode() == PLAIN


def test_a_launch_layer_starts_the_script_and_knows_the_containers(client: Client) -> None:
    config = {"launch_layer": "python3 layer.py", "searcher": SINGLE, "resources": {"slots_per_trial": 2}}
    experiment = _submit(client, config, train="print('trained')", layer=LAYER)
    client.wait_state(experiment, "COMPLETED")
    log = "\n".join(client.log_lines(_only_trial(client, experiment)["id"]))
    assert "|| trained" in log
    match = re.search(r"\|\| layer (\{.*\})$", log, re.MULTILINE)
    assert match, log
    found = json.loads(match[1])
    (address,) = found["DET_CONTAINER_ADDRS"]
    assert found == {
        "DET_ENTRYPOINT_SCRIPT": "python3 train.py", "DET_CONTAINER_RANK": "0", "DET_CHIEF_IP": address,
        "DET_CONTAINER_ADDRS": [address], "DET_CONTAINER_SLOT_COUNTS": [2], "DET_SLOT_IDS": [0, 1],
    }  # fmt: skip


def test_the_loop_of_the_tutorial_runs_a_random_search(client: Client) -> None:
    searcher = {"name": "random", "max_trials": 2, "max_length": {"epochs": 3}}
    hparams = {"lr": {"type": "log", "base": 10, "minval": -3, "maxval": -1}}
    experiment = _submit(client, {"searcher": searcher, "hyperparameters": hparams}, train=LOOP)
    client.wait_state(experiment, "COMPLETED")
    trials = client.trials(experiment)
    assert len(trials) == 2
    for trial in trials:
        assert trial["state"] == "STATE_COMPLETED"
        assert 0.001 <= trial["hparams"]["lr"] <= 0.1
        assert _steps(client, trial["id"], "training") == [1, 2, 3, 4]
        assert _steps(client, trial["id"], "validation") == [1, 2, 3, 4]
        assert client.get(f"/api/v1/trials/{trial['id']}/checkpoints")["checkpoints"]


def test_a_promoted_trial_goes_on_from_its_checkpoint(client: Client) -> None:
    """A process completes one operation, saves, exits; the promotion starts the script again."""
    searcher = {"name": "async_halving", "max_trials": 2, "num_rungs": 2, "divisor": 2, "max_length": {"epochs": 4}}
    experiment = _submit(client, {"searcher": searcher, "hyperparameters": {"lr": 0.5}}, train=LOOP)
    client.wait_state(experiment, "COMPLETED")
    trials = client.trials(experiment)
    assert {trial["state"] for trial in trials} == {"STATE_COMPLETED"}
    trained = {trial["id"]: _steps(client, trial["id"], "training") for trial in trials}
    assert sorted(trained.values()) == [[1, 2, 3], [1, 2, 3, 4, 5]]
    promoted = max(trained, key=lambda trial: len(trained[trial]))
    assert [line for line in client.log_lines(promoted) if line.endswith("|| going on after epoch 1")]


def test_invalid_hyperparameters_end_the_trial_and_the_search_draws_another(client: Client) -> None:
    script = """
import determined as det
context = det.generic.init()
op = context.training.basic_search()
if context.training.trial_id % 2:
    raise det.InvalidHP("odd")
op.complete(1.0)
"""
    searcher = {"name": "random", "max_trials": 2, "max_length": {"epochs": 1}}
    experiment = _submit(client, {"searcher": searcher, "hyperparameters": {"lr": 1}}, train=script)
    client.wait_state(experiment, "COMPLETED")
    trials = client.trials(experiment)
    assert {trial["state"] for trial in trials} == {"STATE_COMPLETED"}
    assert len([trial for trial in trials if trial["id"] % 2 == 0]) == 2
    assert len(trials) > 2
