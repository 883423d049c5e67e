"""Queries of users, their settings, sessions and access tokens."""

import pytest
from database_world import AWKWARD, NOW, World, after
from sqlalchemy import Connection
from sqlalchemy.exc import IntegrityError

from determined.master.db.queries import session, user
from determined.master.db.queries.session import SessionKind


def test_a_user_is_found_by_id_and_by_name_in_any_case(conn: Connection, world: World) -> None:
    user_id = world.user({"username": "Ada", "display_name": AWKWARD, "agent_uid": 2**31 - 1, "admin": True})
    row = user.get(conn, user_id)
    assert row is not None
    assert row == user.by_name(conn, "aDA")
    assert (row.username, row.display_name, row.agent_uid, row.admin, row.active) == (
        "ada",
        AWKWARD,
        2**31 - 1,
        True,
        True,
    )
    assert (row.created_at, row.last_auth_at, row.password_hash) == (NOW, None, None)
    assert user.get(conn, user_id + 1000) is None
    assert user.by_name(conn, "ad_") is None


def test_users_are_listed_by_id(conn: Connection, world: World) -> None:
    ids = [world.user({}) for _ in range(3)]
    assert [row.id for row in user.list_all(conn)] == ids


def test_a_changed_user_has_a_new_time_of_change(conn: Connection, world: World) -> None:
    user_id = world.user({"agent_user": "root"})
    user.change(conn, after(1), user_id, {"display_name": "A", "agent_user": None})
    user.touch_login(conn, after(2), user_id)
    row = user.get(conn, user_id)
    assert row is not None
    assert (row.display_name, row.agent_user, row.modified_at, row.last_auth_at) == ("A", None, after(1), after(2))


def test_a_second_user_of_one_name_is_refused(conn: Connection, world: World) -> None:
    world.user({"username": "ada"})
    with pytest.raises(IntegrityError), conn.begin_nested():
        world.user({"username": "ADA"})


def test_administrators_who_are_active_are_counted(conn: Connection, world: World) -> None:
    world.user({"admin": True})
    world.user({"admin": True, "active": False})
    world.user({})
    assert user.active_admins(conn) == 1


def test_settings_are_replaced_by_path_and_key_and_reset(conn: Connection, world: World) -> None:
    user_id, other = world.user({}), world.user({})
    user.put_settings(conn, user_id, [("b", "k", "1"), ("a", AWKWARD, None), ("b", "k", "2")])
    user.put_settings(conn, other, [("b", "k", "3")])
    assert user.settings(conn, user_id) == [("a", AWKWARD, None), ("b", "k", "2")]
    user.reset_settings(conn, user_id)
    assert user.settings(conn, user_id) == []
    assert user.settings(conn, other) == [("b", "k", "3")]


def _session(conn: Connection, user_id: int, token: str, **values: object) -> int:
    given = {"kind": SessionKind.SESSION, "expires_at": after(60), **values}
    return session.create(conn, NOW, user_id=user_id, token_hash=token, **given)  # type: ignore[arg-type]


def test_a_token_lives_until_it_expires(conn: Connection, world: World) -> None:
    session_id = _session(conn, world.owner, "t")
    holder = session.holder(conn, after(59), "t")
    assert holder is not None
    assert (holder.session_id, holder.user_id, holder.expires_at) == (session_id, world.owner, after(60))
    assert not holder.is_access_token
    assert session.holder(conn, after(60), "t") is None
    assert session.holder(conn, NOW, "T") is None
    assert session.live(conn, NOW, session_id) == holder
    assert session.live(conn, after(60), session_id) is None


def test_a_session_opened_by_a_token_ends_with_it(conn: Connection, world: World) -> None:
    token_id = _session(conn, world.owner, "t", kind=SessionKind.ACCESS, expires_at=None)
    child = _session(conn, world.owner, "c", parent_id=token_id)
    holder = session.live(conn, NOW, child)
    assert holder is not None
    assert holder.is_access_token
    assert session.live_among(conn, NOW, [token_id, child, None]) == {token_id, child}
    session.change_access_token(conn, token_id, {"revoked_at": after(1), "description": AWKWARD})
    assert session.live_among(conn, after(2), [token_id, child]) == set()
    assert session.live_among(conn, NOW, []) == set()
    token = session.access_token(conn, token_id)
    assert token is not None
    assert (token.description, token.revoked_at, token.expires_at) == (AWKWARD, after(1), None)
    assert session.access_tokens(conn) == [token]
    assert session.access_token(conn, child) is None


def test_ending_a_session_ends_those_it_opened(conn: Connection, world: World) -> None:
    parent = _session(conn, world.owner, "p")
    child, other = _session(conn, world.owner, "c", parent_id=parent), _session(conn, world.owner, "o")
    session.end(conn, parent)
    assert session.live_among(conn, NOW, [parent, child, other]) == {other}


def test_all_logins_of_a_user_end_but_the_kept_one(conn: Connection, world: World) -> None:
    kept, gone = _session(conn, world.owner, "k"), _session(conn, world.owner, "g")
    token = _session(conn, world.owner, "t", kind=SessionKind.ACCESS)
    session.end_all(conn, NOW, world.owner, keep=kept)
    assert session.live_among(conn, NOW, [kept, gone, token]) == {kept}
    assert session.access_token(conn, token) is not None, "a revoked token stays on record"
    session.end_all(conn, NOW, world.owner)
    assert session.live(conn, NOW, kept) is None


def test_a_sweep_removes_expired_logins_and_keeps_tokens(conn: Connection, world: World) -> None:
    _session(conn, world.owner, "s")
    token = _session(conn, world.owner, "t", kind=SessionKind.ACCESS)
    assert session.sweep(conn, after(59)) == 0
    assert session.sweep(conn, after(60)) == 1
    assert session.access_token(conn, token) is not None


def test_an_allocation_names_the_owner_of_its_job(conn: Connection, world: World) -> None:
    experiment_id = world.experiment({})
    trial_id = world.trial(experiment_id, {})
    auth = session.allocation_auth(conn, world.allocation(trial_id, {"state": "TERMINATED", "drained": True}))
    assert auth is not None
    assert (auth.user_id, auth.trial_id, auth.experiment_id) == (world.owner, trial_id, experiment_id)
    assert (auth.state, auth.drained) == ("TERMINATED", True)
    assert session.allocation_auth(conn, "nowhere") is None
