"""Aliases of versions over HTTP: set, moved, removed, in the place of a number, and their history."""

from typing import Any

import pytest
from registered_models import at, model, refused, version


@pytest.fixture
def uuid(user: Any, trial: dict[str, Any], checkpoint: Any) -> str:
    stored: str = checkpoint(user, trial, 4)
    return stored


@pytest.fixture
def two(user: Any, uuid: str) -> str:
    """The name of a model with two versions."""
    model(user, "m")
    for _ in range(2):
        version(user, "m", uuid)
    return "m"


def test_an_alias_stands_in_the_place_of_a_number(user: Any, two: str) -> None:
    put = user.put(at(two, "aliases", "production"), {"version": 1}).json["alias"]
    assert (put["alias"], put["version"], put["username"]) == ("production", 1, "determined")
    by_alias = user.get(at(two, "versions", "production")).json["modelVersion"]
    assert by_alias == user.get(at(two, "versions", 1)).json["modelVersion"]
    assert (by_alias["aliases"], by_alias["model"]["aliases"]) == (["production"], {"production": 1})
    assert user.get(at(two)).json["model"]["aliases"] == {"production": 1}
    assert user.get("/api/v1/models").json["models"][0]["aliases"] == {"production": 1}
    assert user.patch(at(two, "versions", "production"), {"name": "p"}).json["modelVersion"]["version"] == 1
    assert user.get(at(two, "versions", "production", "metrics")).json == {"metrics": []}
    refused(user.get(at(two, "versions", "Production")), 404, "version Production")


def test_an_alias_moves_and_the_history_says_who_moved_it(user: Any, admin: Any, two: str) -> None:
    path = at(two, "aliases", "production")
    user.put(path, {"version": 1})
    user.put(at(two, "aliases", "candidate"), {"version": "latest"})
    assert admin.put(path, {"version": "candidate"}).json["alias"]["version"] == 2
    before = user.get(at(two, "alias-history")).json["changes"]
    assert admin.put(path, {"version": 2}).status == 200
    assert user.get(at(two, "alias-history")).json["changes"] == before, "no move, nothing to remember"
    assert user.delete(path).json == {}
    refused(user.delete(path), 404, 'alias production for model "m" not found')
    history = user.get(at(two, "alias-history"), fields={"alias": "production"}).json
    assert [(c["version"], c["previousVersion"], c["username"]) for c in history["changes"]] == [
        (1, None, "determined"),
        (2, 1, "admin"),
        (None, 2, "determined"),
    ]
    assert history["pagination"]["total"] == 3
    newest = user.get(at(two, "alias-history"), fields={"orderBy": "ORDER_BY_DESC", "limit": 1}).json["changes"]
    assert [(c["alias"], c["version"]) for c in newest] == [("production", None)]
    assert [a["alias"] for a in user.get(at(two, "aliases")).json["aliases"]] == ["candidate"]


def test_an_alias_that_somebody_else_has_moved_is_not_moved_again(user: Any, admin: Any, two: str) -> None:
    path = at(two, "aliases", "production")
    assert user.put(path, {"version": 1, "expectedVersion": 0}).status == 200
    assert admin.put(path, {"version": 2, "expectedVersion": 1}).status == 200
    refused(user.put(path, {"version": 1, "expectedVersion": 1}), 409, "points to version 2, not to version 1")
    refused(user.put(at(two, "aliases", "new"), {"version": 1, "expectedVersion": 5}), 409, "points to no version")


def test_a_deleted_version_takes_its_aliases_along(user: Any, two: str) -> None:
    user.put(at(two, "aliases", "production"), {"version": 2})
    user.put(at(two, "aliases", "stable"), {"version": 1})
    assert user.delete(at(two, "versions", "production")).status == 200
    assert [a["alias"] for a in user.get(at(two, "aliases")).json["aliases"]] == ["stable"]
    [put, gone] = user.get(at(two, "alias-history"), fields={"alias": "production"}).json["changes"]
    assert (put["version"], gone["version"], gone["previousVersion"]) == (2, None, 2)


@pytest.mark.parametrize("alias", ["1", "12", "-a", "a b", "a\nb", "é", "x" * 101, "latest", "%"])
def test_words_that_are_no_alias_are_refused(user: Any, two: str, alias: str) -> None:
    refused(user.put(at(two, "aliases", alias), {"version": 1}), 400, "alias")


def test_an_alias_points_to_a_version_that_is_there_of_a_model_that_is_open(user: Any, two: str) -> None:
    path = at(two, "aliases", "production")
    for missing in (3, 0, -1, "candidate", 10**30):
        refused(user.put(path, {"version": missing}), 404, f'version {missing} for model "m" not found')
    assert user.put(path, {}).status == 400
    assert user.put(path, {"version": True}).status == 400
    assert user.put(path, {"version": 1}).status == 200
    user.post(at(two, "archive"))
    refused(user.put(path, {"version": 2}), 400, "is archived")
    refused(user.delete(path), 400, "is archived")
