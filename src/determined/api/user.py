"""Users over HTTP."""

from typing import Any
from urllib.parse import urlencode

from determined.api.login import salted
from determined.api.session import Session
from determined.wire.password_rule import rules, unmet
from determined.wire.user import (
    GetMeResponse,
    GetUserResponse,
    GetUsersResponse,
    LoginLinkResponse,
    PatchUserResponse,
    PostUserResponse,
    User,
)

_ROOT = "/api/v1/users"


def me(session: Session) -> User:
    return session.get_as("/api/v1/me", GetMeResponse).user


def get(session: Session, user_id: int) -> User:
    return session.get_as(f"{_ROOT}/{user_id}", GetUserResponse).user


def by_name(session: Session, username: str) -> User:
    return session.get_as(f"{_ROOT}/{username}/by-username", GetUserResponse).user


def listing(session: Session, *, active: bool | None = None) -> list[User]:
    params = {} if active is None else {"active": active}
    return session.get_as(_ROOT, GetUsersResponse, params=params).users or []


def create(session: Session, user: dict[str, Any], password: str | None) -> User:
    body: dict[str, Any] = {"user": user}
    if password is not None:
        body |= {"password": salted(password), "isHashed": True}
    created = session.post_as(_ROOT, body, PostUserResponse).user
    assert created is not None
    return created


def patch(session: Session, user_id: int, changes: dict[str, Any]) -> User:
    return session.patch_as(f"{_ROOT}/{user_id}", changes, PatchUserResponse).user


def set_password(session: Session, user_id: int, password: str) -> None:
    patch(session, user_id, {"password": salted(password), "isHashed": True})


def logout(session: Session) -> None:
    session.post("/api/v1/auth/logout", {})


def page_link(session: Session, page: str | None = None) -> str:
    """An address that opens the web page signed in as the user of this session, once. `page`: such as `/det/tasks`."""
    code = session.post_as("/api/v1/auth/link", {}, LoginLinkResponse).code
    where = "?" + urlencode({"redirect": page}, safe="/") if page else ""
    # in the fragment, which browsers send to nobody: no proxy on the way writes it into its log
    return f"{session.master_url}/det/login{where}#code={code}"


def check_password(password: str) -> None:
    """Raises ValueError, with a line per rule, unless the password has 8 characters, both cases and a digit."""
    if not unmet(password):
        return
    listed = "\n".join(f"  {'✓' if kept else '✗'} {rule}" for kept, rule in rules(password))
    raise ValueError(f"the password is too weak; it needs:\n{listed}")
