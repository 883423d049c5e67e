"""What requirements were resolved to: the first to say so wins; and environments that cannot be had."""

import time
from collections.abc import Callable
from typing import Any

import pytest
from http_cluster import HttpCluster, eventually, resources

from determined.wire.report import Exit, ExitCause

PYTHON = {"python": {"requirements": ["alpha"], "version": "3.12"}}
PLATFORM = "linux-x86_64-py3.12"
WORDS = "resolving failed; uv says:\nerror: No solution found\n  cause: there is no version of alpha==7"


@pytest.fixture
def cluster(start_master: Callable[..., Any], db_url: str) -> HttpCluster:
    return HttpCluster(start_master, db_url, nodes={"a": 2})


def _store(cluster: HttpCluster, launch: Any, content: str, platform: str = PLATFORM) -> Any:
    body = {"platform": platform, "content": content}
    return cluster.task(launch).post(resources(launch) + "/environment_lock", body)


def _locks(cluster: HttpCluster, experiment: int) -> dict[str, str]:
    found = cluster.user.get(f"/api/v1/experiments/{experiment}/environment_locks").json["locks"]
    return {one["platform"]: one["content"] for one in found}


def _spec(cluster: HttpCluster, launch: Any) -> Any:
    return cluster.task(launch).get(resources(launch) + "/spec").json["python"]


def _search(cluster: HttpCluster, **config: Any) -> int:
    return cluster.submit(environment=PYTHON, searcher={"name": "random", "metric": "x", "max_trials": 4}, **config)


def test_the_first_lock_counts_for_every_trial(cluster: HttpCluster) -> None:
    experiment = _search(cluster)
    one, two = cluster.launched(2)[:2]
    asked = _spec(cluster, one)
    assert asked == {"requirements": ["alpha"], "lock": None, "version": "3.12", "locks": {}}
    assert _store(cluster, one, "alpha==1").json == {"content": "alpha==1"}
    assert _store(cluster, two, "alpha==2").json == {"content": "alpha==1"}
    assert _store(cluster, two, "alpha==2", "linux-aarch64-py3.12").json == {"content": "alpha==2"}
    assert _spec(cluster, two)["locks"] == {PLATFORM: "alpha==1", "linux-aarch64-py3.12": "alpha==2"}
    assert _locks(cluster, experiment) == _spec(cluster, one)["locks"]


def test_a_reproduction_has_the_locks_and_a_fork_has_none(cluster: HttpCluster) -> None:
    experiment = cluster.submit(environment=PYTHON)
    _store(cluster, cluster.launched()[0], "alpha==1")
    again = cluster.user.post(f"/api/v1/experiments/{experiment}/reproduce", {"activate": False}).json["experiment"]
    assert _locks(cluster, again["id"]) == {PLATFORM: "alpha==1"}
    body = {"config": again["originalConfig"], "parentId": experiment, "activate": False}
    fork = cluster.user.post("/api/v1/experiments", body).json["experiment"]
    assert _locks(cluster, fork["id"]) == {}


@pytest.mark.parametrize(
    ("override", "expected"),
    [("{description: x}", {PLATFORM: "alpha==1"}), ("{environment: {python: {requirements: [b]}}}", {})],
)
def test_other_requirements_of_a_continued_experiment_are_resolved_anew(
    cluster: HttpCluster, override: str, expected: dict[str, str]
) -> None:
    experiment = cluster.submit(environment=PYTHON)
    launch = cluster.launched()[0]
    _store(cluster, launch, "alpha==1")
    cluster.run(launch)
    cluster.leave(launch)
    eventually(lambda: _state(cluster, experiment) == "STATE_COMPLETED")
    body = {"id": experiment, "overrideConfig": override}
    answer = cluster.user.post("/api/v1/experiments/continue", body)
    assert answer.status == 200, answer.raw
    assert _locks(cluster, experiment) == expected


def test_an_environment_that_cannot_be_had_ends_the_whole_experiment_at_once(cluster: HttpCluster) -> None:
    experiment = _search(cluster, max_restarts=5)
    one, two = cluster.launched(2)[:2]
    told = Exit(ExitCause.UNUSABLE, 1, WORDS, time.time())
    assert cluster.report(one, told).status == 200
    shown = cluster.user.get(f"/api/v1/experiments/{experiment}").json["experiment"]
    assert shown["state"] in ("STATE_STOPPING_ERROR", "STATE_ERROR")
    assert shown["error"] == WORDS
    signals = cluster.task(two).get(resources(two) + "/signals?timeout_seconds=0").json
    assert signals["kill"], "its other trials would only find out the same"
    cluster.leave(two, 137, ExitCause.KILLED, first=1)
    eventually(lambda: _state(cluster, experiment) == "STATE_ERROR")
    trials = cluster.user.get(f"/api/v1/experiments/{experiment}/trials").json["trials"]
    assert [t["restarts"] for t in trials] == [0] * len(trials)
    assert len(cluster.machine.launched) == 2


def test_a_lock_is_stored_by_the_task_alone_and_within_bounds(cluster: HttpCluster) -> None:
    cluster.submit(environment=PYTHON)
    launch = cluster.launched()[0]
    body = {"platform": PLATFORM, "content": "x"}
    assert cluster.user.post(resources(launch) + "/environment_lock", body).status == 403
    assert _store(cluster, launch, "x" * (4 * 1024 * 1024 + 1)).status == 413
    assert _store(cluster, launch, "x", "").status == 400
    assert _store(cluster, launch, "x\0").status == 400


def _state(cluster: HttpCluster, experiment: int) -> str:
    return str(cluster.user.get(f"/api/v1/experiments/{experiment}").json["experiment"]["state"])
