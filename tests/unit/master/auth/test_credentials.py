"""Which of the credentials in a request count, and what a caller may do with them."""

from dataclasses import replace

import pytest

from determined.constants import ALLOCATION_TOKEN_HEADER
from determined.errors import Forbidden
from determined.master.auth import allocation_token
from determined.master.auth.authenticate import Credentials, credentials_of
from determined.master.auth.identity import (
    Caller,
    require_admin,
    require_login,
    require_owner,
    require_task,
    require_user,
)
from determined.master.auth.permission import Permission, Who, noted, permission_of
from determined.master.auth.session_token import digest, new_token

TASK = allocation_token.mint(b"secret", "7.a.1")
USER = Caller(user_id=1, username="ann", admin=False, session_id=5)
ADMIN = replace(USER, user_id=2, username="root", admin=True)
OWNED_BY_ADMIN = Caller(user_id=2, username="root", admin=False, kind="task", allocation_id="7.a.1")


@pytest.mark.parametrize(
    ("headers", "cookies", "counts"),
    [
        ({}, {}, Credentials()),
        ({"authorization": "Bearer t"}, {}, Credentials(user_token="t")),
        ({"authorization": "bearer   t  "}, {}, Credentials(user_token="t")),
        ({"authorization": "Basic t"}, {}, Credentials()),
        ({"authorization": "Bearer "}, {}, Credentials()),
        ({"authorization": "Bearer"}, {"auth": "c"}, Credentials(user_token="c", from_cookie=True)),
        ({"authorization": "Bearer t"}, {"auth": "c"}, Credentials(user_token="t")),
        ({"authorization": f"Bearer {TASK}"}, {"auth": "c"}, Credentials(allocation_token=TASK)),
        ({}, {"auth": "c"}, Credentials(user_token="c", from_cookie=True)),
        ({}, {"auth": ""}, Credentials()),
        ({}, {"other": "c"}, Credentials()),
    ],
)
def test_header_counts_before_the_cookie(headers: dict[str, str], cookies: dict[str, str], counts: Credentials) -> None:
    assert credentials_of(headers, cookies) == counts


def test_user_token_counts_before_the_header_of_a_task() -> None:
    task = {ALLOCATION_TOKEN_HEADER.lower(): f"Bearer {TASK}"}
    assert credentials_of(task, {"auth": "c"}) == Credentials(allocation_token=TASK)
    assert credentials_of({**task, "authorization": "Bearer t"}, {}) == Credentials(user_token="t")


def test_tokens_are_shown_in_no_log() -> None:
    assert "hidden" not in repr(Credentials(user_token="hidden", allocation_token="hidden"))


def test_tokens_are_stored_as_digests_and_never_repeat() -> None:
    tokens = {new_token() for _ in range(100)}
    assert len(tokens) == 100
    assert all(len(token) >= 43 for token in tokens)
    assert len({digest(token) for token in tokens}) == 100
    assert not any(token in digest(token) for token in tokens)


@pytest.mark.parametrize(
    ("caller", "passes"), [(USER, False), (ADMIN, True), (OWNED_BY_ADMIN, False)], ids=["user", "admin", "task"]
)
def test_only_administrators_administer_and_never_their_tasks(caller: Caller, passes: bool) -> None:
    if passes:
        require_admin(caller)
        return
    with pytest.raises(Forbidden):
        require_admin(caller)


def test_refusal_of_a_user_names_whom_to_ask_for_what() -> None:
    with pytest.raises(Forbidden) as refused:
        require_admin(USER, "remove the node")
    assert refused.value.message == "user 'ann' is not an administrator; ask one to remove the node"


def test_account_is_changed_by_its_user_alone_and_not_by_an_access_token() -> None:
    require_login(USER, "passwords are changed")
    with pytest.raises(Forbidden, match=r"allocation 7\.a\.1 may not do this; log in as a user"):
        require_user(OWNED_BY_ADMIN)
    with pytest.raises(Forbidden, match=r"passwords are changed after a login, not with an access token"):
        require_login(replace(USER, access_token=True), "passwords are changed")


@pytest.mark.parametrize(("owner", "passes"), [(1, True), (2, False), (None, False)])
def test_owner_and_administrators_may_change_a_thing(owner: int | None, passes: bool) -> None:
    require_owner(ADMIN, owner, "experiment 3")
    if passes:
        require_owner(USER, owner, "experiment 3")
        return
    with pytest.raises(Forbidden, match="only the owner of experiment 3 or an administrator may do this, not 'ann'"):
        require_owner(USER, owner, "experiment 3")


@pytest.mark.parametrize("caller", [USER, ADMIN, replace(OWNED_BY_ADMIN, allocation_id="7.a.2")])
def test_only_the_task_itself_speaks_for_its_allocation(caller: Caller) -> None:
    require_task(OWNED_BY_ADMIN, "7.a.1")
    with pytest.raises(Forbidden, match=r"7\.a\.1"):
        require_task(caller, "7.a.1")


def test_row_of_a_route_is_read_with_its_note() -> None:
    row = noted({"permission": Permission((Who.OWNER, Who.TRIAL))}, "another's project asks for more")
    found = permission_of(row)
    assert found is not None
    assert found.text == "owner or administrator, task of that trial (another's project asks for more)"
    assert permission_of({"permission": "owner"}) is None
    assert permission_of({}) is None
