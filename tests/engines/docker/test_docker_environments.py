"""`environment.python` in containers: built inside by the runner's Python, kept when the container is gone."""

import sys
from pathlib import Path

import pytest
from docker_daemon import DockerDaemon
from host_image import PLAIN
from node_packages import libraries_of_uv

from cluster import Client, Cluster, det, write_experiment

sys.path.insert(0, str(Path(__file__).parents[2]))

from small_wheel import make_wheel

SCRIPT = """
import sys
import alpha
import determined as det

print("PREFIX", sys.prefix, "alpha", alpha.VERSION)
with det.core.init() as core_context:
    core_context.train.report_validation_metrics(1, {"x": 1.0})
"""


@pytest.mark.engines
def test_an_environment_outlives_the_container_that_built_it(docker: DockerDaemon, tmp_path: Path, home: Path) -> None:
    cluster = Cluster(
        tmp_path / "master", config={"resource_manager": {"type": "docker", "socket": docker.socket, "slots": 1}}
    )
    cluster.start()
    try:
        image = docker.image(PLAIN)
        said = [_run(cluster, tmp_path / name, home, image) for name in ("first", "second")]
    finally:
        cluster.stop()
        cluster.end_runners()
    kept = str(tmp_path / "master" / "docker" / "environments")
    for lines in said:
        assert any("PREFIX " + kept in line and "alpha 1.0" in line for line in lines), lines
    assert any("building it; the next" in line for line in said[0])
    assert not any("building it" in line for line in said[1])


def _run(cluster: Cluster, directory: Path, home: Path, image: str) -> list[str]:
    wheel = make_wheel(directory, "alpha")
    environment = {
        "image": image,
        "environment_variables": ["PIP_NO_INDEX=1"],
        "python": {"requirements": [f"./{wheel.name}"]},
    }
    path = write_experiment(directory, SCRIPT, {"environment": environment, "bind_mounts": libraries_of_uv()})
    created = det(home, "e", "create", str(path), str(directory), master=cluster.url).stdout
    experiment = int(created.split("experiment ")[1].split()[0])
    client = Client(cluster.url)
    state = client.wait_state(experiment, "COMPLETED", "ERROR", seconds=120)
    lines = client.log_lines(client.trials(experiment)[0]["id"])
    assert state == "COMPLETED", lines
    return lines
