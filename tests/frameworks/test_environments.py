"""Two releases of TensorFlow on one machine without containers: built once for all trials that start together."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from cluster import Client, Cluster, det, write_experiment

pytestmark = [pytest.mark.frameworks, pytest.mark.timeout(1800)]

SCRIPT = """
import importlib.metadata
import determined as det

print("TENSORFLOW", importlib.metadata.version("tensorflow-cpu"), "KERAS", importlib.metadata.version("keras"))
if {really}:
    import tensorflow as tf

    print("SUM", float(tf.reduce_sum(tf.ones([2, 3]))))
with det.core.init() as core_context:
    core_context.train.report_validation_metrics(1, {{"x": 1.0}})
"""
TRIALS = 8


@pytest.fixture(scope="module")
def eight_slots(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Environments begin from nothing; what uv has downloaded before is used."""
    own = tmp_path_factory.mktemp("cache")
    before = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(own))
        patch.setenv("UV_CACHE_DIR", os.environ.get("UV_CACHE_DIR") or str(before / "uv"))
        running = Cluster(tmp_path_factory.mktemp("cluster"), slots=TRIALS)
        running.start()
        yield running
        running.stop()
        running.end_runners()


def submitted(cluster: Cluster, directory: Path, requirement: str, *, trials: int, really: bool) -> int:
    config = write_experiment(
        directory,
        SCRIPT.format(really=really),
        {
            "environment": {"python": {"requirements": [requirement]}},
            "searcher": {"name": "random", "metric": "x", "max_trials": trials, "max_length": {"batches": 1}},
        },
    )
    home = directory.parent / "home"
    home.mkdir(exist_ok=True)
    done = det(home, "e", "create", str(config), str(directory), master=cluster.url)
    return int(done.stdout.split("Created experiment ")[1].split()[0])


def lines(client: Client, experiment: int) -> list[str]:
    return [line for trial in client.trials(experiment) for line in client.log_lines(trial["id"])]


def test_a_cold_environment_of_tensorflow_is_built_once_for_eight_trials(eight_slots: Cluster, tmp_path: Path) -> None:
    client = Client(eight_slots.url)
    old = submitted(eight_slots, tmp_path / "old", "tensorflow-cpu==2.15.1", trials=TRIALS, really=False)
    assert client.wait_state(old, "COMPLETED", "ERROR", seconds=900) == "COMPLETED", lines(client, old)[-5:]
    said = lines(client, old)
    assert sum("TENSORFLOW 2.15.1 KERAS 2.15" in line for line in said) == TRIALS
    assert sum("building it; the next" in line for line in said) == 1
    assert sum("resolving the requirements" in line for line in said) == 1
    warm = submitted(eight_slots, tmp_path / "warm", "tensorflow-cpu==2.15.1", trials=1, really=True)
    assert client.wait_state(warm, "COMPLETED", "ERROR", seconds=300) == "COMPLETED"
    again = lines(client, warm)
    assert any("SUM 6.0" in line for line in again)
    assert not any("building it" in line or "resolving" in line for line in again)


def test_another_release_stands_beside_it(eight_slots: Cluster, tmp_path: Path) -> None:
    client = Client(eight_slots.url)
    new = submitted(eight_slots, tmp_path / "new", "tensorflow-cpu==2.21.*", trials=1, really=True)
    assert client.wait_state(new, "COMPLETED", "ERROR", seconds=900) == "COMPLETED", lines(client, new)[-5:]
    said = lines(client, new)
    assert any("TENSORFLOW 2.21" in line for line in said) and any("SUM 6.0" in line for line in said)
