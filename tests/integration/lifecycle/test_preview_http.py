"""Previews and extensions over HTTP, and by the official client's shape of them."""

from collections.abc import Callable
from typing import Any

import pytest
from http_cluster import HttpCluster, eventually

SPACE = {"x": {"type": "double", "minval": 0, "maxval": 1}}
ASHA = {"name": "adaptive_asha", "metric": "loss", "max_trials": 16}


@pytest.fixture
def cluster(start_master: Callable[..., Any], sqlite_url: str) -> HttpCluster:
    return HttpCluster(start_master, sqlite_url, nodes={"a": 4})


def preview(cluster: HttpCluster, **config: Any) -> Any:
    return cluster.user.post("/api/v1/preview-hp-search", {"config": config, "seed": 0})


def test_late_preview_counts_trials_by_length(cluster: HttpCluster) -> None:
    searcher = {**ASHA, "time_metric": "batches", "max_time": 1000}
    answer = preview(cluster, searcher=searcher, hyperparameters=SPACE, resources={"slots_per_trial": 2})
    assert answer.status == 200, answer.raw
    summary = answer.json["summary"]
    assert [(t["count"], t["unit"]) for t in summary["trials"]] == [
        (9, {"maxLength": False, "name": "batches", "value": 62}),
        (5, {"maxLength": False, "name": "batches", "value": 250}),
        (2, {"maxLength": False, "name": "batches", "value": 1000}),
    ]
    assert summary["totalTrials"] == 16 and summary["totalUnits"] == 9 * 62 + 5 * 250 + 2 * 1000
    assert summary["slotsPerTrial"] == 2 and summary["maxSlots"] == 32
    assert summary["config"]["name"] == "adaptive_asha"


def test_classic_preview_tells_the_lengths_on_the_way(cluster: HttpCluster) -> None:
    searcher = {**ASHA, "max_length": {"batches": 1000}, "mode": "aggressive"}
    summary = preview(cluster, searcher=searcher, hyperparameters=SPACE).json["summary"]
    lengths = {tuple(t["lengths"]): t["count"] for t in summary["trials"]}
    assert sum(lengths.values()) == 16
    assert set(lengths) == {(62,), (62, 250), (62, 250, 1000)}


@pytest.mark.parametrize(
    ("searcher", "unit"),
    [
        ({"name": "single"}, {"maxLength": True, "name": None, "value": None}),
        (
            {"name": "random", "max_trials": 5, "max_length": {"epochs": 3}},
            {"maxLength": True, "name": "epochs", "value": 3},
        ),
    ],
)
def test_trials_that_nothing_cuts_short_train_to_their_maximum(
    cluster: HttpCluster, searcher: dict[str, Any], unit: dict[str, Any]
) -> None:
    summary = preview(cluster, searcher={"metric": "loss", **searcher}, hyperparameters=SPACE).json["summary"]
    [trials] = summary["trials"]
    assert trials["unit"] == unit and trials["count"] == searcher.get("max_trials", 1)


@pytest.mark.parametrize(
    ("config", "named"),
    [
        ({"searcher": {"name": "nonsense", "metric": "x"}}, "nonsense"),
        ({"searcher": {"name": "grid", "metric": "x"}, "hyperparameters": SPACE}, "count"),
        ({"searcher": {"name": "custom", "metric": "x"}}, "custom"),
        ({}, "searcher"),
    ],
)
def test_unusable_search_is_refused_by_name(cluster: HttpCluster, config: dict[str, Any], named: str) -> None:
    answer = preview(cluster, **config)
    assert answer.status == 400 and named in answer.raw.decode()


def test_nobody_previews_without_logging_in(cluster: HttpCluster) -> None:
    assert cluster.master.anonymous.post("/api/v1/preview-hp-search", {"config": {}}).status == 401


def test_completed_experiment_is_extended(cluster: HttpCluster) -> None:
    searcher = {"name": "random", "metric": "loss", "max_trials": 1}
    experiment = cluster.submit(searcher=searcher, hyperparameters=SPACE)
    [launch] = cluster.launched()
    cluster.run(launch)
    cluster.leave(launch)
    path = f"/api/v1/experiments/{experiment}"
    eventually(lambda: cluster.user.get(path).json["experiment"]["state"] == "STATE_COMPLETED")
    answer = cluster.user.post(f"{path}/extend", {"trials": 2})
    assert answer.status == 200, answer.raw
    extended = answer.json["experiment"]
    assert extended["state"] == "STATE_QUEUED" and extended["config"]["searcher"]["max_trials"] == 3
    cluster.launched(3)


@pytest.mark.parametrize("body", [{}, {"trials": 0}, {"trials": "many"}])
def test_extension_by_nonsense_is_refused(cluster: HttpCluster, body: dict[str, Any]) -> None:
    experiment = cluster.submit(searcher={"name": "random", "metric": "loss", "max_trials": 1}, hyperparameters=SPACE)
    assert cluster.user.post(f"/api/v1/experiments/{experiment}/extend", body).status == 400
    assert cluster.user.post("/api/v1/experiments/999/extend", {"trials": 1}).status == 404
