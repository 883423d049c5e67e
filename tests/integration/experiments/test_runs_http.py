"""Runs: flat search, metadata, bulk verbs."""

import json
from typing import Any

import pytest


@pytest.fixture
def runs(user: Any, submit: Any) -> list[int]:
    """Two runs of `many` (lr 0.1, lr 0.2) and one of `one`."""
    searcher = {"name": "grid", "metric": "loss"}
    grid = {"lr": {"type": "categorical", "vals": [0.1, 0.2]}, "opt": "adam"}
    many = submit(user, name="many", searcher=searcher, hyperparameters=grid, labels=["x"])["experiment"]["id"]
    one = submit(user, name="one")["experiment"]["id"]
    grid_trials = user.get(f"/api/v1/experiments/{many}/trials").json["trials"]
    (sole,) = user.get(f"/api/v1/experiments/{one}/trials").json["trials"]
    by_lr = {t["hparams"]["lr"]: t["id"] for t in grid_trials}
    return [by_lr[0.1], by_lr[0.2], sole["id"]]


def search(client: Any, *children: Any, **more: Any) -> list[int]:
    group = {"kind": "group", "conjunction": "and", "children": list(children)}
    body = {"filter": json.dumps({"filterGroup": group, "showArchived": False}), "sort": "id=asc", **more}
    answer = client.post("/api/v1/runs", body)
    assert answer.status == 200, answer.raw
    return (
        sorted(r["id"] for r in answer.json["runs"]) if "sort" not in more else [r["id"] for r in answer.json["runs"]]
    )


def field(column: str, operator: str, value: Any = None) -> dict[str, Any]:
    return {"kind": "field", "columnName": column, "operator": operator, "value": value}


def test_the_search_finds_runs_across_experiments(user: Any, runs: list[int], validate: Any) -> None:
    validate(runs[1], 1, loss=0.5)
    assert search(user) == sorted(runs)
    assert search(user, field("hp.lr", "=", 0.2)) == [runs[1]]
    assert search(user, field("hp.opt", "=", "adam")) == sorted(runs[:2])
    assert search(user, field("hp.opt", "contains", "DA")) == sorted(runs[:2])
    assert search(user, field("hp.opt", ">", 1)) == []
    assert search(user, field("experimentName", "=", "one")) == [runs[2]]
    assert search(user, field("tags", "contains", "x")) == sorted(runs[:2])
    assert search(user, field("validation.loss.min", "<=", 0.5)) == [runs[1]]
    assert search(user, field("validation.loss.mean", "<=", 0.5)) == [runs[1]]
    assert search(user, field("searcherMetricsVal", "isEmpty")) == sorted([runs[0], runs[2]])
    assert search(user, sort="hp.lr=desc,id=asc")[0] == runs[1]
    assert search(user, sort="validation.loss.last=desc", limit=1) == [runs[1]]
    assert search(user, projectId=2) == []


def test_hyperparameters_are_compared_as_the_client_says(user: Any, submit: Any) -> None:
    """As the official client and upstream's page write such filters: with a location and a type."""
    made = [submit(user, hyperparameters={"size": size, "net": {"depth": 3, "empty": {}}}) for size in (9, 64, "64")]
    ids = [user.get(f"/api/v1/experiments/{e['experiment']['id']}/trials").json["trials"][0]["id"] for e in made]

    def typed(column: str, operator: str, value: Any, kind: str) -> dict[str, Any]:
        place = {"location": "LOCATION_TYPE_RUN_HYPERPARAMETERS", "type": f"COLUMN_TYPE_{kind}"}
        return {**field(column, operator, value), **place}

    assert search(user, typed("hp.size", ">", "10", "NUMBER")) == [ids[1]]
    assert search(user, typed("hp.size", "<=", 9, "NUMBER")) == [ids[0]]
    assert search(user, typed("hp.net.depth", "=", "3", "NUMBER")) == ids
    assert search(user, typed("hp.size", "contains", "6", "TEXT")) == ids[1:]
    assert search(user, typed("hp.size", "=", 64, "TEXT")) == ids[1:]
    assert search(user, typed("hp.absent", "isEmpty", None, "NUMBER")) == ids
    bad = {"filterGroup": {"children": [typed("hp.size", ">", "many", "NUMBER")]}}
    answer = user.post("/api/v1/runs", {"filter": json.dumps(bad)})
    assert answer.status == 400 and "a number is needed" in answer.message


