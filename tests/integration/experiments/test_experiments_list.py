"""Lists and searches of experiments: filters, order, pages."""

import json
from typing import Any

import pytest

from determined.wire.experiment import GetExperimentsRequestSortBy


def names(answer: Any) -> list[str]:
    assert answer.status == 200, answer.raw
    return [e["name"] for e in answer.json["experiments"]]


@pytest.fixture
def three(user: Any, admin: Any, submit: Any) -> list[int]:
    """`alpha` (labels a, b), `beta` (label a, activated), `gamma` (of admin)."""
    alpha = submit(user, name="alpha", labels=["a", "b"], description="First one")
    beta = submit(user, name="beta", labels=["a"], activate=True)
    gamma = submit(admin, name="gamma", searcher={"name": "random", "metric": "loss", "max_trials": 3})
    return [made["experiment"]["id"] for made in (alpha, beta, gamma)]


def test_the_list_filters_by_each_field(user: Any, three: list[int]) -> None:
    def listed(**fields: Any) -> list[str]:
        return names(user.get("/api/v1/experiments", fields=fields))

    assert listed() == ["alpha", "beta", "gamma"]
    assert listed(labels=["a"]) == ["alpha", "beta"]
    assert listed(labels=["a", "b"]) == ["alpha"]
    assert listed(name="ET") == ["beta"]
    assert listed(description="first") == ["alpha"]
    assert listed(users=["admin"]) == ["gamma"]
    assert listed(states=["STATE_PAUSED"]) == ["alpha", "gamma"]
    assert listed(states=["STATE_QUEUED"]) == ["beta"]
    assert listed(states=["STATE_RUNNING", "STATE_COMPLETED"]) == []
    assert listed(projectId=1) == ["alpha", "beta", "gamma"]
    assert listed(projectId=2) == []
    assert listed(archived="true") == []
    assert listed(**{"experimentIdFilter.gt": three[0], "experimentIdFilter.lt": three[2]}) == ["beta"]
    assert listed(**{"experimentIdFilter.incl": [three[0], three[2]]}) == ["alpha", "gamma"]
    assert listed(**{"experimentIdFilter.notIn": [three[0]]}) == ["beta", "gamma"]


def test_a_list_without_archived_ones_leaves_out_archived_projects_unless_one_is_named(
    user: Any, admin: Any, submit: Any, new_project: Any
) -> None:
    project = new_project(user)
    shelved = submit(user, name="shelved", projectId=project)["experiment"]["id"]
    own = submit(user, name="own")["experiment"]["id"]
    submit(user, name="kept")
    for verb in ("kill", "archive"):
        user.post(f"/api/v1/experiments/{own}/{verb}")
    user.post(f"/api/v1/projects/{project}/archive")

    def listed(**fields: Any) -> list[str]:
        return names(user.get("/api/v1/experiments", fields=fields))

    assert listed() == ["shelved", "own", "kept"]
    assert listed(archived="true") == ["own"]
    assert listed(archived="false") == ["kept"]
    assert listed(archived="false", projectId=project) == ["shelved"]
    user.post(f"/api/v1/projects/{project}/unarchive")
    assert listed(archived="false") == ["shelved", "kept"]
    workspace = user.get(f"/api/v1/projects/{project}").json["project"]["workspaceId"]
    admin.post(f"/api/v1/workspaces/{workspace}/archive")
    assert listed(archived="false") == ["kept"]
    assert shelved


def test_percent_signs_in_a_filter_are_taken_literally(user: Any, three: list[int]) -> None:
    assert names(user.get("/api/v1/experiments", fields={"name": "%"})) == []
    assert names(user.get("/api/v1/experiments", fields={"labels": ["_"]})) == []


def test_the_list_sorts_by_every_key(user: Any, three: list[int]) -> None:
    for key in GetExperimentsRequestSortBy:
        for order in ("ASC", "DESC"):
            fields = {"sortBy": key.value, "orderBy": f"ORDER_BY_{order}", "showTrialData": "true"}
            assert sorted(names(user.get("/api/v1/experiments", fields=fields))) == ["alpha", "beta", "gamma"]


def test_the_order_is_that_of_the_key(user: Any, three: list[int]) -> None:
    fields = {"sortBy": "SORT_BY_NUM_TRIALS", "orderBy": "ORDER_BY_DESC"}
    assert names(user.get("/api/v1/experiments", fields=fields))[0] == "gamma"


def test_pages_carry_their_indices(user: Any, three: list[int]) -> None:
    page = user.get("/api/v1/experiments", fields={"limit": 2, "offset": 1}).json
    assert [e["name"] for e in page["experiments"]] == ["beta", "gamma"]
    assert page["pagination"] == {"offset": 1, "limit": 2, "startIndex": 1, "endIndex": 3, "total": 3}
    counted = user.get("/api/v1/experiments", fields={"limit": -2}).json
    assert counted["experiments"] == []
    assert counted["pagination"]["total"] == 3


