"""Another user's experiments, runs, projects and views: what everybody may do, and what only owners may."""

from typing import Any

import pytest


@pytest.fixture
def eve(master: Any, admin: Any) -> Any:
    admin.post("/api/v1/users", {"user": {"username": "eve", "admin": False, "active": True}, "password": ""})
    return master.client("eve")


@pytest.fixture
def ended(user: Any, eve: Any, submit: Any) -> tuple[int, int]:
    """Ended experiments of `determined` and of eve."""
    ids = submit(user, name="theirs")["experiment"]["id"], submit(eve, name="hers")["experiment"]["id"]
    for client, experiment in ((user, ids[0]), (eve, ids[1])):
        assert client.post(f"/api/v1/experiments/{experiment}/kill").status == 200
    return ids


def run_of(client: Any, experiment: int) -> int:
    [trial] = client.get(f"/api/v1/experiments/{experiment}/trials").json["trials"]
    return int(trial["id"])


def results(answer: Any) -> dict[int, str]:
    assert answer.status == 200, answer.raw
    return {result["id"]: result["error"] for result in answer.json["results"]}


def test_a_bulk_deletion_takes_the_callers_own_and_names_the_others(eve: Any, ended: tuple[int, int]) -> None:
    theirs, hers = ended
    call = {"experimentIds": [theirs, hers, 99], "projectId": 1}
    answered = results(eve.call("DELETE", "/api/v1/projects/1/experiments/delete", call))
    assert answered[hers] == ""
    assert answered[theirs] == f"only the owner of experiment {theirs} or an administrator may do this, not 'eve'"
    assert "not found" in answered[99]
    assert eve.get(f"/api/v1/experiments/{theirs}").status == 200


def test_runs_are_deleted_by_owners_alone(user: Any, eve: Any, ended: tuple[int, int]) -> None:
    theirs, hers = (run_of(user, experiment) for experiment in ended)
    answered = results(eve.post("/api/v1/runs/delete", {"runIds": [theirs, hers], "projectId": 1}))
    assert answered[hers] == "" and "only the owner" in answered[theirs]
    assert user.get(f"/api/v1/trials/{theirs}").status == 200


def test_everybody_archives_moves_and_labels_any_experiment(
    user: Any, eve: Any, ended: tuple[int, int], new_project: Any
) -> None:
    theirs, _ = ended
    project = new_project(eve)
    path = f"/api/v1/experiments/{theirs}"
    assert eve.post(f"{path}/move", {"destinationProjectId": project}).status == 200
    assert eve.put(f"{path}/labels/seen").json["labels"] == ["seen"]
    assert eve.patch(path, {"notes": "by eve"}).status == 200
    assert eve.post(f"{path}/archive").status == 200
    shown = user.get(path).json["experiment"]
    assert (shown["projectId"], shown["labels"], shown["notes"]) == (project, ["seen"], "by eve")
    assert shown["archived"] is True
    assert shown["username"] == "determined", "it stays its owner's"


def test_a_project_is_changed_by_its_owners_alone(user: Any, eve: Any, new_project: Any) -> None:
    project = new_project(user)
    path = f"/api/v1/projects/{project}"
    calls = [
        ("PATCH", path, {"name": "taken"}),
        ("POST", f"{path}/archive", None),
        ("POST", f"{path}/unarchive", None),
        ("DELETE", path, None),
        ("POST", f"{path}/move", {"projectId": project, "destinationWorkspaceId": 1}),
    ]
    for method, address, body in calls:
        refused = eve.call(method, address, body)
        assert refused.status == 403, (method, address, refused.raw)
        said = "only the owner of project 'p', of its workspace, or an administrator may change it"
        assert refused.message == said
    shown = eve.get(path).json["project"]
    assert (shown["name"], shown["archived"]) == ("p", False)


def test_what_stands_in_an_archived_project_is_neither_moved_out_nor_in(
    user: Any, eve: Any, submit: Any, new_project: Any
) -> None:
    project = new_project(user)
    inside = submit(user, projectId=project)["experiment"]["id"]
    outside = submit(eve)["experiment"]["id"]
    assert user.post(f"/api/v1/projects/{project}/archive").status == 200
    out = {"experimentIds": [inside], "destinationProjectId": 1, "projectId": project}
    [refused] = results(eve.post(f"/api/v1/projects/{project}/experiments/move", out)).values()
    assert "archived; unarchive it" in refused
    into = {"experimentIds": [outside], "destinationProjectId": project, "projectId": 1}
    [refused] = results(eve.post("/api/v1/projects/1/experiments/move", into)).values()
    assert refused == f"project {project} is archived; unarchive it to move experiments there"


def test_a_run_that_is_moved_takes_its_experiment_and_says_so(
    user: Any, eve: Any, submit: Any, new_project: Any
) -> None:
    grid = {"lr": {"type": "categorical", "vals": [0.1, 0.2]}}
    searcher = {"name": "grid", "metric": "loss"}
    many = submit(user, searcher=searcher, hyperparameters=grid)["experiment"]["id"]
    runs = [int(t["id"]) for t in user.get(f"/api/v1/experiments/{many}/trials").json["trials"]]
    project = new_project(eve)
    body = {"runIds": runs[:1], "sourceProjectId": 1, "destinationProjectId": project, "skipMultitrial": False}
    assert results(eve.post("/api/v1/runs/move", body)) == {runs[0]: ""}
    found = eve.post("/api/v1/runs", {"projectId": project}).json["runs"]
    assert sorted(run["id"] for run in found) == sorted(runs)


def test_a_view_of_a_deactivated_author_stays_and_is_an_administrators_to_change(
    admin: Any, user: Any, eve: Any
) -> None:
    path = "/api/v1/projects/1/views"
    view = eve.post(path, {"name": "hers", "state": "q=1"}).json["view"]
    assert admin.patch(f"/api/v1/users/{view['userId']}", {"active": False}).status == 200
    assert [one["username"] for one in user.get(path).json["views"]] == ["eve"]
    assert user.patch(f"{path}/{view['id']}", {"name": "mine"}).status == 403
    assert admin.patch(f"{path}/{view['id']}", {"name": "ours"}).json["view"]["name"] == "ours"


def test_views_of_one_project_are_bounded_and_a_freed_place_is_usable(
    user: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("determined.master.services.view._MOST", 2)
    path = "/api/v1/projects/1/views"
    first, _ = (user.post(path, {"name": name, "state": ""}).json["view"]["id"] for name in ("a", "b"))
    refused = user.post(path, {"name": "c", "state": ""})
    assert refused.status == 400 and refused.message == "project 1 has 2 views; delete some first"
    assert user.delete(f"{path}/{first}").status == 200
    assert user.post(path, {"name": "c", "state": ""}).status == 200
