"""Alerts of trials outside of the cluster reach the webhooks that they name."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from cluster import HANG_SECONDS, Client, Cluster, clean_environment, det, running_cluster
from webhook_receiver import Receiver

DETACHED = """
from determined.experimental import core_v2

config = core_v2.Config(name="alerts", integrations={"webhooks": {"webhook_name": ["mine"]}})
with core_v2.init_context(config=config) as core_context:
    core_context.alert("loss is NaN", description="batch 7", level="error")
"""
TRACKED = """
from determined import core

with core.init() as core_context:
    core_context.alert("from det run")
"""


@pytest.fixture
def hooked(tmp_path: Path, receiver: Receiver) -> Iterator[Cluster]:
    """A cluster with webhooks for alerts: `mine`, and another that nobody names."""
    with running_cluster(tmp_path / "hooked", config={"webhooks": {"allowed_networks": ["127.0.0.0/8"]}}) as cluster:
        for name in ("mine", "another"):
            hook = {"url": f"{receiver.url}/{name}", "name": name, "mode": "WEBHOOK_MODE_SPECIFIC"}
            triggers = [{"triggerType": "TRIGGER_TYPE_CUSTOM"}]
            Client(cluster.url, "admin").post("/api/v1/webhooks", {**hook, "triggers": triggers})
        yield cluster


def test_alerts_of_a_script_and_of_a_tracked_program_reach_the_webhook_that_is_named(
    hooked: Cluster, receiver: Receiver, home: Path, tmp_path: Path
) -> None:
    (tmp_path / "detached.py").write_text(DETACHED)
    (tmp_path / "tracked.py").write_text(TRACKED)
    variables = clean_environment(HOME=str(home), DET_MASTER=hooked.url, DET_USER="determined", DET_PASS="")
    subprocess.run(
        [sys.executable, "detached.py"], env=variables, cwd=tmp_path, check=True, timeout=HANG_SECONDS,
        stdout=subprocess.DEVNULL,
    )  # fmt: skip
    (request,) = receiver.wait(1)
    told = request.json["event_data"]
    assert told["custom_data"] == {"title": "loss is NaN", "description": "batch 7", "level": "ERROR"}
    assert (told["experiment"]["name"], told["experiment"]["trial_id"] > 0) == ("alerts", True)
    det(home, "run", "--webhook", "mine", sys.executable, "tracked.py", master=hooked.url, cwd=tmp_path)
    assert receiver.wait(2)[1].json["event_data"]["custom_data"]["title"] == "from det run"
    assert receiver.at("/another") == []
