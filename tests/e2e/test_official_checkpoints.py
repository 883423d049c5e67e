"""Deleting checkpoints with the official client's bindings: what scripts that clean up after trainings rely on."""

import subprocess
from pathlib import Path

import pytest

from cluster import HANG_SECONDS, Cluster, clean_environment, official_python

pytestmark = pytest.mark.official

TRAIN = """
import determined as det

with det.core.init() as context:
    for step in (1, 2, 3):
        context.train.report_validation_metrics(step, {"x": 10.0 - step})
        with context.checkpoint.store_path({"steps_completed": step}) as (path, _):
            (path / "state").write_text("s" * 50)
            (path / "weights").write_text("w" * 100)
"""
CONFIG = """
name: cleaned
entrypoint: python3 train.py
searcher: {name: single, metric: x, smaller_is_better: true}
checkpoint_storage: {save_trial_best: 0, save_trial_latest: 1, save_experiment_best: 0}
max_restarts: 0
"""
CLEAN = """
import time
from determined.common.api import bindings
from determined.experimental import client

client.login(user="determined", password="")
session = client._determined._session
e = client.create_experiment("c.yaml", ".")
assert e.wait(interval=0.2) == client.ExperimentState.COMPLETED

def eventually(condition):
    for _ in range(600):
        if condition():
            return
        time.sleep(0.1)
    raise AssertionError(condition)

name = f"Checkpoint GC (Experiment {e.id})"
eventually(lambda: name in [task["name"] for task in session.get("tasks").json().values()])
eventually(lambda: name not in [task["name"] for task in session.get("tasks").json().values()])

def checkpoints():
    found = bindings.get_GetExperimentCheckpoints(session, id=e.id).checkpoints
    return {c.metadata["steps_completed"]: c for c in found}

def states():
    return {step: c.state.value for step, c in checkpoints().items()}

eventually(lambda: states() == {1: "STATE_DELETED", 2: "STATE_DELETED", 3: "STATE_COMPLETED"})
assert all(c.storageId is not None for c in checkpoints().values())
assert checkpoints()[1].resources["weights"] == "100", "what it held is still told"

def remove(*globs):
    uuids = [checkpoints()[3].uuid]
    body = bindings.v1CheckpointsRemoveFilesRequest(checkpointGlobs=list(globs), checkpointUuids=uuids)
    bindings.post_CheckpointsRemoveFiles(session, body=body)

trial = e.get_trials()[0]
size = lambda: int(bindings.get_GetTrial(session, trialId=trial.id).trial.totalCheckpointSize)
before = size()
for wrong in ("", "../x"):
    try:
        remove(wrong)
        raise SystemExit("accepted " + wrong)
    except Exception as err:
        assert "glob" in str(err), err
remove("**/*state*")
eventually(lambda: states()[3] == "STATE_PARTIALLY_DELETED")
assert "state" not in checkpoints()[3].resources and size() == before - 50
remove("**/*")
eventually(lambda: states()[3] == "STATE_DELETED")
assert checkpoints()[3].resources["weights"] == "100" and size() == 0
print("CLEANED")
"""


def test_bindings_delete_checkpoints_as_upstream_does(cluster: Cluster, home: Path, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(TRAIN)
    (tmp_path / "c.yaml").write_text(CONFIG)
    env = clean_environment(
        HOME=str(home), XDG_CONFIG_HOME=str(home / "config"), XDG_DATA_HOME=str(home / "data"), DET_MASTER=cluster.url
    )
    done = subprocess.run(
        [str(official_python()), "-W", "ignore", "-c", CLEAN],
        capture_output=True, text=True, env=env, timeout=HANG_SECONDS, check=False, cwd=tmp_path,
    )  # fmt: skip
    assert "CLEANED" in done.stdout, f"{done.stdout}\n{done.stderr}"
