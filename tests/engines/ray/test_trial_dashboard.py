"""Dashboard of a Ray cluster that a trial starts for itself, through the master."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import urllib3
from ray_cluster import ray_bin

from cluster import Client, Cluster, clean_environment, eventually, free_port, running_cluster, write_experiment

pytestmark = [
    pytest.mark.engines,
    pytest.mark.skipif(not (ray_bin() / "ray").exists(), reason="make engines installs Ray"),
]

STARTING = """
import sys, time
import ray
ray.init(num_cpus=1, include_dashboard=True, dashboard_port=int(sys.argv[1]))
@ray.remote
def work():
    return 1
assert ray.get(work.remote()) == 1
print("the dashboard serves", flush=True)
time.sleep(600)
"""


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with running_cluster(tmp_path_factory.mktemp("cluster")) as running:
        yield running


def test_the_dashboard_of_a_trial_opens_by_its_published_port(cluster: Cluster, tmp_path: Path) -> None:
    dashboard, local = free_port(), free_port()
    config = {
        "entrypoint": f"{ray_bin() / 'python'} train.py {dashboard}",
        "searcher": {"name": "single", "metric": "x"},
        "resources": {"slots_per_trial": 0},
        "environment": {
            "proxy_ports": [{"proxy_port": int(dashboard), "proxy_tcp": True}],
            "environment_variables": ["RAY_AUTH_MODE=disabled"],  # Ray has a token of its own for its API
        },
    }
    model = write_experiment(tmp_path / "dashboard", STARTING, config)
    words = [str(Path(sys.executable).with_name("det")), "e", "create", "-f", "-p", f"{local}:{dashboard}"]
    environment = clean_environment(HOME=str(tmp_path), DET_MASTER=cluster.url, DET_USER="determined", DET_PASS="")
    log = tmp_path / "follow.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [*words, str(model), str(model.parent)], stdout=output, stderr=subprocess.STDOUT, env=environment
        )
    try:
        eventually(lambda: "the dashboard serves" in log.read_text(), explain=log.read_text)
        page, version = _get(local, "/"), _get(local, "/api/version")
        assert (page.status, b"<title>Ray Dashboard</title>" in page.data) == (200, True)
        assert (version.status, version.json()["ray_version"]) == (200, "2.60.0")
    finally:
        client = Client(cluster.url)
        for experiment in client.get("/api/v1/experiments")["experiments"]:
            client.post(f"/api/v1/experiments/{experiment['id']}/kill")
        process.wait(timeout=180)


def _get(port: str, path: str) -> urllib3.BaseHTTPResponse:
    return urllib3.PoolManager(retries=False, timeout=60).request("GET", f"http://127.0.0.1:{port}{path}")
