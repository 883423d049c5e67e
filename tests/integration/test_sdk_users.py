"""Users in the Python SDK: who may change whom, and what a handle shows afterwards."""

from collections.abc import Callable
from typing import Any

import pytest

from determined.errors import AlreadyExists, FailedPrecondition, Forbidden, InvalidArgument, NotFound, Unauthenticated
from determined.sdk.determined import Determined
from determined.sdk.user import User

Sdk = Callable[..., Determined]
PASSWORD = "LongEnough1"


@pytest.fixture
def ann(sdk: Sdk) -> User:
    return sdk("admin").create_user("ann", admin=False, password=PASSWORD)


def _names(users: list[User]) -> list[str | None]:
    return [each.username for each in users]


def test_a_new_user_is_what_was_asked_for_and_can_log_in(sdk: Sdk, ann: User) -> None:
    assert (ann.username, ann.admin, ann.active, ann.remote) == ("ann", False, True, False)
    own = sdk("ann", PASSWORD)
    assert own.whoami().user_id == ann.user_id
    assert own.get_user_by_name("ANN").user_id == own.get_user_by_id(ann.user_id).user_id == ann.user_id
    remote = sdk("admin").create_user("rob", admin=True, remote=True)
    assert (remote.admin, remote.remote) == (True, True)


def test_a_name_is_given_once(sdk: Sdk, ann: User) -> None:
    with pytest.raises(AlreadyExists, match="ann"):
        sdk("admin").create_user("Ann", admin=False)
    with pytest.raises(AlreadyExists, match="ann"):
        sdk("admin").get_user_by_name("determined").rename("ann")


def test_a_weak_password_is_refused_before_it_travels(sdk: Sdk, ann: User) -> None:
    with pytest.raises(ValueError, match="too weak"):
        sdk("admin").create_user("bob", admin=False, password="weak")
    with pytest.raises(ValueError, match="too weak"):
        ann.change_password("weak")
    assert "bob" not in _names(sdk("admin").list_users())
    assert sdk("ann", PASSWORD).whoami().username == "ann"


def test_an_ordinary_user_creates_and_changes_nobody_else(sdk: Sdk, ann: User) -> None:
    session = sdk()
    with pytest.raises(Forbidden, match="administrator"):
        session.create_user("bob", admin=False)
    theirs = session.get_user_by_id(ann.user_id)
    attempts: list[Callable[[], None]] = [
        theirs.deactivate,
        lambda: theirs.rename("mine"),
        lambda: theirs.change_display_name("Mine"),
        lambda: theirs.change_password("Taken0ver"),
        lambda: theirs.link_with_agent(agent_uid=0, agent_gid=0, agent_user="root", agent_group="root"),
    ]
    for attempt in attempts:
        with pytest.raises(Forbidden):
            attempt()
    assert (theirs.username, theirs.active, theirs.agent_uid) == ("ann", True, None)
    assert sdk("ann", PASSWORD).whoami().display_name == ann.display_name


def test_users_change_their_own_name_display_name_and_password(sdk: Sdk, ann: User) -> None:
    own = sdk("ann", PASSWORD).whoami()
    own.change_display_name("Ann B")
    own.rename("annie")
    own.change_password("Chang3dPass")
    assert (own.username, own.display_name) == ("annie", "Ann B")
    with pytest.raises(Unauthenticated):
        sdk("annie", PASSWORD)
    assert sdk("annie", "Chang3dPass").whoami().display_name == "Ann B"
    with pytest.raises(NotFound, match=r"'ann'.*det user list"):
        sdk("admin").get_user_by_name("ann")


def test_a_deactivated_user_is_shut_out_until_activated_again(sdk: Sdk, ann: User) -> None:
    session = sdk("ann", PASSWORD)
    ann.deactivate()
    assert ann.active is False
    with pytest.raises((Unauthenticated, Forbidden)):
        session.whoami()
    with pytest.raises((Unauthenticated, Forbidden)):
        sdk("ann", PASSWORD)
    admin = sdk("admin")
    assert "ann" not in _names(admin.list_users(active=True))
    assert _names(admin.list_users(active=False)) == ["ann"]
    assert sorted(map(str, _names(admin.list_users()))) == ["admin", "ann", "determined"]
    ann.activate()
    assert sdk("ann", PASSWORD).whoami().active is True


def test_the_last_administrator_stays(sdk: Sdk) -> None:
    admin = sdk("admin").whoami()
    with pytest.raises(FailedPrecondition, match="last active administrator"):
        admin.deactivate()
    assert admin.active is True


def test_the_operating_system_user_of_tasks_is_kept(sdk: Sdk, ann: User) -> None:
    ann.link_with_agent(agent_uid=1007, agent_gid=1008, agent_user="ann", agent_group="staff")
    shown = sdk("admin").get_user_by_id(ann.user_id)
    assert (shown.agent_uid, shown.agent_gid, shown.agent_user, shown.agent_group) == (1007, 1008, "ann", "staff")


def test_a_name_is_found_whatever_an_address_would_make_of_it(sdk: Sdk) -> None:
    admin = sdk("admin")
    for name in ("a b+c", "a@example.com", "100%", "a?b#c", ".."):
        made = admin.create_user(name, admin=False)
        assert admin.get_user_by_name(name).user_id == made.user_id, name


def test_a_name_that_cannot_be_one_is_refused_with_the_words_of_the_master(sdk: Sdk) -> None:
    admin = sdk("admin")
    for name in ("", "a/b", "a\nb", "x" * 300):
        with pytest.raises(InvalidArgument, match=r"username=.* is not usable; use 2 to 250 printable ASCII"):
            admin.create_user(name, admin=False)


def test_a_user_that_does_not_exist_is_named(sdk: Sdk) -> None:
    with pytest.raises(NotFound, match="777"):
        sdk().get_user_by_id(777)
    made_by_hand: Any = User(777, sdk()._session)
    with pytest.raises(NotFound, match="777"):
        made_by_hand.reload()
    assert made_by_hand.username is None
