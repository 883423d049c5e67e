"""Columns of a project's table with what they hold, and which condition of a filter keeps rows away."""

import json
from typing import Any

RUNS = {"tableType": "TABLE_TYPE_RUN"}
STATISTICS = ("last", "max", "mean", "min")


def columns(client: Any, project: int = 1, **fields: Any) -> dict[str, dict[str, Any]]:
    answer = client.get(f"/api/v1/projects/{project}/columns", fields=fields)
    assert answer.status == 200, answer.raw
    return {column["column"]: column for column in answer.json["columns"]}


def trial_of(client: Any, experiment: dict[str, Any]) -> int:
    path = f"/api/v1/experiments/{experiment['experiment']['id']}/trials"
    return int(client.get(path).json["trials"][0]["id"])


def test_hyperparameters_metadata_and_metrics_are_columns(user: Any, submit: Any, validate: Any) -> None:
    trial = trial_of(user, submit(user, hyperparameters={"lr": 0.1, "net": {"act": "relu", "width": 8}}))
    user.post(f"/api/v1/runs/{trial}/metadata", {"metadata": {"site": {"name": "a"}, "a.b": 1}})
    validate(trial, 1, loss=0.5, table="text")
    validate(trial, 1, group="inference", rate=1.0)
    found = columns(user, **RUNS)
    assert (found["hp.lr"]["type"], found["hp.lr"]["location"]) == (
        "COLUMN_TYPE_NUMBER", "LOCATION_TYPE_RUN_HYPERPARAMETERS",
    )  # fmt: skip
    assert found["hp.net.act"]["type"] == "COLUMN_TYPE_TEXT"
    assert found["metadata.site.name"]["location"] == "LOCATION_TYPE_RUN_METADATA"
    assert found["validation.loss.last"]["location"] == "LOCATION_TYPE_VALIDATIONS"
    assert found["inference.rate.last"]["location"] == "LOCATION_TYPE_CUSTOM_METRIC"
    statistics = {f"{metric}.{one}" for metric in ("validation.loss", "inference.rate") for one in STATISTICS}
    assert {name for name in found if name.startswith(("validation.", "inference."))} == statistics
    assert len({column["displayName"] for column in found.values()}) == len(found)
    assert not {"validation.table.last", "metadata.a.b", "metadata.a"} & found.keys()
    assert found["hp.lr"]["values"] is None
    of_experiments = columns(user)
    assert of_experiments["hp.lr"]["location"] == "LOCATION_TYPE_HYPERPARAMETERS"
    assert "metadata.site.name" not in of_experiments
    for name in found:
        assert user.post("/api/v1/runs", {"sort": f"{name}=asc"}).status == 200, name
    for name in of_experiments:
        assert user.post("/api/v1/experiments-search", {"sort": f"{name}=desc"}).status == 200, name


def test_ranges_of_metrics_span_the_trials_of_a_project(
    user: Any, submit: Any, validate: Any, new_project: Any
) -> None:
    for step, loss in enumerate((0.5, 4.0, 1.0), 1):
        validate(trial_of(user, submit(user)), step, loss=loss, table="text")
    validate(trial_of(user, submit(user)), 1, group="inference", rate=-1.0)
    path = "/api/v1/projects/{}/experiments/metric-ranges"
    expected = [
        {"metricsName": "inference.rate", "min": -1.0, "max": -1.0},
        {"metricsName": "validation.loss", "min": 0.5, "max": 4.0},
    ]
    assert user.get(path.format(1)).json["ranges"] == expected
    assert user.get(path.format(new_project(user))).json["ranges"] == []


