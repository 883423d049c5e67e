"""Short lists that are filtered and sorted in memory: users, workspaces, projects."""

import random
from dataclasses import dataclass

import pytest

from determined.master.services.listing import keep, sort
from determined.master.services.user_list import answer
from determined.wire.base import OrderBy
from determined.wire.user import GetUsersRequestSortBy as SortBy
from determined.wire.user import ListUsers, User
from determined.wire.workspace import ListOwned

USERS = [
    User(id=1, username="admin", admin=True, active=True, display_name=None, last_auth_at="2026-01-02"),
    User(id=2, username="zoe", admin=False, active=False, display_name="Anna", modified_at="2026-01-03"),
    User(id=3, username="bob", admin=False, active=True, display_name="", remote=True),
    User(id=4, username="åsa", admin=True, active=True, display_name="ÅSA Ek", last_auth_at="2026-01-01"),
]


def ids(**given: object) -> list[int | None]:
    return [user.id for user in answer(list(USERS), ListUsers(**given)).users or []]


@pytest.mark.parametrize(
    ("sort_by", "expected"),
    [
        (None, [1, 2, 3, 4]),
        (SortBy.UNSPECIFIED, [1, 2, 3, 4]),
        (SortBy.USER_NAME, [1, 3, 2, 4]),
        (SortBy.DISPLAY_NAME, [1, 3, 2, 4]),
        (SortBy.NAME, [1, 2, 3, 4]),
        (SortBy.ADMIN, [2, 3, 1, 4]),
        (SortBy.ACTIVE, [2, 1, 3, 4]),
        (SortBy.REMOTE, [1, 2, 4, 3]),
        (SortBy.MODIFIED_TIME, [1, 3, 4, 2]),
        (SortBy.LAST_AUTH_TIME, [2, 3, 4, 1]),
    ],
)
def test_users_are_sorted_by_every_key(sort_by: SortBy | None, expected: list[int]) -> None:
    assert ids(sort_by=sort_by) == expected


@pytest.mark.parametrize("sort_by", SortBy)
def test_users_in_descending_order_keep_ties_in_the_order_of_ids(sort_by: SortBy) -> None:
    ascending, descending = ids(sort_by=sort_by), ids(sort_by=sort_by, order_by=OrderBy.DESC)
    assert sorted(map(str, ascending)) == sorted(map(str, descending))
    if sort_by is SortBy.ADMIN:
        assert descending == [1, 4, 2, 3]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"name": "AN"}, [2]),
        ({"name": "åsa"}, [4]),
        ({"name": "ek"}, [4]),
        ({"name": ""}, [1, 2, 3, 4]),
        ({"name": "%"}, []),
        ({"active": True}, [1, 3, 4]),
        ({"active": False}, [2]),
        ({"admin": False, "active": True}, [3]),
        ({"limit": 2, "offset": 1}, [2, 3]),
        ({"limit": 2, "offset": -1}, [4]),
        ({"limit": -2}, []),
    ],
)
def test_users_that_fit_are_listed(given: dict[str, object], expected: list[int]) -> None:
    assert ids(**given) == expected


def test_the_number_of_users_is_that_of_all_that_fit() -> None:
    page = answer(list(USERS), ListUsers(active=True, limit=1)).pagination
    assert page is not None and (page.total, page.start_index, page.end_index) == (3, 0, 1)


@dataclass
class Thing:
    name: str
    archived: bool = False
    user_id: int = 1
    username: str = "ann"


THINGS = [
    Thing("Alpha"),
    Thing("beta", archived=True, user_id=2, username="bob"),
    Thing("Größe", user_id=2, username="bob"),
    Thing("50%", user_id=3, username="cid"),
]


@pytest.mark.parametrize(
    ("params", "names"),
    [
        (ListOwned(), ["Alpha", "beta", "Größe", "50%"]),
        (ListOwned(name="A"), ["Alpha", "beta"]),
        (ListOwned(name="GRÖSSE"), []),
        (ListOwned(name="GRÖßE"), ["Größe"]),
        (ListOwned(name="%"), ["50%"]),
        (ListOwned(archived=True), ["beta"]),
        (ListOwned(archived=False), ["Alpha", "Größe", "50%"]),
        (ListOwned(users=["bob"]), ["beta", "Größe"]),
        (ListOwned(user_ids=[3]), ["50%"]),
        (ListOwned(users=["ann"], user_ids=[3]), ["Alpha", "50%"]),
        (ListOwned(users=["bob"], archived=False), ["Größe"]),
        (ListOwned(users=["nobody"]), []),
    ],
)
def test_owned_things_that_fit_every_condition_are_kept(params: ListOwned, names: list[str]) -> None:
    assert [thing.name for thing in keep(THINGS, params)] == names


def test_equal_things_keep_their_order_both_ways() -> None:
    rng = random.Random(1)
    things = [Thing(f"{n}", user_id=rng.randrange(3)) for n in range(30)]
    for order, sign in ((OrderBy.ASC, 1), (None, 1), (OrderBy.DESC, -1)):
        places = {thing.name: (sign * thing.user_id, n) for n, thing in enumerate(things)}
        found = sort(things, lambda thing: thing.user_id, order)
        assert [thing.name for thing in found] == sorted(places, key=places.__getitem__)
