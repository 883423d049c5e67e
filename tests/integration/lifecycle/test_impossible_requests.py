"""Experiments that no pool can ever hold, on a master that queues them (`launch_error: false`)."""

from collections.abc import Callable
from typing import Any

from http_cluster import HttpCluster


def test_one_that_can_never_start_is_paused_activated_and_killed(
    start_master: Callable[..., Any], sqlite_url: str
) -> None:
    cluster = HttpCluster(start_master, sqlite_url, nodes={"a": 1}, launch_error=False)
    path = f"/api/v1/experiments/{cluster.submit(resources={'slots_per_trial': 1000})}"
    states = []
    for verb in ("pause", "activate", "kill"):
        states.append(cluster.user.get(path).json["experiment"]["state"])
        assert cluster.user.post(f"{path}/{verb}").status == 200
    assert states == ["STATE_QUEUED", "STATE_PAUSED", "STATE_QUEUED"]
    assert cluster.user.get(path).json["experiment"]["state"] == "STATE_CANCELED"
    assert cluster.user.get("/api/v1/job-queues-v2").json["jobs"] == []