def test_wrong_parameters_are_refused(user: Any) -> None:
    assert user.get("/api/v1/experiments", fields={"sortBy": "SORT_BY_COLOUR"}).status == 400
    assert user.get("/api/v1/experiments", fields={"states": ["STATE_TIRED"]}).status == 400


def test_labels_come_by_popularity(user: Any, three: list[int]) -> None:
    assert user.get("/api/v1/experiment/labels").json["labels"] == ["a", "b"]
    assert user.get("/api/v1/experiment/labels", fields={"projectId": 9}).json["labels"] == []


def test_the_best_trial_is_shown_when_asked_for(user: Any, three: list[int], validate: Any) -> None:
    trials = user.get(f"/api/v1/experiments/{three[2]}/trials").json["trials"]
    validate(trials[0]["id"], 1, loss=3.0)
    validate(trials[1]["id"], 1, loss=2.0)
    shown = user.get("/api/v1/experiments", fields={"showTrialData": "true"}).json["experiments"][2]
    assert (shown["bestTrialId"], shown["bestTrialSearcherMetric"]) == (trials[1]["id"], 2.0)


def field(column: str, operator: str, value: Any = None) -> dict[str, Any]:
    return {"kind": "field", "columnName": column, "operator": operator, "value": value}


def search(client: Any, *children: Any, conjunction: str = "and", **more: Any) -> list[str]:
    group = {"kind": "group", "conjunction": conjunction, "children": list(children)}
    body = {"filter": json.dumps({"filterGroup": group, "showArchived": True}), "sort": "id=asc", **more}
    answer = client.post("/api/v1/experiments-search", body)
    assert answer.status == 200, answer.raw
    return [e["experiment"]["name"] for e in answer.json["experiments"]]


def test_the_search_understands_every_kind_of_column(user: Any, three: list[int], validate: Any) -> None:
    trials = user.get(f"/api/v1/experiments/{three[2]}/trials").json["trials"]
    validate(trials[0]["id"], 1, loss=3.0)
    assert search(user) == ["alpha", "beta", "gamma"]
    assert search(user, field("id", ">", three[0])) == ["beta", "gamma"]
    assert search(user, field("name", "contains", "A")) == ["alpha", "beta", "gamma"]
    assert search(user, field("name", "=", "beta")) == ["beta"]
    assert search(user, field("name", "!=", "beta")) == ["alpha", "gamma"]
    assert search(user, field("state", "=", "STATE_ACTIVE")) == ["beta"]
    assert search(user, field("state", "!=", "ACTIVE")) == ["alpha", "gamma"]
    assert search(user, field("user", "=", "admin")) == ["gamma"]
    assert search(user, field("tags", "contains", "b")) == ["alpha"]
    assert search(user, field("tags", "isEmpty")) == ["gamma"]
    assert search(user, field("description", "isEmpty")) == ["beta", "gamma"]
    assert search(user, field("searcherType", "=", "random")) == ["gamma"]
    assert search(user, field("numTrials", ">=", 2)) == ["gamma"]
    assert search(user, field("startTime", ">", "2020-01-01T00:00:00Z")) == ["alpha", "beta", "gamma"]
    assert search(user, field("hp.lr", "<", 0.2)) == ["alpha", "beta", "gamma"]
    assert search(user, field("hp.net.width", "=", 32)) == ["alpha", "beta", "gamma"]
    assert search(user, field("hp.nope", "notEmpty")) == []
    assert search(user, field("validation.loss.last", ">", 2.5)) == ["gamma"]
    assert search(user, field("searcherMetricsVal", "=", 3)) == ["gamma"]
    either = (field("name", "=", "alpha"), field("user", "=", "admin"))
    assert search(user, *either, conjunction="or") == ["alpha", "gamma"]
    assert search(user, {"kind": "group", "conjunction": "or", "children": list(either)}) == ["alpha", "gamma"]


def test_the_search_sorts_and_pages(user: Any, three: list[int]) -> None:
    assert search(user, sort="name=desc", limit=2) == ["gamma", "beta"]
    assert search(user, sort="numTrials=desc,id=desc") == ["gamma", "beta", "alpha"]
    assert search(user, sort="hp.lr=asc,id=asc")[0] == "alpha"


def test_a_search_that_cannot_be_understood_is_refused(user: Any) -> None:
    def group(*children: Any, **more: Any) -> dict[str, Any]:
        return {"filter": json.dumps({"filterGroup": {"children": list(children), **more}})}

    wrong = [
        {"filter": "{"},
        {"filter": "[]"},
        group({"columnName": "colour", "operator": "="}),
        group({"operator": "="}),
        group(field("id", "~", 1)),
        group(field("id", "=", "one")),
        group(field("startTime", ">", "soon")),
        group(conjunction="xor"),
        {"sort": "id"},
        {"sort": "colour=asc"},
    ]
    for body in wrong:
        answer = user.post("/api/v1/experiments-search", body)
        assert answer.status == 400, (body, answer.raw)
