"""Continuing an experiment over HTTP, as scripts of upstream's users count on it."""

import json
import time
from collections.abc import Callable
from typing import Any

import pytest
from http_cluster import HttpCluster, eventually

from determined.wire.report import CheckpointReport, ExitCause, MetricReport, Phase


@pytest.fixture
def cluster(start_master: Callable[..., Any], db_url: str) -> HttpCluster:
    return HttpCluster(start_master, db_url, nodes={"a": 1})


def trial_of(cluster: HttpCluster, experiment: int) -> dict[str, Any]:
    [found] = cluster.user.get(f"/api/v1/experiments/{experiment}/trials").json["trials"]
    trial: dict[str, Any] = cluster.user.get(f"/api/v1/trials/{found['id']}").json["trial"]
    return trial


def state_of(cluster: HttpCluster, experiment: int) -> str:
    state: str = cluster.user.get(f"/api/v1/experiments/{experiment}").json["experiment"]["state"]
    return state


def continue_it(cluster: HttpCluster, experiment: int, **override: Any) -> Any:
    return cluster.user.post("/api/v1/experiments/continue", {"id": experiment, "overrideConfig": json.dumps(override)})


def runs(cluster: HttpCluster, first: int, last: int, *codes: int) -> None:
    """Launches number `first` to `last` start and leave with these statuses."""
    for number, code in zip(range(first, last + 1), codes, strict=True):
        launch = cluster.launched(number)[number - 1]
        cluster.run(launch)
        cluster.leave(launch, code)


def test_continued_experiment_counts_restarts_anew_under_new_task_ids(cluster: HttpCluster) -> None:
    experiment = cluster.submit(max_restarts=2)
    runs(cluster, 1, 3, 1, 1, 1)
    eventually(lambda: state_of(cluster, experiment) == "STATE_ERROR")
    first = trial_of(cluster, experiment)
    assert (first["restarts"], len(first["taskIds"])) == (2, 1)
    assert continue_it(cluster, experiment, max_restarts=1).status == 200
    again = trial_of(cluster, experiment)
    assert (again["restarts"], again["id"], again["startTime"]) == (0, first["id"], first["startTime"])
    runs(cluster, 4, 5, 1, 1)
    eventually(lambda: state_of(cluster, experiment) == "STATE_ERROR")
    second = trial_of(cluster, experiment)
    assert second["restarts"] == 1
    assert second["endTime"] > first["endTime"]
    assert continue_it(cluster, experiment).status == 200
    runs(cluster, 6, 6, 0)
    eventually(lambda: state_of(cluster, experiment) == "STATE_COMPLETED")
    own = first["taskIds"][0]
    assert trial_of(cluster, experiment)["taskIds"] == [own, f"{own}-1", f"{own}-2"]


def test_continued_experiment_has_no_progress_and_its_job_waits_again(cluster: HttpCluster) -> None:
    experiment = cluster.submit()
    runs(cluster, 1, 1, 1)
    eventually(lambda: state_of(cluster, experiment) == "STATE_ERROR")
    blocker = cluster.submit()
    cluster.launched(2)
    assert continue_it(cluster, experiment).status == 200
    shown = cluster.user.get(f"/api/v1/experiments/{experiment}").json["experiment"]
    assert shown["progress"] == 0
    assert not shown.get("endTime")

    def listed() -> list[str]:
        return [job["full"]["entityId"] for job in cluster.user.get("/api/v1/job-queues-v2").json["jobs"]]

    eventually(lambda: listed() == [str(blocker), str(experiment)])


def test_live_experiment_and_finished_search_are_not_continued(cluster: HttpCluster) -> None:
    search = {"name": "grid", "metric": "loss"}
    experiment = cluster.submit(searcher=search, hyperparameters={"x": {"type": "categorical", "vals": [1]}})
    refused = continue_it(cluster, experiment)
    assert (refused.status, "non terminal" in refused.message) == (400, True)
    runs(cluster, 1, 1, 0)
    eventually(lambda: state_of(cluster, experiment) == "STATE_COMPLETED")
    assert continue_it(cluster, experiment).status == 400


def test_killed_single_trial_is_completed_by_being_continued(cluster: HttpCluster) -> None:
    experiment = cluster.submit()
    [launch] = cluster.launched()
    cluster.run(launch)
    assert cluster.user.post(f"/api/v1/experiments/{experiment}/kill").status == 200
    cluster.leave(launch, 137, ExitCause.KILLED)
    eventually(lambda: state_of(cluster, experiment) == "STATE_CANCELED")
    assert continue_it(cluster, experiment).status == 200
    runs(cluster, 2, 2, 0)
    eventually(lambda: state_of(cluster, experiment) == "STATE_COMPLETED")


def losses(cluster: HttpCluster, trial_id: int) -> dict[int, float]:
    path = f"/api/v1/trials/{trial_id}/workloads"
    found = cluster.user.get(path, fields={"filter": "FILTER_OPTION_VALIDATION", "limit": 100}).json["workloads"]
    rows = [one["validation"] for one in found if one.get("validation")]
    return {row["totalBatches"]: row["metrics"]["avgMetrics"]["loss"] for row in rows}


@pytest.mark.parametrize(("saved_at", "kept"), [(2, {1: 0.1, 2: 0.2, 3: 7.0}), (None, {1: 7.0})])
def test_metrics_past_the_last_checkpoint_go_when_the_next_run_reports(
    cluster: HttpCluster, saved_at: int | None, kept: dict[int, float]
) -> None:
    experiment = cluster.submit()
    [launch] = cluster.launched()
    now = time.time()
    metrics = [MetricReport("validation", step, {"loss": step / 10}, now) for step in (1, 2, 3, 4)]
    saved = [] if saved_at is None else [
        CheckpointReport("11111111-1111-4111-8111-111111111111", saved_at, {"steps_completed": saved_at}, {}, now)
    ]  # fmt: skip
    cluster.run(launch)
    assert cluster.report(launch, *metrics, *saved, first=2).status == 200
    cluster.leave(launch, 1, first=6 + len(saved))
    eventually(lambda: state_of(cluster, experiment) == "STATE_ERROR")
    trial_id = trial_of(cluster, experiment)["id"]
    assert losses(cluster, trial_id) == {1: 0.1, 2: 0.2, 3: 0.3, 4: 0.4}
    assert continue_it(cluster, experiment).status == 200
    second = cluster.launched(2)[1]
    first_step = (saved_at or 0) + 1
    answer = cluster.report(second, Phase("RUNNING", now), MetricReport("validation", first_step, {"loss": 7.0}, now))
    assert answer.status == 200
    assert losses(cluster, trial_id) == kept
