"""`det deploy local` with TLS in the user's own master.yaml: det, the SDK, the runner and the task all trust it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from cluster import HANG_SECONDS, clean_environment, det, free_port, write_experiment
from determined.api import own_master

# What the task asks its master itself (a storage of the script's own) travels apart from its reports.
SAVING = """
import determined as det
with det.core.init(checkpoint_storage={"type": "directory", "container_path": STORAGE}) as core:
    core.train.report_validation_metrics(steps_completed=1, metrics={"x": 1.0})
    with core.checkpoint.store_path({"steps_completed": 1}) as (path, uuid):
        (path / "weights").write_text("w")
    print("saved", uuid, flush=True)
"""
ASKING = "from determined.experimental import client; print(client.get_experiment(1).state.value)"


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """A certificate made out to a name that is not the address under which the cluster is reached."""
    words = "req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=cluster -addext subjectAltName=DNS:cluster.example"
    key, cert = tmp_path / "key.pem", tmp_path / "cert.pem"
    subprocess.run(["openssl", *words.split(), "-keyout", key, "-out", cert], check=True, capture_output=True)
    own = tmp_path / "master.yaml"
    own.write_text(json.dumps({"security": {"tls": {"cert": str(cert), "key": str(key)}}}))
    return own


def test_a_local_cluster_with_tls_is_found_by_det_the_sdk_and_its_tasks(
    home: Path, tmp_path: Path, config: Path
) -> None:
    up = ["deploy", "local", "cluster-up", "--master-port", free_port(), "--no-gpu", "--slots", "1"]
    try:
        said = det(home, *up, "--master-config-path", str(config)).stdout
        state = own_master.load(home / "data" / "determined" / "clusters" / "determined" / "state.json")
        assert state is not None and state.url.startswith("https://127.0.0.1:") and state.url in said
        assert state.certificate == (tmp_path / "cert.pem").read_text()
        model = write_experiment(tmp_path / "model", f"STORAGE = {str(tmp_path / 'own')!r}\n{SAVING}")
        lines = det(home, "e", "create", str(model), str(model.parent), "-f").stdout
        det(home, "e", "wait", "1", "--polling-interval", "0.2")  # the log ends a moment before the experiment does
        assert "saved" in lines and "a report was dropped" not in lines
        [checkpoint] = json.loads(det(home, "e", "list-checkpoints", "1", "--json").stdout)
        assert (tmp_path / "own" / checkpoint["uuid"] / "weights").exists()
        assert json.loads(det(home, "e", "describe", "1", "--json", master=state.url).stdout), "also when it is named"
        assert _through_the_sdk(home) == "STATE_COMPLETED"
    finally:
        det(home, "deploy", "local", "cluster-down", "--delete-db")


def _through_the_sdk(home: Path) -> str:
    env = clean_environment(HOME=str(home), XDG_CONFIG_HOME=str(home / "config"), XDG_DATA_HOME=str(home / "data"))
    done = subprocess.run(
        [sys.executable, "-c", ASKING], env=env, capture_output=True, text=True, timeout=HANG_SECONDS, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()
