"""Pages of every list: their borders, their numbers, and bodies that ask for one."""

import json
from typing import Any

import pytest

ROWS = 5

# Method, path, key of the rows, what tells two rows apart.
LISTS: dict[str, tuple[str, str, str, str]] = {
    "users": ("GET", "/api/v1/users", "users", "id"),
    "workspaces": ("GET", "/api/v1/workspaces", "workspaces", "id"),
    "projects": ("GET", "/api/v1/workspaces/{workspace}/projects", "projects", "id"),
    "experiments": ("GET", "/api/v1/experiments", "experiments", "id"),
    "trials": ("GET", "/api/v1/experiments/{experiment}/trials", "trials", "id"),
    "tokens": ("GET", "/api/v1/tokens", "tokenInfo", "id"),
    "jobs": ("GET", "/api/v1/job-queues", "jobs", "jobId"),
    "experiment search": ("POST", "/api/v1/experiments-search", "experiments", "experiment"),
    "runs": ("POST", "/api/v1/runs", "runs", "id"),
}

# What was asked for, and the rows of the list that are answered.
PAGES: list[tuple[dict[str, int], slice]] = [
    ({}, slice(0, None)),
    ({"limit": 0}, slice(0, None)),
    ({"limit": -1}, slice(0, None)),
    ({"limit": -2}, slice(0, 0)),
    ({"limit": 2}, slice(0, 2)),
    ({"limit": 2, "offset": 1}, slice(1, 3)),
    ({"limit": 2, "offset": -1}, slice(-1, None)),
    ({"limit": 2, "offset": -3}, slice(-3, -1)),
    ({"offset": -1000}, slice(0, None)),
    ({"offset": 1000}, slice(0, 0)),
    ({"limit": 1000, "offset": 3}, slice(3, None)),
    ({"limit": 2**63 - 1, "offset": 0}, slice(0, None)),
]


@pytest.fixture
def places(admin: Any, submit: Any) -> dict[str, int]:
    """Make five of everything that is listed."""
    searched = {"name": "random", "metric": "loss", "max_trials": ROWS, "max_concurrent_trials": ROWS}
    workspace = 0
    for n in range(ROWS):
        workspace = admin.post("/api/v1/workspaces", {"name": f"w{n}"}).json["workspace"]["id"]
        admin.post("/api/v1/users", {"user": {"username": f"u{n}", "active": True, "admin": False}})
        admin.post("/api/v1/tokens", {"userId": 1})
    for n in range(ROWS):
        body = {"name": f"p{n}", "workspaceId": workspace}
        assert admin.post(f"/api/v1/workspaces/{workspace}/projects", body).status == 200
        made = submit(
            admin, name=f"e{n}", activate=True, searcher=searched if n == 0 else {"name": "single", "metric": "loss"}
        )
    first = made["experiment"]["id"] - ROWS + 1
    return {"workspace": workspace, "experiment": first}


def ask(client: Any, places: dict[str, int], name: str, **fields: Any) -> Any:
    method, path, _, _ = LISTS[name]
    path = path.format(**places)
    if method == "GET":
        return client.get(path, fields=fields)
    return client.post(path, {"projectId": 1, **fields})


def listed(client: Any, places: dict[str, int], name: str, **fields: Any) -> tuple[list[str], dict[str, int]]:
    answer = ask(client, places, name, **fields)
    assert answer.status == 200, answer.raw
    _, _, rows, identity = LISTS[name]
    return [json.dumps(_key(row[identity])) for row in answer.json[rows]], answer.json["pagination"]


def _key(value: Any) -> Any:
    return value["id"] if isinstance(value, dict) else value


def test_a_page_has_the_rows_that_were_asked_for_and_says_where_they_lie(admin: Any, places: dict[str, int]) -> None:
    for name in LISTS:
        everything, _ = listed(admin, places, name)
        assert len(everything) >= ROWS and len(set(everything)) == len(everything), name
        for asked, expected in PAGES:
            rows, pagination = listed(admin, places, name, **asked)
            assert rows == everything[expected], (name, asked)
            assert pagination["total"] == len(everything), (name, asked)
            assert pagination["endIndex"] - pagination["startIndex"] == len(rows), (name, asked)
            assert not rows or everything[pagination["startIndex"]] == rows[0], (name, asked)


def test_pages_in_a_row_are_the_whole_list(admin: Any, places: dict[str, int]) -> None:
    for name in LISTS:
        everything, _ = listed(admin, places, name)
        pages = [listed(admin, places, name, limit=2, offset=n)[0] for n in range(0, len(everything) + 2, 2)]
        assert [row for page in pages for row in page] == everything, name


def test_a_page_that_is_no_number_is_refused_with_its_name(admin: Any, places: dict[str, int]) -> None:
    for name, (method, *_) in LISTS.items():
        beyond = [{"limit": 10**20}, {"offset": -(10**20)}, {"limit": -3}] if method == "GET" else []
        for asked in ({"limit": "many"}, {"offset": "1.5"}, {"limit": 1.5}, *beyond):
            answer = ask(admin, places, name, **asked)
            assert answer.status == 400, (name, asked, answer.raw)
            assert next(iter(asked)) in answer.message, (name, asked)
