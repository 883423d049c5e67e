"""Bulk verbs say what they changed, so that an undo turns back that and nothing else."""

from typing import Any

import pytest


@pytest.fixture
def runs(user: Any, submit: Any) -> list[int]:
    """Two runs, each the only one of its experiment."""
    made = [submit(user, name=name)["experiment"]["id"] for name in "ab"]
    return [user.get(f"/api/v1/experiments/{i}/trials").json["trials"][0]["id"] for i in made]


def results(client: Any, verb: str, **body: Any) -> dict[int, dict[str, Any]]:
    answer = client.post(f"/api/v1/{verb}", body)
    assert answer.status == 200, answer.raw
    return {row.pop("id"): row for row in answer.json["results"]}


def changed(client: Any, verb: str, **body: Any) -> list[int]:
    return [i for i, row in results(client, verb, **body).items() if row["changed"]]


def test_runs_archived_before_are_not_among_the_changed(user: Any, runs: list[int]) -> None:
    assert changed(user, "runs/kill", runIds=runs) == runs
    assert changed(user, "runs/kill", runIds=runs) == []
    assert changed(user, "runs/archive", runIds=runs[:1]) == runs[:1]
    assert changed(user, "runs/archive", runIds=[*runs, 99]) == runs[1:]
    assert changed(user, "runs/unarchive", runIds=runs[1:]) == runs[1:]


def test_pausing_and_resuming_names_those_that_did(user: Any, runs: list[int]) -> None:
    assert changed(user, "runs/resume", runIds=runs[:1]) == runs[:1]
    assert changed(user, "runs/pause", runIds=runs) == runs[:1]
    assert changed(user, "runs/pause", runIds=runs) == []


def test_moves_say_where_things_came_from(user: Any, runs: list[int], new_project: Any) -> None:
    project = new_project(user)
    moved = results(user, "runs/move", runIds=runs, sourceProjectId=1, destinationProjectId=project)
    assert {i: row["previousProjectId"] for i, row in moved.items()} == dict.fromkeys(runs, 1)
    again = results(user, "runs/move", runIds=runs, sourceProjectId=1, destinationProjectId=project)
    assert [(row["changed"], row["previousProjectId"]) for row in again.values()] == [(False, None)] * 2


def test_experiments_answer_the_same_way(user: Any, submit: Any, new_project: Any) -> None:
    one, other = (submit(user)["experiment"]["id"] for _ in range(2))
    project = new_project(user)
    assert changed(user, "projects/1/experiments/activate", experimentIds=[one]) == [one]
    assert changed(user, "projects/1/experiments/pause", experimentIds=[one, other]) == [one]
    moved = results(user, "projects/1/experiments/move", experimentIds=[one], destinationProjectId=project)
    assert moved[one]["previousProjectId"] == 1 and moved[one]["changed"]
