"""Users over HTTP."""

from urllib.parse import urlencode

from determined.api.login import salted
from determined.api.session import Session
from determined.wire.password_rule import rules, unmet
from determined.wire.user import (
    CREATE_USER,
    GET_ME,
    GET_USER,
    GET_USER_BY_NAME,
    ISSUE_LOGIN_LINK,
    LIST_USERS,
    LOGOUT,
    PATCH_USER,
    ListUsers,
    PatchUser,
    PostUserRequest,
    User,
)


def me(session: Session) -> User:
    return session.call(GET_ME).user


def get(session: Session, user_id: int) -> User:
    return session.call(GET_USER, user_id=user_id).user


def by_name(session: Session, username: str) -> User:
    return session.call(GET_USER_BY_NAME, username=username).user


def listing(session: Session, *, active: bool | None = None) -> list[User]:
    return session.call(LIST_USERS, ListUsers(active=active)).users or []


def create(session: Session, user: User, password: str | None) -> User:
    request = PostUserRequest(user=user)
    if password is not None:
        request = PostUserRequest(user=user, password=salted(password), is_hashed=True)
    created = session.call(CREATE_USER, request).user
    assert created is not None
    return created


def patch(session: Session, user_id: int, changes: PatchUser) -> User:
    return session.call(PATCH_USER, changes, user_id=user_id).user


def set_password(session: Session, user_id: int, password: str) -> None:
    patch(session, user_id, PatchUser(password=salted(password), is_hashed=True))


def logout(session: Session) -> None:
    session.call(LOGOUT)


def page_link(session: Session, page: str | None = None) -> str:
    """Make an address that opens the web page signed in as the user of this session, once; `page`: `/det/tasks`."""
    code = session.call(ISSUE_LOGIN_LINK).code
    where = "?" + urlencode({"redirect": page}, safe="/") if page else ""
    # in the fragment, which browsers send to nobody: no proxy on the way writes it into its log
    return f"{session.master_url}/det/login{where}#code={code}"


def check_password(password: str) -> None:
    """Check that the password has 8 characters, both cases and a digit. Raises ValueError, with a line per rule."""
    if not unmet(password):
        return
    listed = "\n".join(f"  {'✓' if kept else '✗'} {rule}" for kept, rule in rules(password))
    raise ValueError(f"the password is too weak; it needs:\n{listed}")