def test_a_run_shows_its_experiment_its_stored_state_and_how_far_it_is(user: Any, submit: Any) -> None:
    submit(user, activate=True)
    (run,) = user.post("/api/v1/runs", {}).json["runs"]
    assert run["state"] == "STATE_ACTIVE"
    trial = user.get(f"/api/v1/trials/{run['id']}").json["trial"]
    assert run["shownState"] == trial["state"] != "STATE_ACTIVE"
    assert run["experiment"]["isMultitrial"] is False
    assert run["experiment"]["searcherMetric"] == "loss"
    assert run["workspaceId"] == 1
    assert run["hyperparameters"]["net"] == {"width": 32}


def test_metadata_is_set_and_searched(user: Any, runs: list[int]) -> None:
    path = f"/api/v1/runs/{runs[0]}/metadata"
    assert user.get(path).json["metadata"] == {}
    nested = {"a": {"b": [1, {"c": None}]}, "size": 3, "my_key": "v"}
    assert user.post(path, {"metadata": nested}).json["metadata"] == nested
    assert user.get(path).json["metadata"] == nested
    assert search(user, field("metadata.size", ">", 2)) == [runs[0]]
    assert search(user, field("metadata.my_key", "=", "v")) == [runs[0]]
    assert user.get("/api/v1/runs/99/metadata").status == 404
    assert user.post("/api/v1/runs/99/metadata", {"metadata": {}}).status == 404


def bulk(client: Any, verb: str, **body: Any) -> dict[int, str]:
    answer = client.post(f"/api/v1/runs/{verb}", body)
    assert answer.status == 200, answer.raw
    return {r["id"]: r["error"] for r in answer.json["results"]}


def test_bulk_verbs_act_on_each_run(user: Any, runs: list[int]) -> None:
    assert bulk(user, "resume", runIds=[runs[2]], projectId=1) == {runs[2]: ""}
    assert "several" in bulk(user, "pause", runIds=runs, projectId=1)[runs[0]]
    assert "incompatible" in bulk(user, "archive", runIds=[runs[2]], projectId=1)[runs[2]]
    assert bulk(user, "kill", runIds=[*runs, 99])[99] == "trial 99 not found"
    assert set(bulk(user, "archive", runIds=runs, projectId=1).values()) == {""}
    assert search(user) == []
    assert set(bulk(user, "unarchive", runIds=runs, projectId=1).values()) == {""}
    assert search(user) == sorted(runs)


def test_bulk_verbs_take_a_filter(user: Any, runs: list[int]) -> None:
    group = {"children": [field("experimentName", "=", "one")], "conjunction": "and", "kind": "group"}
    killed = bulk(user, "kill", runIds=[], filter=json.dumps({"filterGroup": group}), projectId=1)
    assert killed == {runs[2]: ""}
    assert user.post("/api/v1/runs/kill", {"runIds": []}).status == 400


def test_a_run_is_moved_and_deleted_with_its_experiment(user: Any, runs: list[int], new_project: Any) -> None:
    project = new_project(user)
    moved = bulk(user, "move", runIds=[runs[0], runs[2]], sourceProjectId=1, destinationProjectId=project,
                 skipMultitrial=True)  # fmt: skip
    assert moved[runs[2]] == ""
    assert "several" in moved[runs[0]]
    assert search(user, projectId=project) == [runs[2]]
    bulk(user, "kill", runIds=[runs[2]])
    assert bulk(user, "delete", runIds=[runs[2]]) == {runs[2]: ""}