def test_texts_under_a_key_of_the_metadata_are_listed(user: Any, submit: Any) -> None:
    for site in ("b", "a", "a", 3):
        trial = trial_of(user, submit(user))
        user.post(f"/api/v1/runs/{trial}/metadata", {"metadata": {"site": {"name": site}}})
    assert user.get("/api/v1/projects/1/metadata/site.name").json["values"] == ["a", "b"]
    assert user.get("/api/v1/projects/1/metadata/metadata.site.name").json["values"] == ["a", "b"]
    assert user.get("/api/v1/projects/1/metadata/none").json["values"] == []
    assert user.get("/api/v1/projects/99/metadata/site").status == 404


def test_values_are_listed_for_completion(user: Any, submit: Any) -> None:
    submit(user, name="one", hyperparameters={"opt": "adam", "n": 3, "on": True}, labels=["red", "blue"])
    submit(user, name="two", hyperparameters={"opt": "sgd", "n": 20, "on": False}, labels=["red"])
    found = columns(user, **RUNS, values="true")
    assert found["hp.opt"]["values"] == ["adam", "sgd"]
    assert found["hp.n"]["values"] == [3, 20]
    assert found["hp.on"]["values"] == [False, True]
    assert found["tags"]["values"] == ["red", "blue"]
    assert found["experimentName"]["values"] == ["one", "two"]
    assert found["user"]["values"] == ["determined"]
    assert found["searcherType"]["values"] == ["single"]
    assert all(state.startswith("STATE_") for state in found["state"]["values"])
    assert found["hp.opt"]["moreValues"] is False and found["duration"]["values"] is None
    assert columns(user, values="true")["name"]["values"] == ["one", "two"]


def test_columns_are_searched_and_cut(user: Any, submit: Any) -> None:
    submit(user, hyperparameters={f"layer{n}": n for n in range(5)})
    assert list(columns(user, **RUNS, search="LAYER", limit=2)) == ["hp.layer0", "hp.layer1"]
    answer = user.get("/api/v1/projects/1/columns", fields={**RUNS, "search": "layer", "limit": 2})
    assert answer.json["total"] == 5


def test_new_trials_bring_new_columns_at_once(user: Any, submit: Any, new_project: Any) -> None:
    first = submit(user, hyperparameters={"a": 1})["experiment"]["id"]
    assert "hp.a" in columns(user) and "hp.b" not in columns(user)
    submit(user, hyperparameters={"b": 1})
    assert {"hp.a", "hp.b"} <= columns(user).keys()
    user.post(f"/api/v1/experiments/{first}/move", {"experimentId": first, "destinationProjectId": new_project(user)})
    assert "hp.a" not in columns(user)


def test_a_filter_is_counted_without_each_of_its_clauses(user: Any, submit: Any) -> None:
    for opt, lr in (("adam", 0.1), ("adam", 0.2), ("sgd", 0.1)):
        submit(user, hyperparameters={"opt": opt, "lr": lr})
    fields = [("hp.opt", "=", "sgd"), ("hp.lr", ">", 0.15)]
    children = [{"kind": "field", "columnName": c, "operator": o, "value": v} for c, o, v in fields]
    either = {"kind": "group", "conjunction": "or", "children": [children[0]]}
    whole = {"filterGroup": {"kind": "group", "conjunction": "and", "children": [children[1], either]}}
    body = {"filter": json.dumps(whole | {"showArchived": False})}
    answer = user.post("/api/v1/projects/1/filter-counts", body)
    assert answer.status == 200, answer.raw
    assert (answer.json["total"], answer.json["withArchived"]) == (0, 0)
    found = [(c["path"], c["column"], c["count"]) for c in answer.json["clauses"]]
    assert found == [([0], "hp.lr", 1), ([1], None, 1), ([1, 0], "hp.opt", 1)]
    experiments = user.post("/api/v1/projects/1/filter-counts", body | {"tableType": "TABLE_TYPE_EXPERIMENT"})
    assert experiments.json["total"] == 0
    assert user.post("/api/v1/projects/99/filter-counts", {}).status == 404
    assert user.post("/api/v1/projects/1/filter-counts", {"filter": "{"}).status == 400
