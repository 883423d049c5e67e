"""Caller of a request: a user, or a task that acts for its owner; and the checks handlers make of it."""

from dataclasses import dataclass
from typing import Literal

from determined.errors import Forbidden, InvalidArgument


@dataclass(frozen=True, slots=True)
class Caller:
    """The author of a request. A task carries the identity of its owner but none of its administration."""

    user_id: int
    username: str
    admin: bool
    kind: Literal["user", "task"] = "user"
    allocation_id: str | None = None
    # of a user: the login or access token in use
    session_id: int | None = None
    access_token: bool = False  # it is an access token, or one has opened it
    from_cookie: bool = False  # a browser sent it by itself
    # of a task: what it works for
    task_id: str | None = None
    trial_id: int | None = None
    experiment_id: int | None = None


def require_admin(caller: Caller, what: str = "do this") -> None:
    """Administration: users, agents, cluster settings. Tasks never qualify, whoever owns them.

    `what` ends the sentence "ask an administrator to".
    """
    require_user(caller)
    if not caller.admin:
        raise Forbidden(f"user '{caller.username}' is not an administrator; ask one to {what}")


def require_user(caller: Caller) -> None:
    """Require a user, for what a person does with their own account and a task must not."""
    if caller.kind == "task":
        raise Forbidden(f"allocation {caller.allocation_id} may not do this; log in as a user")


def require_login(caller: Caller, what: str) -> None:
    """Require a login, for what outlives the credential that does it: a stolen access token must not gain more.

    `what` begins the sentence: `passwords are changed`.
    """
    require_user(caller)
    if caller.access_token:
        raise Forbidden(f"{what} after a login, not with an access token; log in with `det user login`")


def require_owner(caller: Caller, owner_id: int | None, what: str) -> None:
    """Raise Forbidden for anybody but the owner and administrators; `what` names the thing: `experiment 12`."""
    if caller.user_id != owner_id and not caller.admin:
        raise Forbidden(f"only the owner of {what} or an administrator may do this, not '{caller.username}'")


def require_task(caller: Caller, allocation_id: str) -> None:
    """Require a process of this allocation, for what only such a process may say."""
    if caller.kind != "task":
        raise Forbidden(f"only the task of allocation {allocation_id} may do this, with its own token")
    if caller.allocation_id != allocation_id:
        if "." not in allocation_id:
            raise InvalidArgument(
                f"'{allocation_id}' is no id of an allocation; that has the number of the run after a dot"
            )
        raise Forbidden(f"the token of allocation {caller.allocation_id} is not valid for {allocation_id}")
