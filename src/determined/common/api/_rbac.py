"""Lookups of users, workspaces, groups and roles by name. Groups and roles are not implemented yet."""

from typing import Any, NoReturn

from determined.common.api import bindings
from determined.common.api._session import BaseSession
from determined.errors import DeterminedError, InvalidArgument, NotFound


def usernames_to_user_ids(session: BaseSession, usernames: list[str]) -> list[int]:
    """Return the id of each user, in order."""
    ids = {user.username: user.id for user in bindings.get_GetUsers(session).users or []}
    missing = [name for name in usernames if ids.get(name) is None]
    if missing:
        raise InvalidArgument(f"there are no users {', '.join(missing)}; det user list shows who there is")
    return [ids[name] for name in usernames if ids[name] is not None]  # type: ignore[misc]


def workspace_by_name(session: BaseSession, name: str) -> bindings.v1Workspace:
    """Return the workspace with exactly this name. Raises NotFound."""
    assert name, "the name of a workspace cannot be empty"
    found = bindings.get_GetWorkspaces(session, nameCaseSensitive=name).workspaces
    if not found:
        raise not_found_errs("workspace", name, session)
    return bindings.get_GetWorkspace(session, id=found[0].id).workspace


def not_found_errs(category: str, name: str, session: BaseSession) -> DeterminedError:
    """Return the error for a thing that does not exist, or that this user may not see."""
    hint = ", please check your permissions." if bindings.get_GetMaster(session).rbacEnabled else ""
    return NotFound(f"{category} '{name}' not found{hint}")


def role_name_to_role_id(session: BaseSession, role_name: str) -> NoReturn:
    _refuse(f"role {role_name!r}")


def group_name_to_group_id(session: BaseSession, group_name: str) -> NoReturn:
    _refuse(f"group {group_name!r}")


def create_user_assignment_request(
    session: BaseSession, user: str, role: str, workspace: str | None = None
) -> list[Any]:
    _refuse(f"role {role!r} of user {user!r}")


def create_group_assignment_request(
    session: BaseSession, group: str, role: str, workspace: str | None = None
) -> list[Any]:
    _refuse(f"role {role!r} of group {group!r}")


def _refuse(what: str) -> NoReturn:
    raise NotImplementedError(f"{what}: groups and roles are not implemented yet; make users admins or plain users")
